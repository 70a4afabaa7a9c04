"""``tload`` and ``tstore`` of the unified buffer as bursts.

Source: docs/reference/layouts.md, "Transfers", "Views of global memory".
"""

from __future__ import annotations

from struct import unpack
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import is_float
from pto_dialect.ir.scalar.config import (
    SetAtomicAddOp,
    SetAtomicBf16Op,
    SetAtomicF16Op,
    SetAtomicF32Op,
    SetAtomicMaxOp,
    SetAtomicMinOp,
    SetAtomicNoneOp,
    SetAtomicS8Op,
    SetAtomicS16Op,
    SetAtomicS32Op,
)
from pto_dialect.ir.vector.dma import MteGmUbOp, MteUbGmOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.views import Step, View, fitted, view_of
from pto_dialect.passes.instructions.writer import Constant, Number, Writer
from pto_dialect.passes.lower_vector.registers import offset_in
from pto_dialect.targets.dma_units import COUNT_BITS, GM_STRIDE_BITS, LOCAL_STRIDE_BITS

from .steps import Repetition, lines_of, paired

_COMBINE = {"atomic_add": SetAtomicAddOp, "atomic_max": SetAtomicMaxOp, "atomic_min": SetAtomicMinOp}
_ATOMIC_ELEMENT: dict[str, type[PtoOp]] = {
    **{"f32": SetAtomicF32Op, "f16": SetAtomicF16Op, "bf16": SetAtomicBf16Op},
    **{"i8": SetAtomicS8Op, "i16": SetAtomicS16Op, "i32": SetAtomicS32Op},
}
_ZERO, _MAX = 1, 2
_LARGEST = {"f16": 65504.0, "bf16": unpack("<f", b"\0\0\x7f\x7f")[0], "f32": unpack("<f", b"\xff\xff\x7f\x7f")[0]}
_PADDED = frozenset((8, 16, 32))


class Copy(NamedTuple):
    """A transfer between ``outside``, a pointer to global memory, and ``inside``, one to the unified buffer: bursts of
    ``burst`` elements, repeated innermost first."""

    outside: SSAValue
    inside: SSAValue
    burst: Number
    repetitions: list[Repetition]


def load(writer: Writer) -> None:
    """``tload`` into the unified buffer. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    for name in ("pad_value", "left_padding_num", "right_padding_num", "init_condition"):
        if find(op, name) is not None:
            raise NotLoweredError(op, f"{name} has no counterpart in a transfer")
    tile, view = _ends(writer, "dst", "src")
    view, (rows, cols) = fitted(writer, view, tile.rows, tile.cols)
    pad = _pad(writer, tile, cols)
    copy = _copy(writer, tile, view, (rows, cols), whole_rows=pad is not None)
    size = tile.bytes
    operands = _operands(writer, copy, size, outward=False)
    operands["l2_cache_ctl"] = writer.i64(0)
    if pad is not None:
        operands["pad_value"] = pad
    writer.pto(MteGmUbOp, operands)


def store(writer: Writer) -> None:
    """``tstore`` of a tile in the unified buffer. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    tile, view = _ends(writer, "src", "dst")
    view, (rows, cols) = fitted(writer, view, tile.rows, tile.cols, loads=False)
    if not (writer.is_equal(rows, tile.rows) and writer.is_equal(cols, tile.cols)):
        raise NotLoweredError(op, "its view and its tile have other rows and other columns")
    copy = _copy(writer, tile, view, (rows, cols), whole_rows=False)
    if any(one.outside == 0 for one in copy.repetitions):
        raise NotLoweredError(op, "several elements go to one address of global memory")
    atomic = enumerator(op, "atomicType") or "atomic_none"
    operands = _operands(writer, copy, tile.bytes, outward=True)
    if atomic == "atomic_none":
        writer.pto(MteUbGmOp, operands)
        return
    element = _ATOMIC_ELEMENT.get(tile.element)
    if element is None:
        raise NotLoweredError(op, f"no atomic mode combines {tile.element}")
    for cls in (element, _COMBINE[atomic]):
        writer.put(cls.create())
    writer.pto(MteUbGmOp, operands)
    writer.put(SetAtomicNoneOp.create())


def _ends(writer: Writer, inside: str, outside: str) -> tuple[Tile, View]:
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    if not groups[inside]:
        raise NotLoweredError(op, "its result is a value without memory")
    return Reader(writer).tile(groups[inside][0]), view_of(writer, groups[outside][0])


def _copy(writer: Writer, tile: Tile, view: View, sizes: tuple[Number, Number], whole_rows: bool) -> Copy:
    """Returns what goes where. With ``whole_rows`` each row of the tile is a burst of its own."""
    lines = lines_of(writer, tile, *sizes)
    repetitions: list[Repetition] = []
    for outside, inside, size in ((view.rows, lines.rows, sizes[0]), (view.cols, lines.cols, sizes[1])):
        _check_count(writer, outside, size)
        repetitions += paired(writer, outside, inside, size)
    burst, repetitions = _burst(writer, [one for one in repetitions if one.times != 1], whole_rows)
    reader, size = Reader(writer), tile.bytes
    start = reader.offset(tile, 0, 0) if tile.kind == "NZ" else offset_in(writer, tile, 0)
    reader.aligned(start, ROW_BYTES // size, "element")
    for one in repetitions:
        if one.inside * size % ROW_BYTES:
            raise NotLoweredError(
                writer.anchor, f"bursts in the unified buffer begin at multiples of {ROW_BYTES} bytes"
            )
        _check_fields(writer, one, size)
    pointer = writer.seen_as(view.pointer, tile.type.element)
    return Copy(pointer, writer.advanced(tile.pointer, start), burst, repetitions)


def _check_count(writer: Writer, steps: tuple[Step, ...], size: Number) -> None:
    """A part of a direction is copied only where it is one step."""
    total: Number = 1
    for step in steps:
        total = writer.mul(total, step.size)
    if len(steps) > 1 and not writer.is_equal(total, size):
        raise NotLoweredError(writer.anchor, "its view and its tile have other rows and other columns")


def _burst(writer: Writer, repetitions: list[Repetition], whole_rows: bool) -> tuple[Number, list[Repetition]]:
    """Returns how many elements lie side by side on both sides, and what repeats them, innermost first."""
    burst: Number = 1
    left = repetitions[::-1]
    near = next((one for one in left if one.outside == 1 and one.inside == 1), None)
    if near is not None:
        left.remove(near)
        burst = near.times
    while not whole_rows and isinstance(burst, int):
        near = next((one for one in left if one.outside == burst and one.inside == burst), None)
        if near is None:
            break
        left.remove(near)
        burst = writer.mul(burst, near.times)
    return burst, left


def _check_fields(writer: Writer, one: Repetition, size: int) -> None:
    numbers = ((one.times, 1, COUNT_BITS), (one.outside, size, GM_STRIDE_BITS), (one.inside, size, LOCAL_STRIDE_BITS))
    for number, unit, bits in numbers:
        if isinstance(number, int) and not 0 <= number * unit < 1 << bits:
            raise NotLoweredError(writer.anchor, f"a count or a distance of {number} does not fit into its field")


def _operands(
    writer: Writer, copy: Copy, size: int, outward: bool
) -> dict[str, SSAValue | tuple[SSAValue, ...] | None]:
    """Returns the operands of a transfer of elements of ``size`` bytes, out of the unified buffer or into it."""
    first, *loops = copy.repetitions or [Repetition(1, 0, 0)]
    outside, inside = ("dst", "src") if outward else ("src", "dst")
    return {
        "source": copy.inside if outward else copy.outside,
        "destination": copy.outside if outward else copy.inside,
        "len_burst": writer.i64(writer.mul(copy.burst, size)),
        "n_burst": writer.i64(first.times),
        f"nburst_{outside}_stride": writer.i64(writer.mul(first.outside, size)),
        f"nburst_{inside}_stride": writer.i64(first.inside * size),
        "loop_counts": tuple(writer.i64(one.times) for one in loops),
        f"loop_{outside}_strides": tuple(writer.i64(writer.mul(one.outside, size)) for one in loops),
        f"loop_{inside}_strides": tuple(writer.i64(one.inside * size) for one in loops),
    }


# ------------------------------------------------------------ padding


def _pad(writer: Writer, tile: Tile, cols: Number) -> SSAValue | None:
    """Returns what the rest of each row is filled up with."""
    pad = tile.type.pad
    if not pad or cols == tile.type.cols:
        return None
    op, element = writer.anchor, tile.type.element
    if tile.kind != "ND" or tile.type.cols != tile.base_type.cols:
        raise NotLoweredError(op, "a transfer fills up whole rows of a tile and nothing else")
    if 8 * tile.bytes not in _PADDED:
        raise NotLoweredError(op, f"a transfer does not fill up rows of {tile.element}")
    if tile.element in _LARGEST:
        return writer.function.constant(_limit(writer, tile.element, pad), element)
    if is_float(element):
        return writer.function.constant(0, IntegerType(8 * tile.bytes))
    return writer.function.constant(_integer(tile, pad), IntegerType(8 * tile.bytes))


def _limit(writer: Writer, element: str, pad: int) -> float:
    """Zero or the largest or smallest float, which depends on the library that tile operations are made of."""
    if pad == _ZERO:
        return 0.0
    largest = _LARGEST[element] if writer.backend == "vpto" else float("inf")
    return largest if pad == _MAX else -largest


def _integer(tile: Tile, pad: int) -> Constant:
    if pad == _ZERO:
        return 0
    bits, signed = 8 * tile.bytes, not tile.element.startswith("u")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return high if pad == _MAX else low
