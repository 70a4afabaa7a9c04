// How values become pictures: heat maps, histogram, numbers.
const MOST_NUMBERS = 4096, MOST_HIGH = 640;

function cellSize(width, cols, most) { return clamp(Math.floor((width - 2) / Math.max(cols, 1)), 1, most); }

/** Columns of the picture of memory: whole fractals, or whole rows. */
function byteColumns() {
  const { g } = tileView, area = g.inner[0] * g.inner[1];
  const fractal = g.inner[1] * g.format.elements;
  if (area > 1) return fractal * Math.max(1, Math.floor(Math.min(g.cols, 64) / fractal));
  return Math.min(g.cols, 128);
}

function sizeSheets() {
  const { g } = tileView, room = tileView.matrix.canvas.parentElement.clientWidth || 400;
  // Everything is to be seen, as long as its cells stay points that one can tell apart.
  tileView.size = Math.min(cellSize(room, g.cols, 34), Math.max(1, Math.floor(MOST_HIGH / g.rows)));
  tileView.scaleDown = tileView.size === 1 ? Math.max(1, Math.ceil(g.cols / Math.max(room - 2, 1))) : 1;
  tileView.matrix.height = clamp(Math.ceil((g.rows * tileView.size) / tileView.scaleDown) + 4, 30, MOST_HIGH + 4);
  const cols = byteColumns();
  const rows = Math.ceil(tileView.flat.length / cols);
  tileView.byteSize = Math.min(cellSize(room, cols, 34), Math.max(1, Math.floor(MOST_HIGH / rows)));
  tileView.memory.height = clamp(rows * tileView.byteSize + 4, 30, MOST_HIGH + 4);
  const cut = rows * tileView.byteSize > MOST_HIGH ? ` (the first ${(Math.floor(MOST_HIGH / tileView.byteSize) * cols).toLocaleString("en")} elements)` : "";
  tileView.caption.textContent = tileView.caption.textContent.replace(/ \(the first .*$/, "") + cut;
}

/** The colour scale of the values: from both sides of zero, or from the least to the largest. */
function heat() {
  const { low, high } = tileView.stats, dark_ = document.documentElement.dataset.theme === "dark";
  if (!(low <= high)) return { of: () => colours()["heat-none"], text: "" };
  if (low < 0 && high > 0) {
    const most = Math.max(-low, high);
    // Blue to orange over the middle tone of the theme: also apart for those who do not tell red from green.
    const negative = d3.interpolateRgb(dark_ ? "#23272e" : "#f6f6f4", dark_ ? "#4da3ff" : "#0b5cad"), positive = d3.interpolateRgb(dark_ ? "#23272e" : "#f6f6f4", dark_ ? "#ffb454" : "#b35900");
    return { of: (value) => (value < 0 ? negative(-value / most) : positive(value / most)), text: `${number(-most)} (blue) … 0 … ${number(most)} (orange)` };
  }
  const span = high - low || 1;
  return { of: (value) => d3.interpolateCividis(high === low ? 0.5 : (value - low) / span), text: `${number(low)} (dark) … ${number(high)} (bright)` };
}

function cellColour(element, scale, context) {
  const known = tileView.missing[element], value = tileView.flat[element];
  if (known === 0) return (tileView.slanted ||= hatch(context, colours().wait));
  if (known === MISSING) return colours()["heat-none"];
  if (Number.isNaN(value)) return "#d62728";
  if (!Number.isFinite(value)) return "#ff9d00";
  return scale.of(value);
}

function luminance(colour) {
  const { r, g, b } = d3.rgb(colour);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

function drawCell(context, element, x, y, size, scale) {
  const colour = cellColour(element, scale, context);
  context.fillStyle = colour;
  context.fillRect(x, y, size - (size > 3 ? 0.5 : 0), size - (size > 3 ? 0.5 : 0));
  if (size < 26 || tileView.missing[element] !== KNOWN) return;
  context.fillStyle = typeof colour === "string" && luminance(colour) > 0.55 ? "#101418" : "#ffffff";
  context.font = `${size < 30 ? 9 : 10}px ${colours().font}`;
  context.textAlign = "center";
  const value = tileView.flat[element], text = Number.isInteger(value) && Math.abs(value) < 1e5 ? String(value) : Number.isFinite(value) ? String(Number(value.toPrecision(2))) : number(value);
  context.fillText(text.length > 6 ? value.toExponential(0) : text, x + size / 2, y + size / 2 + 3, size - 2);
  context.textAlign = "left";
}

function drawMatrix(context) {
  const { g, size, scaleDown } = tileView, scale = heat(), c = colours();
  tileView.slanted = null;
  tileView.scaleText.textContent = scale.text;
  const rows = Math.min(g.rows, Math.ceil((tileView.matrix.height * scaleDown) / size));
  for (let row = 0; row < rows; row += scaleDown) for (let col = 0; col < g.cols; col += scaleDown) {
    const element = g.unit(row, col);
    if (element < 0 || element >= tileView.flat.length) continue;
    drawCell(context, element, 1 + (col / scaleDown) * size, 1 + (row / scaleDown) * size, size, scale);
  }
  if (Number.isFinite(g.validRows)) {
    const wide = (Math.min(g.validCols, g.cols) / scaleDown) * size, tall = (Math.min(g.validRows, g.rows) / scaleDown) * size;
    context.fillStyle = c.paper;
    context.globalAlpha = 0.55;
    context.fillRect(1 + wide, 1, (g.cols / scaleDown) * size - wide, (g.rows / scaleDown) * size);
    context.fillRect(1, 1 + tall, wide, (g.rows / scaleDown) * size - tall);
    context.globalAlpha = 1;
    context.strokeStyle = c.select;
    context.lineWidth = 2;
    context.strokeRect(1, 1, wide, tall);
  }
  ring(context, tileView.hover, (element) => { const at = tileView.position[element]; return at < 0 ? null : [1 + ((at % g.cols) / scaleDown) * size, 1 + (Math.floor(at / g.cols) / scaleDown) * size, size]; });
}

function drawBytes(context) {
  const cols = byteColumns(), { byteSize: size, g } = tileView, scale = heat(), c = colours();
  const rows = Math.ceil(tileView.memory.height / size), block = g.inner[0] * g.inner[1] * g.format.elements;
  for (let element = 0; element < Math.min(tileView.flat.length, rows * cols); element++) {
    drawCell(context, element, 1 + (element % cols) * size, 1 + Math.floor(element / cols) * size, size, scale);
  }
  if (block > 1 && block % cols === 0 && (block / cols) * size >= 8) {
    context.strokeStyle = c.ink;
    context.lineWidth = 0.8;
    context.globalAlpha = 0.6;
    for (let row = block / cols; row * size < tileView.memory.height; row += block / cols) { context.beginPath(); context.moveTo(0, 1 + row * size); context.lineTo(cols * size, 1 + row * size); context.stroke(); }
    context.globalAlpha = 1;
  }
  ring(context, tileView.hover, (element) => [1 + (element % cols) * size, 1 + Math.floor(element / cols) * size, size]);
}

function ring(context, element, place) {
  const at = element >= 0 ? place(element) : null;
  if (!at) return;
  context.strokeStyle = colours().select;
  context.lineWidth = 2.5;
  context.strokeRect(at[0] - 2, at[1] - 2, at[2] + 4, at[2] + 4);
}

function cellOfMatrix(x, y) {
  const { g, size, scaleDown } = tileView, col = Math.floor((x - 1) / size) * scaleDown, row = Math.floor((y - 1) / size) * scaleDown;
  return col >= 0 && row >= 0 && col < g.cols && row < g.rows ? g.unit(row, col) : -1;
}

function cellOfBytes(x, y) {
  const cols = byteColumns(), col = Math.floor((x - 1) / tileView.byteSize), row = Math.floor((y - 1) / tileView.byteSize);
  return col >= 0 && col < cols && row >= 0 ? row * cols + col : -1;
}

/** One element in words: place, value, bytes, who wrote it. */
function cellText(element) {
  const { g, now } = tileView, unit = Math.floor(element / g.format.elements), at = tileView.position[element], address = g.start + unit * g.format.bytes;
  const where = at >= 0 ? `[${Math.floor(at / g.cols)}, ${at % g.cols}]` : "padding";
  const inside = at < 0 || (Math.floor(at / g.cols) < g.validRows && at % g.cols < g.validCols);
  const writer = now.writer[unit * g.format.bytes];
  const value = tileView.missing[element] === KNOWN ? `${number(tileView.raw[element])} = ${hexAt(now.bytes, g.format, unit)} ${g.name}` : tileView.missing[element] === MISSING ? "written, but its value is not in this page" : "never written";
  return { where, value, inside, address, writer };
}

function listenTile(canvas, find) {
  const look = (event) => {
    const box = canvas.getBoundingClientRect(), element = find(event.clientX - box.left, event.clientY - box.top);
    const inside = element >= 0 && element < tileView.flat.length;
    tileView.hover = inside ? element : -1;
    tileView.matrix.soon();
    tileView.memory.soon();
    if (!inside) { hideTip(); return; }
    const one = cellText(element);
    showTip(event.clientX, event.clientY, [`${one.where}${one.inside ? "" : " outside of the valid region"}`, one.value, `byte ${one.address.toLocaleString("en")}`,
      tileView.other ? `difference ${number(tileView.flat[element])}` : null, one.writer >= 0 ? `written by ${stepText(M.A.step[one.writer])}` : null].filter(Boolean));
    fill(tileView.cell, `${one.where} ${one.value} · byte ${one.address.toLocaleString("en")}`, one.writer >= 0 ? [" · written by ", stepLink(M.A.step[one.writer])] : "");
  };
  canvas.addEventListener("pointermove", look);
  canvas.addEventListener("pointerdown", look);
  canvas.addEventListener("pointerleave", () => { hideTip(); tileView.hover = -1; tileView.matrix.soon(); tileView.memory.soon(); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: tileView.g.cols, ArrowUp: -tileView.g.cols }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const now = tileView.hover >= 0 ? tileView.position[tileView.hover] : 0, at = clamp(now + step, 0, tileView.g.rows * tileView.g.cols - 1);
    tileView.hover = tileView.g.unit(Math.floor(at / tileView.g.cols), at % tileView.g.cols);
    tileView.matrix.soon();
    tileView.memory.soon();
    const one = cellText(tileView.hover);
    fill(tileView.cell, `${one.where} ${one.value} · byte ${one.address.toLocaleString("en")}`);
  });
}

function validValues() {
  const { g } = tileView, found = [];
  const rows = Math.min(g.rows, g.validRows), cols = Math.min(g.cols, g.validCols);
  for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) {
    const element = g.unit(row, col);
    if (element >= 0 && element < tileView.flat.length && tileView.missing[element] === KNOWN && Number.isFinite(tileView.flat[element])) found.push(tileView.flat[element]);
  }
  return found;
}

function drawHistogram() {
  if (tileView.chart) { tileView.chart.destroy(); tileView.chart = null; }
  const values = validValues(), width = tileView.plot.clientWidth, c = colours();
  fill(tileView.plot);
  if (values.length < 2 || !width || tileView.stats.low === tileView.stats.high) return;
  const bins = d3.bin().domain([tileView.stats.low, tileView.stats.high]).thresholds(Math.min(48, Math.ceil(Math.sqrt(values.length))))(values);
  const axis = { stroke: c.quiet, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1 }, font: "11px " + c.font };
  tileView.chart = new uPlot({
    width, height: 150, padding: [6, 10, 0, 0], scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(1, high) * 1.05] } },
    series: [{ label: tileView.other ? "difference" : "value", value: (_, one) => (one === null || one === undefined ? "–" : number(one)) }, { label: "elements", stroke: c["pipe-mte2"], fill: c["pipe-mte2"] + "88", paths: uPlot.paths.bars({ size: [0.94, 100] }), points: { show: false } }],
    axes: [{ ...axis, size: 26 }, { ...axis, size: 54 }],
  }, [bins.map((one) => (one.x0 + one.x1) / 2), bins.map((one) => one.length)], tileView.plot);
}

/** The numbers themselves, for reading and copying; only when opened. */
function showNumbers() {
  if (!tileView.values.open || !tileView.g) return;
  const { g } = tileView, cols = Math.min(g.cols, 64), rows = Math.min(g.rows, Math.max(1, Math.floor(MOST_NUMBERS / cols)));
  const heads = ["", ...Array.from({ length: cols }, (_, col) => `#${col}`)];
  const lines = Array.from({ length: rows }, (_, row) => [String(row), ...Array.from({ length: cols }, (__, col) => {
    const element = g.unit(row, col);
    return element < 0 || element >= tileView.flat.length ? "" : tileView.missing[element] === KNOWN ? number(tileView.flat[element]) : "·";
  })]);
  fill(tileView.values.lastChild, g.rows > rows || g.cols > cols ? el("p", { class: "quiet" }, `The first ${rows} rows and ${cols} columns.`) : "", table(heads, lines, { label: "Numbers" }));
}
