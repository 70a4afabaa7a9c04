"""The control register. Source: docs/reference/execution.md, "Control words", "Registers of a core";
docs/reference/numerics.md, "Matrix products".

A write-back or multiply-add without a saturation clause follows bit 48: set means IEEE results, clear means saturation.
Bits 6 to 10 are the atomic mode of stores to global memory.
"""

from __future__ import annotations

from collections.abc import Callable

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.atomic import OPERATIONS, TYPES, with_operation, with_type

from ..core.scalar import wrapped
from ..registry import kernel, kernels


@kernel("pto.get_ctrl")
def get_ctrl(op: PtoOp, g: Generator) -> None:
    """The control register as a 64-bit number."""
    g.define(op.results[0], wrapped("core.state['ctrl']", op.results[0].type))


@kernel("pto.set_ctrl")
def set_ctrl(op: PtoOp, g: Generator) -> None:
    """Writes the control register."""
    g.emitter.line(f"core.state['ctrl'] = {g.name(named(op, 'value'))} & {(1 << 64) - 1}")


def with_bit(value: int, bit: int) -> int:
    """Returns ``value`` with that bit, counted modulo 64, set."""
    return value | 1 << (bit & 63)


def without_bit(value: int, bit: int) -> int:
    """Returns ``value`` with that bit, counted modulo 64, clear."""
    return value & ~(1 << (bit & 63))


@kernels({"pto.sbitset0": without_bit, "pto.sbitset1": with_bit})
def change_bit(op: PtoOp, g: Generator, change: Callable[[int, int], int]) -> None:
    """The first number with the bit whose index is the second number cleared or set."""
    value, bit = (g.name(v) for v in op.operands)
    g.define(op.results[0], wrapped(f"{g.argument(change)}({value}, {bit})", op.results[0].type))


_TYPES = ("none", *(name for name, _ in TYPES))


@kernels(
    {
        **{f"pto.set_atomic_{name}": with_type for name in _TYPES},
        **{f"pto.set_atomic_{name}": with_operation for name, _ in OPERATIONS},
    }
)
def set_atomic(op: PtoOp, g: Generator, change: Callable[[int, str], int]) -> None:
    """Stores to global memory combine elements of this type or with this operation from now on, or replace them
    (``none``)."""
    mode = op.name.removeprefix("pto.set_atomic_")
    g.emitter.line(f"core.state['ctrl'] = {g.argument(change)}(core.state['ctrl'], {mode!r})")
