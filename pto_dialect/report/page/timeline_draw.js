// How the timeline is painted.
const labelWidth = () => (timeline.sheet.width < 500 ? 84 : 104);
const timeOf = (x) => timeline.from + ((x - labelWidth()) / (timeline.sheet.width - labelWidth())) * (timeline.to - timeline.from);

function drawAxis(context, scale, width, height, left) {
  const c = colours();
  context.strokeStyle = c.grid;
  context.fillStyle = c.quiet;
  context.font = "11px " + c.font;
  context.textAlign = "center";
  context.lineWidth = 1;
  for (const tick of scale.ticks(Math.max(2, Math.floor((width - left) / 110)))) {
    const x = Math.round(scale(tick)) + 0.5;
    if (x < left) continue;
    context.beginPath();
    context.moveTo(x, AXIS - 6);
    context.lineTo(x, height);
    context.stroke();
    if (x > left + 18 && x < width - 18) context.fillText(tick.toLocaleString("en"), x, AXIS - 11);
  }
  context.textAlign = "left";
  context.fillText("cycles", 6, AXIS - 11);
}

function drawTimeline(context, width, height) {
  const c = colours(), left = labelWidth();
  const scale = d3.scaleLinear([timeline.from, timeline.to], [left, width]);
  drawAxis(context, scale, width, height, left);
  const slanted = hatch(context, c.wait);
  for (const row of timeline.rows) drawLane(context, row, scale, width, left, slanted);
  if (timeline.options.critical) drawCritical(context, scale, left, width);
  if (timeline.options.signals) drawSignals(context, scale, left, width);
  drawFindingMarks(context, scale, left, width);
  drawSelected(context, scale, left);
}

function drawLane(context, row, scale, width, left, slanted) {
  const c = colours(), { lane, y } = row, { S } = M;
  context.fillStyle = c.lane;
  context.fillRect(left, y + 1, width - left, LANE - 2);
  context.save();
  context.beginPath();
  context.rect(left, y, width - left, LANE);
  context.clip();
  const colour = pipeColour(lane.pipe), first = Math.max(0, above(lane.starts, timeline.from) - 2);
  const last = above(lane.starts, timeline.to);
  if (last - first > 2 * (width - left)) {
    drawDense(context, lane, first, last, y, left, width);
    context.restore();
    drawBlocked(context, row, scale, width, left);
    drawLaneLabel(context, row, left);
    return;
  }
  let drawnTo = -1;
  for (let index = first; index < lane.steps.length; index++) {
    const step = lane.steps[index], x = scale(S.start[step]);
    if (timeline.options.waits) {
      const wait = waitOf(M, step);
      if (wait && scale(wait.to) - scale(wait.from) > 1.5 && scale(wait.from) < width) {
        context.fillStyle = slanted;
        context.fillRect(scale(wait.from), y + 6, scale(wait.to) - scale(wait.from), LANE - 12);
      }
    }
    if (x > width) break;
    const wide = Math.max(scale(S.end[step]) - x, 1);
    if (x + wide < left || x + wide <= drawnTo) continue;
    const from = Math.max(x, drawnTo, left);
    drawnTo = x + wide;
    if (S.kind[step] === OPERATION) {
      context.fillStyle = colour;
      context.fillRect(from, y + 3, drawnTo - from - (wide > 5 ? 0.7 : 0), LANE - 6);
      if (wide > 34) drawLabel(context, siteOf(step).op.replace(/^\w+\./, ""), Math.max(x, left) + 4, y + LANE / 2, Math.min(drawnTo, width) - Math.max(x, left) - 8);
    } else if (S.kind[step] === FAILED) {
      context.fillStyle = c.error;
      context.fillRect(x - 1, y + 1, 3, LANE - 2);
    } else {
      // Of a wait only its end is work: the rest is shaded.
      const at = S.kind[step] === TAKEN ? Math.max(S.start[step], scale.invert(drawnTo - 2)) : S.start[step];
      context.fillStyle = c.signal;
      context.fillRect(Math.max(scale(at), left), y + 5, Math.max(1, Math.min(2, drawnTo - scale(at))), LANE - 10);
    }
  }
  context.restore();
  drawBlocked(context, row, scale, width, left);
  drawLaneLabel(context, row, left);
}

/** Many steps for each column of the picture: how much of its time the pipe works, and waits. */
function drawDense(context, lane, first, last, y, left, width) {
  const { S } = M, count = Math.ceil(width - left), work = new Float64Array(count + 1), each = (timeline.to - timeline.from) / (width - left);
  for (let index = first; index < last; index++) {
    const step = lane.steps[index];
    if (S.kind[step] !== OPERATION) continue;
    let from = Math.max((S.start[step] - timeline.from) / each, 0);
    const to = Math.min((S.end[step] - timeline.from) / each, count);
    while (from < to) {
      const next = Math.min(Math.floor(from) + 1, to);
      work[Math.floor(from)] += next - from;
      from = next;
    }
  }
  context.fillStyle = pipeColour(lane.pipe);
  for (let at = 0; at < count; at++) {
    const tall = (LANE - 6) * Math.min(work[at], 1);
    if (tall > 0) context.fillRect(left + at, y + LANE - 3 - tall, 1, tall);
  }
}

/** A text in at most so much room; with a ring around its letters where what lies below is light and dark. */
function drawLabel(context, text, x, y, room, ring = false) {
  const c = colours();
  context.font = "11px " + c.font;
  context.fillStyle = ring ? c.ink : c["on-pipe"];
  context.textBaseline = "middle";
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) shown = shown.slice(0, -1);
  if (shown !== text) shown = shown.length > 2 ? shown.slice(0, -1) + "…" : "";
  if (ring) {
    Object.assign(context, { strokeStyle: c.paper, lineWidth: 3, lineJoin: "round" });
    context.strokeText(shown, x, y + 0.5);
  }
  context.fillText(shown, x, y + 0.5);
  context.textBaseline = "alphabetic";
}

function drawLaneLabel(context, row, left) {
  const c = colours(), { lane, y } = row;
  context.fillStyle = c.paper;
  context.fillRect(0, y - (row.first ? GAP - 1 : 0), left, LANE + (row.first ? GAP - 1 : 0));
  context.font = "12px " + c.font;
  context.textBaseline = "middle";
  context.fillStyle = c.ink;
  context.textAlign = "right";
  context.fillText(shortPipe(lane.pipe), left - 8, y + LANE / 2);
  context.textAlign = "left";
  if (row.first) {
    context.fillStyle = c.quiet;
    const text = (manyBlocks() ? `${lane.block}·` : "") + (lane.core === "core" ? "core" : lane.core);
    context.fillText(left < 90 ? text.slice(0, 5) : text, 4, y + LANE / 2);
  }
  context.textBaseline = "alphabetic";
}

/** A pipe that never goes on is shaded to the end. */
function drawBlocked(context, row, scale, width, left) {
  const c = colours();
  for (const one of M.blocked) {
    if (one.thread !== row.lane.number) continue;
    const last = row.lane.steps[row.lane.steps.length - 1], x = Math.max(left, scale(last === undefined ? 0 : M.S.end[last]));
    context.fillStyle = hatch(context, c.error);
    context.fillRect(x, row.y + 4, Math.max(width - x, 8), LANE - 8);
    context.fillStyle = c.paper;
    context.font = "11px " + c.font;
    const text = `waits for ${one.text}, forever`;
    const room = Math.min(context.measureText(text).width, width - x - 14);
    if (room < 40) continue;
    context.fillRect(x + 6, row.y + 5, room + 6, LANE - 10);
    context.fillStyle = c.error;
    context.fillText(text, x + 9, row.y + LANE / 2 + 4, room);
  }
}

function drawCritical(context, scale, left, width) {
  const c = colours();
  context.strokeStyle = c.critical;
  context.lineWidth = 2;
  let last = null;
  for (const step of M.critical.steps) {
    const row = timeline.rowOf.get(M.S.thread[step]);
    if (!row) { last = null; continue; }
    const from = scale(M.S.start[step]), to = scale(M.S.end[step]);
    if (to >= left && from <= width) {
      const x = Math.max(from, left);
      context.strokeRect(x, row.y + 2, Math.max(to - x, 1), LANE - 4);
    }
    if (last && last.x >= left && to <= width && last.row !== row) {
      context.beginPath();
      context.moveTo(Math.max(to, left), row.y + LANE / 2);
      context.lineTo(last.x, last.row.y + LANE / 2);
      context.stroke();
    }
    last = { x: M.S.kind[step] === TAKEN ? to : from, row };
  }
}

const MOST_ARROWS = 400;

function drawSignals(context, scale, left, width) {
  const c = colours(), { S } = M, shown = [];
  for (const row of timeline.rows) {
    const { lane } = row, first = Math.max(0, above(lane.starts, timeline.from) - 2);
    for (let index = first; index < lane.steps.length && S.start[lane.steps[index]] <= timeline.to; index++) {
      const step = lane.steps[index];
      if (S.sender[step] >= 0) shown.push([step, row]);
      // So many arrows are no picture: they come when one zooms in.
      if (shown.length > 4 * MOST_ARROWS) return;
    }
  }
  const stride = Math.ceil(shown.length / MOST_ARROWS);
  for (let at = 0; at < shown.length; at += 1) {
    const [step, row] = shown[at], from = timeline.rowOf.get(S.thread[S.sender[step]]);
    const chosen = step === state.step || S.sender[step] === state.step;
    if (!from || (stride > 1 && at % stride && !chosen)) continue;
    const x0 = scale(S.end[S.sender[step]]), x1 = scale(S.end[step]);
    if ((x0 < left && x1 < left) || (x0 > width && x1 > width)) continue;
    const y0 = from.y + LANE / 2, y1 = row.y + (row.y > from.y ? 3 : LANE - 3);
    context.strokeStyle = context.fillStyle = chosen ? c.select : c.arrow;
    context.lineWidth = chosen ? 2 : 1;
    context.globalAlpha = chosen || shown.length < 60 ? 1 : 0.35;
    context.beginPath();
    context.moveTo(Math.max(x0, left), y0);
    const bend = Math.max(8, (x1 - x0) / 2);
    context.bezierCurveTo(x0 + bend * 0.4, y0, x1, (y0 + y1) / 2, Math.max(x1, left), y1);
    context.stroke();
    const tipSize = row.y > from.y ? -5 : 5;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3, y1 + tipSize);
    context.lineTo(x1 + 3, y1 + tipSize);
    context.fill();
    context.globalAlpha = 1;
  }
}

function drawFindingMarks(context, scale, left, width) {
  const c = colours();
  M.findings.forEach((finding, number) => {
    const places = finding.steps.filter((step) => step >= 0).map((step) => [step, timeline.rowOf.get(M.S.thread[step])]).filter((one) => one[1]);
    const strong = number === state.finding;
    context.strokeStyle = context.fillStyle = finding.severity === "error" ? c.error : c.warning;
    context.lineWidth = strong ? 2.5 : 1.5;
    const points = places.map(([step, row]) => [clamp((scale(M.S.start[step]) + scale(M.S.end[step])) / 2, left, width), row.y + LANE / 2, step, row]);
    for (const [x, , step, row] of points) {
      if (scale(M.S.end[step]) < left || scale(M.S.start[step]) > width) continue;
      const from = Math.max(scale(M.S.start[step]), left);
      context.strokeRect(from, row.y + 2, Math.max(scale(M.S.end[step]) - from, 2), LANE - 4);
      context.beginPath();
      context.moveTo(x, row.y + 9); context.lineTo(x - 5, row.y - 0.5); context.lineTo(x + 5, row.y - 0.5);
      context.fill();
    }
    if (points.length === 2) {
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(points[0][0], points[0][1]); context.lineTo(points[1][0], points[1][1]);
      context.stroke();
      context.setLineDash([]);
    }
  });
}

function drawSelected(context, scale, left) {
  const c = colours(), step = state.step, row = step >= 0 && timeline.rowOf.get(M.S.thread[step]);
  if (!row || scale(M.S.end[step]) < left) return;
  const x = Math.max(scale(M.S.start[step]), left);
  context.strokeStyle = c.select;
  context.lineWidth = 2.5;
  context.strokeRect(x - 1, row.y + 1.5, Math.max(scale(M.S.end[step]) - x, 3) + 2, LANE - 3);
}
