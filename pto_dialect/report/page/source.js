// The program with how often and how long its lines run, and what was found there.
const MOST_LINES = 20000;
const sourcePart = { lines: new Map() };

function lineFacts() {
  const facts = new Map();
  M.sites.forEach((site, number) => {
    if (site.file < 0) return;
    const key = `${site.file}:${site.line}`;
    const one = facts.get(key) || { hits: 0, spent: 0, sites: [], findings: [], pipes: new Set() };
    one.hits += Math.max(M.hits[number], site.count);
    one.spent += M.spent[number];
    one.reached ||= site.reached;
    one.sites.push(number);
    facts.set(key, one);
  });
  M.findings.forEach((finding, number) => {
    for (const place of [finding.place, ...finding.notes.map((note) => note.place)]) {
      if (place.file < 0) continue;
      const key = `${place.file}:${place.line}`;
      const one = facts.get(key) || { hits: 0, spent: 0, sites: [], findings: [], pipes: new Set() };
      if (!one.findings.includes(number)) one.findings.push(number);
      facts.set(key, one);
    }
  });
  for (let step = 0; step < M.S.length; step++) {
    const site = siteOf(step), one = facts.get(`${site.file}:${site.line}`);
    if (one) one.pipes.add(laneAt(step).pipe);
  }
  return facts;
}

/** The first step of a line behind the selected one, so that repeated clicks go through its executions. */
function stepOfLine(sites) {
  const wanted = new Set(sites);
  for (let at = 0; at < M.S.length; at++) {
    const step = (state.step + 1 + at) % M.S.length;
    if (wanted.has(M.S.site[step])) return step;
  }
  // Parts of a scope have no step of their own: the one that they belong to.
  for (let access = 0; access < M.A.length; access++) if (wanted.has(M.A.site[access])) return M.A.step[access];
  return -1;
}

const TOKENS = /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%[\w.$-]+)|(![\w.]+)|(@[\w.$-]+)|\b((?:pto|arith|scf|func|memref|vector|cf|math)\.[\w.]+)|\b(-?\d[\w.]*)\b/g;
const CLASSES = ["", "comment", "string", "value", "type", "symbol", "op", "literal"];

function colouredLine(text) {
  const parts = [];
  let last = 0;
  for (const match of text.slice(0, 2000).matchAll(TOKENS)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    const kind = match.findIndex((one, at) => at > 0 && one !== undefined);
    parts.push(el("span", { class: "t-" + CLASSES[kind] }, match[0]));
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

function sourceLine(file, number, text, one, most) {
  const share = one && M.end ? one.spent / most : 0;
  const finding = one && one.findings.length ? M.findings[one.findings[0]] : null;
  const mark = finding ? button(finding.severity === "error" ? "✖" : "▲",
    () => { show("findings"); emit("finding", one.findings[0]); },
    { class: "mark " + finding.severity, "aria-label": `${finding.severity}: ${finding.rule}`, title: finding.message }) : "";
  const pipe = one && one.pipes.size ? [...one.pipes][0] : null;
  const code = one && one.sites.length
    ? el("button", { type: "button", class: "code", onclick: () => { const step = stepOfLine(one.sites); if (step >= 0) select(step); } }, colouredLine(text))
    : el("span", { class: "code" }, colouredLine(text));
  const row = el("div", { class: "line" + (one && one.sites.length && !one.reached ? " idle" : "") },
    el("span", { class: "mark-cell" }, mark),
    el("span", { class: "line-number" }, number),
    el("span", { class: "count", title: one && one.hits ? `runs ${one.hits.toLocaleString("en")} times` : null }, one && one.hits ? `${one.hits >= 1e4 ? si(one.hits) : one.hits}×` : ""),
    el("span", { class: "share", title: share ? `${cycles(one.spent)} cycles, ${percent(one.spent / busyTotal())} of all work` : null },
      share ? el("i", { style: { width: `${Math.max(2, 100 * share)}%`, background: pipe ? pipeColour(pipe) : "" } }) : "",
      share ? el("b", null, percent(one.spent / busyTotal())) : ""),
    code);
  sourcePart.lines.set(`${file}:${number}`, row);
  return row;
}

function busyTotal() { return M.lanes.reduce((sum, lane) => sum + lane.busy, 0) || 1; }

function buildSource(panel) {
  sourcePart.lines.clear();
  const facts = lineFacts();
  const most = Math.max(1, ...[...facts.values()].map((one) => one.spent));
  const files = M.files.map((file, number) => {
    const lines = file.text.split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    const shown = lines.slice(0, MOST_LINES);
    return el("div", { class: "file" },
      el("h3", null, file.name),
      el("div", { class: "scroll code-block", tabindex: "0", role: "region", "aria-label": `Source of ${file.name}` },
        el("div", { class: "lines" }, shown.map((text, at) => sourceLine(number, at + file.first, text, facts.get(`${number}:${at + file.first}`), most)))),
      lines.length > shown.length ? el("p", { class: "quiet" }, `${lines.length - shown.length} more lines are not shown.`) : "");
  });
  fill(panel, el("div", { class: "legend quiet" }, "count · share of all work · text. Select a line to go through its executions."),
    files.length ? files : el("p", { class: "empty" }, "The program was built without a text, so there is no source to show."));
}

function lightLine(step) {
  for (const row of document.querySelectorAll(".line.selected")) row.classList.remove("selected");
  if (step < 0) return;
  const site = siteOf(step), row = sourcePart.lines.get(`${site.file}:${site.line}`);
  if (!row) return;
  row.classList.add("selected");
  const box = row.closest(".code-block");
  if (!box || !box.clientHeight) return;
  const top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
}

on("select", lightLine);
