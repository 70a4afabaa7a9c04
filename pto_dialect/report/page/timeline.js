// Pipes, cores and blocks over time.
const timeline = { from: 0, to: 1, rows: [], top: 0, options: { signals: true, waits: true, critical: false }, block: "all", hover: -1 };
const LANE = 22, GAP = 10, AXIS = 26;

function visibleLanes() {
  const lanes = M.lanes.filter((lane) => timeline.block === "all" || String(lane.block) === timeline.block);
  let y = AXIS, last = null;
  timeline.rows = lanes.map((lane) => {
    const core = `${lane.block}/${lane.core}`;
    if (last !== null && core !== last) y += GAP;
    const first = core !== last;
    last = core;
    const row = { lane, y, first };
    y += LANE;
    return row;
  });
  timeline.rowOf = new Map(timeline.rows.map((row) => [row.lane.number, row]));
  return y + 8;
}

function timelineZoom(from, to) {
  const least = Math.max(M.end * 1e-7, 1e-3), width = clamp(to - from, least, M.end * 1.04 || 1);
  const start = clamp(from, -M.end * 0.02, Math.max(M.end * 1.02 - width, -M.end * 0.02));
  timeline.from = start;
  timeline.to = start + width;
  timeline.sheet.soon();
  if (timeline.scope) timeline.scope.textContent = `${cycles(Math.max(0, timeline.from))} – ${cycles(Math.min(M.end, timeline.to))} of ${cycles(M.end)} cycles`;
}

function zoomAll() { timelineZoom(-M.end * 0.01, M.end * 1.01 || 1); }

function zoomBy(factor, centre) {
  const middle = centre ?? (timeline.from + timeline.to) / 2;
  timelineZoom(middle - (middle - timeline.from) * factor, middle + (timeline.to - middle) * factor);
}

function zoomSteps(steps) {
  let low = Infinity, high = -Infinity;
  for (const step of steps) { low = Math.min(low, M.S.start[step]); high = Math.max(high, M.S.end[step]); }
  if (low > high) return;
  const around = Math.max((high - low) * 0.06, 2);
  timelineZoom(low - around, high + around);
}

/** The steps of one turn of a loop: those whose indices begin with the same values. */
function iteration(step, depth) {
  const site = siteOf(step), values = [...listOf(M.loops, M.S.loops[step])].slice(0, depth), names = site.loops.slice(0, depth);
  const thread = laneAt(step), same = [];
  for (let one = 0; one < M.S.length; one++) {
    const other = siteOf(one), lane = laneAt(one);
    if (lane.block !== thread.block || lane.core !== thread.core || other.loops.length < depth) continue;
    const theirs = listOf(M.loops, M.S.loops[one]);
    if (names.every((name, at) => name === other.loops[at]) && values.every((value, at) => value === theirs[at])) same.push(one);
  }
  return same;
}

/** The turns of outer loops that one can zoom to. */
function iterations() {
  const found = new Map();
  for (let step = 0; step < M.S.length && found.size < 400; step++) {
    const site = siteOf(step), values = listOf(M.loops, M.S.loops[step]);
    for (let depth = 1; depth <= Math.min(2, site.loops.length, values.length); depth++) {
      const key = site.loops.slice(0, depth).map((name, at) => `%${name} = ${values[at]}`).join(", ");
      if (!found.has(key)) found.set(key, [step, depth]);
    }
  }
  return found;
}

function buildTimeline(panel) {
  const turns = iterations(), blocks = [...new Set(M.lanes.map((lane) => lane.block))];
  if (blocks.length > 4 && timeline.block === "all") timeline.block = String(blocks[0]);
  const height = visibleLanes();
  timeline.sheet = sheet(height, drawTimeline, { class: "timeline", role: "img", "aria-label": "Timeline of pipes; keys plus, minus and arrows move it" });
  timeline.scope = el("span", { class: "quiet scope" });
  const options = timeline.options;
  const toggle = (name, label) => check(label, options[name], (value) => { options[name] = value; timeline.sheet.soon(); });
  const bar = el("div", { class: "toolbar" },
    button("Whole run", zoomAll, { title: "0" }), button("+", () => zoomBy(0.6), { "aria-label": "Zoom in" }), button("−", () => zoomBy(1.6), { "aria-label": "Zoom out" }),
    turns.size ? choice("Zoom to an iteration", [["", "Iteration …"], ...[...turns.keys()].map((key) => [key, key])], (key) => {
      if (key) zoomSteps(iteration(...turns.get(key)));
    }) : "",
    blocks.length > 1 ? choice("Block", [["all", "All blocks"], ...blocks.map((one) => [one, `Block ${one}`])], (value) => {
      timeline.block = value;
      timeline.sheet.height = visibleLanes();
      timeline.sheet.draw();
    }, timeline.block) : "",
    toggle("signals", "signals"), toggle("waits", "waits"), toggle("critical", "critical path"),
    el("span", { class: "grow" }), timeline.scope);
  fill(panel, bar, el("div", { class: "sheet" }, timeline.sheet.canvas), pipeLegend(), criticalText(), advicePart(), waitsTable());
  listenTimeline(timeline.sheet.canvas);
  zoomAll();
}

function pipeLegend() {
  const pipes = PIPES.filter((pipe) => M.lanes.some((lane) => lane.pipe === pipe));
  return el("div", { class: "legend" },
    pipes.map((pipe) => el("span", null, el("i", { class: "swatch", style: { background: pipeColour(pipe) } }), shortPipe(pipe))),
    el("span", null, el("i", { class: "swatch hatched" }), "waits"), el("span", { class: "quiet" }, "Drag to move, wheel or + − to zoom, click to select. Heights are the share of time at work where there is no room for single operations; signals come when you zoom in."));
}

function criticalText() {
  const byPipe = new Map();
  let sum = 0;
  for (const step of M.critical.steps) {
    const spent = M.S.end[step] - M.S.start[step], pipe = shortPipe(laneAt(step).pipe);
    if (M.S.kind[step] !== OPERATION || spent <= 0) continue;
    byPipe.set(pipe, (byPipe.get(pipe) || 0) + spent);
    sum += spent;
  }
  if (!sum) return "";
  const parts = [...byPipe].sort((one, other) => other[1] - one[1]).map(([pipe, spent]) => `${pipe} ${percent(spent / M.end)}`);
  return el("p", { class: "summary" }, el("strong", null, "Critical path: "), `${parts.join(", ")} of ${cycles(M.end)} cycles, ${M.critical.steps.length.toLocaleString("en")} steps.`);
}

/** For each pipe how long it works and waits, and for what most. */
function waitsTable() {
  const rows = [];
  for (const lane of M.lanes) {
    if (timeline.rows.length && !timeline.rowOf.has(lane.number)) continue;
    const causes = new Map();
    for (const step of lane.steps) {
      const wait = waitOf(M, step);
      if (!wait) continue;
      const key = wait.cause >= 0 ? M.S.site[wait.cause] : -1;
      const one = causes.get(key) || { spent: 0, step: wait.cause };
      one.spent += wait.to - wait.from;
      causes.set(key, one);
    }
    const [top] = [...causes.values()].sort((one, other) => other.spent - one.spent);
    rows.push([(manyBlocks() ? `block ${lane.block} ` : "") + laneName(lane), lane.steps.length.toLocaleString("en"), cycles(lane.busy), percent(lane.busy / M.end), cycles(lane.waits),
      top && top.step >= 0 ? [stepLink(top.step), ` ${cycles(top.spent)}`] : ""]);
  }
  return el("details", { class: "more", open: rows.length <= 14 }, el("summary", null, "Work and waits of each pipe"),
    table(["pipe", "#steps", "#busy", "#of the run", "#waits", "most for"], rows, { label: "Work and waits of each pipe" }));
}

function stepAt(x, y) {
  const row = timeline.rows.find((one) => y >= one.y && y < one.y + LANE);
  if (!row) return { row: null, step: -1 };
  const { steps, starts } = row.lane, at = timeOf(x), slack = (timeline.to - timeline.from) / timeline.sheet.width * 4;
  let best = -1, distance = Infinity;
  for (let index = above(starts, at + slack) - 1; index >= 0 && index > above(starts, at + slack) - 24; index--) {
    const step = steps[index], from = M.S.start[step], to = M.S.end[step];
    const away = at < from ? from - at : at > to ? at - to : 0;
    if (away < distance) { best = step; distance = away; }
  }
  return { row, step: distance <= slack ? best : -1, time: at };
}

function listenTimeline(canvas) {
  let drag = null;
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: timeline.from, to: timeline.to, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag && Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
    if (drag && drag.moved) {
      const shift = ((drag.x - event.clientX) / (timeline.sheet.width - labelWidth())) * (drag.to - drag.from);
      timelineZoom(drag.from + shift, drag.to + shift);
      hideTip();
      return;
    }
    hoverTimeline(x, y, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) { const { step } = stepAt(...place(event)); if (step >= 0) select(step); }
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { hideTip(); timeline.hover = -1; });
  canvas.addEventListener("wheel", (event) => {
    // A page that is scrolled past the timeline goes on scrolling, unless somebody zooms.
    if (!event.ctrlKey && !event.shiftKey && !canvas.matches(":focus") && Math.abs(event.deltaX) < Math.abs(event.deltaY) && !event.altKey) {
      if (document.activeElement !== canvas && timeline.sheet.height > innerHeight) return;
    }
    event.preventDefault();
    const [x] = place(event);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = (event.deltaX / timeline.sheet.width) * (timeline.to - timeline.from);
      timelineZoom(timeline.from + shift, timeline.to + shift);
    } else zoomBy(Math.exp(clamp(event.deltaY, -200, 200) * 0.002), timeOf(x));
  }, { passive: false });
}

function hoverTimeline(x, y, event) {
  const { step, row, time: at } = stepAt(x, y);
  timeline.hover = step;
  if (step < 0) {
    const waiting = row && row.lane.steps[above(row.lane.starts, at)];
    const wait = waiting === undefined || !row ? null : waitOf(M, waiting);
    if (wait && at >= wait.from && at <= wait.to && timeline.options.waits) {
      showTip(event.clientX, event.clientY, [`${laneName(row.lane)} waits ${cycles(wait.to - wait.from)} cycles`, wait.cause >= 0 ? `for ${stepText(wait.cause)} on ${whereText(wait.cause)}` : "for the scalar unit", `before ${stepText(waiting)}`]);
    } else hideTip();
    return;
  }
  const spent = M.S.end[step] - M.S.start[step], wait = waitOf(M, step);
  showTip(event.clientX, event.clientY, [stepText(step), `${whereText(step)}${loopsText(step) ? `, ${loopsText(step)}` : ""}`,
    `${cycles(spent)} cycles, ${cycles(M.S.start[step])} – ${cycles(M.S.end[step])}`,
    wait && wait.cause >= 0 ? `waited ${cycles(wait.to - wait.from)} for ${stepText(wait.cause)}` : null].filter(Boolean));
}

on("select", (step, more) => {
  if (!timeline.sheet) return;
  if (step >= 0 && more.reveal && (M.S.end[step] < timeline.from || M.S.start[step] > timeline.to)) {
    const width = timeline.to - timeline.from;
    timelineZoom(M.S.start[step] - width / 2, M.S.start[step] + width / 2);
  }
  timeline.sheet.soon();
});
on("zoom", (step) => {
  const site = siteOf(step);
  if (site.loops.length) zoomSteps(iteration(step, site.loops.length));
  else { const width = Math.max((M.S.end[step] - M.S.start[step]) * 6, 40); timelineZoom(M.S.start[step] - width / 2, M.S.end[step] + width / 2); }
});
on("theme", () => timeline.sheet && timeline.sheet.soon());
