"""How near the cycle model comes to measurements that it was not fitted to.

    python benchmarks/cycles.py CYCLES.csv [--details]

CYCLES.csv has measurements of single operations (docs/reference/cycles.md, "Measurements"). For each chip the shipped
table is set back to the values that a fit starts from, fitted to all rows but some, and predicts these: once for each
operation with its types, once for all rows of an operation whatever its types, once for each shape. Rows that a formula
has made (EQ_FIT_TABLE and CLOSED_FORM in their notes) are counted apart. Some rows have nothing left to predict from,
neither another operation of their class nor published latencies. They are left out of the first line of each kind, that
counts them as "without neighbours", and predicted from the values that a fit starts from in the second line, which has
all rows. "inside" is how many rows lie in the band of a neighbour. The line "families" has the laws that operations
without figures get, for all rows as if none of them had figures. The line "public model" has the
errors that the public model states for the same rows.

cycle_kernels.py has times of whole kernels.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.fit import fit, fitted_parameters, reset_to_priors
from pto_dialect.analysis.cycles.measurements import Measurement, read_measurements
from pto_dialect.analysis.cycles.table import CycleTable, shipped
from pto_dialect.analysis.cycles.work import ceil_div, width

OWN = ("convert", "select")
"""Laws whose parameters mean nothing before a row has fitted them."""


def typed(one: Measurement) -> Hashable:
    work = one.work
    return (work.name, work.source, work.result, work.options.get("op_params", ""))


def named(one: Measurement) -> Hashable:
    return one.work.name


def shaped(one: Measurement) -> Hashable:
    return (one.work.valid_rows, ceil_div(one.work.valid_cols * width(one.work.result), 2048))


def orphan(one: Measurement, base: CycleTable, known: frozenset[object]) -> bool:
    """Nothing that the law of this row wants was fitted or is published."""
    keys = fitted_parameters(one, base)
    own = [key for key in keys if key[0] in OWN or (key[0] == "operation" and "." in key[1])]
    return bool(own) and not any(key in known for key in own)


class Left(NamedTuple):
    """A row that was left out: the error of its prediction, the row, whether anything is left to predict from, and
    whether the row lies in the band of a neighbour."""

    error: float
    row: Measurement
    orphan: bool
    inside: bool


def left_out(
    rows: Sequence[Measurement], base: CycleTable, key: Callable[[Measurement], Hashable]
) -> list[Left]:  # fmt: skip
    """Each row, predicted from all that do not share its ``key``."""
    groups: dict[Hashable, list[Measurement]] = defaultdict(list)
    for one in rows:
        groups[key(one)].append(one)
    band = base.value_of("band", "neighbour")
    found: list[Left] = []
    for name, group in groups.items():
        rest = [one for one in rows if key(one) != name]
        table = fit(base, rest)
        known: frozenset[object] = frozenset(each for one in rest for each in fitted_parameters(one, base))
        for one in group:
            error = estimate(one.work, table).cycles / one.cycles - 1
            inside = 1 / (1 + band) <= 1 + error <= 1 + band
            found.append(Left(error, one, orphan(one, base, known), inside))
    return found


def line(text: str, errors: Sequence[float], more: str = "") -> str:
    if not errors:
        return f"  {text:34} no rows"
    found = sorted(abs(error) for error in errors)
    return (f"  {text:34} rows {len(found):4}  median {100 * median(found):5.1f} %"
            f"  90 % {100 * found[int(0.9 * len(found))]:5.1f} %  most {100 * found[-1]:5.1f} %{more}")  # fmt: skip


def families(rows: Sequence[Measurement], table: CycleTable) -> str:
    """How the laws of families do, for rows as if nothing had figures of its own."""
    entries = {key: one for key, one in table.entries.items() if key[0] in ("family", "machine", "band", "range")}
    alone = CycleTable("families", entries)
    vector = [one for one in rows if not one.work.path and not one.work.k]
    found = [(one, estimate(replace(one.work, name=f"t{one.work.name}"), alone)) for one in vector]
    inside = sum(each.low <= one.cycles <= each.high for one, each in found)
    share = f"  inside {100 * inside / max(len(found), 1):.0f} %"
    return line("families, any operation", [each.cycles / one.cycles - 1 for one, each in found], share)


def chip_report(chip: str, rows: Sequence[Measurement], details: bool) -> None:
    table = shipped(chip)
    base = reset_to_priors(table)
    print(f"{chip}: {len(rows)} rows, {sum(one.modelled for one in rows)} of them made by a formula")
    print(line("shipped table, all rows", [estimate(one.work, table).cycles / one.cycles - 1 for one in rows]))
    real = [one for one in rows if not one.modelled]
    for text, key in (("operation and types", typed), ("operation", named), ("shape", shaped)):
        found = left_out(rows, base, key)
        plain = [one for one in found if not one.row.modelled]
        some = [one.error for one in plain if not one.orphan]
        inside = 100 * sum(one.inside for one in plain) / max(len(plain), 1)
        print(line(f"left out by {text}", some, f"  without neighbours {len(plain) - len(some)}"))
        print(line("   all rows", [one.error for one in plain], f"  inside {inside:.0f} %"))
        if any(one.modelled for one in rows):
            print(line("   rows made by a formula", [one.error for one in found if one.row.modelled]))
        if details:
            by: dict[Hashable, list[float]] = defaultdict(list)
            for one in found:
                by[typed(one.row)].append(one.error)
            for name, errors in by.items():
                print(line("      " + " ".join(map(str, name if isinstance(name, tuple) else (name,))), errors))
    print(families(real, table))
    print(line("public model, the same rows", [one.baseline for one in real if one.baseline is not None]))


def main(arguments: Sequence[str]) -> None:
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if len(paths) != 1:
        sys.exit(__doc__)
    rows = read_measurements(paths[0])
    for chip in ("a5", "a2a3"):
        chosen = [one for one in rows if one.target == chip]
        if chosen:
            chip_report(chip, chosen, "--details" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
