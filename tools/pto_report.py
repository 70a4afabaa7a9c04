"""``pto report``: the page of a recorded run, as a file or served; or of a program that runs now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .command_line import force_option, write_stderr

RECORDING = ".pto-rec"
PROGRAMS = (".pto", ".toml")
"""How names end that are not those of pages."""


class Report(click.Command):
    """The command; what begins with no recording is for ``pto-run --html``."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **named: Any) -> Any:
        """Carries out the command."""
        given = sys.argv[1:] if args is None else list(args)
        values = [number + 1 for number, one in enumerate(given) if one in ("-o", "--out", "--port")]
        words = (one for number, one in enumerate(given) if number not in values and not one.startswith("-"))
        first = next(words, RECORDING)
        if first.endswith(RECORDING):
            return super().main(given, prog_name, *more, **named)
        if first.endswith(PROGRAMS):
            # It would be overwritten as the page.
            name, page = prog_name or "pto report", f"{Path(first).name.split('.')[0]}.html"
            write_stderr(f"error: the page stands first: {name} {page} {first}\n")
            sys.exit(2)
        from .pto_run import main as run  # deferred: start-up

        return run.main(["--html", *given], prog_name, *more, **named)


@click.command(cls=Report, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run", metavar="RUN.pto-rec")
@click.option("-o", "--out", metavar="PAGE.html", help="File of the page; by default beside the recording.")
@click.option("--serve", is_flag=True, help="Show the page in a browser of this machine, and follow the file.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to serve at; a free one by default.")
@force_option
def main(run: str, out: str | None, serve: bool, port: int) -> None:
    """Writes the page of the recording RUN.pto-rec, or serves it.

    With PAGE.html FILE.pto and options of pto-run instead of a recording, the program runs and PAGE.html is
    written.
    """
    ctx = click.get_current_context()
    if serve:
        if out is not None:
            raise click.UsageError("--serve writes no page, so there is nothing for --out", ctx)
        from pto_dialect.report.serve import serve as serve_page  # deferred: start-up

        ctx.exit(serve_page(run, port, click.echo))
    if port:
        raise click.UsageError("--port has no meaning without --serve", ctx)
    from pto_dialect.report.__main__ import write_page  # deferred: start-up

    ctx.exit(write_page(run, out))
