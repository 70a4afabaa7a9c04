"""``tload`` and ``tstore``: tiles from and to global memory.

Source: docs/reference/layouts.md, "Views of global memory"; docs/reference/numerics.md, "Write-back".
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.atomic import AtomicMode
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.packed_view import PackedView, single_numbers
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import GmTensor, Tile, ValueTile, fitted
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.targets.backend import Backend

from ..registry import kernel

if TYPE_CHECKING:
    from ..cube.fixpipe_tile import AccumulatorOut

AnyTile = Tile | ValueTile
UNIT = 32
"""Bytes that a transfer into L1 fills as a whole."""


def pad_value(fmt: Format, pad: int, backend: Backend | None) -> Any:
    """Returns the storage value of pad kind 1 zero, 2 max, 3 min: for floats the infinities, with ``vpto`` the largest
    numbers."""
    if pad == 1 or fmt.is_packed or fmt.name in ("f8E4M3FN", "f8E5M2", "hif8", "f8E8M0"):
        return np.zeros((), fmt.storage)
    if not fmt.is_float:
        return np.array(fmt.max_value if pad == 2 else fmt.min_value).astype(fmt.storage)
    limit = fmt.max_finite if backend == "vpto" else float("inf")
    return encode(np.array([limit if pad == 2 else -limit]), fmt, saturate=False)[0]


class Load:
    """dst valid region = elements of the view; a pad kind fills the rest of the loaded rows.

    ``completes`` has it write 0 up to the end of the last 32 bytes of each row, or of each column of a tile by columns.
    """

    label = "tload"

    def __init__(self, fmt: Format, backend: Backend | None = None, completes: bool = False) -> None:
        self.fmt = fmt
        self.backend: Backend | None = backend
        self.completes = completes

    def __call__(self, source: GmTensor, dst: AnyTile) -> None:
        """Loads ``source`` into the valid region of ``dst``. Raises ``Fault`` (``tload-count``) for packed numbers
        whose count is ambiguous."""
        rows, cols = dst.valid_rows, dst.valid_cols
        packed = isinstance(dst.view, PackedView) if isinstance(dst, Tile) else False
        if dst.fmt.is_packed:
            source = counted_in_pairs(source, rows * cols // 2 if packed else rows * cols)
        values = source.matrix().read()
        if packed:
            values = single_numbers(values, 0 if source.layout == "dn" else 1)
        if values.shape != (rows, cols):
            values = fitted(values, rows, cols, source.layout)
        if values.dtype != dst.fmt.storage:
            values = values.view(dst.fmt.storage)
        dst.write(values)
        if dst.pad and values.shape[1] < dst.cols:
            assert isinstance(dst, Tile)
            if packed:
                dst.view.write(np.pad(values, ((0, 0), (0, dst.cols - values.shape[1]))))
                return
            fill = dst.view.window(0, values.shape[1], values.shape[0], dst.cols - values.shape[1])
            fill.fill(pad_value(dst.fmt, dst.pad, self.backend))
        elif self.completes:
            assert isinstance(dst, Tile)
            self._complete(dst, *values.shape)

    @staticmethod
    def _complete(dst: Tile, rows: int, cols: int) -> None:
        unit = UNIT // dst.fmt.bytes
        if dst.layout.kind == "DN":
            rest = min(-rows % unit, dst.rows - rows)
            dst.view.window(rows, 0, rest, cols).fill(0)
        else:
            rest = min(-cols % unit, dst.cols - cols)
            dst.view.window(0, cols, rows, rest).fill(0)

    def load_part(self, source: GmParts, distance: int, dst: Tile) -> None:
        """Loads, of elements that are not packed, the part of ``source`` that starts ``distance`` elements after its
        first one."""
        values = source.elements(distance)
        if (
            values is None
            or dst.pad
            or self.completes
            or values.dtype != dst.fmt.storage
            or values.shape != (dst.valid_rows, dst.valid_cols)
        ):
            self(source.part(distance), dst)
        else:
            dst.view.write(values)


def counted_in_pairs(view: GmTensor, pairs: int) -> GmTensor:
    """Returns whether the sizes of a view of packed numbers count pairs instead of single numbers; ``pairs`` is the
    number of pairs of the tile. Raises ``Fault`` (``tload-count``) where neither fits."""
    count = prod(view.shape)
    if count == 2 * pairs:
        return view.pairs()
    if count != pairs:
        raise Fault("tload-count", f"a view of {count} elements and a tile of {pairs} pairs of packed numbers")
    return view


def load_view(source: GmTensor, out: Array) -> None:
    """``Load`` into the valid region of a tile without pad, given as an array of its memory."""
    values = source.elements()
    if values is None:
        values = source.matrix().read()
    _fill_from(values, out, source.layout)


def load_part(source: GmParts, distance: int, out: Array) -> None:
    """Loads as ``load_view`` the part of ``source`` that starts ``distance`` elements after its first one."""
    values = source.elements(distance)
    if values is None:
        load_view(source.part(distance), out)
    elif values.shape == out.shape and values.dtype == out.dtype:
        out[...] = values
    else:
        load_view(source.part(distance), out)


def _fill_from(values: Array, out: Array, layout: str) -> None:
    if values.dtype != out.dtype:
        values = values.view(out.dtype)
    if values.shape != out.shape:
        rows, cols = out.shape
        values = fitted(values, rows, cols, layout)
        out = out[: values.shape[0], : values.shape[1]]
    out[...] = values


_ATOMIC = {"atomic_add": np.add, "atomic_max": np.maximum, "atomic_min": np.minimum}


class Store:
    """View elements = valid region of the source, through the fixpipe for accumulators; an empty region
    stores nothing."""

    label = "tstore"

    def __init__(self, convert: AccumulatorOut | None, atomic: str) -> None:
        self.convert = convert
        self.atomic = _ATOMIC.get(atomic)

    def __call__(
        self,
        source: AnyTile,
        dst: GmTensor,
        scalar: int | None = None,
        table: AnyTile | None = None,
        mode: AtomicMode | None = None,
    ) -> None:
        """Stores the valid region of ``source``; ``scalar`` and ``table`` are the scales of accumulators, ``mode`` is
        the atomic mode in the control register. Raises ``Fault``: ``tstore-elem``, ``tload-count``."""
        values = source.read()
        if not values.size:
            return
        if self.convert is not None:
            values = self.convert(values, scalar, table)
        self.put(values, dst, mode)

    def of_sums(self, values: Array, dst: GmTensor, mode: AtomicMode | None = None) -> None:
        """Stores the sums of an accumulator that is held as an array."""
        assert self.convert is not None
        self.put(self.convert(values), dst, mode)

    def put(self, values: Array, dst: GmTensor, mode: AtomicMode | None = None) -> None:
        """Stores a matrix that is not empty; a view of packed numbers may count these or pairs of them."""
        if dst.fmt.is_packed and prod(dst.shape) == 2 * values.size:
            dst = dst.pairs()
        matrix = dst.matrix()
        if values.dtype != dst.fmt.storage:
            if values.dtype.itemsize != dst.fmt.bytes:
                raise Fault("tstore-elem", f"elements of {values.dtype} stored to {dst.fmt.name}")
            values = values.view(dst.fmt.storage)
        if values.shape != (matrix.rows, matrix.cols):
            if values.size != matrix.rows * matrix.cols:
                raise Fault(
                    "tload-count",
                    f"the tile has {values.shape[0]}x{values.shape[1]} valid elements, "
                    f"the view {matrix.rows}x{matrix.cols}",
                )
            values = values.reshape(matrix.rows, matrix.cols)
        if self.atomic is not None:
            with np.errstate(all="ignore"):
                values = self.atomic(matrix.read(), values).astype(dst.fmt.storage, copy=False)
        elif mode is not None:
            mode.check(dst.fmt)
            values = mode.combined(matrix.read(), values)
        matrix.write(values)


_PLAIN_STORE = Store(None, "atomic_none")


def store_view(source: Array, dst: GmTensor) -> None:
    """``Store`` without conversion from the valid region of a tile, given as an array of its memory."""
    target = dst.elements()
    if target is not None and target.shape == source.shape and target.dtype == source.dtype:
        target[...] = source
    elif source.size:
        _PLAIN_STORE.put(source, dst)


def store_part(source: Array, dst: GmParts, distance: int) -> None:
    """Stores as ``store_view`` to the part of ``dst`` that starts ``distance`` elements after its first one."""
    target = dst.elements(distance)
    if target is not None and target.shape == source.shape and target.dtype == source.dtype:
        target[...] = source
    else:
        store_view(source, dst.part(distance))


def enum_value(op: PtoOp, name: str, default: str) -> str:
    """Returns the enumerator of an attribute of ``op``."""
    attr = op.attributes.get(name)
    return attr.data[1] if attr is not None else default  # pyright: ignore[reportAttributeAccessIssue]


def element_format(type_: Any, g: Generator) -> Format:
    """Returns the format of the elements of a tile, view or memref type."""
    if isinstance(type_, MemRefType):
        return g.format(type_.element_type)
    if not hasattr(type_, "element"):
        raise g.error("unmodelled", f"{t.type_text(type_)} has no elements")
    return g.format(type_.element)


def accumulator_out(op: PtoOp, g: Generator, source: Any, target: Any, quantised: bool) -> AccumulatorOut | None:
    """Returns the conversion of an accumulator source, ``None`` for other sources."""
    loc = getattr(source.type, "loc", None)
    if loc != "acc":
        return None
    from ..cube.fixpipe_tile import AccumulatorOut  # deferred: start-up

    try:
        return AccumulatorOut(
            element_format(source.type, g).name,
            element_format(target.type, g).name,
            enum_value(op, "reluPreMode", "no_relu"),
            g.profile,
            quantised,
        )
    except Fault as fault:
        raise g.error(fault.rule, fault.message, op) from None


def between_memories(op: PtoOp, g: Generator, outside: SSAValue, inside: SSAValue, *, loads: bool) -> None:
    """Raises an error for operands whose types state that a transfer is not between global memory and a tile."""
    for value, is_global in ((outside, True), (inside, False)):
        space = space_of(value.type)
        if space is not None and (space == "gm") != is_global:
            verb = "reads" if is_global == loads else "writes"
            memory = "global" if is_global else "on-chip"
            message = f"{op.name} {verb} {memory} memory, found {t.type_text(value.type)}"
            raise g.error("unmodelled", message, op)


def completes_units(tile: Any, g: Generator) -> bool:
    """Returns whether a load completes the last 32 bytes of each row, as the headers of a5 do in L1 for tiles without
    boxes."""
    if g.profile.arch != "a5" or g.options.backend == "vpto" or not isinstance(tile, t.TileBufType):
        return False
    fmt = element_format(tile, g)
    along = tile.valid_cols if tile.blayout == "row_major" else tile.valid_rows
    is_plain = tile.loc == "mat" and tile.slayout == "none_box" and not fmt.is_packed
    return is_plain and (along < 0 or along * fmt.bytes % UNIT != 0)


@kernel("pto.tload")
def tload(op: PtoOp, g: Generator) -> None:
    """dst = elements of a view of global memory; a pad kind fills the rest of the loaded rows."""
    source = named(op, "src")
    for name in ("pad_value", "left_padding_num", "right_padding_num", "init_condition"):
        if g.operand(op, name) is not None:
            raise g.error("unmodelled", f"tload with {name} cannot be executed", op)
    dst = g.destination(op)
    between_memories(op, g, source, dst, loads=True)
    packed = element_format(dst.type, g).is_packed
    view, part = None if packed else g.view(dst), None if packed else g.parts.get(source)
    if dst in g.held:
        _load_held(dst, source, g)
        return
    load = Load(element_format(dst.type, g), g.options.backend, completes_units(dst.type, g))
    rest = getattr(dst.type, "pad", 0) or load.completes
    if view is not None and isinstance(source.type, t.ShapedView) and not rest:
        if part is not None:
            g.call(load_part, *part, view, pipe=Pipe.MTE2)
        else:
            g.call(load_view, source, view, pipe=Pipe.MTE2)
    elif part is not None and isinstance(dst.type, t.TileBufType):
        g.call(load.load_part, *part, dst, pipe=Pipe.MTE2)
    else:
        g.call(load, source, dst, pipe=Pipe.MTE2)


def _load_held(dst: SSAValue, source: SSAValue, g: Generator) -> None:
    from ..cube.held import HeldLoad  # deferred: start-up

    type_ = dst.type
    assert isinstance(type_, t.TileBufType)
    load, part = HeldLoad(element_format(type_, g), type_.rows, type_.cols), g.parts.get(source)
    if part is not None:
        g.update(dst, load.of_part, *part, g.held[dst])
    else:
        g.update(dst, load, source, g.held[dst])


@kernel("pto.tstore", "pto.tstore_fp")
def tstore(op: PtoOp, g: Generator) -> None:
    """Elements of a view of global memory = src; accumulators are converted, with a scale for all columns or for
    each.
    """
    source, dst = g.operand(op, "src"), g.operand(op, "dst")
    scalar, table = g.operand(op, "preQuantScalar"), g.operand(op, "fp")
    assert source is not None and dst is not None
    between_memories(op, g, dst, source, loads=False)
    convert = accumulator_out(op, g, source, dst, scalar is not None or table is not None)
    store = Store(convert, enum_value(op, "atomicType", "atomic_none"))
    mode = () if store.atomic else g.atomic_mode()
    if source in g.held:
        g.call(store.of_sums, g.held[source], dst, *mode, pipe=g.pipe(op))
        return
    view = g.view(source)
    plain = convert is None and not store.atomic and not mode
    if plain and view is not None and isinstance(dst.type, t.ShapedView):
        part = g.parts.get(dst)
        if part is not None:
            g.call(store_part, view, *part, pipe=g.pipe(op))
        else:
            g.call(store_view, view, dst, pipe=g.pipe(op))
        return
    g.call(store, source, dst, scalar, table, *mode, pipe=g.pipe(op))


@kernel("pto.tprefetch")
def tprefetch(op: PtoOp, g: Generator) -> None:
    """A hint; it has no effect."""
