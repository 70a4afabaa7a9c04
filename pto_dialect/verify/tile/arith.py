"""Relations between the operands of tile arithmetic. Source: docs/reference/constraints.md, "Tile arithmetic".

The relations themselves are data (``relation_table``); this module evaluates them and words the messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache

from pto_dialect.diagnostics.remedies.moves import convert_elements, move_to
from pto_dialect.diagnostics.remedies.types import result_like_operand
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.types import dims_text
from pto_dialect.targets.tile_dtypes import MIXED_DTYPES

from .facts import Tile, statically_differ
from .form import form_key
from .relation_table import EMPTY_MARKER, LOCATIONS_OF, OPERATIONS, RELATIONS, SAME_ORDER, VECTOR, Clause
from .relations import ADVICE, Cell, Finding, TileOperands, relation


@relation(*OPERATIONS)
def check_relations(t: TileOperands) -> Iterator[Finding]:
    """Checks every relation of the operation's row."""
    key = form_key(t)
    row = RELATIONS.get(key)
    if row is None:
        return
    name = key.partition("[")[0]
    for clause in row.loc:
        yield from _located(t, clause, LOCATIONS_OF.get(name, VECTOR))
    for clause in row.order:
        yield from _ordered(t, clause, name)
    for clause in row.box:
        yield from _unboxed(t, clause)
    for clause in row.dtype:
        yield from _one_dtype(t, clause, name)
    for clause in row.scratch:
        yield from _scratch(t, clause)
    for clause in row.shape:
        shapes = [(n, (tile.rows, tile.cols)) for n, tile in t.tiles(*clause.names) if _static(tile)]
        mended = (result_like_operand(),)
        yield from _agree(
            t, "tile-same-shape", clause.cell, shapes, "the same physical shape", _extent, remedies=mended
        )
    if name in EMPTY_MARKER and _empty(t.tile("dst")):
        return
    for rule_, clauses, axis in (("tile-valid-rows", row.rows, "rows"), ("tile-valid-cols", row.cols, "columns")):
        for clause in clauses:
            yield from _counts(t, rule_, clause, axis)


def _static(tile: Tile) -> bool:
    return tile.rows >= 0 and tile.cols >= 0


def _empty(tile: Tile | None) -> bool:
    return tile is not None and tile.valid_rows == 0 == tile.valid_cols


def _extent(shape: Hashable) -> str:
    assert isinstance(shape, tuple)
    return dims_text(shape)


def _agree(
    t: TileOperands,
    rule_: str,
    cell: Cell,
    facts: Sequence[tuple[str, Hashable]],
    what: str,
    spell: Callable[[Hashable], str] = str,
    help: str | None = None,
    remedies: tuple[Remedy, ...] = (),
) -> Iterator[Finding]:
    """Yields a finding for each operand that differs from the majority."""
    if len({fact for _, fact in facts}) < 2:
        return
    common = Counter(fact for _, fact in facts).most_common(1)[0][0]
    if all(count == 1 for count in Counter(fact for _, fact in facts).values()):
        common = facts[-1][1]
    holder = next(name for name, fact in facts if fact == common)
    for name, fact in facts:
        if fact != common:
            found = f"found {spell(fact)} and {spell(common)}"
            message = f"{name} and {holder} of {t.op_name} must have {what}, {found}"
            yield t.finding(rule_, cell, name, message, help, remedies=remedies)


def _located(t: TileOperands, clause: Clause, allowed: tuple[str, ...]) -> Iterator[Finding]:
    wanted = " or ".join(allowed)
    for name, tile in t.tiles(*clause.names):
        if tile.loc is not None and tile.loc not in allowed:
            message = f"{name} of {t.op_name} must be in {wanted}, found {tile.loc}"
            help = f"move it with pto.tmov to a tile in {allowed[0]}"
            yield t.finding("tile-loc-vec", clause.cell, name, message, help, remedies=(move_to(allowed[0]),))


def _ordered(t: TileOperands, clause: Clause, name: str) -> Iterator[Finding]:
    operands = t.tiles(*clause.names)
    if name in SAME_ORDER and len({tile.blayout for _, tile in operands}) == 1:
        return
    for operand, tile in operands:
        elsewhere = name in LOCATIONS_OF and tile.loc not in VECTOR
        if tile.blayout == "col_major" and not elsewhere:
            message = f"{operand} of {t.op_name} must be row_major, found col_major"
            yield t.finding("tile-row-major", clause.cell, operand, message, _as_a_row(tile))


def _as_a_row(tile: Tile) -> str | None:
    """Returns how a column becomes row-major: its bytes are those of a row."""
    if tile.cols != 1 or tile.rows < 1:
        return None
    return f"the same bytes are a row-major tile of 1x{tile.rows}: pto.treshape gives it"


def _unboxed(t: TileOperands, clause: Clause) -> Iterator[Finding]:
    for operand, tile in t.tiles(*clause.names):
        if tile.slayout not in (None, "none_box"):
            message = f"{operand} of {t.op_name} must not have inner blocks, found slayout {tile.slayout}"
            yield t.finding("tile-row-major", clause.cell, operand, message, "slayout=none_box")


def _one_dtype(t: TileOperands, clause: Clause, name: str) -> Iterator[Finding]:
    facts = [(n, tile.element) for n, tile in t.tiles(*clause.names)]
    if tuple(fact for _, fact in facts) in MIXED_DTYPES.get(name, ()):
        return
    help, mended = "convert one of them with pto.tcvt", (convert_elements(), result_like_operand())
    yield from _agree(t, "tile-same-dtype", clause.cell, facts, "the same element type", help=help, remedies=mended)


def _scratch(t: TileOperands, clause: Clause) -> Iterator[Finding]:
    for pair in clause.names:
        operand, _, like = pair.partition(":")
        tile = t.tile(operand)
        if tile is None:
            continue
        model = t.tile(like)
        if model is not None:
            if tile.element != model.element:
                message = f"{operand} of {t.op_name} must have the element type of {like}, {model.element}"
                yield t.finding("tile-tmp-dtype", clause.cell, operand, f"{message}, found {tile.element}")
        elif like.startswith("i") and like[1:].isdigit() and tile.element.lstrip("su") != like:
            message = f"{operand} of {t.op_name} must be {like} or u{like}, found {tile.element}"
            yield t.finding("tile-tmp-dtype", clause.cell, operand, message)


def _counts(t: TileOperands, rule_: str, clause: Clause, axis: str) -> Iterator[Finding]:
    """Checks valid rows or columns: equal among the named operands, or equal to the number after ``=``."""
    facts: list[tuple[str, Hashable]] = []
    wanted = _wanted(clause.names)
    for name, number in wanted:
        for operand, tile in t.tiles(name):
            count = tile.valid_rows if axis == "rows" else tile.valid_cols
            if count < 0:
                continue
            facts.append((operand, count))
            if number is not None and count != number:
                unit = axis.removesuffix("s")
                message = f"{operand} of {t.op_name} must have {number} valid {unit}, found {count}"
                yield t.finding(rule_, clause.cell, operand, message)
    if all(number is None for _, number in wanted):
        mended = (result_like_operand(),)
        yield from _agree(t, rule_, clause.cell, facts, f"the same number of valid {axis}", remedies=mended)


@cache
def _wanted(names: tuple[str, ...]) -> list[tuple[str, int | None]]:
    """Returns names of operands, each with the number of rows or columns that follows it after ``=``."""
    parts = [name.partition("=") for name in names]
    return [(name, int(number) if number else None) for name, _, number in parts]


@relation("pto.ttrans")
def check_transposed(t: TileOperands) -> Iterator[Finding]:
    """Checks that the valid rows of the source are valid columns of the destination, and the reverse."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None or dst is None:
        return
    for rule_, axis, wanted, found in (
        ("tile-valid-rows", "rows", src.valid_cols, dst.valid_rows),
        ("tile-valid-cols", "columns", src.valid_rows, dst.valid_cols),
    ):
        if statically_differ(wanted, found):
            message = f"dst of pto.ttrans must have {wanted} valid {axis}, found {found}"
            yield t.finding(rule_, ADVICE, "dst", message)
