"""The command ``pto cycles``: fits the cycle model to measurements, and compares it with them."""

from __future__ import annotations

import os
from typing import Any

import click

from .command_line import PtoCommand, version_option


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("programs", metavar="[PROGRAM]...", nargs=-1)
@click.option("--calibrate", metavar="FILE", help="Fit the parameters of the cycle model to the measurements in FILE.")
@click.option("--compare", metavar="FILE", help="Print the measurements in FILE beside what the model predicts.")
@click.option(
    "--target",
    type=click.Choice(["a2a3", "a5"]),
    help="Chip of the measurements; by default that of the programs, or a5.",
)
@click.option(
    "--cycle-table", "--calibration", "table", metavar="FILE", help="Table or calibration instead of the shipped one."
)
@click.option("-o", "output", metavar="FILE", help="Write the calibration here, for --calibration of other commands.")
@version_option("pto cycles", "numpy")
@click.pass_context
def main(ctx: click.Context, programs: tuple[str, ...], **given: Any) -> None:
    """Fit the cycle model to your own measurements, or compare it with them.

    FILE is a table of single operations, a table with the columns file, operation and cycles or us, or the
    op_summary of msprof, which needs the PROGRAMs of its kernels.

    Exit code: 0 on success, 2 if the command line, the measurements or a program is wrong.
    """
    path = given["calibrate"] or given["compare"]
    if path is None or (given["calibrate"] and given["compare"]):
        raise click.UsageError("one of --calibrate FILE and --compare FILE is needed", ctx)
    if given["output"] and not given["calibrate"]:
        raise click.UsageError("-o has no meaning without --calibrate", ctx)
    from pto_dialect.analysis.cycles.calibration import calibrate, calibration_text  # deferred: start-up
    from pto_dialect.analysis.cycles.static import table_for  # deferred: start-up
    from pto_dialect.analysis.cycles.table import CycleTableError  # deferred: start-up
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.calibrate.inputs import chip_of, read_measured  # deferred: start-up
    from pto_dialect.driver.calibrate.show import calibration_lines, comparison_lines  # deferred: start-up

    try:
        chip = given["target"] or chip_of(path, programs)
        table = table_for(chip, given["table"])
        measured = read_measured(path, programs, given["target"], table, chip)
    except CycleTableError as error:
        raise click.UsageError(str(error), ctx) from None
    if given["compare"]:
        click.echo("\n".join(comparison_lines(path, measured, table)))
        return
    found = calibrate(table, measured.observations)
    click.echo("\n".join(calibration_lines(path, measured, table, found)))
    if given["output"]:
        try:
            atomic_write(given["output"], calibration_text(chip, table, found.values, os.path.basename(path)), "table")
        except OSError as error:
            raise click.UsageError(f"cannot write '{given['output']}': {error.strerror or error}", ctx) from None


if __name__ == "__main__":
    main()
