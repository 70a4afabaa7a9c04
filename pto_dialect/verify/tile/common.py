"""Rules that all tile operations share: kinds of operands, availability, element types, empty tiles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from pto_dialect.diagnostics.remedies.order import exchange_groups
from pto_dialect.families import MATRIX_FAMILIES, TILE_FAMILIES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import AsMemRefType, PartitionViewType, TensorViewType, type_text
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.element_types import is_low_precision
from pto_dialect.targets.tile_dtypes import MIXED_DTYPES

from ..engine.rule import ERROR
from .facts import Tile
from .form import form_key
from .relations import ADVICE, ALWAYS, Cell, Finding, TargetHelp, TileOperands, cell, relation, unless

_TILE_OPS: Final = tuple(name for name, (family, _, _) in OPS.items() if family in TILE_FAMILIES)
ALL_OPS: Final = (*_TILE_OPS, *(name for name, (family, _, _) in OPS.items() if family in MATRIX_FAMILIES))

VIEWS: Final = frozenset(
    {
        ("pto.tload", "src"),
        ("pto.tprefetch", "src"),
        ("pto.tstore", "dst"),
        ("pto.tstore_fp", "dst"),
        ("pto.mgather", "mem"),
        ("pto.mgather", "idx"),
        ("pto.mgather", "scratch"),
        ("pto.mscatter", "mem"),
        ("pto.mscatter", "idx"),
        ("pto.tprint", "src"),
        ("pto.tprint", "tmp"),
    }
)
"""Operands that may be views of global memory."""

_OWN_AVAILABILITY_RULE: Final = ".mx"
"""The MX products have availability rules of their own."""

_DATA: Final[dict[str, str]] = {
    **dict.fromkeys(("pto.textract", "pto.tgatherb", "pto.mgather", "pto.tload", "pto.tprefetch"), "dst"),
    "pto.tpow": "base",
}
"""The operand whose element type the table row names, where it is not ``src``, ``src0`` or otherwise ``dst``."""

_LISTED_PRECISION: Final = {"pto.mgather": True, "pto.mscatter": True}
"""Operations whose rows list every low-precision type that they take; other rows omit pairs of values."""
_SCRATCH: Final = frozenset({"tmp", "scratch"})

_VIEW_TYPES: Final = frozenset({TensorViewType, PartitionViewType, AsMemRefType})


_NOT_ON_A2A3: Final = cell("E/")


@relation(*ALL_OPS)
def check_operand_types(operands: TileOperands) -> Iterator[Finding]:
    """Only transfers take views of global memory."""
    name = operands.op_name
    for operand, values in operands.values.items():
        if (name, operand) in VIEWS:
            continue
        for index, value in enumerate(values):
            if type(value.type) in _VIEW_TYPES:
                message = f"{operand} of {name} must be a tile, found {type_text(value.type)}"
                help = "load it into a tile with pto.tload" if operand != "dst" else "store a tile with pto.tstore"
                mended = (exchange_groups(),)
                yield operands.finding("tile-type", ALWAYS, operand, message, help, index=index, remedies=mended)


_VALUE_FORM_ATTRIBUTE = {"pto.mgather": "coalesce"}
"""The attribute without which the form with a result exists on a5 only."""
_OWN_SIZES = {"pto.ttrans": (8, 16, 32)}
"""Element sizes outside of which a rule of the operation itself reports."""


@relation(*(name for name in ALL_OPS if _OWN_AVAILABILITY_RULE not in name or "quant" in name))
def check_availability(operands: TileOperands) -> Iterator[Finding]:
    """Checks that the operation exists on the target; some exist on one generation only."""
    name = operands.op_name
    word = _VALUE_FORM_ATTRIBUTE.get(name)
    refused = _unavailable(name)
    if refused.a2a3 or refused.a5:
        target = "a5" if refused.a2a3 else "a2a3"
        yield operands.finding("tile-target-op", refused, None, f"{name} exists on {target} only")
    elif word is not None and operands.value_form and not operands.enumerator(word):
        message = f"{name} without {word} exists on a5 only"
        yield operands.finding("tile-target-op", _NOT_ON_A2A3, None, message, "coalesce = #pto<coalesce row>")


@cache
def _unavailable(name: str) -> Cell:
    return unless(lambda profile: profile.available(name[4:]))


def table_key(operands: TileOperands) -> str:
    """Returns the row of the element-type tables that holds for the written form of the operation."""
    name = operands.op_name[4:]
    source, target = operands.tile("src"), operands.tile("dst")
    if name in ("tpow", "tpows") and operands.enumerator("precisionType") == "high_precision":
        return f"{name}[high_precision]"
    if name in ("tstore", "textract") and source is not None and (name == "tstore" or source.loc == "acc"):
        return f"{name}[{source.loc}]"
    if name == "tinsert" and source is not None and target is not None:
        return f"tinsert[{source.loc}->{target.loc}]"
    return form_key(operands)


def _data_operand(operands: TileOperands) -> str:
    named = _DATA.get(operands.op_name)
    if named is not None:
        return named
    return next((name for name in ("src", "src0", "srcs") if operands.tile(name) is not None), "dst")


@relation(*_TILE_OPS)
def check_element_types(operands: TileOperands) -> Iterator[Finding]:
    """Checks low precision and the table of element types."""
    name = operands.op_name
    free = Cell(ERROR, ERROR)
    for operand in operands.values:
        tile = operands.tile(operand)
        if tile is None or not is_low_precision(tile.element):
            continue
        element = tile.element
        refused = unless(lambda profile, element=element: profile.low_precision_allowed(name[4:], element))
        if refused.a2a3 or refused.a5:
            both = not _LISTED_PRECISION.get(name)
            free = Cell(None, None if both or refused.a5 else free.a5)
            where = "" if refused.a5 else " on a2a3"
            message = f"{operand} of {name} has element type {element}, which the operation does not take{where}"
            yield operands.finding("tile-lowprec", refused, operand, message)
    operand = _data_operand(operands)
    tile = operands.tile(operand)
    if tile is not None:
        yield from _element_type(operands, operand, tile, free)
    others = operands.tiles("src1", "dst") if name.startswith("pto.tcolexpand") and operands.tile("src1") else []
    for operand, other in others:
        if tile is not None and other.element != tile.element:
            yield from _element_type(operands, operand, other, free)


def _element_type(operands: TileOperands, operand: str, tile: Tile, free: Cell) -> Iterator[Finding]:
    """Checks the table's row on the targets (``free``) that accept the precision of an operand."""
    name, element, key = operands.op_name, tile.element, table_key(operands)
    if tile.bits not in _OWN_SIZES.get(name, (tile.bits,)):
        return  # A rule of the operation itself checks the element size there.
    refused = _refused_element(key, element)
    other = operands.tile("dst")
    if other is not None and (element, other.element) in MIXED_DTYPES.get(name[4:], ()):
        return
    # A target without the operation has an empty row; the operation is reported as unavailable.
    a2a3, a5 = A2A3.tile_dtypes.get(key), A5.tile_dtypes.get(key)
    refused = Cell(free.a2a3 and refused.a2a3 if a2a3 else None, free.a5 and refused.a5 if a5 else None)
    if refused.a2a3 or refused.a5:
        message = f"{operand} of {name} has element type {element}"
        yield operands.finding("tile-dtype", refused, operand, message, _allowed(key))
        return
    documented = _undocumented_element(key, element)
    if documented.a2a3 or documented.a5:
        refused = Cell(free.a2a3 and documented.a2a3 and ADVICE.a2a3, free.a5 and documented.a5 and ADVICE.a5)
        message = f"{name} on element type {element} is not documented"
        yield operands.finding("tile-dtype", refused, operand, message)


@lru_cache(4_096)
def _refused_element(key: str, element: str) -> Cell:
    return unless(lambda profile: profile.dtype_allowed(key, element))


@lru_cache(4_096)
def _undocumented_element(key: str, element: str) -> Cell:
    return unless(lambda profile: element in profile.documented_dtypes.get(key, (element,)))


def _allowed(key: str) -> TargetHelp:
    """Returns the rows of both targets as text."""
    a2a3, a5 = (", ".join(sorted(table.get(key, ()))) for table in (A2A3.tile_dtypes, A5.tile_dtypes))
    if a2a3 == a5:
        return TargetHelp(f"allowed: {a5}", f"allowed: {a5}")
    return TargetHelp(f"allowed on a2a3: {a2a3}", f"allowed on a5: {a5}")


@relation(*(name for name in _TILE_OPS if OPS[name][0] != "tile_reduce"))
def check_emptiness(operands: TileOperands) -> Iterator[Finding]:
    """Reports the first tile without valid elements; reductions have a rule of their own."""
    for operand in operands.values:
        tile = operands.tile(operand)
        if tile is not None and operand not in _SCRATCH and 0 in (tile.valid_rows, tile.valid_cols):
            message = f"{operand} of {operands.op_name} has no valid elements ({tile.valid_rows}x{tile.valid_cols})"
            yield operands.finding("tile-empty", ADVICE, operand, message)
            return
