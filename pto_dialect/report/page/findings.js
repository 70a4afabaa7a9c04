// What is wrong, with pictures: both accesses of a race in time and in memory.
const findingCards = [];

function buildFindings(panel) {
  findingCards.length = 0;
  if (!M.findings.length && M.recorded) {
    fill(panel, el("p", { class: "empty" }, "The recording has no findings. A run with --sanitize looks for races, deadlocks, bytes that nothing wrote, accesses out of bounds, and tiles that overlap."));
    return;
  }
  if (!M.findings.length) {
    fill(panel, el("div", { class: "empty" },
      el("p", null, el("strong", null, M.checked.length ? "Nothing was found." : "This run was not checked.")),
      el("p", null, M.checked.length ? `Checked: ${M.checked.join(", ")}.` : "Add --sanitize to look for races, deadlocks, bytes that nothing wrote, accesses out of bounds, and tiles that overlap.")));
    return;
  }
  const cards = M.findings.map((finding, number) => findingCard(finding, number));
  fill(panel, el("p", { class: "quiet" }, `${M.findings.length} found${M.checked.length ? `; checked: ${M.checked.join(", ")}` : ""}.`), cards);
  for (const one of findingCards) one.draw();
}

function placeLink(place) {
  const text = placeText(place);
  if (!text) return "";
  return button(text, () => {
    const sites = M.sites.map((site, at) => (site.file === place.file && site.line === place.line ? at : -1)).filter((at) => at > 0);
    const step = sites.length ? stepOfLine(sites) : -1;
    if (step >= 0) select(step, { reveal: true });
    const row = sourcePart.lines.get(`${place.file}:${place.line}`);
    if (row) { show("source"); row.scrollIntoView({ block: "center" }); }
  }, { class: "link" });
}

function findingCard(finding, number) {
  const pictures = [];
  const steps = finding.steps.filter((step) => step >= 0);
  const card = el("article", { class: "card " + finding.severity, id: `finding-${number}`, tabindex: "-1" });
  if (steps.length || (finding.rule.includes("deadlock") && M.blocked.length)) pictures.push(timePicture(finding, steps));
  if (finding.memory >= 0 && finding.ranges.length) pictures.push(memoryPicture(finding, steps));
  card.append(
    el("header", null, el("span", { class: "severity " + finding.severity }, finding.severity === "error" ? "✖ error" : finding.severity === "warning" ? "▲ warning" : finding.severity),
      el("code", null, finding.rule), placeLink(finding.place), finding.count > 1 ? el("span", { class: "quiet" }, `${finding.count} times`) : "",
      el("span", { class: "grow" }),
      differs(finding),
      steps.length ? button("On the timeline", () => { pickFinding(number); show("timeline"); zoomSteps(steps); }) : ""),
    el("p", { class: "message" }, finding.message),
    el("ul", null, finding.notes.map((note) => el("li", null, note.text, " ", placeLink(note.place)))),
    ...(finding.help ? [el("p", { class: "help" }, el("strong", null, "Help: "), finding.help)] : []),
    el("div", { class: "pictures" }, pictures.map((one) => one.box)));
  findingCards[number] = { card, draw: () => pictures.forEach((one) => one.sheet.draw()) };
  return card;
}

/** A way to the buffer whose content is not what was expected. */
function differs(finding) {
  const name = Object.keys(M.expected).find((one) => finding.rule === "expectation" && finding.message.includes(one));
  const box = name === undefined ? -1 : M.boxes.findIndex((one) => M.memories[one.memory].shared && M.memories[one.memory].name === name);
  if (box < 0) return "";
  return button("Where it differs", () => {
    show("tiles");
    select(M.lastStep);
    selectBox(box);
    tileView.against_.value = tileView.against = "expected";
    showTile();
  });
}

function pickFinding(number) {
  state.finding = number;
  const [step] = M.findings[number].steps.filter((one) => one >= 0).slice(-1);
  if (step !== undefined) select(step, { reveal: true });
}

function timePicture(finding, steps) {
  const blockedLanes = steps.length ? [] : M.blocked.map((one) => one.thread);
  const threads = [...new Set([...steps.map((step) => M.S.thread[step]), ...blockedLanes])].filter((one) => M.laneOf.has(one)).slice(0, 8);
  let low = Infinity, high = -Infinity;
  for (const step of steps) { low = Math.min(low, M.S.start[step]); high = Math.max(high, M.S.end[step]); }
  if (!steps.length) { low = 0; high = M.end; }
  const around = Math.max((high - low) * 0.35, 12), from = Math.max(low - around, -around * 0.1), to = high + around;
  const drawing = sheet(AXIS + threads.length * (LANE + 6) + 6, (context, width, height) => {
    const c = colours(), left = width < 420 ? 70 : 110, scale = d3.scaleLinear([from, to], [left, width - 4]);
    drawAxis(context, scale, width, height, left);
    const middles = [];
    threads.forEach((thread, row) => drawPictureLane(context, { thread, y: AXIS + row * (LANE + 6), scale, width, left, steps, finding, middles }));
    if (middles.length === 2 && middles[0].y !== middles[1].y) {
      context.strokeStyle = c.error;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(middles[0].x, middles[0].y); context.lineTo(middles[1].x, middles[1].y);
      context.stroke();
      context.setLineDash([]);
    }
  }, { role: "img", "aria-label": `When it happens: ${finding.message}` });
  return { sheet: drawing, box: el("figure", null, el("div", { class: "sheet" }, drawing.canvas), el("figcaption", null, finding.rule.startsWith("race") && steps.length > 1 ? "In time: nothing holds the second one back" : steps.length ? "In time" : "In time: what stands still")) };
}

function drawPictureLane(context, { thread, y, scale, width, left, steps, finding, middles }) {
  const c = colours(), lane = M.lanes[M.laneOf.get(thread)];
  context.fillStyle = c.lane;
  context.fillRect(left, y + 1, width - left, LANE);
  context.save();
  context.beginPath();
  context.rect(left, y, width - left, LANE + 2);
  context.clip();
  for (const step of lane.steps) {
    const x = scale(M.S.start[step]), end = scale(M.S.end[step]);
    if (end < left || x > width) continue;
    const mine = steps.includes(step);
    context.globalAlpha = mine || !steps.length ? 1 : 0.35;
    const waits = M.S.kind[step] === TAKEN && end - x > 3;
    context.fillStyle = waits ? hatch(context, c.wait) : M.S.kind[step] === OPERATION ? pipeColour(lane.pipe) : c.signal;
    context.fillRect(x, y + 3, Math.max(end - x - 0.5, 1.5), LANE - 4);
    context.globalAlpha = 1;
    if (end - x > 34 && !waits) drawLabel(context, siteOf(step).op.replace(/^\w+\./, ""), Math.max(x, left) + 4, y + LANE / 2 + 1, Math.min(end, width) - Math.max(x, left) - 8);
    if (!mine) continue;
    middles.push({ x: clamp((x + end) / 2, left, width), y: y + LANE / 2 });
    context.strokeStyle = c.error;
    context.lineWidth = 2;
    context.strokeRect(x, y + 2, Math.max(end - x, 3), LANE - 2);
  }
  context.restore();
  const row = { lane, y: y + 1 };
  drawBlocked(context, row, scale, width, left);
  context.fillStyle = c.ink;
  context.font = "12px " + c.font;
  context.textAlign = "right";
  context.fillText(laneName(lane), left - 8, y + LANE / 2 + 5, left - 10);
  context.textAlign = "left";
}

function memoryPicture(finding, steps) {
  const memory = M.memories[finding.memory];
  const rows = steps.map((step, at) => ({
    label: `${finding.writes && finding.writes[at] ? "writes" : "reads"}, ${shortPipe(laneAt(step).pipe)}`,
    colour: pipeColour(laneAt(step).pipe),
    ranges: accessesOfStep(step).filter((one) => M.R.memory[M.A.region[one]] === finding.memory && (!finding.writes || !!M.A.writes[one] === !!finding.writes[at]))
      .map((one) => [M.R.offset[M.A.region[one]], regionStop(M.A.region[one])]),
  }));
  rows.push({ label: "both", colour: colours().error, ranges: finding.ranges });
  let low = Infinity, high = 0;
  for (const [start, stop] of rows.flatMap((row) => row.ranges)) { low = Math.min(low, start); high = Math.max(high, stop); }
  const around = Math.max((high - low) * 0.15, 16);
  low = Math.max(0, low - around);
  high = Math.min(memory.capacity, high + around);
  const drawing = sheet(AXIS + rows.length * (LANE + 2) + 4, (context, width) => {
    const c = colours(), left = width < 420 ? 84 : 110, scale = d3.scaleLinear([low, high], [left, width - 6]);
    context.font = "11px " + c.font;
    context.fillStyle = c.quiet;
    context.fillText("byte", 6, 14);
    context.textAlign = "center";
    for (const tick of scale.ticks(Math.max(2, Math.floor((width - left) / 120)))) context.fillText(tick.toLocaleString("en"), clamp(scale(tick), left + 14, width - 22), 14);
    rows.forEach((row, at) => {
      const y = AXIS - 4 + at * (LANE + 2);
      context.fillStyle = c.lane;
      context.fillRect(left, y, width - left, LANE - 2);
      context.fillStyle = row.colour;
      for (const [start, stop] of row.ranges) context.fillRect(scale(start), y + 3, Math.max(2, scale(stop) - scale(start)), LANE - 8);
      context.fillStyle = c.ink;
      context.textAlign = "right";
      context.fillText(row.label, left - 8, y + LANE / 2 + 3, left - 10);
      context.textAlign = "left";
    });
  }, { role: "img", "aria-label": `Bytes of ${memoryName(finding.memory)}` });
  return { sheet: drawing, box: el("figure", null, el("div", { class: "sheet" }, drawing.canvas), el("figcaption", null, `In memory: ${memoryName(finding.memory)}`)) };
}

on("finding", (number) => {
  pickFinding(number);
  const one = findingCards[number];
  if (one) { one.card.scrollIntoView({ block: "nearest" }); one.card.focus({ preventScroll: true }); }
});
on("shown", (part) => { if (part === "findings") for (const one of findingCards) one.draw(); });
on("theme", () => { for (const one of findingCards) one.draw(); });
