// The operation that is selected: what it is, when it ran, what it has waited for and touched.
const inspector = el("section", { class: "inspector", "aria-label": "Selected operation", "aria-live": "polite" });

/** Selects a step everywhere; -1 for none. */
function select(step, more) {
  if (!M || step >= M.S.length) return;
  state.step = step;
  emit("select", step, more || {});
}

/** Selects a tile or buffer everywhere. */
function selectBox(box) {
  state.box = box;
  emit("box", box);
}

function stepLink(step) {
  return button(stepText(step), () => select(step, { reveal: true }), { class: "link", title: whereText(step) });
}

function kindText(step) {
  return ["", "gives a signal", "waits for a signal", "was refused"][M.S.kind[step]];
}

function timeParts(step) {
  const { S } = M, spent = S.end[step] - S.start[step], wait = waitOf(M, step);
  const parts = [];
  if (S.kind[step] === OPERATION && spent > 0) {
    parts.push(["time", `${cycles(spent)} cycles from ${cycles(S.start[step])} on (${time(spent)})`]);
    const evidence = siteOf(step).evidence;
    if (S.low[step] !== S.high[step]) parts.push(["band", `${cycles(S.low[step])} – ${cycles(S.high[step])} cycles${evidence ? `, ${evidence}` : ""}`]);
  } else parts.push(["time", `at ${cycles(S.start[step])}`]);
  if (wait) {
    const text = [`${cycles(wait.to - wait.from)} cycles`];
    parts.push(["waited", wait.cause >= 0 ? [text[0] + " for ", stepLink(wait.cause), ` on ${whereText(wait.cause)}`] : text]);
  }
  if (S.sender[step] >= 0) parts.push(["signal from", [stepLink(S.sender[step]), ` on ${whereText(S.sender[step])}`]]);
  if (M.critical.has.has(step)) parts.push(["critical", "the end of the run waits for it"]);
  return parts;
}

function accessChips(step) {
  const found = accessesOfStep(step), shown = found.slice(0, 24);
  const chips = shown.map((access) => {
    const region = M.A.region[access], memory = M.R.memory[region], box = M.A.box[access];
    const verb = M.A.writes[access] ? "writes" : "reads";
    const label = `${verb} ${boxName(box)} ${rangeText(region)}`;
    return button([el("i", { class: "dot", style: { background: spaceColour(M.memories[memory].space) } }), label],
      () => { state.shape = M.A.shape[access]; selectBox(box); show("tiles"); }, { class: "chip", title: `${memoryName(memory)}: show its content` });
  });
  if (found.length > shown.length) chips.push(el("span", { class: "quiet" }, `and ${found.length - shown.length} more`));
  return chips;
}

function inspect(step) {
  if (step < 0) {
    fill(inspector, el("p", { class: "quiet" }, "Select an operation: in the source, on the timeline, in memory. Keys: ← → along the pipe, [ ] to what was waited for, ? for all."));
    return;
  }
  const loops = loopsText(step), kind = kindText(step);
  fill(inspector,
    el("div", { class: "inspector-head" },
      el("strong", null, siteOf(step).op), el("span", { class: "pipe-tag", style: { background: pipeColour(laneAt(step).pipe) } }, shortPipe(laneAt(step).pipe)),
      el("span", null, [whereText(step), loops, placeText(siteOf(step)), kind].filter(Boolean).join(" · ")),
      el("span", { class: "grow" }),
      el("span", { class: "quiet" }, `step ${step + 1} of ${M.S.length.toLocaleString("en")}`),
      button("◀", () => move(-1), { title: "Before on this pipe (←)", "aria-label": "Before on this pipe" }),
      button("▶", () => move(1), { title: "Next on this pipe (→)", "aria-label": "Next on this pipe" }),
      button("Zoom", () => { show("timeline"); emit("zoom", step); }, { title: "Show it on the timeline (z)" })),
    el("dl", null, timeParts(step).map(([name, text]) => el("div", null, el("dt", null, name), el("dd", null, text)))),
    el("div", { class: "chips" }, accessChips(step)));
}

/** Goes along the pipe of the selected step. */
function move(direction) {
  if (state.step < 0) { if (M.S.length) select(0, { reveal: true }); return; }
  const to = direction < 0 ? M.previous[state.step] : M.next[state.step];
  if (to >= 0) select(to, { reveal: true });
}

/** Goes to what the selected step has waited for, or to the first one that has waited for it. */
function follow(direction) {
  if (state.step < 0) return;
  if (direction < 0) {
    const to = M.S.cause[state.step];
    if (to >= 0) select(to, { reveal: true });
    return;
  }
  const to = M.S.cause.indexOf(state.step);
  if (to >= 0) select(to, { reveal: true });
}

on("select", inspect);
on("theme", () => inspect(state.step));
