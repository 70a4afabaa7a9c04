"""Messages of findings about data caches of scalar units."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..state.cache_lines import LINE, mask_bytes
from ..state.regions import byte_runs
from .describe import bytes_text

if TYPE_CHECKING:
    from ..state.arena import InstrumentedArena
    from .findings import Finding
    from .race_text import Access

LOST, STALE, UNFLUSHED = "cache-lost-update", "cache-stale-read", "cache-unflushed-store"


class Clash(NamedTuple):
    """A write, and the access that conflicts with it on a cache line; ``mask`` are bytes of the line."""

    rule: str
    first: Access
    second: Access
    arena: InstrumentedArena
    line: int
    mask: int


def describe(clash: Clash, finding: Finding) -> None:
    """Sets the messages of a finding."""
    rule, first, second, arena, line, mask = clash
    one, other = first.thread.name, second.thread.name
    where = bytes_text(arena, byte_runs(line * LINE + mask_bytes(mask)))
    done = f"{one} in {first.site.name} ({first.site.line_text})"
    if rule == LOST:
        finding.message = (
            f"{other} stores into its cached copy of a line of which {done} writes {where}: when the whole line is "
            "written back, one of the two is lost"
        )
        finding.help = _advice(first, second)
    elif rule == STALE:
        finding.message = f"{other} reads {where} as its data cache has them from before {done} wrote them"
        invalidation = "pto.cmo.cacheinvalid or pto.dcci of the line"
        finding.help = f"{invalidation} before {second.site.line_text}, after what waits for the write"
    else:
        finding.message = f"{other} reads {where} that {done} stores, and the data cache has not written the line back"
        finding.help = (
            f"pto.cmo.cacheinvalid or pto.dcci of the line after {first.site.line_text}, and pto.dsb after it"
        )
    finding.span = second.site.span
    finding.notes = [(f"{first.text} writes them", first.site.span), (f"{second.text} {second.verb} them", None)]


def _advice(first: Access, second: Access) -> str:
    if first.thread.core is not second.thread.core:
        return f"each core stores to lines of {LINE} bytes of its own"
    return (
        "pto.cmo.cacheinvalid or pto.dcci of the line between the two, after what orders them; or lines of their own "
        f"({LINE} bytes)"
    )
