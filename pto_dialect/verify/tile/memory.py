"""Rules of transfers between global memory and tiles (loads, prefetches, stores), and of printing.

Source: docs/reference/targets.md, "Quantisation modes", "Element types".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.remedies.moves import convert_elements
from pto_dialect.ir.core.types import (
    DYNAMIC,
    PartitionViewType,
    TensorViewType,
    byte_width,
    dim_text,
    element_name,
    type_text,
)
from pto_dialect.ir.tile.memory import TLoadOp
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.element_types import FP4, is_low_precision
from pto_dialect.targets.tile_pairs import AccStore

from ..engine.rule import ERROR
from .facts import Tile
from .relations import ADVICE, ALWAYS, Cell, Finding, TileOperands, cell, relation, unless

_ON_A5 = cell("/E")
_ON_A2A3 = cell("E/")


def _lowered(operands: TileOperands) -> bool:
    """Returns whether an operand is a memref: the transfer was lowered and its types state little."""
    return any(isinstance(value.type, MemRefType) for values in operands.values.values() for value in values)


# ------------------------------------------------------------ both directions


def _view_type(operands: TileOperands, name: str) -> Iterator[Finding]:
    """Checks that the view side of a transfer is a partition view with positive dimensions."""
    kind = operands.type(name)
    if isinstance(kind, PartitionViewType):
        for index, dim in enumerate(kind.shape):
            if dim == 0 or dim < DYNAMIC:
                message = f"dimension {index} of {name} of {operands.op_name} must be positive, found {dim}"
                yield operands.finding("tload-types", ALWAYS, name, message)
    elif kind is not None:
        help = "take a part of the view with pto.partition_view" if isinstance(kind, TensorViewType) else None
        message = f"{name} of {operands.op_name} must be !pto.partition_tensor_view, found {type_text(kind)}"
        yield operands.finding("tload-types", ALWAYS, name, message, help)


def _same_size(operands: TileOperands, view: Attribute, tile: Tile) -> bool:
    element = view.element_type if isinstance(view, MemRefType) else getattr(view, "element", None)
    size = byte_width(element) if isinstance(element, Attribute) else None
    return size is None or tile.bits == 0 or size * 8 == max(8, tile.bits)


def _element(view: Attribute) -> str:
    element = view.element_type if isinstance(view, MemRefType) else getattr(view, "element", None)
    return element_name(element) if isinstance(element, Attribute) else "?"


def _count(sizes: Sequence[int]) -> int | None:
    """Returns the number of elements; ``None`` when a size is dynamic or there are none."""
    return prod(sizes) if sizes and min(sizes) > 0 else None


def _counts_differ(kind: Attribute | None, tile: Tile | None) -> tuple[int, int] | None:
    """Checks the numbers of elements of a view and of a valid region where both are static."""
    if not isinstance(kind, PartitionViewType) or tile is None:
        return None
    view, valid = _count(kind.shape), _count((tile.valid_rows, tile.valid_cols))
    if view is None or valid is None or view == valid:
        return None
    if tile.element in FP4 and view in (_pairs(tile, valid), 2 * _pairs(tile, valid)):
        return None
    return view, valid


def _pairs(tile: Tile, valid: int) -> int:
    """Returns the packed pairs in a tile of ``valid`` elements: outside of vec, tiles count single numbers."""
    return valid if tile.loc == "vec" else valid // 2


def _vec_layout(operands: TileOperands, name: str, tile: Tile, *, single: bool) -> Iterator[Finding]:
    """Checks the layout of a vec tile: on a5 the transfer engine has three; ``single`` exempts one row or column."""
    layouts = A5.tile_rules.tload_vec_layouts
    if tile.loc != "vec" or tile.layout is None or layouts is None or tile.layout in layouts:
        return
    if single and 1 in (tile.rows, tile.cols):
        return
    message = f"{name} of {operands.op_name} is laid out {tile.layout_text}, on a5 it must be ND, DN or NZ"
    yield operands.finding("tload-vec-layout", _ON_A5, name, message)


# ------------------------------------------------------------ loads


@relation("pto.tload", "pto.tprefetch")
def check_load(operands: TileOperands) -> Iterator[Finding]:
    """Checks a load of a view into a vec or mat tile."""
    name = operands.op_name
    view, tile = operands.type("src"), operands.tile("dst")
    if tile is not None and tile.loc is not None and tile.loc not in A5.tload_destinations:
        severity = cell("E/W") if tile.loc == "scaling" else ALWAYS
        yield operands.memory_finding("tload-loc", severity, "dst", tile.loc, "vec", "mat")
    if not isinstance(view, MemRefType):
        yield from _view_type(operands, "src")
    if view is None or tile is None:
        return
    if not _same_size(operands, view, tile):
        message = f"elements of {name} must have one size, found {_element(view)} and {tile.element}"
        help = f"load into a tile of {_element(view)} and convert that with pto.tcvt"
        yield operands.finding("tload-types", ALWAYS, "src", message, help, remedies=(convert_elements(),))
    yield from _view_element(operands, view, tile)
    if isinstance(operands.op, TLoadOp) and not _lowered(operands):
        yield from _load_form(operands, view, tile)


def _view_element(operands: TileOperands, view: Attribute, tile: Tile) -> Iterator[Finding]:
    """Checks the element type that the target can move; the table row of the operation names the tile's type."""
    element = _element(view)
    if is_low_precision(tile.element) or not is_low_precision(element):
        return
    refused = unless(lambda profile: profile.low_precision_allowed(operands.op_name[4:], element))
    if any(refused):
        message = f"elements of type {element} are not moved by {operands.op_name} on a2a3"
        yield operands.finding("tload-types", refused, "src", message)


def _load_form(operands: TileOperands, view: Attribute, tile: Tile) -> Iterator[Finding]:
    yield from _vec_layout(operands, "dst", tile, single=False)
    pads = A5.tile_rules.tload_wide_pads
    if tile.bits == 64 and tile.pad is not None and pads is not None and tile.pad not in pads:
        message = f"dst of {operands.op_name} has 8-byte elements and pad {tile.pad}; a5 pads them with zero only"
        yield operands.finding("tload-i64-pad", _ON_A5, "dst", message)
    differing = _counts_differ(view, tile)
    if differing is not None:
        message = f"src of {operands.op_name} has {differing[0]} elements, dst has {differing[1]} valid ones"
        packed = tile.element in FP4
        help = "views of packed numbers count the pairs, or the single numbers" if packed else None
        yield operands.finding("tload-count", ALWAYS if packed else ADVICE, "src", message, help)
    value = operands.type("pad_value")
    if operands.enumerator("pad_mode") == "PadValue":
        if value is None:
            message = f"{operands.op_name} with pad_mode PadValue needs a pad_value"
            yield operands.finding("tload-pad-args", ALWAYS, None, message)
        elif element_name(value) != tile.element:
            message = f"pad_value of {operands.op_name} must be {tile.element}, found {element_name(value)}"
            yield operands.finding("tload-pad-args", ALWAYS, "pad_value", message)


# ------------------------------------------------------------ stores


@relation("pto.tstore", "pto.tstore_fp")
def check_store(operands: TileOperands) -> Iterator[Finding]:
    """Checks a store of a tile into a view."""
    tile = operands.tile("src")
    with_table = "fp" in operands.values
    if tile is not None and with_table:
        yield from _store_fp(operands, tile)
    if _lowered(operands):
        return
    yield from _view_type(operands, "dst")
    if tile is None:
        return
    name = operands.op_name
    if tile.loc is not None and not with_table:
        yield from _store_source(operands, tile)
    if tile.loc == "acc":
        yield from _store_columns(operands, tile, A2A3.acc_store)
    differing = None if with_table else _counts_differ(operands.type("dst"), tile)
    if differing is not None:
        message = f"dst of {name} has {differing[0]} elements, src has {differing[1]} valid ones"
        yield operands.finding("tload-count", ALWAYS, "dst", message)


def _store_source(operands: TileOperands, tile: Tile) -> Iterator[Finding]:
    name, loc, view = operands.op_name, tile.loc or "", operands.type("dst")
    where = unless(lambda profile: loc in profile.tstore_sources)
    if any(where):
        yield operands.memory_finding("tstore-src-loc", where, "src", loc, "vec", "acc" if where.a2a3 else "acc on a5")
        if where == ALWAYS:
            return
    quantised = operands.value("preQuantScalar") is not None
    if loc != "acc":
        if quantised:
            message = f"preQuantScalar of {name} needs a source in acc, found {loc}"
            yield operands.finding("tstore-prequant-acc", ALWAYS, "preQuantScalar", message)
        if operands.enumerator("reluPreMode") not in ("", "no_relu"):
            message = f"reluPreMode of {name} needs a source in acc, found {loc}"
            yield operands.finding("tstore-prequant-acc", ALWAYS, "reluPreMode", message)
        yield from _vec_layout(operands, "src", tile, single=True)
        if isinstance(view, PartitionViewType):
            yield from _plain_elements(operands, tile, view)
    elif isinstance(view, PartitionViewType):
        yield from _accumulator_elements(operands, tile, element_name(view.element), quantised)


def _plain_elements(operands: TileOperands, tile: Tile, view: PartitionViewType) -> Iterator[Finding]:
    name, element = operands.op_name, element_name(view.element)
    if not _same_size(operands, view, tile):
        message = f"elements of {name} must have one size, found {tile.element} and {element}"
        help = f"convert the tile to {element} with pto.tcvt first"
        yield operands.finding("tstore-elem", ALWAYS, "dst", message, help, remedies=(convert_elements(),))
    elif is_low_precision(element) and not is_low_precision(tile.element):
        refused = unless(lambda profile: profile.low_precision_allowed("tstore", element))
        message = f"elements of type {element} are not stored on a2a3"
        yield operands.finding("tstore-elem", refused, "dst", message)


def _accumulator_elements(operands: TileOperands, tile: Tile, element: str, quantised: bool) -> Iterator[Finding]:
    """Checks conversions of the write-back; an accumulator of another type is reported by the type table."""
    if not any(tile.element == source for source, _ in A5.acc_store.plain):
        return
    refused = unless(lambda profile: profile.acc_store.allows(tile.element, element, quantised))
    if any(refused):
        way = "with preQuantScalar" if quantised else "without quantisation"
        where = "" if refused == ALWAYS else " on a2a3" if refused.a2a3 else " on a5"
        message = f"{operands.op_name} cannot store {tile.element} as {element} {way}{where}"
        help = None if quantised else "narrower types need preQuantScalar or fp"
        yield operands.finding("tstore-elem", refused, "dst", message, help)


def _store_columns(operands: TileOperands, tile: Tile, limits: AccStore) -> Iterator[Finding]:
    low, high = limits.cols
    if not low <= tile.cols <= high or tile.valid_cols > limits.valid_cols[1]:
        message = f"src of {operands.op_name} must have {low} to {high} columns, found {dim_text(tile.cols)}"
        yield operands.finding("tstore-acc-cols", ALWAYS, "src", message)


def _store_fp(operands: TileOperands, tile: Tile) -> Iterator[Finding]:
    """Checks channel parameters: one quantization parameter per column."""
    name, table = operands.op_name, operands.tile("fp")
    if tile.loc not in (None, "acc"):
        message = f"src of {name} with channel parameters must be in acc, found {tile.loc}"
        yield operands.finding("tstore-fp", ALWAYS, "src", message)
    elif tile.element not in ("f32", "i32", "si32", "ui32"):
        message = f"src of {name} with channel parameters must be f32 or i32, found {tile.element}"
        yield operands.finding("tstore-fp", _ON_A2A3 if name.endswith("_fp") else ALWAYS, "src", message)
    if table is not None and table.loc not in (None, "scaling"):
        yield operands.memory_finding("tstore-fp", ALWAYS, "fp", table.loc, "scaling")
    if operands.value("preQuantScalar") is not None:
        message = f"{name} takes fp or preQuantScalar, not both"
        yield operands.finding("tstore-fp", ALWAYS, "preQuantScalar", message)
    if operands.enumerator("stPhase") not in ("", "unspecified"):
        message = f"{name} with channel parameters has the phase unspecified"
        yield operands.finding("tstore-fp", ALWAYS, "stPhase", message)


# ------------------------------------------------------------ printing


@relation("pto.tprint")
def check_printing(operands: TileOperands) -> Iterator[Finding]:
    """Checks that tiles are printed from vec, others through a workspace in global memory."""
    tile, workspace = operands.tile("src"), operands.type("tmp")
    if isinstance(operands.type("src"), MemRefType):
        return
    if tile is None:
        if workspace is not None:
            message = "tmp of pto.tprint belongs to a tile, the source is a view"
            yield operands.finding("tprint-form", ALWAYS, "tmp", message)
        return
    if workspace is None:
        if tile.loc not in (None, "vec"):
            message = f"src of pto.tprint must be in vec, found {tile.loc}"
            help = "give a view as workspace to print tiles of other memories"
            yield operands.finding("tprint-form", ALWAYS, "src", message, help)
        return
    if tile.loc in ("mat", "acc", "vec", None):
        if tile.loc == "mat":
            message = "mat tiles are printed on a2a3 only"
            yield operands.finding("tprint-form", Cell(None, ERROR), "src", message)
    else:
        message = f"src of pto.tprint must be in vec, mat or acc, found {tile.loc}"
        yield operands.finding("tprint-form", ALWAYS, "src", message)
    if not isinstance(workspace, PartitionViewType) or element_name(workspace.element) != tile.element:
        message = f"tmp of pto.tprint must be a partition view of {tile.element}, found {type_text(workspace)}"
        yield operands.finding("tprint-form", ALWAYS, "tmp", message)
