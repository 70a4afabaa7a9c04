"""Transfers between memories, and matrix products.  Source: docs/reference/cycles.md, "Transfers", "Products"."""

from __future__ import annotations

from .table import CycleTable
from .work import Work, ceil_div, width

FRACTAL = 16
"""Rows and columns of what the cube unit multiplies at once; the inner dimension is 32 bytes."""

INNER_BYTES = 32

LANES = {"l1:l0b": 1}
"""Lanes of MTE1 by path: right operands have a lane of their own, all others share the first."""


def lane_of(path: str) -> int:
    """Returns the lane of MTE1 through which a transfer goes."""
    return LANES.get(path, 0)


def extract_lanes(table: CycleTable) -> int:
    """Returns the number of concurrent transfers of MTE1: left and right operands overlap where the table says so."""
    return int(table.optional("machine", "extract_lanes", 1))


def move_cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    """Returns the cycles of a transfer along ``work.path`` and their evidence; ``None`` for a path without figures."""
    type_ = table.type_of("move", work.path, work.source)
    if type_ is None:
        return None
    p = table.group("move", work.path, type_)
    pieces = work.transfers
    size = work.bytes(work.source if work.path.startswith("gm") else work.result)
    if work.empty:
        return p["fixed"], table.evidence("move", work.path, type_)
    if work.path == "ub:ub":
        pieces = 1 if work.full else work.valid_rows
        size = pieces * INNER_BYTES * ceil_div(size // max(pieces, 1), INNER_BYTES)
    cycles = pieces * p["fixed"] + size / p["rate"]
    more = extra_column_cycles(work, table)
    # Geometric mean of no extra cost and the maximum extra cost.
    return (
        ((cycles * (cycles + more)) ** 0.5, "assumed") if more else (cycles, table.evidence("move", work.path, type_))
    )


def extra_column_cycles(work: Work, table: CycleTable) -> float:
    """Maximum cost, beyond the law of a transfer, of columns that do not end at a block boundary."""
    if not work.ragged or table.type_of("ragged", work.path, "*") is None:
        return 0.0
    return max(0, work.ragged - work.transfers) * table.get("ragged", work.path, "*", "column")


def product_cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    """Returns the cycles of a product [m, k] x [k, n] and their evidence: a head, and passes over fractals."""
    type_ = table.type_of("cube", "tmatmul", work.source)
    if type_ is None:
        return None
    p = table.group("cube", "tmatmul", type_)
    inner = INNER_BYTES * 8 // width(work.source)
    fractals = ceil_div(work.valid_rows, FRACTAL) * ceil_div(work.k, inner) * ceil_div(work.valid_cols, FRACTAL)
    return p["head"] + p["passes"] * fractals, table.evidence("cube", "tmatmul", type_)
