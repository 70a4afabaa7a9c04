// Columns of numbers and contents of memory: base64, then zlib.
const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

async function inflated(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function column(one) { return new TYPES[one.type](await inflated(one.data)); }

/** All columns of a table, and its number of rows as `length`. */
async function columns(tableOf) {
  const names = Object.keys(tableOf);
  const found = await Promise.all(names.map((name) => column(tableOf[name])));
  const made = { length: found.length ? found[0].length : 0 };
  names.forEach((name, at) => { made[name] = found[at]; });
  return made;
}

const chunks = new Map();

/** The bytes of a content, or null where the page does not have them. */
async function contentOf(number) {
  const chunk = M.contents.chunk[number];
  if (!number || !chunk) return null;
  if (!chunks.has(chunk)) {
    const found = document.getElementById("chunk-" + chunk);
    chunks.set(chunk, found ? inflated(found.textContent) : Promise.resolve(null));
  }
  const whole = await chunks.get(chunk);
  return whole && new Uint8Array(whole, M.contents.offset[number], M.contents.length_[number]);
}
