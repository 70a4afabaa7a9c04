"""Compares verdicts on changed programs with those of another implementation, row by row of a table.

Usage: python benchmarks/change_rows.py --rows ROWS.csv --tree FOLDER [--csv FILE] [--all]

The table has the columns ``program, target, operation, kind of change, change, disagreement`` and the other's message
(``reference (newer): message``), which is empty where it accepts. Each change is applied to the program below FOLDER
(``row_changes``); where it fits at several places, the one counts that the message names, else the one where we agree.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click
from mutate_programs import verdict
from program_mutations import ACCEPT, REJECT
from row_changes import Place, Row, places

MESSAGE = "reference (newer): message"
COLUMNS = frozenset(("program", "target", "operation", "kind of change", "change", MESSAGE))
ANY_TARGET = "auto"

STRICTER = {
    "vec-ub": "vector operations reach the unified buffer only",
    "dma-direction": "there is no transfer between these memories",
    "fixp-dst-space": "accumulators cannot be written there",
    "vmi-memory": "logical vectors are loaded from and stored to the unified buffer",
    "mad-unsupported-combo": "no product has these element types",
    "mad-mx-elem": "no product with scales has these element types",
    "mad-mnk-positive": "a product without rows, columns or depth",
    "l1l0-extent": "a transfer of nothing",
    "dma-nonneg": "a negative length",
    "dma-dst-align": "the address is not aligned",
    "fb-bt-capacity": "the transfer is larger than its memory",
    "capacity-static": "the tile is larger than its memory",
    "capacity-live": "tiles that are needed at the same time are larger than their memory",
    "mask-granularity": "the mask has another width than the vectors",
    "vmi-mask-lanes": "the mask has other lanes than the vectors",
    "view-layout": "the layout contradicts constant strides",
    "attr-kind": "an attribute of another kind",
    "attr-enum": "a word that the attribute does not have",
    "vmi-load-modes": "a mode that loads and stores do not have",
    "tile-row-major": "the operation reads rows",
    "tile-lowprec": "the operation does not compute with these elements",
    "getset-val": "the value has another type than the elements of the tile",
    "tile-distinct-storage": "the scratch tile is overwritten while it is read",
    "matmul-acc-types": "the accumulator has another shape than the result",
    "matmul-acc-layout": "the accumulator has another layout than the result",
    "pipe-gm-a2a3": "queues of a5 on a2a3",
    "pipe-split": "the ends of a queue take its entries apart in different ways",
    "type-syntax": "an array without elements",
}
"""Rules of ours that the other does not have at all, with what makes the program wrong; docs/conformance.md,
"Mutated programs"."""

LENIENT = {
    r"shift count to use a signed": "counts of the unsigned type of the data are a warning",
    r"static FFTS event_id in \[0, 15\]": "numbers up to 31 are in programs with known results",
    r"must be inside a pto.simt_entry": "ldg and stg outside of a SIMT body are a warning",
    r"mask expansion factor": "the older form of a masked tscatter",
    r"A2/A3": "rules of one target are warnings in a program that names none",
    r"col-major none_box tile column": "the layout that a left tile states fits",
    r"must be ranked tensor of any type": "memrefs are operands of tile operations in the older version",
}
"""What the other's messages say where a program is accepted on purpose."""


class Result(NamedTuple):
    """A row with both verdicts; ``reason`` where a difference is meant."""

    number: int
    row: Mapping[str, str]
    expected: str
    found: str
    detail: str
    reason: str

    @property
    def agrees(self) -> bool:
        """Both verdicts are the same."""
        return self.found == self.expected

    @property
    def state(self) -> str:
        """``agrees``, ``on purpose`` or ``differs``."""
        return "agrees" if self.agrees else "on purpose" if self.reason else "differs"


def told_line(text: str, line: int) -> int:
    """Number of a line among those that hold more than a comment, as messages count them."""
    before = text.split("\n")[:line]
    return sum(bool(each.strip()) and not each.lstrip().startswith("//") for each in before)


def meant(text: str, found: list[Place], message: str) -> list[Place]:
    """The locations on the line that the message names; all where it names none of them."""
    named = re.match(r"(\d+):", message)
    there = [place for place in found if named and told_line(text, place.line) == int(named[1])]
    return there or found


def judge(number: int, row: Mapping[str, str], tree: Path) -> Result:
    """Both verdicts on the changed program of a row."""
    text = (tree / row["program"]).read_text(encoding="utf-8", errors="replace")
    target = None if row["target"] == ANY_TARGET else row["target"]
    message = row[MESSAGE]
    expected = REJECT if message else ACCEPT
    change = Row(row["operation"], row["kind of change"], row["change"])
    found, detail = "not applied", ""
    for place in meant(text, places(text, change), message):
        found, detail = verdict(place.text, target)
        if found == expected:
            break
    reason = ""
    if found == REJECT and expected == ACCEPT:
        reason = STRICTER.get(detail.partition(":")[0], "")
    elif found == ACCEPT and expected == REJECT:
        reason = next((why for pattern, why in LENIENT.items() if re.search(pattern, message)), "")
    return Result(number, row, expected, found, detail, reason)


def read(rows: Path) -> Iterator[Mapping[str, str]]:
    """The rows of the table."""
    with rows.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        missing = COLUMNS - set(reader.fieldnames or ())
        if missing:
            raise click.ClickException(f"{rows} has no column {', '.join(sorted(missing))}")
        yield from reader


def show(result: Result) -> str:
    """A row with both verdicts, for people."""
    row, why = result.row, result.reason or result.detail or result.row[MESSAGE]
    change = row["change"] if len(row["change"]) < 100 else row["change"][:97] + "..."
    where = f"{row['program']} ({row['target']}), {row['operation']}, {row['kind of change']}: {change}"
    return f"{result.number}: {result.state}: {result.found}, there {result.expected}: {where}\n    {why}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tree", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Show rows that differ on purpose as well.")
@click.option("--csv", "report", type=click.Path(dir_okay=False, path_type=Path), help="Write all rows here.")
def main(rows: Path, tree: Path, everything: bool, report: Path | None) -> None:
    """Apply the changes of ROWS to the programs below TREE. Exit code 1 when a verdict differs without a reason."""
    results = [judge(number, row, tree) for number, row in enumerate(read(rows), start=2)]
    for result in results:
        if result.state == "differs" or (everything and not result.agrees):
            click.echo(show(result))
    states = Counter(result.state for result in results)
    click.echo(", ".join(f"{states[state]} {state}" for state in ("agrees", "on purpose", "differs")))
    reasons = Counter((result.found, result.reason) for result in results if result.state == "on purpose")
    for (found, reason), times in reasons.most_common():
        click.echo(f"  {times} {found}ed here: {reason}")
    if report is not None:
        with report.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(("line", "program", "operation", "change", "there", "here", "state", "detail", "reason"))
            for result in results:
                row = (result.row[key] for key in ("program", "operation", "change"))
                writer.writerow((result.number, *row, *result[2:4], result.state, *result[4:]))
    sys.exit(1 if states["differs"] else 0)


if __name__ == "__main__":
    main()
