"""The command ``pto-opt``: parse, verify and print PTO programs."""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.inputs import Input

TARGETS = ("a2", "a3", "a2a3", "a5", "cpu-sim")

ALIASES = {
    "-split-input-file": "--split-input-file",
    "-verify-diagnostics": "--verify-diagnostics",
    "-mlir-print-op-generic": "--print-op-generic",
    "--mlir-print-op-generic": "--print-op-generic",
    "-mlir-print-debuginfo": "--print-debuginfo",
    "--mlir-print-debuginfo": "--print-debuginfo",
    "-allow-unregistered-dialect": "--allow-unregistered-dialect",
    "--stats": "--stats=text",
}
"""Spellings of mlir-opt, which users have in their fingers and scripts, and options whose value may be left out."""

UNREGISTERED = "dialect-unregistered"

CLEAR_LINE = "\r\x1b[K"
"""Removes the progress bar from the line that it stands on."""

WRONG_PROGRAM = 1
WRONG_COMMAND_LINE = 2

INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""

BROKEN_PIPE = 141
"""128 + SIGPIPE: whoever read the output has gone."""

COLLECTOR_THRESHOLD = 200_000
"""A start allocates some 85,000 objects that live as long as the process; collecting among them takes 40
ms."""


class PtoOptCommand(click.Command):
    """Adds to click: mlir-opt's spellings, quiet ends on Ctrl-C and closed pipes, a short start and end."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [ALIASES.get(arg, arg) for arg in args[:end]] + args[end:])

    def main(self, args: Any = None, *rest: Any, **extra: Any) -> Any:
        if args is not None:
            return super().main(args, *rest, **extra)
        # A process of its own: its garbage collector is ours to adjust.
        gc.set_threshold(COLLECTOR_THRESHOLD, 20, 100)
        try:
            return super().main(args, *rest, **extra)
        finally:
            gc.freeze()

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _discard_output()
            ctx.exit(BROKEN_PIPE)


def _discard_output() -> None:
    """Lets Python's last flush succeed although nobody reads the output any more."""
    with suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(devnull, stream.fileno())


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    import platform
    from importlib.metadata import version

    from pto_dialect import __version__

    click.echo(f"pto-opt {__version__} (xDSL {version('xdsl')}, Python {platform.python_version()})")
    ctx.exit()


def _pipeline(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    from pto_dialect.transforms.registry import UnknownPassError, parse_pipeline

    if not texts:
        return None
    try:
        return tuple(name for text in texts for name in parse_pipeline(text))
    except UnknownPassError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _rule_ids(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    ids = frozenset(id.strip() for text in texts for id in text.split(","))
    if ids:
        from pto_dialect.driver.explain import UnknownRuleError, find_rule

        for id in sorted(ids):
            try:
                find_rule(id)
            except UnknownRuleError as error:
                raise click.BadParameter(str(error), ctx, param) from None
    return ids


@click.command(cls=PtoOptCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="[FILE|DIR|-]...", nargs=-1, type=click.Path())
@click.option(
    "-o",
    "output",
    metavar="FILE|DIR",
    help="Write to this file instead of standard output; a folder for many.",
)
@click.option("--target", type=click.Choice(TARGETS), help="Chip to check for; otherwise what the module says.")
@click.option(
    "-p", "--passes", metavar="A,B", multiple=True, callback=_pipeline,
    help="Passes to run, in this order; all verify passes by default, '' for none.",
)  # fmt: skip
@click.option("--verify-only", is_flag=True, help="Print no module.")
@click.option("--verify-diagnostics", is_flag=True, help="Compare diagnostics with '// expected-error {{…}}' comments.")
@click.option("--split-input-file", is_flag=True, help="Treat what stands between '// -----' lines as programs.")
@click.option("--print-op-generic", is_flag=True, help="Print every operation in generic form.")
@click.option("--exact-generic", is_flag=True, help="In generic form, keep memrefs that only PTO tools can read.")
@click.option("--print-debuginfo", is_flag=True, help="Print the location of every operation.")
@click.option(
    "--no-unregistered-dialect/--allow-unregistered-dialect", "registered_only", default=None,
    help="Refuse, or accept without a warning, operations of unknown dialects.",
)  # fmt: skip
@click.option(
    "--stats", type=click.Choice(["text", "json"]), metavar="[=text|json]",
    help="Print counts of operations, memory and flags instead of the module.",
)  # fmt: skip
@click.option("--allow-schematic", is_flag=True, help="Accept '...' in types, as in documentation.")
@click.option(
    "--diagnostics-format", "format", type=click.Choice(["text", "json", "sarif"]), default="text",
    show_default=True, help="Form of the diagnostics on standard error.",
)  # fmt: skip
@click.option(
    "--max-errors", type=click.IntRange(min=0), default=20, show_default=True, metavar="N",
    help="Errors shown for each program; 0 for all.",
)  # fmt: skip
@click.option("--allow", metavar="RULE", multiple=True, callback=_rule_ids, help="Ignore this rule.")
@click.option("--deny", metavar="RULE", multiple=True, callback=_rule_ids, help="Make this rule's findings errors.")
@click.option("--werror", is_flag=True, help="Make warnings errors.")
@click.option("--pedantic", is_flag=True, help="Show remarks as well.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes for many inputs.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option("--explain", "explained", metavar="RULE", help="Tell about a rule and exit.")
@click.option("--list-rules", is_flag=True, help="List all rules and exit.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
@click.pass_context
def main(ctx: click.Context, paths: tuple[str, ...], explained: str | None, list_rules: bool, **given: Any) -> None:
    """Parse, verify and print PTO programs.

    Each FILE is one program; a DIR stands for all .pto files in it; - is standard input, which is also read
    when nothing is named. The module goes to standard output, diagnostics go to standard error. Several
    inputs are only checked, unless -o names a folder for their modules.

    Exit code: 0 if all is well, 1 if a program is wrong, 2 if the command line is.
    """
    if explained is not None or list_rules:
        click.echo(_rules_text(ctx, explained, given["format"]), nl=False)
        return
    from pto_dialect.driver.batch import WorkerError
    from pto_dialect.driver.command import run_many, run_one
    from pto_dialect.driver.output import OutputError
    from pto_dialect.driver.report import Reporter

    inputs, batch = _inputs(ctx, paths)
    task = _task(ctx, inputs, batch, **given)
    reporter = Reporter(task.format, task.color, _write_over_progress if batch else _write_stderr)
    try:
        if batch:
            code = run_many(inputs, task, reporter, given["jobs"], _progress, _write_stdout)
        else:
            code = run_one(inputs[0], task, reporter, _write_stdout)
    except (OutputError, WorkerError) as error:
        _write_stderr(f"error: {error}\n")
        code = WRONG_COMMAND_LINE if isinstance(error, OutputError) else WRONG_PROGRAM
    ctx.exit(code)


def _inputs(ctx: click.Context, paths: tuple[str, ...]) -> tuple[list[Input], bool]:
    """What the command line names, and whether that is more than one program to print."""
    from pto_dialect.driver.inputs import InputError, collect

    if not paths and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("name a file, a folder, or - for standard input", ctx)
    try:
        inputs = collect(paths or ("-",), _read_stdin)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None
    return inputs, len(inputs) > 1 or any(os.path.isdir(path) for path in paths)


def _task(ctx: click.Context, inputs: list[Input], batch: bool, **given: Any) -> Task:
    from pto_dialect.diagnostics.engine import DiagnosticOptions
    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.options import Options
    from pto_dialect.driver.output import OutputError, check_output
    from pto_dialect.transforms.registry import VERIFY_PASSES

    output: str | None = given["output"]
    if output is not None:
        if given["verify_only"]:
            raise click.UsageError("--verify-only prints no module, so there is nothing to write with -o", ctx)
        if given["stats"]:
            raise click.UsageError("--stats prints no module, so there is nothing to write with -o", ctx)
        try:
            check_output(output, inputs, batch)
        except OutputError as error:
            raise click.UsageError(str(error), ctx) from None
    allow, deny = given["allow"], given["deny"]
    registered_only: bool | None = given["registered_only"]
    if registered_only is not None:
        allow, deny = (allow, deny | {UNREGISTERED}) if registered_only else (allow | {UNREGISTERED}, deny)
    policy = DiagnosticOptions(allow, deny, given["werror"], given["pedantic"], given["max_errors"])
    passes: tuple[str, ...] | None = given["passes"]
    options = Options(
        target=given["target"],
        passes=VERIFY_PASSES if passes is None else passes,
        printing=not given["verify_only"] and given["stats"] is None and (not batch or output is not None),
        verify_diagnostics=given["verify_diagnostics"],
        split_input=given["split_input_file"],
        generic=given["print_op_generic"],
        portable=not given["exact_generic"],
        debuginfo=given["print_debuginfo"],
        schematic=given["allow_schematic"],
        statistics=given["stats"] is not None,
        policy=policy,
    )
    return Task(options, output, given["format"], _wants_color(given["color"]), given["stats"])


def _stderr_is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _wants_color(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    return _stderr_is_terminal() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _read_stdin() -> bytes:
    _check_open(sys.stdin)
    return sys.stdin.buffer.read()


def _check_open(stream: object) -> None:
    """Raises OSError for a standard stream that the shell closed (``<&-``, ``>&-``)."""
    if stream is None:
        raise OSError(errno.EBADF, "it is closed")


def _write_stderr(text: str) -> None:
    click.echo(text, nl=False, err=True, color=True)


def _write_over_progress(text: str) -> None:
    _write_stderr(CLEAR_LINE + text if _stderr_is_terminal() else text)


def _write_stdout(text: str) -> None:
    _check_open(sys.stdout)
    stream = sys.stdout.buffer
    stream.write(text.encode("utf-8"))
    stream.flush()


def _progress(length: int) -> AbstractContextManager[Any]:
    return click.progressbar(
        length=length, label="checking", file=sys.stderr, hidden=not _stderr_is_terminal(), show_pos=True
    )


def _rules_text(ctx: click.Context, explained: str | None, format: str) -> str:
    from pto_dialect.driver import explain

    if explained is None:
        return explain.list_rules_json() if format == "json" else explain.list_rules()
    try:
        return explain.explain(explain.find_rule(explained))
    except explain.UnknownRuleError as error:
        raise click.UsageError(str(error), ctx) from None


if __name__ == "__main__":
    main()
