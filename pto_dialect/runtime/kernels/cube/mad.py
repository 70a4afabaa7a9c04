"""``mad`` and its variants on L0 pointers. Source: docs/reference/numerics.md, "Matrix products";
docs/reference/layouts.md, "Loads into L0".
"""

from __future__ import annotations

from typing import cast

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.fractal_load import (
    l0c_view,
    mad_view_a,
    mad_view_b,
    read_mx_scales_left,
    read_mx_scales_right,
)
from pto_dialect.runtime.memory.spaces import Array, Pointer, strided_view
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.numerics.matmul import apply_exception_mode, matmul_int
from pto_dialect.runtime.numerics.rounding import Tf32Mode, tf32
from pto_dialect.runtime.run.machine import Core
from pto_dialect.targets.matmul_types import EXTENT_RANGE

from ..registry import kernel
from ..tile.memory import element_format, enum_value

LIMIT = EXTENT_RANGE[1]


class Mad:
    """One multiply-add instruction."""

    def __init__(
        self,
        name: str,
        lhs: Format,
        rhs: Format,
        dst: Format,
        saturation: str,
        tf32_mode: Tf32Mode | None,
        disable_gemv: bool,
        exact: bool,
    ) -> None:
        self.name = name
        self.label = name.removeprefix("pto.")
        self.lhs = lhs
        self.rhs = rhs
        self.dst = dst
        self.saturation = saturation
        self.tf32_mode: Tf32Mode | None = tf32_mode
        self.disable_gemv = disable_gemv
        self.exact = exact
        self.scaled = "_mx" in name
        self.accumulates = name.endswith("_acc")

    def __call__(
        self, core: Core, a: Pointer, b: Pointer, c: Pointer, bias: Pointer | None, m: int, n: int, k: int
    ) -> None:
        """Adds the product [m, k] x [k, n] of the matrices at ``a`` and ``b`` to the accumulators at ``c``. Raises
        ``Fault``: ``mad-mnk-positive``, ``mad-mnk-range``, ``mad-4bit-even-k``, and for addresses that are not aligned.
        """
        for label, value in (("m", m), ("n", n), ("k", k)):
            if value < 1:
                raise Fault("mad-mnk-positive", f"{self.name}: {label} = {value} must be positive")
            if value > LIMIT:
                raise Fault("mad-mnk-range", f"{self.name}: {label} = {value} exceeds {LIMIT}")
        for pointer, label in ((a, "lhs"), (b, "rhs"), (c, "dst")):
            pointer.check_aligned(32, f"{label} of {self.name}")
        left, right = self._operands(a, b, m, n, k)
        target = l0c_view(c, m, n)
        init = target.read(m, n) if self.accumulates else None
        if bias is not None:
            init = strided_view(bias, (1, n), (0, bias.item_bytes))
        if self.dst.name == "i32":
            target.write(matmul_int(left, right, init=init))
            return
        if self.tf32_mode is not None:
            left, right = tf32(left, self.tf32_mode), tf32(right, self.tf32_mode)
        scales: dict[str, Array] = {}
        if self.scaled:
            scales["a_scale"] = read_mx_scales_left(core.arena("scale_left"), a.offset, m, k)
            scales["b_scale"] = read_mx_scales_right(core.arena("scale_right"), b.offset, k, n)
        if init is not None and init.dtype != np.float32:
            init = init.astype(np.float32)
        # The clause, otherwise the control register's mode when the instruction runs: the scalar unit may be ahead.
        result, _ = apply_exception_mode(
            left,
            right,
            "nosat" if self.saturation == "default" and core.state["ctrl"] >> 48 & 1 else self.saturation,  # pyright: ignore[reportArgumentType]
            a_format=self.lhs,
            b_format=self.rhs,
            init=init,
            exact=self.exact,
            **scales,
        )
        target.write(result.astype(self.dst.storage, copy=False))

    def _operands(self, a: Pointer, b: Pointer, m: int, n: int, k: int) -> tuple[Array, Array]:
        """Returns the logical [m, k] and [k, n] operands, widened (integers as int8)."""
        if self.lhs.is_packed:
            if k % 2:
                raise Fault("mad-4bit-even-k", f"{self.name}: 4-bit operands need an even k, found {k}")
            pairs = mad_view_a(a, m, k // 2, disable_gemv=self.disable_gemv).read()
            left = decode(np.ascontiguousarray(pairs), self.lhs)
            raw = np.ascontiguousarray(mad_view_b(b, k // 2, n).read().T)
            return left, np.ascontiguousarray(decode(raw, self.rhs).T)
        left = mad_view_a(a, m, k, disable_gemv=self.disable_gemv).read()
        right = mad_view_b(b, k, n).read()
        if self.dst.name == "i32":
            return left, right
        return decode(np.ascontiguousarray(left), self.lhs), decode(np.ascontiguousarray(right), self.rhs)


def _format(value: object, g: Generator) -> Format:
    return element_format(getattr(value, "type", None), g)


@kernel("pto.mad", "pto.mad_acc", "pto.mad_bias", "pto.mad_mx", "pto.mad_mx_acc", "pto.mad_mx_bias")
def mad(op: PtoOp, g: Generator) -> None:
    """Product of matrices in L0A and L0B into L0C: alone, added to the content, or to a row of biases; with ``mx`` each
    32 elements along k have a scale."""
    groups = g.operands(op)
    lhs, rhs, dst = (groups[name][0] for name in ("lhs", "rhs", "dst"))
    bias = groups["bias"][0] if "bias" in groups else None
    mode = op.attributes.get("tf32_mode")
    instruction = Mad(
        op.name,
        _format(lhs, g),
        _format(rhs, g),
        _format(dst, g),
        enum_value(op, "sat_mode", "default"),
        cast(Tf32Mode, enum_value(op, "tf32_mode", "")) if mode is not None else None,
        "disable_gemv" in op.attributes,
        g.options.accumulate == "exact",
    )
    sizes = [groups[name][0] for name in ("m", "n", "k")]
    g.call(instruction, g.core, lhs, rhs, dst, bias, *sizes, pipe=Pipe.M)
