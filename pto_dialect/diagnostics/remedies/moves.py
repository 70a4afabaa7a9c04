"""Moves between memories and conversions that a program lacks: always guesses, because they add work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import Part, around
from .site import Site, remedy
from .statements import fresh, statement_before

_NAMES = {"pto.tmov": "moved", "pto.tcvt": "converted"}
"""What the copy of a tile is called, by the operation that makes it."""
_MEMORY = r"((?:<|loc=))\w+,"


def _through(site: Site, part: Part, type_: str, operation: str) -> Fix:
    """Returns ``operation`` from the operand ``part`` into a new tile of ``type_``, which replaces it."""
    old = site.types[part.text]
    name = fresh(site, f"{part.text}_{_NAMES[operation]}")
    if type_.startswith("!pto.tile<"):
        before = [f"{name} = {operation} {part.text} : ({old}) -> {type_}"]
    else:
        before = [f"{name} = pto.alloc_tile : {type_}", f"{operation} ins({part.text} : {old}) outs({name} : {type_})"]
    group = around(site)
    edits = [statement_before(site, statement) for statement in before]
    edits.append(Edit(part.start, part.end, name))
    index = group.values.index(part)
    if index < len(group.types):
        edits.append(Edit(group.types[index].start, group.types[index].end, type_))
    return Fix(f"take {part.text} through {operation}", tuple(edits), safe=False)


@remedy
def move_to(site: Site, memory: str) -> Iterator[Fix]:
    """An operand is moved to ``memory`` first."""
    for part in around(site).values:
        type_ = site.types.get(part.text)
        if type_ is None:
            continue
        if type_.startswith("!pto.tile<"):
            yield _through(site, part, type_, "pto.tmov")
        elif "tile_buf<" in type_ and re.search(_MEMORY, type_):
            yield _through(site, part, re.sub(_MEMORY, rf"\g<1>{memory},", type_, count=1), "pto.tmov")


@remedy
def convert_elements(site: Site) -> Iterator[Fix]:
    """An operand is converted to the type of another one first."""
    group = around(site)
    types = [site.types.get(part.text) for part in group.values]
    for part, type_ in zip(group.values, types, strict=True):
        for other in types if type_ is not None else ():
            if other is not None and other != type_:
                yield _through(site, part, other, "pto.tcvt")
