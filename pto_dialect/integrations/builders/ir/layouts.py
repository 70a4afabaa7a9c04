"""Layouts of memrefs: whether they have the rank of the shape, and the strides that affine maps state."""

from __future__ import annotations

from xdsl.dialects import builtin as xb
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.ir.affine import AffineMap as XAffineMap

from .attributes import DYNAMIC

_OFFSET = -1
"""Stands for the offset among the numbers of dimensions."""


class LayoutError(ValueError):
    """A layout does not have the rank of its shape."""


def with_layout(type_: xb.MemRefType) -> xb.MemRefType:
    """Returns the type, without a layout that is an identity. Raises :class:`LayoutError`."""
    rank, layout = len(type_.shape.data), type_.layout
    if isinstance(layout, xb.StridedLayoutAttr) and len(layout.strides.data) != rank:
        raise LayoutError(f"the layout has {len(layout.strides.data)} strides for a shape of {rank} dimensions")
    if not isinstance(layout, xb.AffineMapAttr):
        return type_
    if layout.data.num_dims != rank:
        raise LayoutError(f"the affine map of the layout has {layout.data.num_dims} dimensions, the shape {rank}")
    if _is_identity(layout.data):
        return xb.MemRefType(type_.element_type, list(type_.get_shape()), xb.NoneAttr(), type_.memory_space)
    return type_


def _is_identity(of: XAffineMap) -> bool:
    return of.num_symbols == 0 and of == XAffineMap.identity(of.num_dims)


def packed_strides(shape: list[int]) -> list[int]:
    """Returns the strides of a shape whose elements lie row by row."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step = DYNAMIC if DYNAMIC in (size, step) else size * step
    return strides


def strides_of(of: XAffineMap) -> tuple[list[int], int] | None:
    """Returns the strides and the offset of a map with one result that is a sum of multiples of its dimensions;
    ``None`` for other maps. Numbers with symbols are :data:`DYNAMIC`."""
    found = _multiples(of.results[0]) if len(of.results) == 1 else None
    if found is None:
        return None
    return [found.get(dimension, 0) for dimension in range(of.num_dims)], found.get(_OFFSET, 0)


def _multiples(of: AffineExpr) -> dict[int, int] | None:
    """Returns the factor of each dimension in a sum, and the offset; ``None`` where there are none."""
    if isinstance(of, AffineConstantExpr):
        return {_OFFSET: of.value}
    if isinstance(of, AffineDimExpr):
        return {of.position: 1}
    if not isinstance(of, AffineBinaryOpExpr):
        return {_OFFSET: DYNAMIC}
    left, right = _multiples(of.lhs), _multiples(of.rhs)
    if left is None or right is None:
        return None
    if of.kind is AffineBinaryOpKind.Add:
        return {key: _sum(left.get(key, 0), right.get(key, 0)) for key in left.keys() | right.keys()}
    if of.kind is AffineBinaryOpKind.Mul and {_OFFSET} in (left.keys(), right.keys()):
        terms, factor = (left, right[_OFFSET]) if right.keys() == {_OFFSET} else (right, left[_OFFSET])
        return {key: _product(number, factor) for key, number in terms.items()}
    return {_OFFSET: DYNAMIC} if left.keys() | right.keys() == {_OFFSET} else None


def _sum(left: int, right: int) -> int:
    return DYNAMIC if DYNAMIC in (left, right) else left + right


def _product(left: int, right: int) -> int:
    return DYNAMIC if DYNAMIC in (left, right) else left * right
