"""The command ``pto-sweep``: what files of results say."""

from __future__ import annotations

import click

from .command_line import PtoCommand, SpelledGroup, force_option, output_format_option, version_option, write_stderr

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(cls=SpelledGroup, context_settings=_HELP)
@version_option("pto-sweep")
def main() -> None:
    """Show results that pto-run --results has written."""


@main.command(cls=PtoCommand, context_settings=_HELP)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--plot", "plot_file", metavar="FILE", help="Write a plot of the times: .png, .svg or .pdf.")
@click.option("--x", "over", metavar="NAME", help="Swept name on the horizontal axis; by default the first.")
@click.option("--by", metavar="NAME", help="A line for each value of this swept name; by default for each file.")
@output_format_option("Form of the results: a table, or the records.", ("text", "json"))
@force_option
@click.pass_context
def show(ctx: click.Context, path: str, plot_file: str | None, over: str | None, by: str | None, format: str) -> None:
    """Print the results in FILE as a table or as JSON, and plot them."""
    from pto_dialect.driver.sweep import show as shown  # deferred: start-up
    from pto_dialect.driver.sweep.store import StoreError, read_records  # deferred: start-up

    if plot_file is None and (over is not None or by is not None):
        raise click.UsageError("--x and --by have no meaning without --plot", ctx)
    try:
        records = read_records(path)
        click.echo(shown.document(records) if format == "json" else shown.table_text(records), nl=False)
        if plot_file is not None:
            shown.plot(records, plot_file, over, by)
    except StoreError as error:
        write_stderr(f"error: {error}\n")
        ctx.exit(2)


if __name__ == "__main__":
    main()
