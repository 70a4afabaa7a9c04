"""How near the cycle model comes to measurements that it was not fitted to.

    python benchmarks/cycles.py CYCLES.csv [KERNELS.csv] [--details]

CYCLES.csv has measurements of single operations (docs/reference/cycles.md, "Measurements"). For each chip the shipped
table is set back to the values that a fit starts from, fitted to all rows but some, and asked for these: once for each
operation with its types, once for all rows of an operation whatever its types, once for each shape. Rows that a formula
has made (EQ_FIT_TABLE and CLOSED_FORM in their notes) are counted apart. Operations of which nothing is left to predict
from - neither another one of their class nor published latencies - get a range from the tool; they are counted as
"ranges". The line "public" has the errors that the public model states for the same rows.

KERNELS.csv has times of whole kernels; cycle_kernels.py says how they are scheduled.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cycle_kernels import kernel_report

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.fit import fit, neutral, touched
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
    keys = touched(one, base)
    own = [key for key in keys if key[0] in OWN or (key[0] == "operation" and "." in key[1])]
    return bool(own) and not any(key in known for key in own)


def left_out(
    rows: Sequence[Measurement], base: CycleTable, key: Callable[[Measurement], Hashable]
) -> tuple[list[tuple[float, Measurement]], int]:
    """Errors of rows predicted from all others, and how many had nothing to be predicted from."""
    groups: dict[Hashable, list[Measurement]] = defaultdict(list)
    for one in rows:
        groups[key(one)].append(one)
    errors: list[tuple[float, Measurement]] = []
    ranges = 0
    for name, group in groups.items():
        rest = [one for one in rows if key(one) != name]
        table = fit(base, rest)
        known: frozenset[object] = frozenset(each for one in rest for each in touched(one, base))
        for one in group:
            if orphan(one, base, known):
                ranges += 1
            else:
                errors.append((estimate(one.work, table).cycles / one.cycles - 1, one))
    return errors, ranges


def line(text: str, errors: Sequence[float], ranges: int = 0) -> str:
    if not errors:
        return f"  {text:34} no rows"
    found = sorted(abs(error) for error in errors)
    tail = f"  ranges {ranges}" if ranges else ""
    return (f"  {text:34} rows {len(found):4}  median {100 * median(found):5.1f} %"
            f"  90 % {100 * found[int(0.9 * len(found))]:5.1f} %  most {100 * found[-1]:5.1f} %{tail}")  # fmt: skip


def chip_report(chip: str, rows: Sequence[Measurement], details: bool) -> None:
    table = shipped(chip)
    base = neutral(table)
    print(f"{chip}: {len(rows)} rows, {sum(one.modelled for one in rows)} of them made by a formula")
    print(line("shipped table, all rows", [estimate(one.work, table).cycles / one.cycles - 1 for one in rows]))
    real = [one for one in rows if not one.modelled]
    for text, key in (("operation and types", typed), ("operation", named), ("shape", shaped)):
        errors, ranges = left_out(rows, base, key)
        print(line(f"left out by {text}", [error for error, one in errors if not one.modelled], ranges))
        if any(one.modelled for one in rows):
            print(line("   rows made by a formula", [error for error, one in errors if one.modelled]))
        if details:
            by: dict[Hashable, list[float]] = defaultdict(list)
            for error, one in errors:
                by[typed(one)].append(error)
            for name, found in by.items():
                print(line("      " + " ".join(map(str, name if isinstance(name, tuple) else (name,))), found))
    print(line("public model, the same rows", [one.baseline for one in real if one.baseline is not None]))


def main(arguments: Sequence[str]) -> None:
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if not 1 <= len(paths) <= 2:
        sys.exit(__doc__)
    rows = read_measurements(paths[0])
    for chip in ("a5", "a2a3"):
        chosen = [one for one in rows if one.target == chip]
        if chosen:
            chip_report(chip, chosen, "--details" in arguments)
    if len(paths) == 2:
        print(kernel_report(Path(paths[1])), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
