"""Rules of the ``pto.tgemv`` forms beyond those they share with ``pto.tmatmul``.

Source: docs/reference/targets.md, "Matrix products of tiles".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.ir.core.types import DYNAMIC
from pto_dialect.targets.matmul_types import EXTENT_RANGE

from ..tile.facts import statically_differ
from ..tile.relations import ALWAYS, Finding, TileOperands, cell, relation
from .matmul import check_disagreement, empty, extents, shared_extents, static_extent
from .product_roles import GEMV, Product

_ON_A5 = cell("/E")
_ADVICE_ON_A2A3 = cell("W/E")


@relation(*GEMV)
def check_shapes(operands: TileOperands) -> Iterator[Finding]:
    """Checks the shapes of a product of one row and a matrix."""
    product = Product(operands)
    one_row = True
    for part in (product.lhs, product.dst):
        if part is not None and statically_differ(part.tile.valid_rows, 1) and not part.lowered:
            message = f"{part.role} of {product.name} must have one valid row, found {part.tile.valid_rows}"
            yield product.finding("gemv-m1", ALWAYS, part, message)
            one_row = False
    for letter, a, a_side, b, b_side in shared_extents(product):
        if letter == "M" and not one_row:
            continue
        valid = getattr(a.tile, f"valid_{a_side}"), getattr(b.tile, f"valid_{b_side}")
        first, second = getattr(a.tile, f"logical_{a_side}"), getattr(b.tile, f"logical_{b_side}")
        if not statically_differ(first, second) or a.lowered or b.lowered:
            yield from static_extent(product, letter, a, a_side, b, b_side)
            continue
        # Where a valid size is dynamic, a5 compares the physical size; a2a3 compares at run time.
        open_size = DYNAMIC in valid and not product.is_mx
        message = check_disagreement(product, letter, a, a_side, first, b, b_side, second)
        broken = {"M": "gemv-m1", "K": "gemv-k", "N": "gemv-n"}[letter]
        yield product.finding(broken, _ON_A5 if open_size else ALWAYS, b, message)
    low, high = EXTENT_RANGE
    for letter, part, size in extents(product):
        if letter == "M" or low <= size <= high:
            continue
        if size == 0 and product.is_mx:
            yield empty(product, letter, part)
        else:
            message = f"{letter} of {product.name} must be in [{low}, {high}], found {size}"
            yield product.finding("gemv-range", ALWAYS if product.is_mx else _ADVICE_ON_A2A3, part, message)
