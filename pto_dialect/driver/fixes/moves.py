"""Moves between memories and conversions that a program lacks: always guesses, because they add work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import Part, around
from .statements import fresh, statement_before
from .wrong import Wrong, told

_NAMES = {"pto.tmov": "moved", "pto.tcvt": "converted"}
"""What the copy of a tile is called, by the operation that makes it."""


def _through(w: Wrong, part: Part, type_: str, operation: str) -> Fix:
    """``operation`` from the operand ``part`` into a new tile of ``type_``, which takes its place."""
    old = w.types[part.text]
    name = fresh(w, f"{part.text}_{_NAMES[operation]}")
    if type_.startswith("!pto.tile<"):
        before = [f"{name} = {operation} {part.text} : ({old}) -> {type_}"]
    else:
        before = [f"{name} = pto.alloc_tile : {type_}", f"{operation} ins({part.text} : {old}) outs({name} : {type_})"]
    group = around(w)
    edits = [statement_before(w, statement) for statement in before]
    edits.append(Edit(part.start, part.end, name))
    place = group.values.index(part)
    if place < len(group.types):
        edits.append(Edit(group.types[place].start, group.types[place].end, type_))
    return Fix(f"take {part.text} through {operation}", tuple(edits), safe=False)


@told(
    r" must (?:be in|have the same element type)|^elements of",
    r"(?:move it .*with|convert .* with|convert that with) pto\.(tmov|tcvt)",
)
def _moved(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    types = [w.types.get(part.text) for part in group.values]
    place = re.search(r"must be in (\w+)", m.string)
    for part, type_ in zip(group.values, types, strict=True):
        if type_ is None:
            continue
        if place is not None:
            if type_.startswith("!pto.tile<"):
                yield _through(w, part, type_, "pto.tmov")
            elif "tile_buf<" in type_ and re.search(r"(?:<|loc=)\w+,", type_):
                yield _through(w, part, re.sub(r"(<(?:loc=)?)\w+,", rf"\g<1>{place[1]},", type_, count=1), "pto.tmov")
            continue
        for other in types:
            if other is not None and other != type_:
                yield _through(w, part, other, "pto.tcvt")
