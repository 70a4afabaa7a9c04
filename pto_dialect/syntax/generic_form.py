"""Parts that the generic form omits or spells differently: segment sizes, flags of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice

from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES


def infer_segments(cls: type[PtoOp], operands: int, results: int) -> tuple[int, ...] | None:
    """Returns the number of values of each declared operand of ``cls``; ``None`` if the total does not determine it.

    Destinations are counted as present - the value form, which has none, has results instead - and are in order: a
    later one is present only if the earlier ones are.
    """
    spec = op_spec(cls)
    style = spec.shape.value.startswith("OP_DPS")
    outs = frozenset(spec.outs) if style else frozenset()
    ways = list(islice(_distributions(signature(cls).operands, operands, outs, style and results > 0), 2))
    return ways[0] if len(ways) == 1 else None


def _distributions(
    slots: Sequence[Slot], total: int, outs: frozenset[str], value_form: bool
) -> Iterator[tuple[int, ...]]:
    """Yields the distributions of ``total`` values to ``slots``."""
    first_out = next((slot.name for slot in slots if slot.name in outs), None)
    required = [slot.arity == "1" or (slot.name == first_out and not value_form) for slot in slots]
    least = [sum(required[position:]) for position in range(len(slots) + 1)]

    def extend(position: int, left: int, outs_ended: bool) -> Iterator[tuple[int, ...]]:
        if position == len(slots):
            if left == 0:
                yield ()
            return
        slot = slots[position]
        most = left - least[position + 1]
        if slot.arity != "*" or slot.name in outs:
            most = min(most, 1)
        is_out = slot.name in outs and slot.arity != "1"
        if is_out and (value_form or outs_ended):
            most = min(most, 0)
        for size in range(1 if required[position] else 0, most + 1):
            ended = outs_ended or (is_out and size == 0)
            for rest in extend(position + 1, left - size, ended):
                yield (size, *rest)

    return extend(0, total, False)


def complete_flags(name: str, declared: frozenset[str], properties: dict[str, Attribute]) -> None:
    """Converts the flags of an arithmetic operation to the form of the custom syntax, in place."""
    flagged = CORE_SHAPES.get(name) in ("OP_SAME", "OP_COMPARE")
    for key, spelled, read in _FLAGS:
        value = properties.get(key)
        if value is None and flagged and key in declared:
            found = _no_flags(read)
        elif isinstance(value, OpaqueAttr) and value.data.partition("<")[0] == spelled:
            words = value.data.partition("<")[2].rstrip(">").split(",")
            found = read([word.strip() for word in words])
        else:
            continue
        if found is not None:
            properties[key] = found


# The arithmetic dialect is imported only for programs that use it.


def _fastmath(words: list[str]) -> Attribute | None:
    """Returns flags of floating-point arithmetic; ``None`` for an unknown flag."""
    from xdsl.dialects.arith import FastMathFlagsAttr  # deferred: start-up
    from xdsl.dialects.utils import FastMathFlag  # deferred: start-up

    if words == ["none"] or words == ["fast"]:
        return FastMathFlagsAttr("fast" if words == ["fast"] else "none")
    by_name = {flag.value: flag for flag in FastMathFlag}
    return FastMathFlagsAttr([by_name[w] for w in words]) if all(w in by_name for w in words) else None


def _overflow(words: list[str]) -> Attribute | None:
    """Returns flags of integer arithmetic; ``None`` for an unknown flag."""
    from xdsl.dialects.arith import IntegerOverflowAttr, IntegerOverflowFlag  # deferred: start-up

    if words == ["none"]:
        return IntegerOverflowAttr("none")
    by_name = {flag.value: flag for flag in IntegerOverflowFlag}
    return IntegerOverflowAttr([by_name[w] for w in words]) if all(w in by_name for w in words) else None


@cache
def _no_flags(read: Callable[[list[str]], Attribute | None]) -> Attribute | None:
    return read(["none"])


FLAGGED = frozenset(["fastmath", "overflowFlags"])
"""The properties that :func:`complete_flags` may change."""
_FLAGS = (("fastmath", "#arith.fastmath", _fastmath), ("overflowFlags", "#arith.overflow", _overflow))


def explicit_attributes(op: Operation, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Returns the attributes of ``op`` without those that have their default value."""
    if not attributes or not isinstance(op, PtoOp):
        return attributes
    defaults = signature(type(op)).defaults
    if not defaults:
        return attributes
    return {
        key: value for key, value in attributes.items() if key not in defaults or attribute_text(value) != defaults[key]
    }
