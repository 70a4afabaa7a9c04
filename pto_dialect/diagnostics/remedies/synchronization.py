"""Flags and barriers that a program lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .site import Site, remedy
from .statements import statement_before


def _next_line(site: Site, offset: int) -> int:
    """Returns where the line after that of ``offset`` begins."""
    return min(site.line_end(offset) + 1, len(site.text))


@remedy
def order_with_flag(site: Site, source: str, target: str, *events: str) -> Iterator[Fix]:
    """A flag with an unused one of ``events`` from the pipe ``source``, set after the statement of the first note, to
    ``target``."""
    first = next((note.span for note in site.diagnostic.notes if note.span is not None), None)
    if first is None or first.source is not site.source or first.start > site.start:
        return
    used = set(re.findall(rf'"{source}"\s*,\s*"{target}"\s*,\s*"(EVENT_ID\d+)"', site.text))
    event = next((name for name in events if name not in used), None)
    if event is None:
        return
    flag = f'["{source}", "{target}", "{event}"]'
    behind = _next_line(site, first.end)
    indent = site.indentation(site.text.rfind("\n", 0, first.start) + 1)
    wait = statement_before(site, f"pto.wait_flag{flag}")
    edits = (Edit(behind, behind, f"{indent}pto.set_flag{flag}\n"), wait)
    yield Fix(f"order them with {event} from {source} to {target}", edits, safe=False)


@remedy
def barrier_before(site: Site, pipe: str) -> Iterator[Fix]:
    """A barrier of one pipe before the statement."""
    barrier = f"pto.barrier #pto.pipe<{pipe}>"
    yield Fix(f"put {barrier} between the two", (statement_before(site, barrier),), safe=False)


@remedy
def other_end(site: Site, source: str, target: str, event: str, wait: bool) -> Iterator[Fix]:
    """The wait after a set, or the set before a wait, right beside it: that orders what is before and after it, and
    nothing more."""
    flag = f'["{source}", "{target}", "{event}"]'
    if wait:
        new = f"{site.indentation(site.line_start)}pto.wait_flag{flag}\n"
        yield site.inserted(new, _next_line(site, site.start), safe=False)
    else:
        yield Fix(f"insert pto.set_flag{flag}", (statement_before(site, f"pto.set_flag{flag}"),), safe=False)
