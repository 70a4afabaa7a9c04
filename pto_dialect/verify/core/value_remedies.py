"""Terminators without the values that they pass on: their remedies, and the operation to report."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.remedies.statements import missing_value, missing_yield, without_return_value
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.types import type_text


def returned_values(wanted: Sequence[Attribute], last: Operation) -> tuple[Remedy, ...]:
    """For ``return`` at the end of a function with results of the types ``wanted``."""
    if not wanted:
        return (without_return_value(),)
    return (missing_value(type_text(wanted[0]), False),) if _lacks_one(wanted, last.operands) else ()


def yielded_value(wanted: Sequence[Attribute], found: Sequence[Attribute], region: int) -> tuple[Remedy, ...]:
    """For ``scf.yield`` at the end of a region with the index ``region``."""
    return (missing_yield(type_text(wanted[0]), region),) if _lacks_one(wanted, found) else ()


def block_argument(wanted: Sequence[Attribute], found: Sequence[Attribute]) -> tuple[Remedy, ...]:
    """For a branch to a block with arguments of the types ``wanted``."""
    return (missing_value(type_text(wanted[0]), True),) if _lacks_one(wanted, found) else ()


def written_end(last: Operation, op: Operation) -> Operation:
    """Returns the terminator ``last`` of a region of ``op``; ``op`` where the terminator is implicit and has its
    location."""
    span = span_of(last)
    return op if span is not None and span.source.text.startswith(op.name, span.start) else last


def _lacks_one(wanted: Sequence[Attribute], found: Sequence[object]) -> bool:
    return not found and len(wanted) == 1
