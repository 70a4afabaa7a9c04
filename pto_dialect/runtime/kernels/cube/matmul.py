"""``tmatmul`` and ``tgemv`` with their variants. Source: docs/reference/numerics.md, "Matrix products"."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import element_name
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.fractal_load import read_mx_scales_left, read_mx_scales_right
from pto_dialect.runtime.memory.packed_view import PackedView, number_values
from pto_dialect.runtime.memory.spaces import Arena, Array
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.matmul import apply_mx_scale, matmul, matmul_int
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.matmul_types import EXTENT_RANGE, MX_SCALE_GROUP
from pto_dialect.targets.memory import MX_SCALE_ADDRESS_DIVISOR

from ..registry import kernel
from ..tile.operands import AnyTile, region
from .held import HeldProduct

LIMIT = EXTENT_RANGE[1]


class TileMatmul:
    """One matrix-multiply instruction: dst = init + lhs x rhs, with optional MX scales.

    The valid regions of the operands determine the extents, that of lhs determines k; the rest of a larger valid region
    of dst is unchanged.

    Widened operands and the result use buffers that are reused between calls of the same shape.
    """

    def __init__(self, name: str, exact: bool, has_init: bool, bias: bool, scaled: bool) -> None:
        self.name = name
        self.label = name.removeprefix("pto.").replace(".", "_")
        self.exact = exact
        self.has_init = has_init
        self.bias = bias
        self.scaled = scaled
        self.one_row = name.startswith("pto.tgemv")
        self.shape: tuple[int, int, int] | None = None
        self.buffers: tuple[Array, Array, Array] | None = None

    def __call__(
        self,
        lhs: AnyTile,
        rhs: AnyTile,
        dst: AnyTile,
        init: AnyTile | None = None,
        lhs_scale: AnyTile | None = None,
        rhs_scale: AnyTile | None = None,
    ) -> None:
        """Computes dst = init + lhs x rhs over the valid regions; ``init`` holds accumulators [m, n] or biases [1, n].
        Raises ``Fault``: ``matmul-shape``, ``matmul-range``, ``matmul-bias-row``, ``gemv-m1``, ``gemv-k``."""
        m, k, n = lhs.valid_rows, lhs.valid_cols, rhs.valid_cols
        if (m, k, n) != self.shape:
            self._prepare(m, k, n)
        # For a vector, and for packed pairs, the result of operands that disagree about k is undefined.
        if rhs.valid_rows != k and (self.one_row or (isinstance(rhs, Tile) and isinstance(rhs.view, PackedView))):
            rule = "gemv-k" if self.one_row else "matmul-shape"
            raise Fault(rule, f"{self.name}: lhs is {m}x{k}, rhs is {rhs.valid_rows}x{n}")
        if m > dst.valid_rows or n > dst.valid_cols:
            raise Fault("matmul-shape", f"{self.name}: result is {m}x{n}, dst is {dst.valid_rows}x{dst.valid_cols}")
        if dst.fmt.name == "i32":
            start = None if init is None else self._start(init, m, n)
            dst.write(matmul_int(lhs.read(), region(rhs, k, n), init=start))
            return
        assert self.buffers is not None
        a, b, c = self.buffers
        _widen(lhs, a)
        if rhs.valid_rows == k:
            _widen(rhs, b)
        else:
            b[...] = decode(region(rhs, k, n), rhs.fmt)
        if self.scaled:
            assert lhs_scale is not None and rhs_scale is not None
            a = apply_mx_scale(a, _left_scales(lhs_scale, lhs, m, k), 1)
            b = apply_mx_scale(b, _right_scales(rhs_scale, rhs, k, n), 0)
        start = None if init is None else self._start(init, m, n)
        dst.write(matmul(a, b, init=start, out=c, exact=self.exact))

    def _start(self, init: AnyTile, m: int, n: int) -> Array:
        if self.bias and (init.valid_rows != 1 or init.valid_cols < n):
            raise Fault("matmul-bias-row", f"bias {init.valid_rows}x{init.valid_cols} for {n} columns")
        return region(init, 1 if self.bias else m, n)

    def _prepare(self, m: int, k: int, n: int) -> None:
        if self.one_row and m > 1:
            raise Fault("gemv-m1", f"{self.name}: lhs must have one valid row, found {m}")
        if max(m, k, n) > LIMIT:
            raise Fault("matmul-range", f"{self.name}: m, k, n = {m}, {k}, {n} exceed {LIMIT}")
        self.buffers = (np.empty((m, k), np.float32), np.empty((k, n), np.float32), np.empty((m, n), np.float32))
        self.shape = (m, k, n)


def _widen(tile: AnyTile, out: Array) -> None:
    if tile.fmt.storage.kind == "f" or tile.fmt.name == "bf16":
        tile.read_into(out)
    elif isinstance(tile, Tile) and isinstance(tile.view, PackedView):
        out[...] = number_values(tile.read(), tile.fmt)
    else:
        out[...] = decode(tile.read(), tile.fmt)


def _left_scales(tile: AnyTile, lhs: AnyTile, m: int, k: int) -> Array:
    """Returns the scale bytes [m, k / 32]."""
    if tile.fmt.bytes == 1:
        return region(tile, m, -(-k // MX_SCALE_GROUP)).view(np.uint8)
    return read_mx_scales_left(*_scale_address(tile, lhs), m, k)


def _right_scales(tile: AnyTile, rhs: AnyTile, k: int, n: int) -> Array:
    """Returns the scale bytes [k / 32, n]."""
    if tile.fmt.bytes == 1:
        return region(tile, -(-k // MX_SCALE_GROUP), n).view(np.uint8)
    return read_mx_scales_right(*_scale_address(tile, rhs), k, n)


def _scale_address(tile: AnyTile, operand: AnyTile) -> tuple[Arena, int]:
    """Returns the scale memory that a tile of wider elements is in, and the address of the operand, which determines
    that of the scales: nothing else of such a tile counts."""
    if not isinstance(tile, Tile):
        raise Fault("mx-scale-dtype", f"scales of type {tile.fmt.name} cannot be used; f8E8M0, ui8 or i8 can")
    if not isinstance(operand, Tile):
        return tile.pointer.arena, tile.pointer.offset * MX_SCALE_ADDRESS_DIVISOR
    return tile.pointer.arena, operand.pointer.offset


_FORMS: dict[str, tuple[str, ...]] = {
    "": ("lhs", "rhs"),
    ".acc": ("lhs", "rhs", "acc_in"),
    ".bias": ("a", "b", "bias"),
    ".mx": ("a", "b", "", "a_scale", "b_scale"),
    ".mx.acc": ("a", "b", "c_in", "a_scale", "b_scale"),
    ".mx.bias": ("a", "b", "bias", "a_scale", "b_scale"),
}
"""Operand names of each variant in the order lhs, rhs, init, lhs scale, rhs scale."""


def _check_elements(op: PtoOp, g: Generator, dst: SSAValue, form: str) -> None:
    """Checks the element types: programs that were not verified may use products that no matrix unit has; a5 has all of
    them."""
    kinds = (element_type(tile.type) for tile in (dst, *(named(op, name) for name in _FORMS[form][:2])))
    out, *inputs = (element_name(kind) if kind else "?" for kind in kinds)
    if not (A5.mx_allowed if ".mx" in form else A5.matmul_allowed)(out, *inputs):
        raise g.error("unmodelled", f"no matrix unit multiplies {' by '.join(inputs)} into {out}", op)


@kernel(*(f"pto.{op}{form}" for op in ("tmatmul", "tgemv") for form in _FORMS))
def tile_matmul(op: PtoOp, g: Generator) -> None:
    """Product of two tiles: alone, added to accumulators or to a row of biases; with ``mx`` each 32 elements along k
    have a scale."""
    form = op.name.removeprefix("pto.tmatmul").removeprefix("pto.tgemv")
    names = _FORMS[form]
    operands: list[Any] = [g.operand(op, name) if name else None for name in names]
    accumulates = len(names) > 2 and bool(names[2])
    dst = g.destination(op)
    _check_elements(op, g, dst, form)
    exact = g.options.accumulate == "exact"
    instruction = TileMatmul(op.name, exact, accumulates, form.endswith(".bias"), ".mx" in form)
    lhs, rhs, *rest = operands
    if dst in g.held:
        g.update(dst, HeldProduct(instruction.label, exact), *(g.held[tile] for tile in operands))
        return
    g.call(instruction, lhs, rhs, dst, *rest, pipe=Pipe.M)
