"""The command ``python -m pto_dialect.driver.cycles``: fits a cycle table to measurements, or compares it with them.

    python -m pto_dialect.driver.cycles fit MEASUREMENTS.csv [--target a5|a2a3] [--table FILE] [-o FILE]
    python -m pto_dialect.driver.cycles compare MEASUREMENTS.csv [--target a5|a2a3] [--table FILE]

Source: docs/cycles.md, "Your own measurements".
"""

from __future__ import annotations

import sys
from statistics import median
from typing import NoReturn

import click

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.fit import fit
from pto_dialect.analysis.cycles.measurements import Measurement, read_measurements
from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.analysis.cycles.table import CycleTable, CycleTableError
from pto_dialect.diagnostics.files import atomic_write

_TARGET = click.option("--target", type=click.Choice(["a2a3", "a5"]), default="a5", show_default=True)
_TABLE = click.option("--table", metavar="FILE", help="Table to start from instead of the shipped one.")


@click.group()
def main() -> None:
    """Cycle tables and measurements."""


@main.command("fit")
@click.argument("path", metavar="MEASUREMENTS.csv")
@_TARGET
@_TABLE
@click.option("-o", "output", metavar="FILE", help="Write the table here instead of to standard output.")
def fit_command(path: str, target: str, table: str | None, output: str | None) -> None:
    """Change the parameters of a table so that it predicts MEASUREMENTS."""
    try:
        old, rows = _read(path, target, table)
        new = fit(old, rows)
        if output is None:
            click.echo(new.text(), nl=False)
        else:
            atomic_write(output, new.text(), "table")
    except CycleTableError as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"cannot write '{output}': {error.strerror or error}")
    else:
        click.echo(f"{path}: {_errors(rows, old)} before, {_errors(rows, new)} after", err=True)


@main.command("compare")
@click.argument("path", metavar="MEASUREMENTS.csv")
@_TARGET
@_TABLE
def compare_command(path: str, target: str, table: str | None) -> None:
    """Print each of MEASUREMENTS with what a table predicts."""
    try:
        chosen, rows = _read(path, target, table)
    except CycleTableError as error:
        _stop(str(error))
    click.echo("op,source,result,valid_rows,valid_cols,measured,predicted,low,high,evidence")
    for one in rows:
        work, found = one.work, estimate(one.work, chosen)
        shape = f"{work.name},{work.source},{work.result},{work.valid_rows},{work.valid_cols}"
        numbers = ",".join(f"{number:.6g}" for number in (one.cycles, found.cycles, found.low, found.high))
        click.echo(f"{shape},{numbers},{found.evidence}")
    click.echo(f"{path}: {_errors(rows, chosen)}", err=True)


def _read(path: str, target: str, table: str | None) -> tuple[CycleTable, list[Measurement]]:
    rows = [one for one in read_measurements(path) if one.target in ("", target)]
    if not rows:
        raise CycleTableError(f"{path}: there are no measurements of {target}")
    return table_for(target, table), rows


def _errors(rows: list[Measurement], table: CycleTable) -> str:
    found = sorted(abs(estimate(one.work, table).cycles / one.cycles - 1) for one in rows)
    return f"{100 * median(found):.1f} % median error"


def _stop(message: str) -> NoReturn:
    click.echo(f"error: {message}", err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
