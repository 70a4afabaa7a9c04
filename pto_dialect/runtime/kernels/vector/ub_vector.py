"""Vector instructions of a2a3 from the unified buffer to it: repeats, strides and the mask register.

A repeat takes 256 bytes of every operand, as eight blocks of 32 bytes; block and repeat strides count blocks, and a
stride of 0 takes the same bytes again.  In normal mode bit i of the mask register, whose low half is the first number
that was written, governs lane i of each repeat.  In counter mode the low half is the number of elements, whatever the
repeat count is.  Repeats run in sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array, Pointer
from pto_dialect.runtime.numerics.formats import Format, format_of
from pto_dialect.targets.vector_unit import VL_BYTES, VLANE_BYTES

from ..registry import kernel, kernels
from ..tile.apply import computation
from ..tile.formulas import BINARY, SCALAR, UNARY, Compute, Formula

_MOST_REPEATS = 255
_MASK_BITS = 64
"""Bits in each half of the mask register."""
_MASK, _COUNTER = "ub_mask", "ub_counter"
"""Keys of the mask register and its mode in the state of a core."""
_FULL = (-1, -1)

State = dict[Hashable, Any]

_UNARY = {
    **{f"pto.ub.v{name}": UNARY[f"pto.t{name}"] for name in ("abs", "exp", "not", "relu", "rsqrt", "sqrt")},
    "pto.ub.vln": UNARY["pto.tlog"],
}
_BINARY = {
    f"pto.ub.v{name}": BINARY[f"pto.t{name}"]
    for name in ("add", "sub", "mul", "div", "max", "min", "and", "or", "addrelu")
}
_SCALAR = {f"pto.ub.v{name}": SCALAR[f"pto.t{name}"] for name in ("adds", "muls", "maxs", "mins")}
_SHIFTS = {"pto.ub.vshl": SCALAR["pto.tshls"], "pto.ub.vshr": SCALAR["pto.tshrs"]}
_BITWISE = frozenset(("pto.ub.vnot", "pto.ub.vand", "pto.ub.vor"))
"""Operations on the bits of elements of any type."""


def set_mask(state: State, low: int, high: int) -> None:
    """Writes the mask register."""
    state[_MASK] = (low, high)


def set_mode(state: State, counter: bool) -> None:
    """Selects the meaning of the mask register: a number of elements, or a bit for each lane."""
    state[_COUNTER] = counter


def active_lanes(state: State, repeats: int, size: int) -> list[Array]:
    """Returns the indices of the active lanes of each repeat, for elements of ``size`` bytes.

    Raises ``Fault``: ``ub-repeat`` for a repeat count that the instruction cannot hold.
    """
    lanes = VL_BYTES // size
    low, high = state.get(_MASK, _FULL)
    if state.get(_COUNTER, False):
        count = low % (1 << _MASK_BITS)
        full, rest = divmod(count, lanes)
        if full > _MOST_REPEATS:
            raise Fault("ub-repeat", f"the mask register counts {count} elements, more than {_MOST_REPEATS} repeats")
        return [np.arange(lanes)] * full + ([np.arange(rest)] if rest else [])
    if not 0 <= repeats <= _MOST_REPEATS:
        raise Fault("ub-repeat", f"the number of repeats must be between 0 and {_MOST_REPEATS}, found {repeats}")
    words = np.array([low % (1 << _MASK_BITS), high % (1 << _MASK_BITS)], "<u8")
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:lanes]
    return [np.flatnonzero(bits)] * repeats


def byte_offsets(pointer: Pointer, lanes: Array, repeat: int, block_stride: int, repeat_stride: int) -> Array:
    """Returns the byte offsets of ``lanes`` of one repeat. Raises ``Fault``: ``mem-oob``."""
    size = pointer.dtype.itemsize
    in_block = VLANE_BYTES // size
    blocks = lanes // in_block * block_stride + repeat * repeat_stride
    offsets = pointer.offset + blocks * VLANE_BYTES + lanes % in_block * size
    if offsets.size:
        pointer.arena.check(int(offsets.min()), int(offsets.max()) + size, "vector instruction")
    return offsets


class UbInstruction:
    """``compute`` on the active lanes of every repeat; ``fmt`` is the element format that it computes in."""

    def __init__(self, compute: Compute, fmt: Format, label: str) -> None:
        self.compute = compute
        self.fmt = fmt
        self.label = label

    def __call__(
        self,
        state: State,
        repeats: int,
        dst: Pointer,
        sources: tuple[Pointer, ...],
        numbers: tuple[Any, ...],
        block_strides: tuple[int, ...],
        repeat_strides: tuple[int, ...],
    ) -> None:
        """``block_strides`` and ``repeat_strides`` are those of the destination, then of the sources."""
        dtype = self.fmt.storage
        for repeat, lanes in enumerate(active_lanes(state, repeats, dtype.itemsize)):
            offsets = [
                byte_offsets(pointer, lanes, repeat, *strides)
                for pointer, *strides in zip((dst, *sources), block_strides, repeat_strides, strict=True)
            ]
            if not lanes.size:
                continue
            values = [
                pointer.arena.take(where, dtype.itemsize).view(dtype)[:, 0]
                for pointer, where in zip(sources, offsets[1:], strict=True)
            ]
            out = np.empty((1, lanes.size), dtype)
            self.compute(*(x.reshape(1, -1) for x in values), *numbers, out)
            dst.arena.put(offsets[0], out.reshape(-1, 1).view(np.uint8))


def number_in(register: int, fmt: Format) -> Any:
    """Returns the number of format ``fmt`` in the low bits of a 64-bit register."""
    raw = np.array([register % (1 << _MASK_BITS)], "<u8").view(fmt.storage)[0]
    return float(raw) if fmt.is_float else int(raw)


def fill(number: Any, out: Array) -> None:
    """Every element of ``out`` = ``number``."""
    out[...] = number


# ------------------------------------------------------------ code


@kernel("pto.ub.set_mask")
def ub_set_mask(op: PtoOp, g: Generator) -> None:
    """Writes the mask register, its low half first."""
    g.call(set_mask, Expr("core.state"), *op.operands, pipe=Pipe.V)


@kernels({"pto.ub.set_mask_norm": False, "pto.ub.set_mask_count": True})
def ub_set_mode(op: PtoOp, g: Generator, counter: bool) -> None:
    """The mask register holds a bit for each lane, or a number of elements, from now on."""
    g.call(set_mode, Expr("core.state"), counter, pipe=Pipe.V)


@kernel(*_UNARY)
def ub_unary(op: PtoOp, g: Generator) -> None:
    """A function of each active element."""
    # Matched by name, like the formulas; an operation on bits has no effect that its class could state.
    _emit(op, g, _UNARY[op.name], ("src",), (), op.name in _BITWISE)


@kernel(*_BINARY)
def ub_binary(op: PtoOp, g: Generator) -> None:
    """A function of two active elements at one position."""
    # Matched by name, as for one operand.
    _emit(op, g, _BINARY[op.name], ("src0", "src1"), (), op.name in _BITWISE)


@kernel(*_SCALAR)
def ub_number(op: PtoOp, g: Generator) -> None:
    """A function of each active element and of the number that the low bits of a register hold."""
    register, fmt = g.name(named(op, "shiftDist")), _format(op, g, ("src",))
    _emit(op, g, _SCALAR[op.name], ("src",), (Expr(f"{g.argument(number_in)}({register}, {g.argument(fmt)})"),))


@kernel(*_SHIFTS)
def ub_shift(op: PtoOp, g: Generator) -> None:
    """Each active element shifted by the count in a register."""
    _emit(op, g, _SHIFTS[op.name], ("src",), (g.name(named(op, "shiftDist")),))


@kernel("pto.ub.vdup")
def ub_dup(op: PtoOp, g: Generator) -> None:
    """Every active element = the number that the low bits of a register hold."""
    fmt = _format(op, g, ())
    number = Expr(f"{g.argument(number_in)}({g.name(named(op, 'scalar'))}, {g.argument(fmt)})")
    dst, repeat = named(op, "dst"), named(op, "repeat")
    strides = (named(op, "dstBlockStride"),), (named(op, "dstRepeatStride"),)
    instruction = UbInstruction(fill, fmt, "ub_vdup")
    g.call(instruction, Expr("core.state"), repeat, dst, (), (number,), *strides, pipe=Pipe.V)


def _emit(
    op: PtoOp,
    g: Generator,
    formula: Formula,
    sources: tuple[str, ...],
    numbers: tuple[Expr, ...],
    bitwise: bool = False,
) -> None:
    """Writes the call of an instruction on the operands named ``sources`` and on ``numbers``."""
    fmt = _format(op, g, sources, bitwise)
    compute: Callable[..., Any] = computation(formula, [fmt] * len(sources), fmt, op, g)
    instruction = UbInstruction(compute, fmt, op.name.removeprefix("pto.").replace(".", "_"))
    dst, *operands = (named(op, name) for name in ("dst", *sources))
    strides = (tuple(named(op, f"{name}{kind}Stride") for name in ("dst", *sources)) for kind in ("Block", "Repeat"))
    repeat = named(op, "repeat")
    g.call(instruction, Expr("core.state"), repeat, dst, tuple(operands), numbers, *strides, pipe=Pipe.V)


def _format(op: PtoOp, g: Generator, sources: tuple[str, ...], bitwise: bool = False) -> Format:
    """Returns the element format of an instruction: that of its pointers, or of their bits where only these count."""
    fmt, *others = formats = [_pointed(named(op, name), op, g) for name in ("dst", *sources)]
    if fmt.bytes not in (2, 4) or fmt.is_packed or any(each.name != fmt.name for each in others):
        names = ", ".join(dict.fromkeys(each.name for each in formats))
        raise g.error("unmodelled", f"{op.name} of elements {names} cannot be executed; it works on 16 or 32 bits", op)
    return format_of(f"ui{fmt.bits}") if bitwise else fmt


def _pointed(value: SSAValue, op: PtoOp, g: Generator) -> Format:
    type_ = value.type
    if not isinstance(type_, t.PtrType):
        raise g.error("unmodelled", f"{op.name} takes pointers, found {t.type_text(type_)}", op)
    return g.format(type_.element)
