"""The control register. Source: docs/reference/execution.md, "Control words", "Registers of a core";
docs/reference/numerics.md, "Matrix products".

A write-back or multiply-add without a saturation clause follows bit 48: set means IEEE results, clear means saturation.
Bits 6 to 10 are the atomic mode of stores to global memory.
"""

from __future__ import annotations

from collections.abc import Callable

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.atomic import OPERATIONS, TYPES, with_operation, with_type

from ..core.scalar import wrapped
from ..registry import kernel


@kernel("pto.get_ctrl")
def get_ctrl(op: PtoOp, g: Generator) -> None:
    g.define(op.results[0], wrapped("core.state['ctrl']", op.results[0].type))


@kernel("pto.set_ctrl")
def set_ctrl(op: PtoOp, g: Generator) -> None:
    g.emitter.line(f"core.state['ctrl'] = {g.name(op.operands[0])} & {(1 << 64) - 1}")


def with_bit(value: int, bit: int) -> int:
    """``value`` with that bit, counted modulo 64, set."""
    return value | 1 << (bit & 63)


def without_bit(value: int, bit: int) -> int:
    """``value`` with that bit, counted modulo 64, clear."""
    return value & ~(1 << (bit & 63))


@kernel("pto.sbitset0", "pto.sbitset1")
def set_bit(op: PtoOp, g: Generator) -> None:
    value, bit = (g.name(v) for v in op.operands)
    function = g.argument(with_bit if op.name == "pto.sbitset1" else without_bit)
    g.define(op.results[0], wrapped(f"{function}({value}, {bit})", op.results[0].type))


_TYPES = ("none", *(name for name, _ in TYPES))


@kernel(*(f"pto.set_atomic_{name}" for name in _TYPES))
def set_atomic_type(op: PtoOp, g: Generator) -> None:
    _change(with_type, op, g)


@kernel(*(f"pto.set_atomic_{name}" for name, _ in OPERATIONS))
def set_atomic_operation(op: PtoOp, g: Generator) -> None:
    _change(with_operation, op, g)


def _change(change: Callable[[int, str], int], op: PtoOp, g: Generator) -> None:
    word = op.name.removeprefix("pto.set_atomic_")
    g.emitter.line(f"core.state['ctrl'] = {g.argument(change)}(core.state['ctrl'], {word!r})")
