"""Rules of tile handles that share storage: windows, valid regions, reinterpreted types and shapes.

Source: docs/reference/operations.md, "Tiles and views: handles".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.ir.buffers.views import BitcastOp, TReshapeOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import DYNAMIC, TileBufType, TileType, byte_width, dim_text, type_text
from pto_dialect.targets.tile_layouts import inner_block

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES, STRUCTURE
from .alloc import tile_bytes

AnyTile = TileBufType | TileType

_MAKERS = frozenset(
    (
        "pto.alloc_tile",
        "pto.declare_tile",
        "pto.materialize_tile",
        "pto.multi_tile_get",
    )
)
"""Operations whose result is a tile that the function owns."""


def _config(tile: AnyTile) -> tuple[object, ...]:
    """Returns the layout configuration; a tile value has none."""
    return () if isinstance(tile, TileType) else (tile.blayout, tile.slayout, tile.fractal, tile.pad, tile.compact)


def _location(tile: AnyTile) -> str:
    return "" if isinstance(tile, TileType) else tile.loc


def _valid(tile: AnyTile) -> tuple[int, int]:
    return (tile.rows, tile.cols) if isinstance(tile, TileType) else (tile.valid_rows, tile.valid_cols)


def _shared_types(op: Operation, ctx: Context, violated: str, source: Attribute) -> tuple[AnyTile, AnyTile] | None:
    """Returns the types of the source tile of ``op`` and of its result, which shares its bytes: two tile buffers, or
    two tile values."""
    result = op.results[0].type
    if not isinstance(source, (TileBufType, TileType)) or not isinstance(result, (TileBufType, TileType)):
        return None
    if type(source) is not type(result):
        what = "tile buffer" if isinstance(source, TileBufType) else "tile value"
        ctx.report(violated, op, f"the result of {op.name} must be a {what} like its source, found {type_text(result)}")
        return None
    return source, result


# ------------------------------------------------------------ subview


@checks(STRUCTURE, "pto.subview")
def check_window(op: Operation, ctx: Context) -> None:
    """Checks the form and the type of a window."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    types = _shared_types(op, ctx, "subview-form", named(op, "source").type)
    sizes = array_values(op.attributes.get("sizes"))
    if types is None or sizes is None:
        return
    source, result = types
    if len(sizes) != 2 or len(groups["offsets"]) != 2:
        found = f"{len(sizes)} sizes and {len(groups['offsets'])} offsets"
        ctx.report("subview-form", op, f"{op.name} takes two sizes and two offsets, found {found}")
        return
    if min(sizes) <= 0:
        ctx.report("subview-form", op, f"sizes of {op.name} must be positive, found {list(sizes)}", at="sizes")
        return
    for value in groups["offsets"]:
        offset = ctx.constant(value)
        if offset is not None and offset < 0:
            ctx.report("subview-form", op, f"offsets of {op.name} must not be negative, found {offset}", at=value)
    if bool(groups["valid_row"]) != bool(groups["valid_col"]):
        ctx.report("subview-form", op, f"{op.name} takes both valid sizes or none")
        return
    if (result.rows, result.cols) != sizes:
        wanted, found = f"{sizes[0]}x{sizes[1]}", f"{result.rows}x{result.cols}"
        message = f"the result of {op.name} must have the shape {wanted}, found {found}"
        ctx.report("subview-form", op, message)
        return
    if (result.element, _location(result), _config(result)) != (source.element, _location(source), _config(source)):
        kept = "element type, location and layout"
        if isinstance(source, TileType):
            expected, kept = TileType(*sizes, source.element), "element type"
        else:
            expected = source.replace(rows=result.rows, cols=result.cols, valid=_valid(result))
        message = f"the result of {op.name} must keep {kept}, found {type_text(result)}"
        right = type_text(expected)
        ctx.report("subview-form", op, message, help=f"write {right}", remedies=(replace(type_text(result), right),))
    for name, size, stated in zip(("valid_row", "valid_col"), sizes, _valid(result), strict=True):
        # The type of a tile value does not state its valid region.
        _valid_sizes(op, ctx, groups[name], name, size, None if isinstance(result, TileType) else stated)


def _valid_sizes(
    op: Operation, ctx: Context, given: tuple[SSAValue, ...], name: str, size: int, stated: int | None
) -> None:
    """Checks one valid size of a window: the operand against the size in the result type, if the type states one."""
    if not given:
        if stated == DYNAMIC:
            ctx.report("subview-form", op, f"{name} of {op.name} is open in the type and must be given")
        return
    constant = ctx.constant(given[0])
    if constant is not None and not 0 <= constant <= size:
        ctx.report("subview-form", op, f"{name} of {op.name} must be in 0..{size}, found {constant}", at=given[0])
        return
    expected = DYNAMIC if constant is None else constant
    if stated is not None and stated != expected:
        message = f"{name} of {op.name} is {dim_text(expected)}, the result type says {dim_text(stated)}"
        ctx.report("subview-form", op, message, at=given[0])


def array_values(attr: Attribute | None) -> tuple[int, ...] | None:
    """Returns the integers of an array attribute."""
    if isinstance(attr, DenseArrayBase):
        return tuple(int(value) for value in attr.get_values())
    if isinstance(attr, ArrayAttr):
        return tuple(value.value.data for value in attr.data if isinstance(value, IntegerAttr))
    return None


@checks(SHAPES, "pto.subview")
def check_window_bounds(op: Operation, ctx: Context) -> None:
    """Checks that the window lies inside the tile and starts on a block border."""
    assert isinstance(op, PtoOp)
    source = named(op, "source").type
    sizes = array_values(op.attributes.get("sizes"))
    if not isinstance(source, (TileBufType, TileType)) or sizes is None:
        return
    block = (1, 1)
    if isinstance(source, TileBufType) and source.slayout != "none_box":
        block = inner_block(source.fractal, source.slayout, (byte_width(source.element) or 1) * 8)
    groups = operand_groups(op)
    offsets = groups["offsets"]
    whole = (source.rows, source.cols)
    used = _sizes_inside(op.results[0].type, groups, sizes, ctx)
    for axis, size, inside, length, unit, value in zip(
        ("rows", "columns"), sizes, used, whole, block, offsets, strict=True
    ):
        offset = ctx.constant(value)
        if size % unit:
            message = f"{size} {axis} of {op.name} are no multiple of the {unit} {axis} of a block"
            ctx.report("subview-boxed", op, message, at="sizes")
        if offset is not None and offset % unit:
            message = f"offset {offset} of {op.name} is no multiple of the {unit} {axis} of a block"
            ctx.report("subview-boxed", op, message, at=value)
        elif (offset or 0) + inside > length:
            which = f"{size} {axis}" if inside == size else f"{inside} valid {axis}"
            message = f"offset {offset or 0} and {which} of {op.name} reach beyond {length} {axis}"
            ctx.report("subview-bounds", op, message, at=value)


def _sizes_inside(
    result: Attribute, groups: Mapping[str, Sequence[SSAValue]], sizes: Sequence[int], ctx: Context
) -> list[int]:
    """Returns how many rows and columns of a window must lie in its parent: the valid ones; none where they are
    dynamic."""
    found: list[int] = []
    # The type of a tile value does not state its valid region.
    stated = (result.valid_rows, result.valid_cols) if isinstance(result, TileBufType) else (DYNAMIC, DYNAMIC)
    for size, valid, name in zip(sizes, stated, ("valid_row", "valid_col"), strict=True):
        given = groups.get(name, ())
        if valid == DYNAMIC:
            known = ctx.constant(given[0]) if given else size
            found.append(0 if known is None else min(known, size))
        else:
            found.append(min(valid, size))
    return found


# ------------------------------------------------------------ other handles


@checks(SHAPES, "pto.set_validshape")
def check_valid_shape(op: Operation, ctx: Context) -> None:
    """Checks a change of the valid region."""
    source = named(op, "source")
    tile = source.type
    if not isinstance(tile, TileBufType):
        return
    if DYNAMIC not in (tile.valid_rows, tile.valid_cols):
        help = "write ? in the valid region of the type"
        ctx.report("setvalid-dynamic", op, f"{op.name} needs a tile with an open valid size", at=source, help=help)
        return
    if not _is_local(source):
        message = f"{op.name} changes tiles of its own function, not arguments or received values"
        ctx.report("setvalid-dynamic", op, message, at=source)
    for name, axis, limit in (("valid_row", "rows", tile.rows), ("valid_col", "columns", tile.cols)):
        value = named(op, name)
        constant = ctx.constant(value)
        if constant is not None and not 0 <= constant <= limit:
            ctx.report(
                "setvalid-dynamic", op, f"valid {axis} of {op.name} must be in 0..{limit}, found {constant}", at=value
            )


def _is_local(value: SSAValue) -> bool:
    owner = value.owner
    while isinstance(owner, (BitcastOp, TReshapeOp)):
        owner = owner.src.owner
    # The operations that make tiles belong to several families, whose classes are not needed here.
    return isinstance(owner, Operation) and owner.name in _MAKERS


@checks(STRUCTURE, "pto.bitcast")
def check_bitcast(op: Operation, ctx: Context) -> None:
    """Checks a reinterpretation of the same bytes with another element type."""
    types = _shared_types(op, ctx, "bitcast-same", named(op, "src").type)
    if types is None:
        return
    source, result = types
    help = "pto.treshape changes shape and layout"
    if _location(source) != _location(result):
        ctx.report(
            "bitcast-same", op, f"{op.name} keeps the location, found {_location(source)} and {_location(result)}"
        )
    elif (source.rows, source.cols) != (result.rows, result.cols):
        found = f"{source.rows}x{source.cols} and {result.rows}x{result.cols}"
        ctx.report("bitcast-same", op, f"{op.name} keeps the shape, found {found}", help=help)
    elif _valid(source) != _valid(result):
        ctx.report("bitcast-same", op, f"{op.name} keeps the valid region")
    elif _config(source) != _config(result):
        ctx.report("bitcast-same", op, f"{op.name} keeps the layout", help=help)
    elif source.element == result.element:
        ctx.report("bitcast-same", op, f"{op.name} changes the element type, both are {type_text(source.element)}")
    elif tile_bytes(result) > tile_bytes(source):
        found = f"{tile_bytes(source)} and {tile_bytes(result)}"
        ctx.report(
            "bitcast-same", op, f"the result of {op.name} must not need more bytes than its source, found {found}"
        )


@checks(STRUCTURE, "pto.treshape")
def check_reshape(op: Operation, ctx: Context) -> None:
    """Checks a reinterpretation of the same bytes with another shape."""
    types = _shared_types(op, ctx, "reshape-bytes", named(op, "src").type)
    if types is None:
        return
    source, result = types
    if _location(source) != _location(result):
        ctx.report(
            "reshape-bytes", op, f"{op.name} keeps the location, found {_location(source)} and {_location(result)}"
        )
    if tile_bytes(source) != tile_bytes(result):
        found = f"{tile_bytes(source)} and {tile_bytes(result)}"
        ctx.report("reshape-bytes", op, f"{op.name} keeps the number of bytes, found {found}")
    boxed = [isinstance(one, TileBufType) and one.slayout != "none_box" for one in types]
    if boxed[0] != boxed[1]:
        ctx.report("reshape-bytes", op, f"{op.name} does not pass between boxed and unboxed layouts")
