// What all parts of the page share: the state that is selected, and how parts hear of changes.
const state = { step: -1, box: -1, finding: -1, part: "timeline", byte: -1 };
const OPERATION = 0, SENT = 1, TAKEN = 2, FAILED = 3;
const PIPES = ["PIPE_S", "PIPE_MTE2", "PIPE_MTE1", "PIPE_M", "PIPE_V", "PIPE_FIX", "PIPE_MTE3"];
const SPACES = ["gm", "l1", "l0a", "l0b", "bt", "fb", "scale_left", "scale_right", "l0c", "ub"];
let M = null; // the run, once it is read

const heard = new Map();

/** Calls `action` whenever `name` happens. */
function on(name, action) {
  if (!heard.has(name)) heard.set(name, []);
  heard.get(name).push(action);
}

/** Tells all parts that `name` has happened. */
function emit(name, ...values) {
  for (const action of heard.get(name) || []) action(...values);
}

/** Runs `action` at most once before the next picture. */
function framed(action) {
  let asked = false;
  return () => {
    if (asked) return;
    // Nothing is drawn later while a page is printed.
    if (document.body.classList.contains("printing")) { action(); return; }
    asked = true;
    requestAnimationFrame(() => { asked = false; action(); });
  };
}

function clamp(value, low, high) { return Math.min(Math.max(value, low), high); }

/** Index of the first element of the sorted `values` that is above `limit`. */
function above(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

function keptChoice(key, value) {
  // Pages opened as files may have no storage.
  try {
    if (value === undefined) return localStorage.getItem("pto-report-" + key);
    localStorage.setItem("pto-report-" + key, value);
  } catch { /* nothing is kept */ }
  return null;
}
