// The run: columns, and what follows from them.
async function readRun(raw) {
  const model = { ...raw };
  const parts = { steps: "S", accesses: "A", regions: "R" };
  for (const [name, short] of Object.entries(parts)) model[short] = await columns(raw[name]);
  const { dropped, ...places } = raw.contents;
  const length_ = await column(places.length);
  model.contents = { dropped, chunk: await column(places.chunk), offset: await column(places.offset), length_ };
  model.loops = { starts: await column(raw.loops.starts), numbers: await column(raw.loops.numbers) };
  model.dims = { starts: await column(raw.dims.starts), numbers: await column(raw.dims.numbers) };
  model.expected = {};
  for (const [name, one] of Object.entries(raw.expected)) model.expected[name] = await column(one);
  for (const format of Object.values(raw.formats)) if (format.table) format.values = await column(format.table);
  derive(model);
  return model;
}

function derive(model) {
  const { S, A, threads } = model, count = S.length;
  model.end = 0;
  model.ready = new Float64Array(count);
  model.previous = new Int32Array(count).fill(-1);
  model.next = new Int32Array(count).fill(-1);
  model.lanes = threads.map((thread, number) => ({ ...thread, number, steps: [], starts: [], busy: 0, till: 0, waits: 0 }));
  model.hits = new Float64Array(model.sites.length);
  model.spent = new Float64Array(model.sites.length);
  for (let step = 0; step < count; step++) {
    const lane = model.lanes[S.thread[step]], last = lane.steps.length ? lane.steps[lane.steps.length - 1] : -1;
    model.previous[step] = last;
    if (last >= 0) model.next[last] = step;
    model.ready[step] = last >= 0 ? S.end[last] : 0;
    lane.steps.push(step);
    lane.starts.push(S.start[step]);
    model.end = Math.max(model.end, S.end[step]);
    model.hits[S.site[step]]++;
    const wait = waitOf(model, step);
    if (wait) lane.waits += wait.to - wait.from;
    if (S.kind[step] === OPERATION) {
      // Transfers of one pipe may overlap.
      lane.busy += Math.max(0, S.end[step] - Math.max(S.start[step], lane.till));
      lane.till = Math.max(lane.till, S.end[step]);
      model.spent[S.site[step]] += S.end[step] - S.start[step];
    }
  }
  model.lanes = model.lanes.filter((lane) => lane.steps.length || model.blocked.some((one) => one.thread === lane.number));
  const order = (lane) => [Number(lane.core.split(" of rank ")[1] ?? 0), lane.block, lane.core, PIPES.indexOf(lane.pipe)];
  model.lanes.sort((one, other) => {
    const a = order(one), b = order(other);
    return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0) || a[3] - b[3];
  });
  model.laneOf = new Map(model.lanes.map((lane, row) => [lane.number, row]));
  // Accesses stand in the order of their steps.
  model.firstAccess = new Uint32Array(count + 1);
  let at = 0;
  for (let step = 0; step <= count; step++) {
    while (at < A.length && A.step[at] < step) at++;
    model.firstAccess[step] = at;
  }
  model.lastStep = count - 1;
  model.critical = criticalPath(model);
}

/** What a step has waited for: the time from..to, and the step that it waited for (-1: unknown). */
function waitOf(model, step) {
  const { S } = model;
  if (S.kind[step] === TAKEN) {
    const sender = S.sender[step];
    const to = sender >= 0 ? Math.max(S.start[step], S.end[sender]) : S.start[step];
    return to > S.start[step] ? { from: S.start[step], to, cause: sender } : null;
  }
  const from = model.ready[step];
  return S.start[step] > from ? { from, to: S.start[step], cause: S.cause[step] } : null;
}

/** The chain of steps that the end of the run has waited for, last first. */
function criticalPath(model) {
  const { S } = model, found = [], seen = new Set();
  let step = -1;
  for (let one = 0; one < S.length; one++) if (step < 0 || S.end[one] >= S.end[step]) step = one;
  while (step >= 0 && !seen.has(step)) {
    seen.add(step);
    found.push(step);
    step = S.cause[step];
  }
  return { steps: found, has: seen };
}

function listOf(lists, number) { return lists.numbers.subarray(lists.starts[number], lists.starts[number + 1]); }

const siteOf = (step) => M.sites[M.S.site[step]];
const laneAt = (step) => M.threads[M.S.thread[step]];
const shortPipe = (pipe) => pipe.replace("PIPE_", "");
const laneName = (lane) => `${lane.core} ${shortPipe(lane.pipe)}`;
const manyBlocks = () => new Set(M.threads.map((one) => one.block)).size > 1;

function loopsText(step) {
  const site = siteOf(step), values = listOf(M.loops, M.S.loops[step]);
  return site.loops.map((name, at) => (at < values.length ? `%${name} = ${values[at]}` : "")).filter(Boolean).join(", ");
}

function placeText(place) {
  if (!place || place.file < 0) return "";
  return (M.files.length > 1 ? `${M.files[place.file].name}, ` : "") + `line ${place.line}`;
}

function stepText(step) {
  const place = placeText(siteOf(step));
  return siteOf(step).op + (place ? ` (${place})` : "");
}

function whereText(step) {
  const lane = laneAt(step);
  return `${shortPipe(lane.pipe)} of ${lane.core}` + (manyBlocks() ? `, block ${lane.block}` : "");
}

/** The text of the statement of a site, in one line. */
function statement(site) {
  if (site.file < 0) return site.op;
  const file = M.files[site.file];
  return (file.lines ||= file.text.split("\n"))[site.line - file.first] || site.op;
}
