"""The values that a statement can use, with their types, from the last text that was understood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.read.parser import parse_program

from ..program.document import Document
from ..program.lookup import functions_at, location_of

MOST = 1000
"""Values that are looked at, the nearest ones."""
_NUMBERED = "numbered__"
_NEAREST = 8
"""Names that must be known, or the function is read."""
LONGEST = 40_000
"""Characters of an unfinished function that is read."""
_HERE = '"completion.here"() : () -> ()'


class Typed(NamedTuple):
    """A value by its name, with ``%``, and its type."""

    name: str
    type: Attribute


def values_before(document: Document, offset: int) -> list[Typed]:
    """Returns the named values that a statement at ``offset`` can use, the nearest first."""
    found = _typed(_values(document, offset))
    names = document.names_before(offset)
    known = {value.name for value in found}
    if all(name.text in known for name in islice(names.visible(len(names.text) + 1), _NEAREST)):
        return found
    # Statements have been added since the text was checked last.
    return list(_values_of_text(*_written(document, offset))) or found


def _typed(values: Iterable[SSAValue]) -> list[Typed]:
    found: list[Typed] = []
    names: set[str] = set()
    for value in values:
        name = value.name_hint
        if name is not None and name not in names:
            names.add(name)
            found.append(Typed(f"%{name.removeprefix(_NUMBERED)}", value.type))
            if len(found) == MOST:
                break
    return found


def _written(document: Document, offset: int) -> tuple[str, str]:
    """Returns the names of types, and the function around an offset up to it; empty texts where that is long."""
    start = document.text.rfind("func.func", 0, offset)
    if start < 0 or offset - start > LONGEST:
        return "", ""
    aliases = "".join(f"{name} = {meaning}\n" for name, meaning in document.type_aliases.items())
    return aliases, document.text[start:offset]


@lru_cache(maxsize=4)
def _values_of_text(aliases: str, text: str) -> tuple[Typed, ...]:
    """Returns the values at the end of a function that is not finished."""
    if not text:
        return ()
    code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', "", text)
    closing = "}\n" * max(0, code.count("{") - code.count("}"))
    # Values do not keep names that are numbers.
    named = re.sub(r"%(?=\d)", f"%{_NUMBERED}", text)
    source = SourceFile("function.pto", f"{aliases}{named}\n{_HERE}\n{closing}")
    module = parse_program(source, DiagnosticEngine(DiagnosticOptions()))
    here = None if module is None else next((op for op in walk(module) if isinstance(op, UnregisteredOp)), None)
    return () if here is None else tuple(_typed(_before_operation(here)))


def _before_operation(op: Operation) -> Iterator[SSAValue]:
    place: Operation | None = op
    while place is not None and place.parent is not None:
        earlier = place.prev_op
        while earlier is not None:
            yield from reversed(earlier.results)
            earlier = earlier.prev_op
        yield from reversed(place.parent.args)
        place = place.parent_op()


def _values(document: Document, offset: int) -> Iterator[SSAValue]:
    levels: list[list[SSAValue]] = []
    pending = list(functions_at(document, offset))
    for function in pending:
        place = location_of(document, function)
        if place is None or not place.start <= offset <= place.end + 1:
            continue
        inner: Operation | None = function
        while inner is not None:
            block = _block_at(document, inner, offset)
            if block is None:
                break
            levels.append(list(block.args))
            before, inner = _before(document, block, offset)
            levels.append([value for op in before for value in op.results])
    for level in reversed(levels):
        yield from reversed(level)


def _block_at(document: Document, op: Operation, offset: int) -> Block | None:
    """Returns the last block of an operation that begins before ``offset``."""
    found: Block | None = None
    for region in op.regions:
        for block in region.blocks:
            first = block.first_op
            place = None if first is None else location_of(document, first)
            if found is None or (place is not None and place.start < offset):
                found = block
    return found


def _before(document: Document, block: Block, offset: int) -> tuple[list[Operation], Operation | None]:
    """Returns the operations of a block before ``offset``, and the last of them if its regions contain it."""
    ops = list(block.ops)
    number = bisect_right(ops, offset, key=lambda op: _start(document, op))
    before = ops[:number]
    last = before[-1] if before else None
    place = None if last is None or not last.regions else location_of(document, last)
    if place is not None and place.start < offset < place.end:
        return before[:-1], last
    return before, None


def _start(document: Document, op: Operation) -> int:
    place = location_of(document, op)
    return 0 if place is None else place.start
