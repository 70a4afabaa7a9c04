// What limits the run, above all parts: the sentence, how much of the chip is used, what waits cost.

/** A share as a bar with its number; the bar is for the eye alone. */
function meter(name, share, text, more) {
  const part = Number.isFinite(share) ? clamp(share, 0, 1) : 0;
  return el("div", { class: "meter", ...more },
    el("span", { class: "meter-name" }, name),
    el("span", { class: "meter-bar", "aria-hidden": "true" }, el("i", { style: { width: `${(100 * part).toFixed(2)}%` } })),
    el("span", { class: "meter-text" }, text));
}

function gbps(value) { return value >= 9.5 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2))); }

const pathName = (name) => name.toUpperCase().replace(":", "→");

/** How much of the chip, of its units and of its memory paths the run uses. */
function chipMeters(limits) {
  const { used, of, kind } = limits.cores;
  const found = [meter(kind ? `${kind}s` : "cores", used / of, `${used} of ${of}`)];
  for (const name of ["cube", "vector"]) {
    const one = limits.busy[name];
    if (one) found.push(meter(name, one.core, `${percent(one.core)} busy, ${percent(one.chip)} of the chip`));
  }
  for (const one of limits.paths) {
    const limit = one.limit_gbps ? ` of ${gbps(one.limit_gbps)}` : "";
    found.push(meter(pathName(one.path), one.share ?? NaN, `${gbps(one.gbps)}${limit} GB/s, ${percent(one.busy)} busy`));
  }
  return found;
}

/** The shares of the critical path as one bar. */
function criticalBar(limits) {
  const whole = M.end || 1, parts = Object.entries(limits.critical).filter(([, one]) => one / whole >= 0.005);
  const colourOf = { M: "m", V: "v", MTE1: "mte1", MTE2: "mte2", MTE3: "mte3", FIX: "fix", cube: "m", vector: "v", sync: "s", "gm:l1": "mte2", "gm:ub": "mte2", "ub:gm": "mte3", "l1:l0a": "mte1", "l1:l0b": "mte1", "l0c:gm": "fix", "l0c:l1": "fix", "l0c:ub": "fix" };
  const nameOf = (name) => (name === "sync" ? "signals" : name.includes(":") ? pathName(name) : name);
  return el("div", { class: "critical" }, el("span", { class: "meter-name" }, "critical path"),
    el("span", { class: "stack", role: "img", "aria-label": parts.map(([name, one]) => `${nameOf(name)} ${percent(one / whole)}`).join(", ") },
      parts.map(([name, one]) => el("i", { style: { width: `${(100 * one) / whole}%`, background: `var(--pipe-${colourOf[name] || "s"})` }, title: `${nameOf(name)} ${percent(one / whole)}` }, one / whole > 0.14 ? nameOf(name) : ""))),
    el("span", { class: "meter-text" }, parts.map(([name, one]) => `${nameOf(name)} ${percent(one / whole)}`).join(", ")));
}

/** The first finding as a line that opens it. */
function findingLine() {
  if (!M.findings.length) return "";
  const one = M.findings[0], count = M.findings.length > 1 ? ` (1 of ${M.findings.length})` : "";
  return el("p", { class: "first-finding " + one.severity }, el("strong", null, one.severity === "error" ? "✖ " : "▲ "), button(one.message.split("\n")[0], () => { show("findings"); emit("finding", 0); }, { class: "link" }), count);
}

function limitsPart() {
  const limits = M.limits;
  if (!limits || !limits.text) return M.findings.length ? el("section", { class: "limits", "aria-label": "What is wrong" }, findingLine()) : "";
  const shown = new Set(["best change", "band", "waits cost", "balance", "launch"]);
  const facts = limits.facts.filter((one) => shown.has(one.name));
  return el("section", { class: "limits", "aria-label": "What limits the run" }, findingLine(),
    el("p", { class: "limiter" }, el("span", { class: "quiet" }, "Limited by: "), el("strong", null, linked(limits.text))),
    el("div", { class: "limit-columns" },
      el("div", { class: "meters" }, chipMeters(limits)),
      el("dl", { class: "limit-facts" }, facts.map((one) => el("div", null, el("dt", null, one.name), el("dd", null, linked(one.text)))))),
    criticalBar(limits));
}
