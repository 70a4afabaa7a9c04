// Any tile at any step: the matrix it stands for, and its bytes in the order of the memory.
const tileView = { box: -1, shape: 0, step: -1, versions: [], against: "none", hover: -1 };

function buildTiles(panel) {
  const order = memoryChoices();
  const boxes = M.boxes.map((box, number) => number).sort((one, other) => order.indexOf(M.boxes[one].memory) - order.indexOf(M.boxes[other].memory) || M.boxes[one].start - M.boxes[other].start);
  if (!boxes.length) { fill(panel, el("p", { class: "empty" }, "No operation has touched memory, so there is nothing to look at.")); return; }
  tileView.list = el("select", { "aria-label": "Tile or buffer", onchange: () => { state.shape = 0; selectBox(Number(tileView.list.value)); } });
  for (const memory of order) {
    const inside = boxes.filter((one) => M.boxes[one].memory === memory);
    if (inside.length) tileView.list.append(el("optgroup", { label: memoryName(memory) }, inside.map((one) => el("option", { value: one }, `${boxName(one)} · ${M.boxes[one].format} [${M.boxes[one].start}, ${M.boxes[one].stop})`))));
  }
  tileView.shapes = el("select", { "aria-label": "Seen as", onchange: () => { tileView.shape = Number(tileView.shapes.value) || 0; tileView.kind = tileView.shapes.value; showTile(); } });
  tileView.slider = el("input", { type: "range", min: 0, value: 0, "aria-label": "Write that is shown", oninput: () => { tileView.step = tileView.versions[Number(tileView.slider.value)]; showTile(); } });
  tileView.when = el("span", { class: "scope" });
  tileView.against_ = choice("Difference to", [["none", "Values"], ["before", "Difference to the write before"], ["first", "Difference to the first write"], ["pinned", "Difference to what is pinned"], ["expected", "Difference to what was expected"]], (value) => { tileView.against = value; showTile(); });
  tileView.columns = el("input", { type: "number", min: 1, max: 65536, style: { width: "78px" }, "aria-label": "Columns", onchange: () => { tileView.cols = Number(tileView.columns.value); showTile(); } });
  tileView.columnsLabel = el("label", null, "columns ", tileView.columns);
  tileView.facts = el("div", { class: "numbers" });
  tileView.cell = el("div", { class: "cell", role: "status" });
  tileView.matrix = sheet(320, (context, width) => drawMatrix(context, width), { role: "img", "aria-label": "Values as a matrix" });
  tileView.memory = sheet(320, (context, width) => drawBytes(context, width), { role: "img", "aria-label": "Elements in the order of the memory" });
  tileView.plot = el("div", { class: "sheet" });
  tileView.values = el("details", { class: "more" }, el("summary", null, "Numbers"), el("div", null));
  tileView.values.addEventListener("toggle", showNumbers);
  fill(panel, el("div", { class: "toolbar" }, tileView.list, tileView.shapes, tileView.columnsLabel),
    el("div", { class: "toolbar" }, button("◀", () => version(-1), { "aria-label": "Write before" }), tileView.slider, button("▶", () => version(1), { "aria-label": "Next write" }), tileView.when,
      tileView.against_, button("Pin", () => { tileView.pinned = pinned(); tileView.against_.value = tileView.against = "pinned"; showTile(); }, { title: "Keep these numbers to compare other steps and tiles with them" })),
    tileView.facts,
    el("div", { class: "split" }, el("figure", null, el("figcaption", null, "As a matrix"), el("div", { class: "sheet" }, tileView.matrix.canvas)),
      el("figure", null, el("figcaption", null, tileView.caption = el("span", null, "In the order of the memory")), el("div", { class: "sheet" }, tileView.memory.canvas))),
    tileView.cell, tileLegend(), tileView.plot, tileView.values);
  listenTile(tileView.matrix.canvas, cellOfMatrix);
  listenTile(tileView.memory.canvas, cellOfBytes);
  chooseTile(state.box >= 0 ? state.box : boxOfStep(state.step) ?? boxes[0]);
}

function tileLegend() {
  const mark = (style, text) => el("span", null, el("i", { class: "swatch", style }), text);
  return el("div", { class: "legend quiet" }, tileView.scaleText = el("span", null), mark({ background: "#d62728" }, "NaN"), mark({ background: "#ff9d00" }, "infinity"),
    mark({ background: "repeating-linear-gradient(135deg, var(--wait) 0 2px, transparent 2px 5px)" }, "never written"), mark({ background: "var(--heat-none)" }, "not in the page"), mark({ background: "transparent", "border-color": "var(--select)" }, "valid region"));
}

/** What a step has written, else read: the box to show. */
function boxOfStep(step) {
  if (step < 0) return undefined;
  const found = accessesOfStep(step), wrote = found.find((one) => M.A.writes[one]) ?? found[0];
  return wrote === undefined ? undefined : M.A.box[wrote];
}

const KINDS = [["0", "plain memory"], ["NZ", "fractals NZ"], ["ZN", "fractals ZN"], ["ZZ", "fractals ZZ"], ["NN", "fractals NN"]];

/** Buffers of pointers say nothing of fractals, so one can try. */
function asFractals(kind, plain) {
  const { bytes } = plain.format, units = Math.floor((plain.stop - plain.start) / bytes), cols = Math.max(1, Math.ceil(plain.cols / plain.format.elements));
  const short = bytes === 4 && M.memories[M.boxes[tileView.box].memory].space === "l0c" ? 16 : Math.max(1, 32 / bytes), up = (value, to) => Math.ceil(value / to) * to;
  const [ir, ic] = kind === "NZ" || kind === "ZZ" ? [16, short] : [short, 16], rows = Math.floor(units / cols), per = plain.format.elements;
  const offsets = {
    NZ: (row, col) => row * ic + Math.floor(col / ic) * rows * ic + (col % ic), ZN: (row, col) => Math.floor(row / ir) * cols * ir + (row % ir) + col * ir,
    ZZ: (row, col) => Math.floor(row / ir) * up(cols, ic) * ir + (row % ir) * ic + Math.floor(col / ic) * ir * ic + (col % ic),
    NN: (row, col) => Math.floor(row / ir) * ir * ic + (row % ir) + Math.floor(col / ic) * up(rows, ir) * ic + (col % ic) * ir,
  };
  return { ...plain, kind, rows, cols: cols * per, inner: [ir, ic], unit: (row, col) => { const at = offsets[kind](row, Math.floor(col / per)); return at < units ? at * per + (col % per) : -1; } };
}

function chooseTile(box) {
  tileView.box = box;
  tileView.list.value = String(box);
  const shapes = M.shapes.map((one, number) => number).filter((number) => number && M.shapes[number].box === box);
  fill(tileView.shapes, shapes.length ? shapes.map((number) => el("option", { value: number }, shapeText(M.shapes[number]))) : KINDS.map(([kind, text]) => el("option", { value: kind }, text)));
  tileView.kind = "0";
  tileView.shape = shapes.includes(state.shape) ? state.shape : shapes[0] || 0;
  tileView.shapes.value = String(tileView.shape);
  tileView.columnsLabel.hidden = tileView.shape > 0;
  tileView.cols = defaultColumns(box);
  tileView.columns.value = String(tileView.cols);
  const { memory, start, stop } = M.boxes[box], steps = [];
  for (const access of accessesOf(memory)) {
    const region = M.A.region[access];
    if (M.A.writes[access] && M.R.offset[region] < stop && regionStop(region) > start && steps[steps.length - 1] !== M.A.step[access]) steps.push(M.A.step[access]);
  }
  tileView.versions = M.memories[memory].shared || !steps.length ? [-1, ...steps] : steps;
  tileView.slider.max = String(tileView.versions.length - 1);
  const now = state.step >= 0 ? state.step : M.lastStep;
  tileView.step = tileView.versions[Math.max(0, above(tileView.versions, now) - 1)];
  showTile();
}

function shapeText(shape) {
  const valid = shape.validRows === shape.rows && shape.validCols === shape.cols ? "" : `, valid ${shape.validRows} × ${shape.validCols}`;
  const part = shape.row || shape.col ? ` at (${shape.row}, ${shape.col})` : "";
  return `${shape.rows} × ${shape.cols} ${shape.format} ${shape.kind}${part}${valid}`;
}

function defaultColumns(box) {
  const one = M.boxes[box], format = M.formats[one.format], elements = ((one.stop - one.start) / format.bytes) * format.elements;
  if (one.shape && one.shape.length > 1) return one.shape[one.shape.length - 1];
  if (elements <= 64) return Math.max(1, elements);
  for (const cols of [64, 32, 128, 16]) if (elements % cols === 0 && elements / cols >= 2) return cols;
  return Math.ceil(Math.sqrt(elements));
}

function version(direction) {
  const at = tileView.versions.indexOf(tileView.step) + direction;
  if (at < 0 || at >= tileView.versions.length) return;
  tileView.step = tileView.versions[at];
  showTile();
  if (tileView.step >= 0) { tileView.own = true; select(tileView.step, { reveal: true }); tileView.own = false; }
}

/** Where the elements of the tile lie: rows, columns, and the storage unit (and half) of each. */
function geometry() {
  const box = M.boxes[tileView.box], format = M.formats[tileView.shape ? M.shapes[tileView.shape].format : box.format], per = format.elements;
  if (!tileView.shape) {
    const units = Math.floor((box.stop - box.start) / format.bytes), cols = clamp(tileView.cols || 1, 1, units * per);
    const plain = { format, name: box.format, rows: Math.ceil((units * per) / cols), cols, validRows: Infinity, validCols: Infinity, kind: "plain", start: box.start, stop: box.stop, unit: (row, col) => (row * cols + col < units * per ? row * cols + col : -1), inner: [1, 1] };
    return tileView.kind === "0" ? plain : asFractals(tileView.kind, plain);
  }
  const shape = M.shapes[tileView.shape];
  const along = ([block, blockStride, stride], index) => (block ? Math.floor(index / block) * blockStride + (index % block) * stride : index * stride);
  const at = (row, col) => along(shape.rowAxis, row) + along(shape.colAxis, col);
  // Halves of a byte lie along the direction that is contiguous, or a column is a pair of them.
  const down = shape.pairs === "rows" ? per : 1, across = shape.pairs === "rows" ? 1 : per, skip = shape.pairs ? 1 : across;
  const unit = (row, col) => {
    const r = row + shape.row, k = col + shape.col * skip;
    return at(Math.floor(r / down), Math.floor(k / across)) * per + (down > 1 ? r % down : k % across);
  };
  return { format, name: shape.format, rows: shape.rows, cols: shape.cols * skip, validRows: shape.validRows, validCols: shape.validCols * skip, kind: shape.kind, inner: shape.inner, start: shape.offset, stop: shape.offset + shape.bytes, unit };
}

let tileTurn = 0;

/** Reads the bytes and shows them; of several requests only the last is shown. */
async function showTile() {
  const turn = ++tileTurn, g = geometry(), { memory } = M.boxes[tileView.box];
  const now = await bytesAt(memory, g.start, g.stop, tileView.step);
  const other = await compared(g, memory);
  if (turn !== tileTurn) return;
  Object.assign(tileView, { g, now });
  readValues(other);
  describeTile();
  sizeSheets();
  tileView.matrix.draw();
  tileView.memory.draw();
  drawHistogram();
  showNumbers();
  document.documentElement.dataset.tile = `${tileView.box}@${tileView.step}`;
}

/** The numbers that are shown, as a matrix. */
function pinned() {
  const { g, raw, position } = tileView, values = new Float64Array(g.rows * g.cols).fill(NaN);
  position.forEach((at, element) => { if (at >= 0 && tileView.missing[element] === KNOWN) values[at] = raw[element]; });
  return { rows: g.rows, cols: g.cols, values, text: `${boxName(tileView.box)}${tileView.step < 0 ? " before the run" : `, ${stepText(tileView.step)}`}` };
}

/** What the values are compared with: `of` an element and `at` a row and a column, and its rows and columns; or null. */
async function compared(g, memory) {
  const at = tileView.versions.indexOf(tileView.step), byElement = (of) => ({ of, at: (row, col) => of(g.unit(row, col)), rows: g.rows, cols: g.cols });
  const steps = { before: tileView.versions[at - 1], first: tileView.versions[0] };
  if (tileView.against === "expected") {
    const wanted = M.expected[M.memories[memory].name];
    return wanted ? byElement((element) => (element < wanted.length ? wanted[element] : NaN)) : null;
  }
  if (tileView.against === "pinned") {
    const kept = tileView.pinned;
    return kept ? { ...kept, of: kept.rows === g.rows && kept.cols === g.cols ? (element) => (tileView.position[element] < 0 ? NaN : kept.values[tileView.position[element]]) : null, at: (row, col) => kept.values[row * kept.cols + col] } : null;
  }
  const step = steps[tileView.against];
  if (step === undefined) return null;
  const { bytes, known } = await bytesAt(memory, g.start, g.stop, step), view = new DataView(bytes.buffer);
  return byElement((element) => {
    const unit = Math.floor(element / g.format.elements);
    return known[unit * g.format.bytes] === KNOWN ? elementAt(view, g.name, g.format, unit, element % g.format.elements) : NaN;
  });
}

/** Whether the tile is what it is compared with, with rows and columns exchanged, and is not so without. */
function isTurned(against, rows, cols) {
  const { g, raw } = tileView;
  if (!against || against.rows !== g.cols || against.cols !== g.rows || rows < 2 || cols < 2) return false;
  for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) if (!Object.is(raw[g.unit(row, col)], against.at(col, row))) return false;
  return true;
}

/** Values by matrix position and by place in memory, and their range. */
function readValues(against) {
  const { g, now } = tileView, view = new DataView(now.bytes.buffer), per = g.format.elements;
  const total = Math.floor(now.bytes.length / g.format.bytes) * per, raw = new Float64Array(total), missing = new Uint8Array(total);
  for (let element = 0; element < total; element++) {
    const unit = Math.floor(element / per);
    missing[element] = now.known[unit * g.format.bytes];
    raw[element] = elementAt(view, g.name, g.format, unit, element % per);
  }
  const position = new Int32Array(total).fill(-1);
  for (let row = 0; row < g.rows; row++) for (let col = 0; col < g.cols; col++) {
    const element = g.unit(row, col);
    if (element >= 0 && element < total) position[element] = row * g.cols + col;
  }
  Object.assign(tileView, { raw, missing, position });
  const other = (tileView.other = against && against.of);
  tileView.flat = other ? raw.map((value, element) => (Object.is(value, other(element)) ? 0 : value - other(element))) : raw;
  let low = Infinity, high = -Infinity, sum = 0, count = 0, nan = 0, inf = 0, changed = 0;
  const rows = Math.min(g.rows, Number.isFinite(g.validRows) ? g.validRows : g.rows), cols = Math.min(g.cols, Number.isFinite(g.validCols) ? g.validCols : g.cols);
  // Zero is the end of numbers without a sign, and an ordinary number.
  const ends = new Map((g.format.ends || []).filter((one) => one !== 0 && !other).map((one) => [one, 0]));
  for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) {
    const element = g.unit(row, col);
    if (element < 0 || element >= total || missing[element] !== KNOWN) continue;
    const value = tileView.flat[element];
    if (ends.has(value)) ends.set(value, ends.get(value) + 1);
    if (Number.isNaN(value)) nan++;
    else if (!Number.isFinite(value)) inf++;
    else { low = Math.min(low, value); high = Math.max(high, value); sum += value; count++; if (value) changed++; }
  }
  tileView.stats = { low, high, mean: sum / count, count, nan, inf, changed, ends: [...ends].filter(([, many]) => many), turned: (!other || changed + nan > 0) && isTurned(against, rows, cols) };
}

function describeTile() {
  const { stats, g, step, other } = tileView, at = tileView.versions.indexOf(step);
  tileView.slider.value = String(Math.max(0, at));
  tileView.slider.setAttribute("aria-valuetext", step < 0 ? "before the run" : stepText(step));
  fill(tileView.when, step < 0 ? (M.memories[M.boxes[tileView.box].memory].shared ? "before the run" : "never written") : [`write ${at + (tileView.versions[0] < 0 ? 0 : 1)} of ${tileView.versions.length - (tileView.versions[0] < 0 ? 1 : 0)}: `, stepLink(step), loopsText(step) ? `, ${loopsText(step)}` : ""]);
  const part = (name, text) => el("span", { "data-fact": name }, el("span", { class: "quiet" }, name + " "), el("b", null, text));
  const absent = tileView.missing.reduce((sum, one) => sum + (one === MISSING ? 1 : 0), 0);
  fill(tileView.facts, part(other ? "least difference" : "min", number(stats.low)), part(other ? "largest difference" : "max", number(stats.high)), part("mean", number(stats.mean)), part("elements", stats.count.toLocaleString("en")),
    stats.nan ? part("NaN", String(stats.nan)) : "", stats.inf ? part("inf", String(stats.inf)) : "", other ? part("differ", `${(stats.changed + stats.nan).toLocaleString("en")}`) : "",
    stats.ends.map(([end, many]) => el("span", { "data-fact": "end", title: `${end === g.format.ends[0] ? "The least" : "The largest"} number of ${g.name}: what was beyond it may have been cut off.` }, el("span", { class: "quiet" }, `at ${number(end)} `), el("b", null, many.toLocaleString("en")))),
    tileView.against === "pinned" && tileView.pinned ? part("to", tileView.pinned.text) : "", stats.turned ? part("rows and columns are exchanged", "") : "",
    tileView.against !== "none" && !other && !stats.turned ? part("nothing to compare with", "") : "", absent ? part("not in the page", absent.toLocaleString("en")) : "");
  tileView.caption.textContent = g.kind === "plain" || g.kind === "ND" ? "In the order of the memory" : `In the order of the memory: ${g.kind}${g.inner[0] * g.inner[1] > 1 ? `, fractals of ${g.inner[0]} × ${g.inner[1]}` : ""}`;
}

on("box", (box) => { if (tileView.list) chooseTile(box); });
on("select", (step, more) => {
  if (!tileView.list || step < 0 || tileView.own) return;
  const touches = accessesOfStep(step).map((access) => M.A.box[access]);
  if (!touches.length) return;
  if (touches.includes(tileView.box)) {
    tileView.step = tileView.versions[Math.max(0, above(tileView.versions, step) - 1)];
    showTile();
  } else if (state.part !== "tiles" || !more.keep) chooseTile(boxOfStep(step));
});
on("shown", (part) => { if (part === "tiles" && tileView.g) { sizeSheets(); tileView.matrix.draw(); tileView.memory.draw(); drawHistogram(); } });
on("theme", () => { if (tileView.g && panels.get("tiles").classList.contains("shown")) { tileView.matrix.draw(); tileView.memory.draw(); drawHistogram(); } });
