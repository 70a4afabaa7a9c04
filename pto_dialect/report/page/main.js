// The page: its head, its parts, keys, themes.
const PARTS = [
  ["source", "Source", buildSource], ["timeline", "Timeline", buildTimeline], ["memory", "Memory map", buildMemory],
  ["tiles", "Tiles", buildTiles], ["flow", "Data flow", buildFlow], ["findings", "Findings", buildFindings], ["roofline", "Roofline", buildRoofline],
];
const panels = new Map(), tabs = new Map();
const wide = matchMedia("(min-width: 1100px)"), dark = matchMedia("(prefers-color-scheme: dark)");

/** Shows a part; beside the source on wide windows. */
function show(part) {
  if (part === "source" && wide.matches) return;
  state.part = part;
  for (const [name, panel] of panels) {
    const shown = name === part || (name === "source" && wide.matches);
    panel.classList.toggle("shown", shown);
    const tab = tabs.get(name);
    tab.setAttribute("aria-selected", String(name === part));
    tab.tabIndex = name === part ? 0 : -1;
  }
  if (!panels.get(part).dataset.built) build(part);
  else emit("shown", part);
}

function build(part) {
  const panel = panels.get(part);
  panel.dataset.built = "yes";
  PARTS.find((one) => one[0] === part)[2](panel);
}

function applyTheme(kept) {
  const chosen = kept || keptChoice("theme") || "auto";
  const theme = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.theme = theme;
  if (kept) keptChoice("theme", kept);
  emit("theme", theme);
}

function head() {
  const facts = [M.release ? `${M.target}, release ${M.release}` : M.target, `${cycles(M.end)} cycles`, time(M.end), `${M.S.length.toLocaleString("en")} steps`];
  if (manyBlocks()) facts.push(`${new Set(M.threads.map((one) => one.block)).size} blocks`);
  const errors = M.findings.filter((one) => one.severity === "error").length, others = M.findings.length - errors;
  const badges = [];
  if (!M.complete) badges.push(el("span", { class: "badge error" }, "did not end"));
  if (errors) badges.push(button(`✖ ${errors} error${errors > 1 ? "s" : ""}`, () => show("findings"), { class: "badge error" }));
  if (others) badges.push(button(`▲ ${others} warning${others > 1 ? "s" : ""}`, () => show("findings"), { class: "badge warning" }));
  if (!M.findings.length) badges.push(el("span", { class: "badge good" }, M.checked.length ? "✓ nothing found" : M.recorded ? "no findings" : "not checked"));
  const theme = button("◐", () => applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"), { title: "Dark or light (t)", "aria-label": "Dark or light" });
  return el("header", { class: "top" },
    el("h1", null, `@${M.entry}`), el("span", { class: "quiet file-name" }, M.file),
    el("span", { class: "facts" }, facts.map((one) => el("span", null, one))), badges, el("span", { class: "grow" }),
    theme, button("?", () => help.showModal(), { title: "Keys (?)", "aria-label": "Keys and help" }));
}

const KEYS = [
  ["1 – 7", "parts of the page"], ["← →", "before and next on the pipe"], ["[ ]", "what was waited for; what waits for this"], ["z", "zoom to the iteration of the selected operation"],
  ["0", "the whole run"], ["+ −", "zoom"], ["a d", "move the timeline"], ["c", "critical path"], ["f", "next finding"], ["t", "dark or light"], ["Esc", "select nothing"],
];
const help = el("dialog", { "aria-label": "Keys" });

function buildHelp() {
  fill(help, el("h2", null, "Keys"), el("dl", { class: "keys" }, KEYS.map(([key, text]) => el("div", null, el("dt", null, el("kbd", null, key)), el("dd", null, text)))),
    el("p", { class: "quiet" }, `Times are those of the cycle model: use them to compare. Made by pto-run ${M.tool}.`),
    M.contents.dropped ? el("p", { class: "quiet" }, "Not all contents of memory fit into this page: those of the beginning and the end are here.") : "",
    button("Close", () => help.close()));
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.target.getAttribute("role") === "tab" && event.key.startsWith("Arrow")) return;
  const width = timeline.to - timeline.from;
  const actions = {
    ArrowLeft: () => move(-1), ArrowRight: () => move(1), "[": () => follow(-1), "]": () => follow(1),
    z: () => { if (state.step >= 0) { show("timeline"); emit("zoom", state.step); } }, 0: () => timeline.sheet && zoomAll(),
    "+": () => timeline.sheet && zoomBy(0.6), "-": () => timeline.sheet && zoomBy(1.6),
    a: () => timeline.sheet && timelineZoom(timeline.from - width / 4, timeline.to - width / 4), d: () => timeline.sheet && timelineZoom(timeline.from + width / 4, timeline.to + width / 4),
    c: () => { const box = [...document.querySelectorAll("#part-timeline label.check")].pop(); if (box) box.firstChild.click(); },
    f: () => { if (M.findings.length) { show("findings"); emit("finding", (state.finding + 1) % M.findings.length); } },
    t: () => applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"), "?": () => help.showModal(), Escape: () => { select(-1); hideTip(); },
  };
  const part = PARTS[Number(event.key) - 1];
  const action = actions[event.key] || (part && event.key !== "0" ? () => show(part[0]) : null);
  if (!action) return;
  event.preventDefault();
  action();
}

function tabList() {
  const list = el("div", { role: "tablist", class: "tabs", "aria-label": "Parts" }, PARTS.map(([name, text]) => {
    const extra = name === "findings" && M.findings.length ? ` (${M.findings.length})` : "";
    const tab = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `part-${name}`, onclick: () => show(name) }, text + extra);
    tabs.set(name, tab);
    return tab;
  }));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = PARTS.map((one) => one[0]).filter((name) => !(name === "source" && wide.matches));
    const next = names[(names.indexOf(state.part) + step + names.length) % names.length];
    show(next);
    tabs.get(next).focus();
    event.preventDefault();
  });
  return list;
}

/** Lays all parts out for paper and draws them, at once and in the light theme. */
function printed() {
  document.body.classList.add("printing");
  for (const panel of panels.values()) panel.classList.add("shown");
  document.documentElement.dataset.theme = "light";
  emit("theme", "light");
  for (const [name] of PARTS) {
    if (panels.get(name).dataset.built) emit("shown", name);
    else build(name);
  }
}

function afterPrint() {
  document.body.classList.remove("printing");
  applyTheme();
  show(state.part);
}

async function start() {
  const app = document.getElementById("app");
  if (typeof DecompressionStream === "undefined") {
    fill(app, el("p", { class: "loading" }, "This page needs a browser from 2023 or later: it unpacks the run with DecompressionStream."));
    return;
  }
  try {
    M = await readRun(JSON.parse(document.getElementById("run").textContent));
  } catch (error) {
    fill(app, el("p", { class: "loading" }, `This page is damaged: ${error.message}`));
    throw error;
  }
  addOverlaps();
  applyTheme();
  buildHelp();
  const work = el("div", { class: "work" });
  const grid = el("main", { class: "grid" });
  for (const [name, text] of PARTS) panels.set(name, el("section", { class: "panel", role: "tabpanel", id: `part-${name}`, "aria-labelledby": `tab-${name}` }, el("h2", { class: "part-title" }, text), el("div", { class: "body" })));
  for (const panel of panels.values()) panel.body = panel.lastChild;
  work.append(tabList(), ...[...panels].filter(([name]) => name !== "source").map(([, panel]) => panel), inspector);
  grid.append(panels.get("source"), work);
  fill(app, head(), limitsPart(), grid, tip, help);
  for (const part of PARTS) { const inner = part[2]; part[2] = (panel) => inner(panel.body); }
  build("source");
  show(M.findings.length ? "findings" : "timeline");
  if (!wide.matches) panels.get("source").classList.remove("shown");
  inspect(-1);
  const first = M.findings.findIndex((one) => one.steps.some((step) => step >= 0));
  if (first >= 0) pickFinding(first);
  else if (M.S.length) select(M.S.length > 1 && !M.complete ? M.S.length - 1 : 0);
  document.addEventListener("keydown", pressed);
  window.addEventListener("resize", framed(() => { show(state.part); emit("theme"); }));
  dark.addEventListener("change", () => applyTheme());
  wide.addEventListener("change", () => show(state.part === "source" ? "timeline" : state.part));
  window.addEventListener("beforeprint", printed);
  window.addEventListener("afterprint", afterPrint);
  document.documentElement.dataset.ready = "yes";
  // The numbers of a tile are unpacked while others wait; a page that is printed cannot.
  // Browsers may keep pages that are not in front from ever being idle: without a limit it would stay undone there.
  const unpack = () => { if (!panels.get("tiles").dataset.built) build("tiles"); };
  if (window.requestIdleCallback) requestIdleCallback(unpack, { timeout: 1000 });
  else setTimeout(unpack);
}

start();
