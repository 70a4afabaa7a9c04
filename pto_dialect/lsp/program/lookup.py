"""Operations and values at an offset of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.walk import walk

from .checked import TextRange, in_module
from .document import Document
from .names import VALUE, Name

_PACK = re.compile(r":(\d+)")


def functions_at(document: Document, offset: int) -> Iterator[Operation]:
    """Yields the operations around an offset that are children of a module: usually one, the function."""
    checked, place = document.seen.checked, document.seen.offset(offset)
    number = None if place is None else checked.pieces.at(place)
    if place is None:
        return
    if number is not None:
        yield from checked.functions[number].operations
    elif checked.module is not None:
        yield from (op for op in in_module(checked.module) if _around(document, op, offset))


def _around(document: Document, op: Operation, offset: int) -> bool:
    place = location_of(document, op)
    return place is not None and place.start <= offset <= place.end


def location_of(document: Document, op: Operation) -> TextRange | None:
    """Returns the range of an operation in the text."""
    span = span_of(op)
    return None if span is None else document.seen.place(document.seen.checked.place(span))


def operations_at(document: Document, offset: int) -> Iterator[Operation]:
    """Yields all operations of the function around a character, in the order of the text."""
    for function in functions_at(document, offset):
        yield from walk(function)


def operation_at(document: Document, offset: int) -> Operation | None:
    """Returns the innermost operation around a character."""
    found: Operation | None = None
    pending = list(functions_at(document, offset))
    while pending:
        number = bisect_right(pending, offset, key=lambda op: _start(document, op))
        op = next((op for op in pending[max(0, number - 2) : number] if _around(document, op, offset)), None)
        if op is None:
            break
        found = op
        pending = [inner for region in op.regions for block in region.blocks for inner in _operations(block)]
    return found


def _operations(block: Block) -> Iterator[Operation]:
    """Yields the operations of a block; xDSL's own iterator costs more than what is done with them."""
    op = block.first_op
    while op is not None:
        yield op
        op = op.next_op


def _start(document: Document, op: Operation) -> int:
    """Returns the offset where an operation starts; those of a region are in the order of the text."""
    place = location_of(document, op)
    return 0 if place is None else place.start


def value_of(document: Document, base: int, name: Name) -> SSAValue | None:
    """Returns the value that a name of the function at ``base`` stands for; ``None`` where the text is not
    understood."""
    if name.kind != VALUE or name.binding is None:
        return None
    names = document.names_at(base)[1]
    definition = next((one for one in names.same(name) if one.defines), None)
    op = operation_at(document, base + definition.start) if definition is not None else None
    if op is None or definition is None:
        return None
    values: list[SSAValue] = [*op.results]
    values += [argument for region in op.regions for block in region.blocks for argument in block.args]
    hinted = [value for value in values if value.name_hint == definition.text[1:]]
    if len(hinted) == 1:
        return hinted[0]
    place = location_of(document, op)
    assert place is not None
    own = [
        one
        for one in names.names
        if one.defines
        and one.kind == VALUE
        and place.start <= base + one.start < place.end
        and operation_at(document, base + one.start) is op
    ]
    number = 0
    for one in own:
        if one is definition:
            return values[number] if number < len(values) else None
        pack = _PACK.match(names.text, one.end)
        number += int(pack[1]) if pack else 1
    return None
