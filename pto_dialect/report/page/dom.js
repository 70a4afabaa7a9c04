// Elements are made one by one; texts only ever become text nodes and attribute values.
const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "rect", "line", "text", "circle", "defs", "marker", "title", "polyline"]);

/** An element with attributes, listeners (`onclick`), and children: elements and texts. */
function el(tag, attributes, ...children) {
  const made = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

function fill(parent, ...children) { parent.replaceChildren(...children.flat().filter((one) => one)); }

function button(text, action, more) { return el("button", { type: "button", onclick: action, ...more }, text); }

function choice(label, options, action, value) {
  const list = el("select", { "aria-label": label, onchange: () => action(list.value) },
    options.map(([key, text]) => el("option", { value: key }, text)));
  if (value !== undefined) list.value = String(value);
  return list;
}

function check(label, on_, action) {
  const box = el("input", { type: "checkbox", onchange: () => action(box.checked) });
  box.checked = on_;
  return el("label", { class: "check" }, box, label);
}

function table(heads, rows, more) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": (more && more.label) || "Table" },
    el("table", null,
      el("thead", null, el("tr", null, heads.map((one) => el("th", { scope: "col", class: one.startsWith("#") ? "number" : null }, one.replace("#", ""))))),
      el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, at) => el("td", { class: heads[at].startsWith("#") ? "number" : null }, cell)))))));
}

/** A canvas of the width of its parent that is drawn sharply; `draw(context, width, height)`. */
function sheet(height, draw, more) {
  const canvas = el("canvas", { tabindex: "0", ...more });
  const one = { canvas, height, width: 0 };
  one.draw = () => {
    const width = canvas.parentElement ? canvas.parentElement.clientWidth : 0;
    if (!width) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    one.width = width;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(one.height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = one.height + "px";
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, one.height);
    draw(context, width, one.height);
  };
  one.soon = framed(one.draw);
  return one;
}

const tip = el("div", { class: "tip", role: "status", hidden: true });

/** Shows lines of text near a place of the window. */
function showTip(x, y, lines) {
  fill(tip, lines.map((line, at) => el("div", { class: at ? null : "strong" }, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = clamp(x + 14, 4, Math.max(4, innerWidth - box.width - 6)) + "px";
  tip.style.top = clamp(y + 16 + box.height > innerHeight ? y - box.height - 10 : y + 16, 4, innerHeight) + "px";
}

function hideTip() { tip.hidden = true; }

let palette = null;

/** Colours of the theme by the names of their CSS variables. */
function colours() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  palette = new Proxy({}, { get: (known, name) => known[name] ?? (known[name] = style.getPropertyValue("--" + name).trim()) });
  return palette;
}
on("theme", () => { palette = null; });

function pipeColour(pipe) { return colours()["pipe-" + pipe.replace("PIPE_", "").toLowerCase()]; }
function spaceColour(space) { return colours()["space-" + space] || colours()["space-gm"]; }

/** A pattern of slanted lines in one colour. */
function hatch(context, colour) {
  const size = 6, tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const inside = tile.getContext("2d");
  inside.strokeStyle = colour;
  inside.lineWidth = 1.4;
  inside.beginPath();
  inside.moveTo(-1, size + 1); inside.lineTo(size + 1, -1);
  inside.moveTo(-1, 1); inside.lineTo(1, -1);
  inside.moveTo(size - 1, size + 1); inside.lineTo(size + 1, size - 1);
  inside.stroke();
  return context.createPattern(tile, "repeat");
}
