"""Rules of the MX forms of ``pto.tmatmul`` and ``pto.tgemv``: one power-of-two scale per 32 elements of K.

Source: docs/reference/targets.md, "Matrix products of tiles", "Layouts of locations".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.targets.a5 import A5
from pto_dialect.targets.element_types import is_low_precision
from pto_dialect.targets.matmul_types import MX_BIAS_TYPE, MX_K_MULTIPLE, MX_SCALE_GROUP, MX_SCALE_TYPES

from ..tile.facts import Tile, is_lowered, statically_differ
from ..tile.relations import ADVICE, ALWAYS, Finding, TileOperands, cell, relation
from .matmul import (
    accumulator_type,
    bias_columns,
    combinations,
)
from .product_roles import MX, Part, Product

_NOT_ON_A2A3 = cell("E/")


@relation(*MX)
def check_target(operands: TileOperands) -> Iterator[Finding]:
    """Checks that the target has the scale memories of a5."""
    name = operands.op_name
    broken = "gemv-mx-needs-a5" if Product(operands).is_gemv else "matmul-mx-needs-a5"
    help = 'name the target: pto.target_arch = "a5"'
    yield operands.finding(broken, _NOT_ON_A2A3, None, f"{name} exists on a5 only", help)


@relation(*MX)
def check_locations(operands: TileOperands) -> Iterator[Finding]:
    """Checks the locations of scales and bias, and the layout of scales."""
    product = Product(operands)
    sides = ((product.lhs_scale, product.lhs, "left"), (product.rhs_scale, product.rhs, "right"))
    for scale, operand, side in sides:
        if scale is None or scale.tile.loc is None:
            continue
        if scale.tile.loc != "scaling":
            yield product.memory_finding("matmul-mx-scale-loc", scale, "scaling")
        elif scale.tile.blayout is not None and not (operand and is_legacy(scale.tile, operand.tile)):
            yield from _layout(product, scale, side)
    bias = product.bias
    if bias is not None and bias.tile.loc not in (None, "bias"):
        yield product.memory_finding("matmul-mx-bias-f32", bias, "bias")


def _layout(product: Product, scale: Part, side: str) -> Iterator[Finding]:
    requirement = A5.layouts[f"scaling_mx_{side}"]
    tile = scale.tile
    if any(check.finding(getattr(tile, check.field)) is not None for check in requirement.checks):
        native = requirement.native
        wanted = f"{native.blayout}/{native.slayout}/{native.fractal}"
        found = f"{tile.layout_text}/{tile.fractal}"
        message = f"{scale.role} of {product.name} must be laid out {wanted}, found {found}"
        yield product.finding("mx-scale-layout", ADVICE if product.is_gemv else ALWAYS, scale, message)


@relation(*MX)
def check_types(operands: TileOperands) -> Iterator[Finding]:
    """Checks the element types of operands, scales, bias and destination."""
    product = Product(operands)
    lhs, rhs, dst, bias = product.lhs, product.rhs, product.dst, product.bias
    if lhs is not None and rhs is not None and not A5.mx_allowed("f32", lhs.tile.element, rhs.tile.element):
        found = f"{lhs.tile.element} x {rhs.tile.element}"
        message = f"{product.name} multiplies two fp8 or two fp4 types, found {found}"
        yield product.finding("matmul-mx-types", ALWAYS, lhs, message, combinations(A5.mx_triples))
    if dst is not None and dst.tile.element != "f32":
        message = f"dst of {product.name} must be f32, found {dst.tile.element}"
        yield product.finding("matmul-mx-dst-f32", ALWAYS, dst, message)
    else:
        yield from accumulator_type(product)
    if bias is not None and bias.tile.element != MX_BIAS_TYPE:
        message = f"bias of {product.name} must be {MX_BIAS_TYPE}, found {bias.tile.element}"
        yield product.finding("matmul-mx-bias-f32", ALWAYS, bias, message)
    for scale in (product.lhs_scale, product.rhs_scale):
        if scale is not None and scale.tile.element not in MX_SCALE_TYPES:
            wanted = ", ".join(sorted(MX_SCALE_TYPES))
            found = scale.tile.element
            message = f"{scale.role} of {product.name} has element type {found}; only {wanted} can be run"
            yield product.finding("mx-scale-dtype", ADVICE, scale, message)


@relation(*MX)
def check_shapes(operands: TileOperands) -> Iterator[Finding]:
    """Checks the shapes of scales and bias, and the granularity of K."""
    product = Product(operands)
    lhs, rhs, bias, dst = product.lhs, product.rhs, product.bias, product.dst
    legacy, gemv = bias is None, product.is_gemv
    if lhs is not None and product.lhs_scale is not None:
        wanted = (lhs.tile.logical_rows, scale_groups(lhs.tile.logical_cols))
        shape = None if lhs.tile.cols % MX_K_MULTIPLE else (lhs.tile.rows, scale_groups(lhs.tile.cols))
        shape = _row_shape(product, wanted) if gemv else shape
        yield from _scale(operands, product.lhs_scale, lhs, wanted, shape, legacy=legacy)
    if rhs is not None and product.rhs_scale is not None:
        wanted = (scale_groups(rhs.tile.logical_rows), rhs.tile.logical_cols)
        shape = None if rhs.tile.rows % MX_K_MULTIPLE else (scale_groups(rhs.tile.rows), rhs.tile.cols)
        shape = _row_shape(product, (wanted[0], rhs.tile.cols)) if gemv else shape
        yield from _scale(operands, product.rhs_scale, rhs, wanted, shape, legacy=legacy)
    yield from _granularity(product)
    if bias is None:
        return
    if statically_differ(bias.tile.rows, 1):
        message = f"bias of {product.name} must have one row, found {bias.tile.rows}"
        yield product.finding("matmul-mx-bias-f32", ALWAYS, bias, message)
    elif product.is_gemv and dst is not None:
        if statically_differ(bias.tile.cols, dst.tile.cols) or statically_differ(
            bias.tile.valid_cols, dst.tile.valid_cols
        ):
            message = f"bias of {product.name} must have the columns of dst"
            yield product.finding("matmul-bias-cols", ALWAYS, bias, message)
    elif rhs is not None:
        yield from bias_columns(product, bias, rhs)


def _row_shape(product: Product, shape: tuple[int, int]) -> tuple[int, int] | None:
    """Returns the shape of a scale tile of a matrix-vector product; ``None`` where other rules refuse the rows or K of
    ``lhs``."""
    lhs = product.lhs
    refused = lhs is not None and (statically_differ(lhs.tile.logical_rows, 1) or not lhs.tile.logical_cols)
    return shape if min(shape) > 0 and not refused else None


def scale_groups(k: int) -> int:
    """Returns the number of scale groups along K."""
    return -(-k // MX_SCALE_GROUP)


def is_legacy(scale: Tile, operand: Tile) -> bool:
    """Returns whether a scale tile has the shape of its operand, as the older dialect requires."""
    return (scale.rows, scale.cols, scale.valid_rows, scale.valid_cols) == (
        operand.rows,
        operand.cols,
        operand.valid_rows,
        operand.valid_cols,
    )


def _scale(
    operands: TileOperands,
    scale: Part,
    operand: Part,
    wanted: tuple[int, int],
    shape: tuple[int, int] | None,
    *,
    legacy: bool,
) -> Iterator[Finding]:
    """Checks the valid region and the shape of one scale tile; ``legacy`` states whether the form with the operand's
    shape exists."""
    tile = scale.tile
    found = (tile.logical_rows, tile.logical_cols)
    if scale.lowered:
        return
    if not (statically_differ(found[0], wanted[0]) or statically_differ(found[1], wanted[1])):
        either = legacy and is_legacy(tile, operand.tile)
        if shape is not None and not operand.lowered and not either and (tile.rows, tile.cols) != shape:
            message = f"the tile of {scale.role} of {operands.op_name} must be {shape[0]}x{shape[1]}"
            yield operands.finding("mx-scale-shape", ALWAYS, scale.name, f"{message}, found {tile.rows}x{tile.cols}")
        return
    shown, need = (f"{rows}x{cols}" for rows, cols in (found, wanted))
    if legacy and is_legacy(tile, operand.tile):
        message = f"{scale.role} has the shape of {operand.role} ({shown}); only {need} of it is read"
        yield operands.finding("mx-scale-legacy-shape", ADVICE, scale.name, message)
    else:
        message = f"{scale.role} of {operands.op_name} must be {need}, found {shown}"
        help = f"one scale serves {MX_SCALE_GROUP} elements of K"
        yield operands.finding("mx-scale-shape", ALWAYS, scale.name, message, help)


def _granularity(product: Product) -> Iterator[Finding]:
    lhs, rhs = product.lhs, product.rhs
    if lhs is None or rhs is None or lhs.lowered or rhs.lowered:
        return
    pairs = ((product.lhs_scale, lhs), (product.rhs_scale, rhs))
    legacy = product.bias is None and any(s is not None and is_legacy(s.tile, part.tile) for s, part in pairs)
    for part, k in ((lhs, lhs.tile.cols), (rhs, rhs.tile.rows)):
        if k % MX_K_MULTIPLE:
            message = f"physical K of {product.name} must be a multiple of {MX_K_MULTIPLE}, found {k}"
            yield product.finding("matmul-mx-k64", ADVICE if legacy else ALWAYS, part, message)
            return


# ------------------------------------------------------------ tget_scale_addr


@relation("pto.tget_scale_addr")
def check_scale_address(operands: TileOperands) -> Iterator[Finding]:
    """Checks that the scale tile of a left or right tile has one element for 32 elements of K."""
    src, dst = operands.tile("src"), operands.tile("dst")
    if src is not None and src.loc not in (None, "left", "right"):
        yield operands.memory_finding("matmul-mx-scale-loc", ALWAYS, "src", src.loc, "left", "right")
    if dst is not None and dst.loc not in (None, "scaling"):
        yield operands.memory_finding("matmul-mx-scale-loc", ALWAYS, "dst", dst.loc, "scaling")
    value = operands.value("dst")
    if src is None or dst is None or value is None:
        return
    scale = Part("dst", "dst", dst, is_lowered(value))
    rows, cols = src.logical_rows, src.logical_cols
    wanted = {"left": (rows, scale_groups(cols)), "right": (scale_groups(rows), cols)}.get(src.loc or "")
    if wanted is not None:
        operand = Part("src", "src", src, False)
        shape = (src.rows, wanted[1]) if src.loc == "left" else (wanted[0], src.cols)
        yield from _scale(operands, scale, operand, wanted, shape, legacy=not is_low_precision(src.element))
