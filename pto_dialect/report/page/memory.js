// Addresses over time: tiles as boxes, what is in use, holes, overlaps, and who wrote a byte last.
const memoryMap = { memory: 0, rows: [], byte: null };
const MAP_HEIGHT = 420, MAP_LEFT = 74;

/** Memories with accesses, those on the chip first. */
function memoryChoices() {
  const used = M.memories.map((one, number) => number).filter((number) => accessesOf(number).length);
  const rank = (number) => (M.memories[number].shared ? 100 : 0) + SPACES.indexOf(M.memories[number].space);
  return used.sort((one, other) => M.memories[one].shared - M.memories[other].shared || M.memories[one].block - M.memories[other].block || rank(one) - rank(other) || one - other);
}

/** Each box of a memory with its accesses and the times in which its content was needed: from a write to the last read. */
function livesOf(memory) {
  const known = (M.lives ||= new Map());
  if (known.has(memory)) return known.get(memory);
  const found = new Map();
  for (const access of accessesOf(memory)) {
    const box = M.A.box[access], step = M.A.step[access], from = M.S.start[step], to = M.S.end[step];
    let one = found.get(box);
    if (!one) found.set(box, one = { box, spans: [], marks: [], writes: 0, reads: 0, bytes: 0, first: Infinity, last: 0 });
    const region = M.A.region[access], size = regionBytes(region);
    one.bytes += size;
    one.first = Math.min(one.first, from);
    one.last = Math.max(one.last, to);
    const span = one.spans[one.spans.length - 1];
    if (M.A.writes[access]) {
      one.writes++;
      one.marks.push(access);
      // A write of a part goes on with what is there; one of everything begins anew, unless the same step reads it.
      const whole = size >= M.boxes[box].stop - M.boxes[box].start;
      const same = span && span.step === step;
      if (!span || (whole && !same && span.read)) one.spans.push({ from, to, step, read: false });
      else { span.to = Math.max(span.to, to); span.step = step; span.read = span.read && !whole; }
    } else {
      one.reads++;
      if (!span) one.spans.push({ from: M.memories[memory].shared ? 0 : from, to, step, read: true });
      else { span.to = Math.max(span.to, to); span.step = step; span.read = true; }
    }
  }
  const lives = [...found.values()].sort((one, other) => M.boxes[one.box].start - M.boxes[other.box].start);
  known.set(memory, lives);
  return lives;
}

/** Peak, bytes in use over time, holes below the peak, and boxes that share bytes while both are in use. */
function memoryFacts(memory) {
  const known = (M.memoryFacts ||= new Map());
  if (!known.has(memory)) known.set(memory, factsOf(memory));
  return known.get(memory);
}

function factsOf(memory) {
  const lives = livesOf(memory), changes = [];
  let peak = 0;
  for (const one of lives) {
    const box = M.boxes[one.box];
    peak = Math.max(peak, box.stop);
    for (const [from, to] of joined(one.spans)) changes.push([from, box.stop - box.start], [to, box.start - box.stop]);
  }
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const times = [0], used = [0];
  let now = 0, most = 0, when = 0;
  for (const [at, change] of changes) {
    now += change;
    if (times[times.length - 1] === at) used[used.length - 1] = now;
    else { times.push(at); used.push(now); }
  }
  used.forEach((one, at) => { if (one > most) { most = one; when = times[at]; } });
  const holes = [];
  let end = 0;
  for (const one of lives) {
    const box = M.boxes[one.box];
    if (box.start > end) holes.push([end, box.start]);
    end = Math.max(end, box.stop);
  }
  return { lives, peak, times, used, most, when, holes, overlaps: overlapsOf(lives), reuse: reuseOf(lives) };
}

/** The times of spans, each once: a write may begin while what it overwrites is still read. */
function joined(spans) {
  const found = [];
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const last = found[found.length - 1];
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

const MOST_PAIRS = 60;

function overlapsOf(lives) {
  const found = [];
  for (let a = 0; a < lives.length && found.length < MOST_PAIRS; a++) {
    for (let b = a + 1; b < lives.length; b++) {
      const one = M.boxes[lives[a].box], other = M.boxes[lives[b].box];
      if (other.start >= one.stop) break;
      const both = lives[a].spans.find((span) => lives[b].spans.some((theirs) => span.from < theirs.to && theirs.from < span.to));
      if (both) found.push([lives[a].box, lives[b].box, Math.max(one.start, other.start), Math.min(one.stop, other.stop)]);
    }
  }
  return found;
}

/** What the page itself knows: tiles that share bytes while both are in use, unless a check of the run has judged that. */
function addOverlaps() {
  if (M.checked.includes("overlap")) return;
  M.memories.forEach((memory, number) => {
    // A tile inside of another one may be a view of it.
    const inside = (one, other) => M.boxes[one].start >= M.boxes[other].start && M.boxes[one].stop <= M.boxes[other].stop;
    const found = memory.shared ? [] : memoryFacts(number).overlaps.filter(([one, other]) => !inside(one, other) && !inside(other, one));
    if (!found.length || M.findings.some((one) => one.memory === number && one.rule.includes("overlap"))) return;
    const [a, b] = found[0], lives = memoryFacts(number).lives;
    const ranges = found.filter(([one, other]) => one === a && other === b).map(([, , low, high]) => [low, high]);
    const steps = [a, b].map((box) => lives.find((life) => life.box === box).marks[0]).filter((one) => one !== undefined).map((access) => M.A.step[access]);
    const { file, line, column } = steps.length ? M.sites[M.S.site[steps.at(-1)]] : { file: -1, line: 0, column: 0 };
    const bytes = ranges.map(([low, high]) => `[${low.toLocaleString("en")}, ${high.toLocaleString("en")})`).join(", ");
    M.findings.push({
      rule: "overlap", severity: "warning", message: `${boxName(a)} and ${boxName(b)} are in use at the same time on bytes ${bytes} of ${memoryName(number)}`,
      help: "--sanitize=overlap decides whether one of them loses what it needs", place: { file, line, column }, notes: found.length > 1 ? [{ text: `${found.length} pairs of tiles share bytes; the memory map has all of them`, place: { file: -1, line: 0, column: 0 } }] : [],
      count: 1, steps, writes: steps.map(() => true), memory: number, ranges,
    });
  });
}

function reuseOf(lives) {
  const found = [];
  for (let a = 0; a < lives.length && found.length < MOST_PAIRS; a++) {
    for (let b = a + 1; b < lives.length && M.boxes[lives[b].box].start < M.boxes[lives[a].box].stop; b++) found.push([lives[a].box, lives[b].box]);
  }
  return found;
}

function buildMemory(panel) {
  const choices = memoryChoices();
  if (!choices.length) { fill(panel, el("p", { class: "empty" }, "No operation has touched memory.")); return; }
  const touched = state.step >= 0 ? accessesOfStep(state.step).map((access) => M.R.memory[M.A.region[access]]) : [];
  memoryMap.memory = touched.find((one) => !M.memories[one].shared) ?? choices[0];
  const list = choice("Memory", choices.map((one) => [one, `${memoryName(one)} (${bytesText(M.memories[one].capacity)})`]), (value) => { memoryMap.memory = Number(value); showMemory(); });
  memoryMap.list = list;
  memoryMap.facts_ = el("div", { class: "numbers" });
  memoryMap.more = el("div", null);
  memoryMap.whose = el("div", { class: "cell", role: "status" });
  memoryMap.sheet = sheet(MAP_HEIGHT, drawMemory, { role: "img", "aria-label": "Addresses over time; arrows choose a byte and a time" });
  memoryMap.chart = el("div", { class: "sheet" });
  const byte = el("input", { type: "number", min: 0, "aria-label": "Byte", placeholder: "byte", style: { width: "110px" }, onchange: () => askByte(Number(byte.value)) });
  fill(panel, el("div", { class: "toolbar" }, list, el("label", null, "Who wrote byte ", byte), el("span", { class: "quiet" }, "at the selected operation? Or point at the picture.")),
    memoryMap.facts_, el("div", { class: "sheet" }, memoryMap.sheet.canvas), memoryMap.whose, memoryMap.chart, memoryMap.more);
  listenMemory(memoryMap.sheet.canvas);
  showMemory();
}

function showMemory() {
  const memory = memoryMap.memory, one = M.memories[memory], facts = memoryMap.facts = memoryFacts(memory);
  memoryMap.list.value = String(memory);
  const holeBytes = facts.holes.reduce((sum, [from, to]) => sum + to - from, 0);
  const part = (name, text) => el("span", null, el("span", { class: "quiet" }, name + " "), el("b", null, text));
  fill(memoryMap.facts_, part("size", bytesText(one.capacity)), part("highest byte", `${facts.peak.toLocaleString("en")} (${percent(facts.peak / one.capacity)})`),
    part("most in use", `${bytesText(facts.most)} at ${cycles(facts.when)}`), part("holes", `${facts.holes.length} (${bytesText(holeBytes)})`), part("overlaps", String(facts.overlaps.length)));
  memoryMap.sheet.draw();
  drawUse(facts);
  const pair = ([a, b, low, high]) => [boxLink(a), boxLink(b), low === undefined ? "" : `[${low.toLocaleString("en")}, ${high.toLocaleString("en")})`];
  fill(memoryMap.more,
    facts.overlaps.length ? el("details", { class: "more", open: true }, el("summary", null, "In use at the same time on the same bytes"), table(["tile", "and", "bytes"], facts.overlaps.map(pair), { label: "Overlaps" })) : "",
    el("details", { class: "more" }, el("summary", null, `Tiles and buffers (${facts.lives.length})`),
      table(["name", "bytes", "type", "#writes", "#reads", "#bytes moved", "#first", "#last"], facts.lives.slice(0, 500).map((life) => {
        const box = M.boxes[life.box];
        return [boxLink(life.box), `[${box.start.toLocaleString("en")}, ${box.stop.toLocaleString("en")})`, box.format, String(life.writes), String(life.reads), bytesText(life.bytes), cycles(life.first), cycles(life.last)];
      }), { label: "Tiles and buffers" })),
    facts.reuse.length ? el("details", { class: "more" }, el("summary", null, `One after the other on the same bytes (${facts.reuse.length})`), table(["tile", "and"], facts.reuse.map((one_) => pair(one_).slice(0, 2)), { label: "Reuse" })) : "",
    facts.holes.length ? el("details", { class: "more" }, el("summary", null, `Holes (${facts.holes.length})`), table(["bytes", "#size"], facts.holes.map(([from, to]) => [`[${from.toLocaleString("en")}, ${to.toLocaleString("en")})`, bytesText(to - from)]), { label: "Holes" })) : "");
}

function boxLink(box) { return button(boxName(box), () => { selectBox(box); show("tiles"); }, { class: "link" }); }

const BOX_COLOURS = ["#6db3e8", "#f2b632", "#3fbf99", "#dd9cc1", "#f08a4b", "#a9dcf5", "#c9b3e6", "#b9c46a"];
const boxColour = (box) => BOX_COLOURS[box % BOX_COLOURS.length];

function mapScales(width, height) {
  const top = memoryMap.facts.peak, room = Math.min(M.memories[memoryMap.memory].capacity, Math.max(top * 1.08, 1));
  return { x: d3.scaleLinear([0, M.end || 1], [MAP_LEFT, width - 8]), y: d3.scaleLinear([0, room || 1], [height - 22, 8]) };
}

function drawMemory(context, width, height) {
  const c = colours(), { x, y } = memoryMap.scales = mapScales(width, height), { facts } = memoryMap;
  context.font = "11px " + c.font;
  context.lineWidth = 1;
  for (const tick of y.ticks(7)) {
    context.strokeStyle = c.grid;
    context.beginPath(); context.moveTo(MAP_LEFT, Math.round(y(tick)) + 0.5); context.lineTo(width, Math.round(y(tick)) + 0.5); context.stroke();
    context.fillStyle = c.quiet;
    context.textAlign = "right";
    context.fillText(tick.toLocaleString("en"), MAP_LEFT - 6, y(tick) + 4);
  }
  context.textAlign = "center";
  for (const tick of x.ticks(Math.max(2, Math.floor(width / 130)))) context.fillText(tick.toLocaleString("en"), clamp(x(tick), MAP_LEFT + 14, width - 24), height - 6);
  context.textAlign = "left";
  for (const life of facts.lives) drawLife(context, life, x, y);
  drawShared(context, x, y);
  context.strokeStyle = c.quiet;
  context.setLineDash([5, 4]);
  context.beginPath(); context.moveTo(MAP_LEFT, y(facts.peak)); context.lineTo(width, y(facts.peak)); context.stroke();
  context.setLineDash([]);
  if (state.step >= 0) drawNow(context, x, y, height);
}

function drawLife(context, life, x, y) {
  const c = colours(), box = M.boxes[life.box], top = y(box.stop), tall = Math.max(y(box.start) - top, 1.5);
  context.globalAlpha = 0.22;
  context.fillStyle = boxColour(life.box);
  context.fillRect(x(life.first), top, Math.max(x(life.last) - x(life.first), 1), tall);
  context.globalAlpha = 0.85;
  let drawn = -1;
  for (const span of life.spans) {
    const from = Math.max(x(span.from), drawn), to = Math.max(x(span.to), from + 0.8);
    if (x(span.to) <= drawn) continue;
    context.fillRect(from, top, to - from - 0.3, tall);
    drawn = to;
  }
  context.globalAlpha = 1;
  context.strokeStyle = life.box === state.box ? c.select : c.paper;
  context.lineWidth = life.box === state.box ? 2.5 : 0.8;
  context.strokeRect(x(life.first), top, Math.max(x(life.last) - x(life.first), 1), tall);
  const room = x(life.last) - x(life.first) - 8;
  if (tall > 12 && room > 30) drawLabel(context, boxName(life.box), x(life.first) + 4, top + tall / 2, room, true);
}

function drawShared(context, x, y) {
  const slanted = hatch(context, colours().error);
  for (const [a, b, low, high] of memoryMap.facts.overlaps) {
    const lives = memoryMap.facts.lives, one = lives.find((life) => life.box === a), other = lives.find((life) => life.box === b);
    const from = Math.max(one.first, other.first), to = Math.min(one.last, other.last);
    context.fillStyle = slanted;
    if (to > from) context.fillRect(x(from), y(high), x(to) - x(from), Math.max(y(low) - y(high), 2));
  }
}

/** The selected operation: its time, and what it reads and writes here. */
function drawNow(context, x, y, height) {
  const c = colours(), step = state.step;
  context.fillStyle = c.select;
  context.globalAlpha = 0.25;
  context.fillRect(x(M.S.start[step]), 4, Math.max(x(M.S.end[step]) - x(M.S.start[step]), 1.5), height - 26);
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  for (const access of accessesOfStep(step)) {
    const region = M.A.region[access];
    if (M.R.memory[region] !== memoryMap.memory) continue;
    context.strokeStyle = M.A.writes[access] ? c.select : c.ink;
    const top = y(regionStop(region)), tall = Math.max(y(M.R.offset[region]) - top, 2);
    context.strokeRect(x(M.S.start[step]) - 1, top, Math.max(x(M.S.end[step]) - x(M.S.start[step]), 3) + 2, tall);
  }
}

/** Bytes in use over time. */
function drawUse(facts) {
  if (memoryMap.plot) memoryMap.plot.destroy();
  const width = memoryMap.chart.clientWidth, c = colours();
  if (!width || facts.times.length < 2) { memoryMap.plot = null; fill(memoryMap.chart); return; }
  const axis = { stroke: c.quiet, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1 }, font: "11px " + c.font };
  memoryMap.plot = new uPlot({
    width, height: 130, scales: { x: { time: false, range: [0, M.end || 1] }, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.08] } }, padding: [6, 8, 0, 0],
    series: [{ label: "cycle" }, { label: "bytes in use", stroke: c["space-ub"], fill: c["space-ub"] + "44", width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }],
    axes: [{ ...axis, size: 24, space: 90 }, { ...axis, size: MAP_LEFT, values: (_, ticks) => ticks.map((one) => bytesText(one)) }], legend: { show: true, live: true },
  }, [facts.times, facts.used], memoryMap.chart);
}

function askByte(byte, at) {
  const memory = memoryMap.memory;
  if (!Number.isFinite(byte)) return;
  const step = at ?? (state.step >= 0 ? state.step : M.lastStep), access = lastWriter(memory, byte, step);
  state.byte = byte;
  if (access < 0) { fill(memoryMap.whose, `byte ${byte.toLocaleString("en")}: nothing has written it before that`); return; }
  const from = M.A.step[access], earlier = from === step ? lastWriter(memory, byte, from - 1) : -1;
  fill(memoryMap.whose, `byte ${byte.toLocaleString("en")} of ${boxName(M.A.box[access])}: last written by `, stepLink(from), ` on ${whereText(from)}${loopsText(from) ? `, ${loopsText(from)}` : ""}, at ${cycles(M.S.end[from])}`,
    earlier >= 0 ? ["; before it by ", stepLink(M.A.step[earlier])] : "");
}

/** The last step that has ended at a time. */
function stepBefore(time_) {
  let found = -1;
  for (let step = 0; step < M.S.length; step++) if (M.S.end[step] <= time_) found = step;
  return found;
}

function listenMemory(canvas) {
  const place = (event) => {
    const box = canvas.getBoundingClientRect(), { x, y } = memoryMap.scales;
    return { at: x.invert(event.clientX - box.left), byte: Math.floor(y.invert(event.clientY - box.top)) };
  };
  const boxAt = ({ at, byte }) => {
    const inside = memoryMap.facts.lives.filter((life) => M.boxes[life.box].start <= byte && byte < M.boxes[life.box].stop);
    return inside.find((life) => life.spans.some((span) => span.from <= at && at <= span.to)) || inside.find((life) => life.first <= at && at <= life.last) || inside[0];
  };
  canvas.addEventListener("pointermove", (event) => {
    const where = place(event), life = boxAt(where);
    if (!life) { hideTip(); return; }
    let last = null;
    for (const access of life.marks) if (M.S.end[M.A.step[access]] <= where.at && placeIn(M.A.region[access], where.byte) >= 0) last = access;
    const box = M.boxes[life.box];
    showTip(event.clientX, event.clientY, [`${boxName(life.box)} ${box.format} [${box.start.toLocaleString("en")}, ${box.stop.toLocaleString("en")})`, `byte ${where.byte.toLocaleString("en")} at ${cycles(where.at)}`,
      last === null ? "not written before" : `last written by ${stepText(M.A.step[last])} on ${whereText(M.A.step[last])}`]);
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const where = place(event), life = boxAt(where);
    if (life) selectBox(life.box);
    askByte(where.byte, Math.max(0, stepBefore(where.at)));
  });
}

on("select", (step) => {
  if (!memoryMap.sheet) return;
  const here = step >= 0 && accessesOfStep(step).some((access) => M.R.memory[M.A.region[access]] === memoryMap.memory);
  const other = step >= 0 && !here ? accessesOfStep(step).map((access) => M.R.memory[M.A.region[access]]).find((one) => !M.memories[one].shared) : undefined;
  if (other !== undefined) { memoryMap.memory = other; showMemory(); } else memoryMap.sheet.soon();
});
on("box", (box) => {
  if (!memoryMap.sheet) return;
  if (M.boxes[box].memory !== memoryMap.memory) { memoryMap.memory = M.boxes[box].memory; showMemory(); } else memoryMap.sheet.soon();
});
on("shown", (part) => { if (part === "memory" && memoryMap.sheet) showMemory(); });
on("theme", () => { if (memoryMap.sheet && panels.get("memory").classList.contains("shown")) showMemory(); });
