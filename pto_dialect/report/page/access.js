// Who touches which bytes, and what memory held at any step.

/** Whether byte `byte` is one of region `region`; its place in the content, or -1. */
function placeIn(region, byte) {
  const { R } = M;
  let rest = byte - R.offset[region];
  if (rest < 0) return -1;
  const run = R.run[region], dims = listOf(M.dims, R.dims[region]);
  if (!dims.length) return rest < run ? rest : -1;
  let inner = run;
  const sizes = [];
  for (let at = dims.length - 2; at >= 0; at -= 2) { sizes[at] = inner; inner *= dims[at]; }
  const pairs = [];
  for (let at = 0; at < dims.length; at += 2) pairs.push([dims[at + 1], dims[at], sizes[at]]);
  pairs.sort((one, other) => other[0] - one[0]);
  let place = 0;
  for (const [stride, count, size] of pairs) {
    const index = Math.min(Math.floor(rest / stride), count - 1);
    rest -= index * stride;
    place += index * size;
  }
  return rest < run ? place + rest : -1;
}

function regionStop(region) {
  const { R } = M, dims = listOf(M.dims, R.dims[region]);
  let stop = R.offset[region] + R.run[region];
  for (let at = 0; at < dims.length; at += 2) stop += (dims[at] - 1) * dims[at + 1];
  return stop;
}

function regionBytes(region) {
  const dims = listOf(M.dims, M.R.dims[region]);
  let size = M.R.run[region];
  for (let at = 0; at < dims.length; at += 2) size *= dims[at];
  return size;
}

/** Accesses of each memory, in order; made when first wanted. */
function accessesOf(memory) {
  if (!M.byMemory) {
    M.byMemory = M.memories.map(() => []);
    for (let at = 0; at < M.A.length; at++) M.byMemory[M.R.memory[M.A.region[at]]].push(at);
  }
  return M.byMemory[memory];
}

function accessesOfStep(step) {
  const found = [];
  for (let at = M.firstAccess[step]; at < M.firstAccess[step + 1]; at++) found.push(at);
  return found;
}

/** Copies the runs of a region that lie in [start, stop) from its content; `put(target, source, count)`. */
function runsWithin(region, start, stop, put) {
  const { R } = M, run = R.run[region], dims = listOf(M.dims, R.dims[region]);
  const walk = (depth, offset, source) => {
    if (depth === dims.length) {
      const low = Math.max(offset, start), high = Math.min(offset + run, stop);
      if (low < high) put(low - start, source + low - offset, high - low);
      return run;
    }
    let taken = 0;
    for (let index = 0; index < dims[depth]; index++) taken += walk(depth + 2, offset + index * dims[depth + 1], source + taken);
    return taken;
  };
  walk(0, R.offset[region], 0);
}

const KNOWN = 1, MISSING = 2; // of a byte: its value is in the page, or was written but is not kept; 0: never written

/** The bytes [start, stop) of a memory after `step`, what is known of each, and the access that wrote it last. */
async function bytesAt(memory, start, stop, step) {
  const size = stop - start, bytes = new Uint8Array(size), known = new Uint8Array(size), writer = new Int32Array(size).fill(-1);
  const all = accessesOf(memory);
  let left = size;
  for (let at = all.length - 1; at >= 0 && left > 0; at--) {
    const access = all[at];
    if (M.A.step[access] > step || !M.A.writes[access]) continue;
    const region = M.A.region[access];
    if (M.R.offset[region] >= stop || regionStop(region) <= start) continue;
    const content = await contentOf(M.A.content[access]);
    runsWithin(region, start, stop, (target, source, count) => {
      for (let index = 0; index < count; index++) {
        if (writer[target + index] >= 0) continue;
        writer[target + index] = access;
        known[target + index] = content ? KNOWN : MISSING;
        if (content) bytes[target + index] = content[source + index];
        left--;
      }
    });
  }
  const one = M.memories[memory];
  if (left && one.shared) {
    const initial = await contentOf(one.content);
    for (let index = 0; index < size; index++) {
      if (writer[index] >= 0) continue;
      known[index] = initial ? KNOWN : MISSING;
      if (initial) bytes[index] = initial[start + index];
    }
  }
  return { bytes, known, writer };
}

/** The access that has written a byte last at or before `step`, -1 for none. */
function lastWriter(memory, byte, step) {
  const all = accessesOf(memory);
  for (let at = all.length - 1; at >= 0; at--) {
    const access = all[at];
    if (M.A.step[access] <= step && M.A.writes[access] && placeIn(M.A.region[access], byte) >= 0) return access;
  }
  return -1;
}

function memoryName(number) {
  const one = M.memories[number];
  if (one.shared) return `gm ${one.name}`;
  return `${one.space} of ${one.core || "the run"}` + (manyBlocks() && one.block >= 0 ? `, block ${one.block}` : "");
}

function boxName(number) {
  const box = M.boxes[number];
  return box.name || `bytes ${box.start}–${box.stop}`;
}

function rangeText(region) {
  const stop = regionStop(region), size = regionBytes(region);
  const holes = size < stop - M.R.offset[region] ? ` (${size.toLocaleString("en")} of them)` : "";
  return `[${M.R.offset[region].toLocaleString("en")}, ${stop.toLocaleString("en")})${holes}`;
}
