"""Tile operations of a vector unit that executes each as one loop over registers (a5). Source:
docs/reference/cycles.md, "Loops over registers"."""

from __future__ import annotations

from typing import Final

from .table import CycleTable
from .work import Work, ceil_div, width

FLAT_IF_FULL: Final = frozenset(("tadds", "tsubs", "tmuls", "tdivs", "tmins", "tmaxs", "tneg"))
"""Operations that process a tile of one row by rows unless the row is full."""

PRECISE: Final = "high_precision"
"""Selects the precise implementation, in the operation or an option; an option applies to operations that have one."""


def is_flat(work: Work) -> bool:
    """Returns whether the library processes the valid part as one contiguous sequence of registers: as its variant
    states, else where rows are contiguous."""
    variant = work.options.get("variant", "")
    if variant.startswith("1D"):
        return True
    if variant.startswith("2D") and not variant.endswith("(default)"):
        return False
    return work.full or (work.valid_rows == 1 and work.name not in FLAT_IF_FULL)


def flow_cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    """Returns the cycles of an elementwise operation and their evidence; ``None`` for operations without a law."""
    cycles = _nonempty_cycles(work, table)
    # A loop of zero iterations only has start-up cost.
    return (table.value_of("flow", "flat_start"), cycles[1]) if cycles is not None and work.empty else cycles


def _nonempty_cycles(work: Work, table: CycleTable) -> tuple[float, str] | None:
    """Returns the cycles of a valid part that is not empty."""
    if work.name == "tcvt":
        return _conversion(work, table)
    if work.name == "tsel" and width(work.result) == 32:
        return _selection(work, table)
    name, precise = work.name, f"{work.name}.{PRECISE}"
    is_precise = (
        work.options.get("precision") == PRECISE and table.type_of("operation", precise, work.result) is not None
    )
    if is_precise or work.options.get("op_params") == PRECISE:
        name = precise
    type_ = table.type_of("operation", name, work.result)
    if type_ is None and width(work.result) == 16:
        type_ = table.type_of("operation", name, "f16")
    if type_ is None:
        return None
    lanes = int(table.value_of("machine", "vector_bytes")) * 8 // width(work.result)
    return _loop(work, table, table.group("operation", name, type_), lanes), table.evidence("operation", name, type_)


def _loop(work: Work, table: CycleTable, op: dict[str, float], lanes: int) -> float:
    """Start-up, then the bottleneck of the loop: issue, the units, or the ports of the unified buffer."""
    more_loads = op["loads"] - 1
    start = table.value_of("flow", "flat_start") + op["chain"]
    second = table.value_of("flow", "second_load")
    per_row = 1
    if is_flat(work):
        total = ceil_div(work.elements, lanes)
    else:
        per_row = ceil_div(work.valid_cols, lanes)
        total = per_row * work.valid_rows
    if is_flat(work) or per_row == 1:
        issue = start + second * more_loads + op["slots"] * total
        if total == 1:
            issue -= table.value_of("flow", "single")
    else:
        row = max(table.value_of("flow", "row_least"), op["slots"] * per_row + table.value_of("flow", "row_gap"))
        issue = table.value_of("flow", "row_start") + op["chain"] + more_loads + work.valid_rows * row
    units = start + op["busy"] * (total - 1)
    port = table.value_of("flow", "port_two" if more_loads else "port_one")
    excess = max(0.0, total - table.value_of("flow", "window"))
    ports = start + second * more_loads + total + (port - 1) * excess
    return max(issue, units, ports)


# ------------------------------------------------------------ conversions


def conversion_class(source: str, result: str) -> str:
    """Returns the class of a conversion: which registers one iteration reads and writes."""
    of, to = width(source), width(result)
    if (of == 32 and to == 8) or (of == 16 and to == 4):
        return "narrow"
    if of > to:
        return "pack" if of == 32 else "same"
    if of == to:
        return "same"
    if to == 32 and of == 8:
        return "unpack8"
    return "unpack4" if of == 4 else "widen"


def _conversion(work: Work, table: CycleTable) -> tuple[float, str] | None:
    kind = conversion_class(work.source, work.result)
    type_ = table.type_of("convert", kind, f"{work.source}-{work.result}")
    if type_ is None:
        return None
    p = table.group("convert", kind, type_)
    scale = flat_scale = 1.0
    if kind == "same":
        scale = 16 / width(work.source)
    elif kind == "narrow" and width(work.source) == 16:
        flat_scale = 2
    elif kind == "widen" and width(work.result) == 16:
        scale = 2
    if kind == "unpack8":
        spread = table.value_of("flow", "spread")
        p["flat_step"] += spread
        p["row_step"] += spread
    evidence = table.evidence("convert", kind, type_)
    if is_flat(work):
        total = ceil_div(work.elements, int(p["flat_lanes"] * scale * flat_scale))
        return max(p["flat_floor"], p["flat_fixed"] + p["flat_step"] * total), evidence
    per_row = ceil_div(work.valid_cols, int(p["row_lanes"] * scale))
    if per_row == 1:
        return p["one_fixed"] + p["one_step"] * work.valid_rows, evidence
    return p["row_fixed"] + work.valid_rows * (p["row_step"] * per_row + p["row_gap"]), evidence


def _selection(work: Work, table: CycleTable) -> tuple[float, str]:
    """Selection of 32-bit elements: one mask serves two registers; an odd last register is processed separately."""
    p = table.group("select", "tsel", "*")
    evidence = table.evidence("select", "tsel", "*")
    lanes = int(table.value_of("machine", "vector_bytes")) * 8 // 32
    if is_flat(work):
        total = ceil_div(work.elements, lanes)
        if total == 1:
            return p["single"], evidence
        odd = total % 2
        return p["even_fixed"] + p["step"] * (total - odd) + p["odd"] * odd, evidence
    per_row = ceil_div(work.valid_cols, lanes)
    pairs, odd = divmod(per_row, 2)
    pair = 2 * (table.value_of("flow", "port_two") + table.value_of("flow", "spread")) + p["pair"]
    row = p["row"] if per_row <= 2 else pair * pairs + p["rest"] * odd
    return p["even_fixed"] + work.valid_rows * row, evidence
