"""Reductions along rows and columns. Source: docs/reference/tiles.md, "Broadcasts and reductions"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format

from ..registry import kernel
from .operands import AnyTile, region, static_region, tile_format, tile_operand

Reduce = Callable[[Array, Array], None]
"""Reduces a [rows, cols] array of storage values into its second argument, one row or one column."""

_FEW = 4
"""Up to this many results, running totals are faster than whole rows."""

_NEUTRAL: dict[np.ufunc, float] = {np.add: -0.0, np.multiply: 1.0}
"""Neutral elements, which change no bit of the other operand."""


class InOrder:
    """Reduces float32 along ``axis`` in increasing index order, one rounding per step (docs/reference/tiles.md,
    "Broadcasts and reductions").

    numpy adds pairwise along contiguous memory, so the reduced axis becomes the outer one; the buffer for that is
    reused between calls of the same shape.
    """

    def __init__(self, function: np.ufunc, axis: int) -> None:
        self.function = function
        self.axis = axis
        self.buffer = np.empty((0, 0), np.float32)

    def __call__(self, values: Array, out: Array) -> None:
        """``out`` is one-dimensional."""
        rows = values.T if self.axis else values
        if rows.shape[1] <= _FEW:
            np.copyto(out, self.function.accumulate(rows, axis=0)[-1])
            return
        if rows.strides[1] != rows.itemsize:
            if self.buffer.shape != rows.shape:
                self.buffer = np.empty(rows.shape, np.float32)
            np.copyto(self.buffer, rows)
            rows = self.buffer
        # numpy starts a sum with 0, which changes a sum of only −0.
        self.function.reduce(rows, 0, None, out, initial=_NEUTRAL[self.function])


class AnyOrder:
    """Reduces float32 along ``axis`` in the order that is fastest in numpy."""

    def __init__(self, function: np.ufunc, axis: int) -> None:
        self.function = function
        self.axis = axis

    def __call__(self, values: Array, out: Array) -> None:
        """``out`` is one-dimensional."""
        self.function.reduce(values, self.axis, None, out)


class Total:
    """Sum or product of floats: accumulated in float32, rounded once."""

    def __init__(self, function: np.ufunc, fmt: Format, axis: int, exact: bool) -> None:
        self.accumulate = InOrder(function, axis) if exact else AnyOrder(function, axis)
        self.fmt = fmt

    def __call__(self, values: Array, out: Array) -> None:
        """Reduces ``values`` into ``out``, which has extent 1 along the axis."""
        line = out.reshape(-1)
        if self.fmt.name == "f32":
            self.accumulate(values, line)
            return
        total = np.empty(line.shape, np.float32)
        self.accumulate(decode(values, self.fmt), total)
        np.copyto(line, total, casting="same_kind")


class HalfSum:
    """Sums of columns of halves, each step rounded to half: row by row, or with ``pairwise`` adjacent rows first and
    then adjacent sums. A row or sum without a partner is added to the last sum, on a2a3 to the first."""

    def __init__(self, pairwise: bool, arch: str) -> None:
        self.pairwise = pairwise
        self.joined = 0 if arch == "a2a3" else -1

    def __call__(self, values: Array, out: Array) -> None:
        """Sums the rows of ``values`` into the one row of ``out``."""
        if not self.pairwise:
            total = values[0].copy()
            for row in values[1:]:
                np.add(total, row, total)
            np.copyto(out[0], total)
            return
        rows = values
        while len(rows) > 1:
            pairs = len(rows) // 2
            sums = rows[: 2 * pairs : 2] + rows[1 : 2 * pairs : 2]
            if len(rows) % 2:
                sums[self.joined] += rows[-1]
            rows = sums
        np.copyto(out[0], rows[0])


class Whole:
    """Reduction whose result does not depend on the order: integers modulo their width, extrema."""

    def __init__(self, function: np.ufunc, fmt: Format, axis: int) -> None:
        self.function = function
        self.fmt = fmt
        self.axis = axis

    def __call__(self, values: Array, out: Array) -> None:
        """Reduces ``values`` into ``out``, which has extent 1 along the axis."""
        if self.fmt.is_float:
            values = decode(values, self.fmt)
        total = self.function.reduce(values, axis=self.axis, dtype=values.dtype, keepdims=True)
        np.copyto(out, total, casting="same_kind")


@dataclass(eq=False)
class Position:
    """Index of the first extremum; a NaN counts as one."""

    function: Callable[..., Any]
    fmt: Format
    axis: int

    def __call__(self, values: Array, out: Array) -> None:
        """Writes indices along the axis of ``values`` to ``out``, which has extent 1 along it."""
        out[...] = np.expand_dims(self.function(decode(values, self.fmt), axis=self.axis), self.axis)


@dataclass(eq=False)
class ReduceTile:
    """A reduction of a tile's valid region into the first row or column of another tile."""

    reduce: Reduce
    axis: int
    label: str
    empty_allowed: bool

    def __call__(self, src: AnyTile, dst: AnyTile) -> None:
        """Reduces the valid region of ``src`` into ``dst``. Raises ``Fault``: ``reduce-nonempty``."""
        if not (dst.valid_rows and dst.valid_cols):
            return
        rows, cols = (dst.valid_rows, src.valid_cols) if self.axis else (src.valid_rows, dst.valid_cols)
        if not (src.valid_rows and src.valid_cols):
            if self.empty_allowed:
                return
            raise Fault("reduce-nonempty", f"{self.label} of {src.valid_rows}x{src.valid_cols} valid elements")
        out = np.empty((rows, 1) if self.axis else (1, cols), dst.fmt.storage)
        self.reduce(region(src, rows, cols), out)
        dst.write(out)


_FUNCTIONS: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
_POSITIONS: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}


@kernel(*(f"pto.t{axis}{name}" for axis in ("row", "col") for name in (*_FUNCTIONS, *_POSITIONS)))
def reduction(op: PtoOp, g: Generator) -> None:
    """Sum, product, extremum, or the index of an extremum, over the rows or columns of a tile."""
    label = op.name.removeprefix("pto.")
    axis, name = (1 if label.startswith("trow") else 0), label[4:]
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    fmt, target = tile_format(src, g), tile_format(dst, g)
    pipe = g.pipe(op)
    if name not in _POSITIONS and fmt.storage != target.storage:
        raise g.error("unmodelled", f"{op.name} of {fmt.name} elements into {target.name} cannot be executed", op)
    views = _views(src, dst, axis, g)
    function = _FUNCTIONS.get(name)
    exact = g.options.accumulate == "exact"
    if function is not None and views is not None and _native(function, fmt, exact):
        source, out = views
        g.call(function.reduce, source, axis, None if fmt.is_float else fmt.storage, out, True, pipe=pipe)
        return
    if label == "tcolsum" and fmt.name == "f16":
        reduce: Reduce = HalfSum(bool(integer_attribute(op, "isBinary")), g.profile.arch)
    else:
        reduce = _reduce(name, fmt, axis, exact)
    if views is not None:
        g.call(reduce, *views, pipe=pipe)
    else:
        g.call(ReduceTile(reduce, axis, label, empty_allowed=not axis), src, dst, pipe=pipe)


def _views(src: SSAValue, dst: SSAValue, axis: int, g: Generator) -> tuple[Expr, Expr] | None:
    """Returns the valid region of a source, and the first row or column of that of the destination, as arrays of their
    memory; ``None`` where one is empty or not an array, or their shapes differ."""
    source, out = g.view(src), g.view(dst)
    if source is None or out is None:
        return None
    shape, result = static_region(src), static_region(dst)
    assert shape is not None and result is not None
    if 0 in (*shape, *result) or shape[1 - axis] != result[1 - axis]:
        return None
    if result[axis] != 1:
        out = Expr(f"{out}[:, :1]" if axis else f"{out}[:1]")
    return source, out


def _native(function: np.ufunc, fmt: Format, exact: bool) -> bool:
    """Returns whether numpy's reduction of the storage dtype is the operation's."""
    return not fmt.is_float or (fmt.name == "f32" and (not exact or function in (np.maximum, np.minimum)))


def _reduce(name: str, fmt: Format, axis: int, exact: bool) -> Reduce:
    if name in _POSITIONS:
        return Position(_POSITIONS[name], fmt, axis)
    function = _FUNCTIONS[name]
    if fmt.is_float and name in ("sum", "prod"):
        return Total(function, fmt, axis, exact)
    return Whole(function, fmt, axis)
