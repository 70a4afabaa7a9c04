"""Tile operations of a vector unit that repeats instructions over 256 bytes (a2a3).  Source: docs/reference/cycles.md,
"Repeated instructions"."""

from __future__ import annotations

from typing import Final

from .table import CycleTable
from .work import BLOCK, Work, ceil_div, width

LANES = 64
"""Lanes that a division processes per step of its slope, whatever their width; masked lanes cost nothing."""


def repeat_cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    """Returns the cycles of a tile operation and their evidence; ``None`` for operations without a law."""
    for law, cycles in _LAWS:
        entry = _entry(work, table, law, work.name)
        if entry is not None:
            return entry[0]["fixed"] if work.empty else cycles(work, table, entry[0]), entry[1]
    entry = _entry(work, table, "transpose", work.name)
    if entry is not None:
        return _transposition(work, table, entry[0], entry[1])
    entry = _entry(work, table, "column", work.name)
    if entry is not None:
        if work.valid_rows == 1 or work.empty:
            p = table.group("copy", "row", "*")
            return p["fixed"] + p["block"] * ceil_div(work.bytes(), BLOCK), table.evidence("copy", "row", "*")
        return _column(work, table, entry[0]), entry[1]
    if work.name == "tcvt":
        entry = _entry(work, table, "convert-repeat", "tcvt")
        if entry is not None:
            return entry[0]["fixed"] if work.empty else _elementwise(work, table, entry[0]), entry[1]
    return None


def _entry(work: Work, table: CycleTable, law: str, name: str) -> tuple[dict[str, float], str] | None:
    bits = width(work.source)
    integral = "f" not in work.source
    for type_ in (work.source, f"{'i' if integral else 'f'}{bits}", "*"):
        if table.type_of(law, name, type_) == type_:
            return table.group(law, name, type_), table.evidence(law, name, type_)
    return None


def _repeats(work: Work, table: CycleTable) -> tuple[int, int, bool]:
    """Repeats of the contiguous valid part, repeats of one row, and whether a row ends inside a repeat."""
    size = int(table.value_of("machine", "vector_bytes"))
    row = work.valid_cols * max(width(work.source), width(work.result)) // 8
    return ceil_div(row * work.valid_rows, size), max(1, ceil_div(row, size)), row % size != 0


def _elementwise(work: Work, table: CycleTable, p: dict[str, float]) -> float:
    """Returns a fixed part, and the repeats; operations with two sources issue partial rows one by one."""
    total, per_row, cut = _repeats(work, table)
    extra = 0.0
    if p["sources"] > 1 and per_row == 1 and cut:
        total = work.valid_rows
        extra = table.value_of("flow", "partial") if work.valid_rows > 1 else 0.0
    elif per_row > 1 and cut:
        extra = table.value_of("flow", "partial")
    elif not work.full:
        total = work.valid_rows * per_row
    return p["fixed"] + p["slope"] * total + extra


def _division(work: Work, table: CycleTable, p: dict[str, float]) -> float:
    """Like other operations with two sources, but each repeat takes as long as its lanes need."""
    _, per_row, cut = _repeats(work, table)
    if per_row == 1 and cut:
        groups = work.valid_rows * ceil_div(work.valid_cols, LANES)
    elif work.full or cut:
        groups = ceil_div(work.elements, LANES)
    else:
        groups = work.valid_rows * ceil_div(work.valid_cols, LANES)
    extra = table.value_of("flow", "partial") if cut and (per_row > 1 or work.valid_rows > 1) else 0.0
    return p["fixed"] + p["slope"] * groups + extra


def _transposition(work: Work, table: CycleTable, p: dict[str, float], evidence: str) -> tuple[float, str]:
    """Returns the blocks of 16 rows and 32 bytes, or of 32 x 32 bytes in four steps, are transposed into the scratch
    tile, then copied to the result."""
    if work.empty:
        return p["fixed"], evidence
    size = max(1, width(work.source) // 8)
    side = BLOCK if size == 1 else BLOCK // 2
    if work.cols % side and table.type_of("scalar", work.name, "*"):
        # The scalar unit moves element after element.
        scalar = table.group("scalar", work.name, "*")
        return scalar["fixed"] + scalar["element"] * work.elements, table.evidence("scalar", work.name, "*")
    steps = ceil_div(work.valid_cols, side) * ceil_div(work.valid_rows * size, BLOCK) * (4 if size == 1 else 1)
    copied = work.valid_rows * ceil_div(work.valid_cols * size, BLOCK) * BLOCK
    return p["fixed"] + p["slope"] * steps + p["copy"] * copied / table.value_of("machine", "vector_bytes"), evidence


def _reduction(work: Work, table: CycleTable, p: dict[str, float]) -> float:
    """Returns one result per row: the repeats of a row are merged, then reduced across lanes."""
    _, per_row, cut = _repeats(work, table)
    row = p["row"] + p["row_more"] * (per_row - 1)
    return row * work.valid_rows + p["fixed"] + p["fixed_more"] * (per_row - 1) + (p["partial"] if cut else 0.0)


def _broadcast(work: Work, table: CycleTable, p: dict[str, float]) -> float:
    _, per_row, _ = _repeats(work, table)
    return (p["row"] + p["row_more"] * per_row) * work.valid_rows + p["fixed"]


def _column(work: Work, table: CycleTable, p: dict[str, float]) -> float:
    """Returns one result per column: each row is merged into the first."""
    _, per_row, cut = _repeats(work, table)
    row = p["row"] + p["row_more"] * (per_row - 1)
    if cut and per_row > 1:
        row += p["partial_row"] * (per_row - 1)
    return row * work.valid_rows + p["fixed"] + p["fixed_more"] * (per_row - 1)


_LAWS: Final = (*(("repeat", _elementwise), ("divide", _division), ("reduce", _reduction), ("broadcast", _broadcast)),)
"""Laws with a fixed part, which is all that remains of an empty tile."""
