"""Two tiles of different valid regions combined. Source: docs/reference/tiles.md, "Broadcasts and reductions"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format

from ..registry import kernel
from .apply import apply, computation
from .formulas import ADD, MAXIMUM, MINIMUM, MULTIPLY, Compute
from .operands import AnyTile, same_static_regions, tile_format, tile_operand

_FORMULAS = {"pto.tpartadd": ADD, "pto.tpartmul": MULTIPLY, "pto.tpartmax": MAXIMUM, "pto.tpartmin": MINIMUM}
_ABSENT = {"pto.tpartmax": "lowest", "pto.tpartmin": "largest"}
"""The value where neither source is valid: the neutral element of extrema, 0 otherwise."""
_COMPARISONS = {"pto.tpartargmax": np.greater, "pto.tpartargmin": np.less}
_NOT_WORSE = {"pto.tpartargmax": np.greater_equal, "pto.tpartargmin": np.less_equal}


def _inside(source: AnyTile, dst: AnyTile) -> Array:
    if source.valid_rows > dst.valid_rows or source.valid_cols > dst.valid_cols:
        regions = " in ".join(f"{x.valid_rows}x{x.valid_cols}" for x in (source, dst))
        raise Fault("part-valid", f"a source of a partial operation must lie inside dst, found {regions}")
    return source.read()


def absent_value(name: str, fmt: Format) -> int | float:
    """Returns the value of a destination element that no source covers."""
    match _ABSENT.get(name):
        case "lowest":
            return -fmt.max_finite if fmt.is_float else fmt.min_value
        case "largest":
            return fmt.max_finite if fmt.is_float else fmt.max_value
        case _:
            return 0


def _merged(a: Array, b: Array, dst: AnyTile, absent: int | float) -> Array:
    """Returns the source that is valid, src0 where both are, ``absent`` where none is."""
    out = np.full((dst.valid_rows, dst.valid_cols), absent, dst.fmt.storage)
    for values in (b, a):
        out[: values.shape[0], : values.shape[1]] = values
    return out


class Partial:
    """dst = src0 op src1 where both are valid, otherwise the valid one."""

    def __init__(self, compute: Compute, absent: int | float, label: str) -> None:
        self.compute = compute
        self.absent = absent
        self.label = label

    def __call__(self, src0: AnyTile, src1: AnyTile, dst: AnyTile) -> None:
        """Combines the valid regions of ``src0`` and ``src1`` in ``dst``."""
        a, b = _inside(src0, dst), _inside(src1, dst)
        out = _merged(a, b, dst, self.absent)
        rows, cols = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
        self.compute(a[:rows, :cols], b[:rows, :cols], out[:rows, :cols])
        dst.write(out)


class PartialPosition:
    """The winning value with its index: that of src1 where ``loses`` holds for the values of src0 and src1."""

    def __init__(self, loses: Callable[..., Any], label: str) -> None:
        self.loses = loses
        self.label = label

    def __call__(
        self, src0: AnyTile, src1: AnyTile, index0: AnyTile, index1: AnyTile, dst: AnyTile, dst_index: AnyTile
    ) -> None:
        """Writes the winners of ``src0`` and ``src1`` and their indices."""
        a, b = _inside(src0, dst), _inside(src1, dst)
        ia, ib = _inside(index0, dst_index), _inside(index1, dst_index)
        values, indices = _merged(a, b, dst, 0), _merged(ia, ib, dst_index, 0)
        rows, cols = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
        both = np.s_[:rows, :cols]
        loses = self.loses(a[both], b[both])
        np.copyto(values[both], b[both], where=loses)
        np.copyto(indices[both], ib[both], where=loses)
        dst.write(values)
        dst_index.write(indices)


@kernel(*_FORMULAS)
def partial(op: PtoOp, g: Generator) -> None:
    """dst = src0 op src1 where both are valid, otherwise the valid one."""
    src0, src1, dst = tile_operand(op, g, "src0"), tile_operand(op, g, "src1"), g.destination(op)
    formats = [tile_format(x, g) for x in (src0, src1)]
    fmt = tile_format(dst, g)
    compute = computation(_FORMULAS[op.name], formats, fmt, op, g)
    if same_static_regions((src0, src1, dst)):
        apply(op, g, compute, (src0, src1), dst)
    else:
        instruction = Partial(compute, absent_value(op.name, fmt), op.name.removeprefix("pto."))
        g.call(instruction, src0, src1, dst, pipe=g.pipe(op))


@kernel(*_COMPARISONS)
def partial_position(op: PtoOp, g: Generator) -> None:
    """The larger or smaller value with its index, over two tiles of values and their tiles of indices."""
    sources = [tile_operand(op, g, name) for name in ("src0", "src1", "src0Idx", "src1Idx")]
    targets = [g.destination(op, "dst", 0), g.destination(op, "dstIdx", 1)]
    instruction = PartialPosition(_loses(op.name, g.profile.arch), op.name.removeprefix("pto."))
    g.call(instruction, *sources, *targets, pipe=g.pipe(op))


def _loses(name: str, arch: str) -> Callable[[Array, Array], Array]:
    """Returns where src1 wins: nowhere among equal values. Beside a NaN src1 wins on a2a3, src0 on a5."""
    if arch == "a2a3":
        return lambda a, b: np.logical_not(_NOT_WORSE[name](a, b))
    return lambda a, b: _COMPARISONS[name](b, a)
