"""``pto report``: the page of a recorded run, as a file or served; or of a program that runs now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .command_line import PtoCommand, force_option, write_stderr

RECORDING = ".pto-rec"
PROGRAMS = (".pto", ".toml", ".cpp", ".cc", ".cxx", ".cce")
"""How names end that are not those of pages."""


class Report(PtoCommand):
    """The command; what begins with no recording is for ``pto-run --html``."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **named: Any) -> Any:
        """Carries out the command."""
        given = sys.argv[1:] if args is None else list(args)
        values = [number + 1 for number, one in enumerate(given) if one in ("-o", "--out", "--port", "--compare")]
        words = [one for number, one in enumerate(given) if number not in values and not one.startswith("-")]
        if given[:1] == words[:1] and words and not words[0].endswith((RECORDING, *PROGRAMS)):
            command = prog_name or "pto report"
            write_stderr(f"note: the program comes first now: {command} FILE.pto -o {words[0]}\n")
            return _run(["--html", *given], prog_name, *more, **named)
        program = next((one for one in words if one.endswith((RECORDING, *PROGRAMS))), RECORDING)
        compares = any(one.partition("=")[0] == "--compare" for one in given)
        if compares or program.endswith(RECORDING):
            return super().main(given, prog_name, *more, **named)
        page, rest = page_and_rest(program, given)
        return _run([*rest, "--html", page], prog_name, *more, **named)


def _run(arguments: list[str], *more: Any, **named: Any) -> Any:
    from .pto_run import main as run  # deferred: start-up

    return run.main(arguments, *more, **named)


def page_and_rest(program: str, given: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the page that ``-o`` or ``--out`` names, by default beside the program, and the other arguments."""
    page, rest, words = None, [], iter(given)
    for word in words:
        option, equals, value = word.partition("=")
        if option in ("-o", "--out"):
            page = value if equals else next(words, None)
        else:
            rest.append(word)
    return page or str(Path(program).with_name(f"{Path(program).name.split('.')[0]}.html")), rest


@click.command(cls=Report, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run", metavar="RUN.pto-rec")
@click.option("-o", "--out", metavar="PAGE.html", help="File of the page; by default beside the recording.")
@click.option("--compare", metavar="AFTER.pto-rec", help="Show another recording beside it: before and after.")
@click.option("--serve", is_flag=True, help="Show the page in a browser of this machine, and follow the file.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to serve at; a free one by default.")
@force_option
def main(run: str, out: str | None, compare: str | None, serve: bool, port: int) -> None:
    """Writes the page of the recording RUN.pto-rec, or of two recordings, or serves it.

    With FILE.pto and options of pto-run instead of a recording, the program runs and its page is written, by default
    to FILE.html.
    """
    ctx = click.get_current_context()
    if compare is not None:
        if serve or port:
            raise click.UsageError("--compare writes a page, so there is nothing for --serve and --port", ctx)
        from pto_dialect.report.__main__ import write_comparison  # deferred: start-up

        ctx.exit(write_comparison(run, compare, out))
    if serve:
        if out is not None:
            raise click.UsageError("--serve writes no page, so there is nothing for --out", ctx)
        from pto_dialect.report.serve import serve as serve_page  # deferred: start-up

        ctx.exit(serve_page(run, port, click.echo))
    if port:
        raise click.UsageError("--port has no meaning without --serve", ctx)
    from pto_dialect.report.__main__ import write_page  # deferred: start-up

    ctx.exit(write_page(run, out))
