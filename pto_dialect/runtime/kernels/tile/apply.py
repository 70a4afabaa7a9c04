"""Applies a formula to the valid region of tiles: on views of memory where possible, otherwise on copies.

Source: docs/reference/tiles.md, "Elementwise".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format

from .formulas import Compute, Formula
from .operands import TILES, region, same_static_regions, store, tile_format

Operand = SSAValue | Expr | int | float
"""A tile, or a number as a Python expression."""


class Converted:
    """Computes in a type that holds all operands and converts the result to the destination's format once.

    That type is float32, or the destination's own where all operands are integers. ``formats`` are those of the array
    inputs in order. The result uses a buffer that is reused between calls of the same shape.
    """

    def __init__(self, compute: Compute, formats: Sequence[Format], fmt: Format, label: str) -> None:
        self.compute = compute
        self.formats = tuple(formats)
        self.fmt = fmt
        self.label = label
        floats = fmt.is_float or any(f.is_float for f in formats)
        self.buffer = np.empty((0, 0), np.float32 if floats else fmt.storage)

    def __call__(self, *operands: Any) -> None:
        """Computes on the operands in the format of the formula; the last operand takes the result."""
        *inputs, out = operands
        formats = iter(self.formats)
        wide = [self._wide(x, next(formats)) if isinstance(x, np.ndarray) else x for x in inputs]
        if self.buffer.shape != out.shape:
            self.buffer = np.empty(out.shape, self.buffer.dtype)
        self.compute(*wide, self.buffer)
        if self.fmt.is_float or self.buffer.dtype == out.dtype:
            np.copyto(out, self.buffer, casting="same_kind")
        else:
            out[...] = encode(self.buffer, self.fmt, rounding="Z", saturate=True)

    def _wide(self, values: Array, fmt: Format) -> Array:
        return decode(values, fmt).astype(self.buffer.dtype, copy=False)


class OnBits:
    """Computes with the bits of floats, all of one type, as unsigned integers."""

    def __init__(self, compute: Compute, fmt: Format, label: str) -> None:
        self.compute = compute
        self.word = np.dtype(f"u{fmt.bytes}")
        self.label = label

    def __call__(self, *operands: Array) -> None:
        """Computes on the bits of the operands; the last one takes the result."""
        self.compute(*(values.view(self.word) for values in operands))


class Regions:
    """Runs ``compute`` on the valid region of the last operand, which is the destination.

    Only that region counts: sources are read there even beyond their own valid region, as instructions do.
    """

    def __init__(self, compute: Compute) -> None:
        self.compute = compute
        self.label = getattr(compute, "label", None) or getattr(compute, "__name__", "apply")

    def __call__(self, *operands: Any) -> None:
        """Computes on the valid region of the last operand, which receives the result; numbers are unchanged."""
        *inputs, dst = operands
        rows, cols = dst.valid_rows, dst.valid_cols
        arrays = [region(x, rows, cols) if isinstance(x, TILES) else x for x in inputs]
        store(dst, lambda out: self.compute(*arrays, out))


def computation(formula: Formula, inputs: Sequence[Format], fmt: Format, op: PtoOp, g: Generator) -> Compute:
    """Returns ``formula`` as a function of arrays in the storage dtypes of ``inputs`` and ``fmt``.

    Raises the error ``unmodelled`` for elements that the operation does not compute.
    """
    label = op.name.removeprefix("pto.")
    formats = (*inputs, fmt)
    if formula.bits and fmt.is_float and not fmt.is_packed and all(f.name == fmt.name for f in inputs):
        assert formula.integers is not None
        return OnBits(formula.integers, fmt, label)
    compute = formula.floats if any(f.is_float for f in formats) else formula.integers
    if compute is None or any(f.is_packed or f.name == "i1" for f in formats):
        names = ", ".join(dict.fromkeys(f.name for f in formats))
        raise g.error("unmodelled", f"{op.name} of elements {names} cannot be executed", op)
    if any(f.storage != fmt.storage for f in inputs):
        return Converted(compute, inputs, fmt, label)
    if not fmt.is_float or fmt.name in ("f32", "f64") or (fmt.name == "f16" and formula.half):
        return compute
    return Converted(compute, inputs, fmt, label)


def apply(op: PtoOp, g: Generator, compute: Compute, inputs: Sequence[Operand], dst: SSAValue) -> None:
    """Writes code that runs ``compute`` on ``inputs`` and the valid region of ``dst``."""
    pipe = g.pipe(op)
    tiles = [x for x in inputs if isinstance(x, SSAValue)]
    views = [g.view(x) if isinstance(x, SSAValue) else x for x in (*inputs, dst)]
    if all(view is not None for view in views) and same_static_regions((*tiles, dst)):
        g.call(compute, *views, pipe=pipe)
        return
    g.call(Regions(compute), *inputs, dst, pipe=pipe)


def apply_formula(op: PtoOp, g: Generator, formula: Formula, inputs: Sequence[Operand], dst: SSAValue) -> None:
    """Writes code that applies ``formula`` elementwise; numbers among ``inputs`` have the element type of ``dst``."""
    formats = [tile_format(x, g) for x in inputs if isinstance(x, SSAValue)]
    apply(op, g, computation(formula, formats, tile_format(dst, g), op, g), inputs, dst)
