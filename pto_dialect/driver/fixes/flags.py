"""Flags and barriers that a program lacks, and words that do nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix
from pto_dialect.ir.core.attributes import ENUMS

from .statements import statement_before
from .wrong import Wrong, told


def _line_behind(w: Wrong, offset: int) -> int:
    """Where the line behind that of ``offset`` begins."""
    return min(w.line_end(offset) + 1, len(w.text))


@told(r"", r'^pto\.set_flag\["(PIPE_\w+)", "(PIPE_\w+)", "EVENT_IDn"\] after the first')
def _ordered(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    first = next((note.span for note in w.diagnostic.notes if note.span is not None), None)
    if first is None or first.source is not w.source or first.start > w.start:
        return
    used = set(re.findall(rf'"{h[1]}"\s*,\s*"{h[2]}"\s*,\s*"(EVENT_ID\d+)"', w.text))
    event = next((name for name in ENUMS["event"].values if name not in used), None)
    if event is None:
        return
    flag = f'["{h[1]}", "{h[2]}", "{event}"]'
    behind = _line_behind(w, first.end)
    indent = w.indentation(w.text.rfind("\n", 0, first.start) + 1)
    edits = (Edit(behind, behind, f"{indent}pto.set_flag{flag}\n"), statement_before(w, f"pto.wait_flag{flag}"))
    yield Fix(f"order them with {event} from {h[1]} to {h[2]}", edits, safe=False)


@told(r"", r"^(pto\.barrier #pto\.pipe<\w+>) between the two")
def _barrier(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield Fix(f"put {h[1]} between the two", (statement_before(w, h[1]),), safe=False)


@told(r"^flag (EVENT_ID\d+) from (PIPE_\w+) to (PIPE_\w+) is (set|waited for) more often")
@told(r"^flag (EVENT_ID\d+) from (PIPE_\w+) to (PIPE_\w+) is (set) here and not waited for$")
@told(r"^this wait for flag (EVENT_ID\d+) from (PIPE_\w+) to (PIPE_\w+) is (never) ended: no set")
def _other_end(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """Right beside the one that is there: that orders what stands before it and behind it, and nothing more."""
    flag = f'["{m[2]}", "{m[3]}", "{m[1]}"]'
    if m[4] == "set":
        behind = _line_behind(w, w.start)
        new = f"{w.indentation(w.line_start)}pto.wait_flag{flag}\n"
        yield w.inserted(new, behind, safe=False)
    else:
        yield Fix(f"insert pto.set_flag{flag}", (statement_before(w, f"pto.set_flag{flag}"),), safe=False)


@told(r" was removed from the dialect", r"^use (pto\.[\w.]+)$")
def _deprecated(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.replaced(h[1])


@told(r"^(\w+) follows another .* clause", r"^give one of ")
@told(r"^(\w+) clause is given twice", r"^keep one$")
def _given_twice(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """Of two clauses with the same words one goes; of others, nobody knows which."""
    words = re.compile(rf"(?<!\w){re.escape(m[1])}(?:\([^()]*\))?")
    here = words.match(w.text, w.start)
    if here is None:
        return
    same = [one for one in words.finditer(w.text, w.statement_start, w.start) if one.group() == here.group()]
    if same:
        yield w.replaced("", w.trimmed(w.start), here.end())


@told(r"^(\w+) has no effect")
def _no_effect(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if w.word == m[1]:
        start = len(w.text[: w.start].rstrip(" "))
        comma = w.text[start - 1 : start] == ","
        yield w.replaced("", start - comma, w.end)
