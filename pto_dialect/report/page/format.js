// Numbers as texts, and elements of all types from their bytes.
const si = d3.format(".3~s");

function cycles(value) {
  if (!Number.isFinite(value)) return "–";
  return value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function time(value) {
  const ns = (value / M.clock_mhz) * 1e3;
  return ns >= 1e6 ? `${(ns / 1e6).toPrecision(3)} ms` : ns >= 1e3 ? `${(ns / 1e3).toPrecision(3)} µs` : `${ns.toPrecision(3)} ns`;
}

function bytesText(value) {
  if (value < 1024) return `${value} B`;
  if (value < 1 << 20) return `${Number((value / 1024).toFixed(value < 10240 ? 1 : 0))} KiB`;
  return `${Number((value / (1 << 20)).toFixed(1))} MiB`;
}

function percent(value) { return Number.isFinite(value) ? `${(100 * value).toFixed(value && value < 0.0995 ? 1 : 0)} %` : "–"; }

function number(value) {
  if (typeof value === "bigint" || Number.isNaN(value)) return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return Object.is(value, -0) ? "-0" : String(value);
  return String(Number(value.toPrecision(6)));
}

function f16(bits) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

const word = new DataView(new ArrayBuffer(8));

function bf16(bits) {
  word.setUint32(0, bits << 16 >>> 0);
  return word.getFloat32(0);
}

/** Reads element `index` (of storage units; `half` of packed pairs) of `view`, a DataView, as the type `name`. */
function elementAt(view, name, format, index, half) {
  const at = index * format.bytes;
  if (format.elements > 1) {
    const code = (view.getUint8(at) >> (half ? 4 : 0)) & 15;
    return format.values ? format.values[code] : format.kind === "int" ? (code ^ 8) - 8 : code;
  }
  if (format.values) return format.values[view.getUint8(at)];
  if (format.kind === "float") {
    if (format.bits === 64) return view.getFloat64(at, true);
    if (format.bits === 32) return view.getFloat32(at, true);
    return name === "bf16" ? bf16(view.getUint16(at, true)) : f16(view.getUint16(at, true));
  }
  const signed = format.kind === "int";
  switch (format.bytes) {
    case 1: return signed ? view.getInt8(at) : view.getUint8(at);
    case 2: return signed ? view.getInt16(at, true) : view.getUint16(at, true);
    case 4: return signed ? view.getInt32(at, true) : view.getUint32(at, true);
    default: return Number(signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true));
  }
}

/** The bytes of element `index` as a hexadecimal number, the most significant first. */
function hexAt(bytes, format, index) {
  let text = "";
  for (let byte = format.bytes - 1; byte >= 0; byte--) text += bytes[index * format.bytes + byte].toString(16).padStart(2, "0");
  return "0x" + text;
}
