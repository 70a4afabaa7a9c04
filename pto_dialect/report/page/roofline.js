// What the pipes achieve against what the chip can do at best, and counters.
const rooflinePart = {};

const KIND_OF = { PIPE_M: "aic", PIPE_V: "aiv" };

/** Whether a core has the pipe that computes. */
function isOf(kind, pipe) { return kind === KIND_OF[pipe] || kind === "all"; }

/** Bytes read and written in each memory, and from and to global memory by the kind of core that moves them. */
function traffic() {
  const found = new Map(), global = new Map();
  for (let access = 0; access < M.A.length; access++) {
    const one = M.memories[M.R.memory[M.A.region[access]]], size = regionBytes(M.A.region[access]), key = one.shared ? "gm" : one.space;
    const row = found.get(key) || { key, reads: 0, writes: 0, read: 0, written: 0 };
    if (M.A.writes[access]) { row.writes++; row.written += size; } else { row.reads++; row.read += size; }
    found.set(key, row);
    if (!one.shared) continue;
    const kind = laneAt(M.A.step[access]).kind, moved = global.get(kind) || { read: 0, written: 0 };
    if (M.A.writes[access]) moved.written += size; else moved.read += size;
    global.set(kind, moved);
  }
  return { rows: [...found.values()].sort((one, other) => SPACES.indexOf(one.key) - SPACES.indexOf(other.key)), global };
}

/** Elementary operations and busy cycles of each kind of pipe. */
function workOf(pipe) {
  let work = 0, busy = 0;
  for (let step = 0; step < M.S.length; step++) {
    if (laneAt(step).pipe !== pipe || M.S.kind[step] !== OPERATION) continue;
    work += M.S.work[step];
    busy += M.S.end[step] - M.S.start[step];
  }
  return { work, busy };
}

/** Bytes that the cores with a pipe have moved, and the most that they can move in a cycle with that share of reads. */
function bandwidthOf(pipe, global) {
  const moved = { read: 0, written: 0 };
  for (const [kind, one] of global) if (isOf(kind, pipe)) { moved.read += one.read; moved.written += one.written; }
  const [read, written] = M.roofs.paths[pipe] ?? [], bytes = moved.read + moved.written;
  const least = Math.max(moved.read / (read || Infinity), moved.written / (written || Infinity));
  return { bytes, slope: least ? computingCores(pipe) * bytes / least : 0 };
}

function buildRoofline(panel) {
  const { rows, global } = traffic(), ghz = M.clock_mhz / 1e3;
  const points = [];
  for (const roof of M.roofs.compute) {
    if (points.some((one) => one.pipe === roof.pipe)) continue;
    const { work, busy } = workOf(roof.pipe);
    const { bytes, slope } = bandwidthOf(roof.pipe, global);
    if (work && M.end) points.push({ pipe: roof.pipe, work, busy, slope, intensity: bytes ? work / bytes : Infinity, rate: work / M.end, inside: busy ? work / busy : 0 });
  }
  rooflinePart.points = points;
  rooflinePart.box = el("div", { class: "sheet" });
  const flops = points.map((one) => [`${shortPipe(one.pipe)}`, si(one.work), Number.isFinite(one.intensity) ? number(Number(one.intensity.toPrecision(4))) : "–", `${number(Number(one.rate.toPrecision(4)))} (${si(one.rate * ghz * 1e9)}/s)`, number(Number(one.inside.toPrecision(4))), percent(Math.min(1, one.rate / peakOf(one.pipe)))]);
  fill(panel,
    points.some((one) => one.slope) ? [el("p", { class: "quiet" }, "Operations in a second against operations for each byte of global memory. Lines are what the cycle table says the cores of the run can do at best, along the paths that they have."), rooflinePart.box]
      : el("p", { class: "empty" }, points.length ? "The run has not touched global memory, so there is no intensity to draw." : "The run has no arithmetic with figures, so there is no roofline; the counters are below."),
    flops.length ? table(["pipe", "#operations", "#for each byte", "#in a cycle", "#while it works", "#of the limit"], flops, { label: "Arithmetic" }) : "",
    el("h3", null, "Pipes"), utilisation(),
    el("h3", null, "Memories"), table(["memory", "#reads", "#bytes read", "#writes", "#bytes written"], rows.map((one) => [one.key, one.reads.toLocaleString("en"), bytesText(one.read), one.writes.toLocaleString("en"), bytesText(one.written)]), { label: "Memories" }),
    el("h3", null, "Operations"), operationsTable());
  drawRoofline();
}

/** How many cores with the pipe run side by side. */
function computingCores(pipe) {
  const lanes = M.lanes.filter((lane) => lane.pipe === pipe && lane.busy && isOf(lane.kind, pipe));
  const blocks = new Set(lanes.map((lane) => lane.block)).size;
  return Math.max(1, new Set(lanes.map((lane) => `${lane.block}/${lane.core}`)).size * Math.min(1, M.roofs.cores / Math.max(blocks, 1)));
}

function peakOf(pipe) { return computingCores(pipe) * Math.max(...M.roofs.compute.filter((one) => one.pipe === pipe).map((one) => one.peak)); }

function utilisation() {
  const rows = M.lanes.slice(0, 60).map((lane) => [(manyBlocks() ? `block ${lane.block} ` : "") + laneName(lane), bar(lane.busy / M.end, pipeColour(lane.pipe)), percent(lane.busy / M.end), cycles(lane.busy), cycles(lane.waits), lane.steps.length.toLocaleString("en")]);
  return table(["pipe", "share of the run", "#busy", "#cycles", "#waits", "#steps"], rows, { label: "Pipes" });
}

function bar(part, colour) {
  const share = Number.isFinite(part) ? part : 0;
  const svg = el("svg", { width: 160, height: 12, role: "img", "aria-label": percent(share) }, el("rect", { x: 0, y: 1, width: 160, height: 10, rx: 3, fill: colours().lane }), el("rect", { x: 0, y: 1, width: clamp(160 * share, 0, 160), height: 10, rx: 3, fill: colour }));
  return svg;
}

function operationsTable() {
  const found = new Map();
  for (let step = 0; step < M.S.length; step++) {
    const key = `${siteOf(step).op}/${laneAt(step).pipe}`;
    const one = found.get(key) || { op: siteOf(step).op, pipe: laneAt(step).pipe, count: 0, spent: 0, low: 0, high: 0, evidence: siteOf(step).evidence };
    one.count++;
    if (M.S.kind[step] === OPERATION) { one.spent += M.S.end[step] - M.S.start[step]; one.low += M.S.low[step]; one.high += M.S.high[step]; }
    found.set(key, one);
  }
  const rows = [...found.values()].sort((one, other) => other.spent - one.spent).slice(0, 100)
    .map((one) => [one.op, shortPipe(one.pipe), one.count.toLocaleString("en"), cycles(one.spent), `${cycles(one.low)} – ${cycles(one.high)}`, percent(one.spent / busyTotal()), one.evidence]);
  return table(["operation", "pipe", "#times", "#cycles", "#band", "#share", "evidence"], rows, { label: "Operations" });
}

function drawRoofline() {
  const { points, box } = rooflinePart, width = box.clientWidth, height = 340, c = colours();
  if (!width || !points.length) { fill(box); return; }
  // In a second: cycles have another length on each chip.
  const hertz = M.clock_mhz * 1e6, within = (one) => Math.min(one.rate, peakOf(one.pipe), one.slope * one.intensity);
  const roofs = M.roofs.compute.map((one) => ({ ...one, all: one.peak * computingCores(one.pipe) * hertz }));
  const finite = points.filter((one) => Number.isFinite(one.intensity) && one.slope)
    .map((one) => ({ ...one, rate: within(one) * hertz, slope: one.slope * hertz }));
  if (!finite.length) { fill(box); return; }
  const slopeOf = (pipe) => finite.find((one) => one.pipe === pipe)?.slope ?? Math.max(...finite.map((one) => one.slope));
  const ridge = roofs.map((one) => one.all / slopeOf(one.pipe));
  const low = Math.min(...finite.map((one) => one.intensity), ...ridge) / 8, high = Math.max(...finite.map((one) => one.intensity), ...ridge) * 8;
  const top = Math.max(...roofs.map((one) => one.all)) * 3, bottom = Math.min(...finite.map((one) => one.rate), ...roofs.map((one) => one.all)) / 8;
  const x = d3.scaleLog([low, high], [58, width - 14]), y = d3.scaleLog([bottom, top], [height - 34, 12]);
  const svg = el("svg", { width, height, role: "img", "aria-label": "Roofline" });
  const label = (text, at, more) => el("text", { ...at, "font-size": 11, ...more }, text);
  for (const tick of y.ticks(5)) if (Number.isInteger(Math.log10(tick) + 1e-9 | 0) && /^1/.test(String(tick))) svg.append(el("line", { x1: 58, x2: width - 14, y1: y(tick), y2: y(tick), stroke: c.grid }), label(si(tick), { x: 52, y: y(tick) + 4, "text-anchor": "end" }));
  for (const tick of x.ticks(6)) if (/^(1|0\.0*1$)/.test(String(tick)) && /^[10.]+$/.test(String(tick))) svg.append(el("line", { x1: x(tick), x2: x(tick), y1: 12, y2: height - 34, stroke: c.grid }), label(tick >= 1 ? si(tick) : String(tick), { x: x(tick), y: height - 18, "text-anchor": "middle" }));
  svg.append(label("operations for each byte of global memory", { x: (58 + width) / 2, y: height - 4, "text-anchor": "middle" }), label("operations in a second", { x: 8, y: 22 }, { stroke: c.paper, "stroke-width": 3, "paint-order": "stroke" }));
  for (const one of finite) {
    const most = Math.max(...roofs.filter((roof) => roof.pipe === one.pipe).map((roof) => roof.all)), from = Math.max(low, bottom / one.slope);
    svg.append(el("line", { x1: x(from), y1: y(from * one.slope), x2: x(most / one.slope), y2: y(most), stroke: c.ink, "stroke-width": 2 }), label(`${shortPipe(one.pipe)}: ${gbps(one.slope / 1e9)} GB/s`, { x: x(from) + 34, y: y(from * one.slope) + 6 }));
  }
  for (const roof of roofs) svg.append(el("line", { x1: x(roof.all / slopeOf(roof.pipe)), x2: width - 14, y1: y(roof.all), y2: y(roof.all), stroke: pipeColour(roof.pipe), "stroke-width": 2.5 }), label(`${shortPipe(roof.pipe)} ${roof.element}: ${si(roof.all)} operations/s`, { x: width - 18, y: y(roof.all) - 5, "text-anchor": "end" }));
  for (const one of finite) svg.append(el("circle", { cx: x(one.intensity), cy: y(one.rate), r: 6, fill: pipeColour(one.pipe), stroke: c.ink, "stroke-width": 1.5 }, el("title", null, `${shortPipe(one.pipe)}: ${si(one.rate)} operations/s`)), label(shortPipe(one.pipe), { x: x(one.intensity) + 10, y: y(one.rate) + 4, "font-weight": 600 }));
  fill(box, svg);
}

on("shown", (part) => { if (part === "roofline" && rooflinePart.box) drawRoofline(); });
on("theme", () => { if (rooflinePart.box && panels.get("roofline").classList.contains("shown")) { panels.get("roofline").body.replaceChildren(); buildRoofline(panels.get("roofline").body); } });
