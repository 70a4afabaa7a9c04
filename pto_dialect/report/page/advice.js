// What waits of pipes cost, and what would make the run faster.

/** A text whose lines of the program are links to their steps. */
function linked(text) {
  return text.split(/(\bline \d+)/).map((part, at) => (at % 2 ? placeLink({ file: 0, line: Number(part.slice(5)), column: 0 }) : part));
}

function advicePart() {
  const waits = M.waits || [], { advice } = M, none = advice && !advice.length;
  if (!waits.length && !advice) return "";
  const item = (one) => el("li", null, linked(one.text));
  return el("section", { class: "advice" },
    waits.length ? [el("h3", null, "Waits, those first that cost most"), el("ul", null, waits.map(item))] : "",
    el("h3", null, "What would make it faster"),
    advice && advice.length ? el("ul", null, advice.map(item)) : "",
    el("p", { class: "quiet" }, M.untried ? `Nothing was tried: ${M.untried}.` : none ? "None of the changes that were tried saves time; pto optimize tries other tiles, loops and orders." : advice ? "Each change was made, run on the same arguments, compared bit by bit, and timed." : "Add --cycles to have changes tried."));
}
