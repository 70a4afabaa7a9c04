"""What the commands share: streams, options, and quiet ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from pto_dialect.accel import OPTION, switch
from pto_dialect.terminal import shown
from pto_dialect.version import __version__

from .constants import INTERRUPTED
from .spellings import flags_of, option_names, own_spelling, whole_option
from .streams import (
    BROKEN_PIPE,
    Escaping,
    check_open,
    discard_output,
    escaping,
    let_annotations_through,
    plain,
    shown_error,
    stderr_is_terminal,
    wants_color,
    write_stdout,
)

if TYPE_CHECKING:
    from pto_dialect.driver.inputs import Input
    from pto_dialect.driver.options import CycleRequest
    from pto_dialect.driver.verdicts import Verdicts

BACKENDS = ("emitc", "vpto")

WITH_FORM = ("--stats", "--memory-report", "--cycles", "--list")
"""Options that print text or JSON; without a value, as ``--output-format`` says."""

FORMS = ("text", "json", "sarif", "github", "gitlab", "junit")
"""Forms of diagnostics."""
_FORM = ("--output-format", "--diagnostics-format")

CYCLE_OPTIONS = {
    "variant": ("1D_POST_UPDATE", "1D_NO_POST_UPDATE", "2D_POST_UPDATE", "2D_NO_POST_UPDATE"),
    "precision": ("default", "high_precision"),
}
"""What ``--cycle-option`` may state."""

CLEAR_LINE = "\r\x1b[K"
"""Removes the progress bar from its line."""

INTERNAL = 1
"""The tools themselves have failed."""

UNWRITABLE = 2
"""Standard output takes no more."""

EXPECTED = (click.ClickException, click.exceptions.Exit, click.Abort)
"""What click ends a command with."""


def _form(args: list[str]) -> str:
    """The form that ``--output-format`` states for what options print: ``json``, or ``text`` for all others."""
    stated = [value for option, value in pairwise([*args, ""]) if option in _FORM]
    stated += [value for option, _, value in (arg.partition("=") for arg in args) if option in _FORM]
    return "json" if "json" in stated else "text"


def output_format_option(
    text: str, forms: tuple[str, ...] = FORMS
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option ``--output-format`` of a command; ``text`` states what has this form."""
    names = _FORM if forms is FORMS else _FORM[:1]
    return click.option(*names, "format", default="text", show_default=True, type=click.Choice(forms), help=text)


class NumberRange(click.FloatRange):
    """A range of numbers. NaN is outside of every range, although no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not in the range.", param, ctx)
        return number


class PtoCommand(click.Command):
    """Adds to click: mlir-opt's spellings, quiet ends on Ctrl-C and closed pipes, a short start and end.

    ``alone`` says that the process is there for this command only.
    """

    alone = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        bare = {option: f"{option}={_form(args[:end])}" for option in WITH_FORM}
        known = option_names(self, ctx)
        flags = flags_of(self)
        names = [own_spelling(arg, known, flags) for arg in args[:end]]
        given = args[:end]
        try:
            return super().parse_args(ctx, [bare.get(arg, arg) for arg in names] + args[end:])
        except click.NoSuchOption as error:
            raise whole_option(error, given, known) from None

    def main(self, args: Any = None, *rest: Any, **extra: Any) -> Any:
        if args is not None:
            with escaping():
                return super().main(args, *rest, **extra)
        # A process of its own: its garbage collector is ours to adjust, and so is how its classes are made.
        self.alone = True
        from pto_dialect.accel.class_code import cached_class_code  # deferred: start-up
        from pto_dialect.accel.collector import collect_rarely, put_all_aside  # deferred: start-up
        from pto_dialect.accel.regex_code import cached_regex_code  # deferred: start-up

        collect_rarely()

        try:
            with cached_class_code(), cached_regex_code(), escaping():
                return super().main(args, *rest, **extra)
        finally:
            put_all_aside()

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Errors show the usage of the sub-command."""
        from .subcommand_help import help_of  # deferred: start-up

        own = help_of(ctx)
        if own is None:
            super().format_usage(ctx, formatter)
        else:
            formatter.write_usage(ctx.command_path, own.usage)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A sub-command of ``pto`` has help of its own."""
        from .subcommand_help import help_of, write_help  # deferred: start-up

        own = help_of(ctx)
        if own is None:
            super().format_help(ctx, formatter)
        else:
            write_help(own, ctx, formatter)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except EXPECTED:
            raise
        except Exception as error:
            raise click.exceptions.Exit(tell_failure(error)) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except EXPECTED:
            raise
        except Exception as error:
            ctx.exit(tell_failure(error))


class SpelledGroup(click.Group):
    """A command with sub-commands, whose own options may have one dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with long options after one dash; what follows a command is the command's."""
        known = option_names(self, ctx)
        first, *rest = args or [""]
        given = [own_spelling(first, known), *rest] if args else []
        try:
            return super().parse_args(ctx, given)
        except click.NoSuchOption as error:
            raise whole_option(error, [first], known) from None


_WRITERS = (click.echo.__code__, write_stdout.__code__, Escaping.write.__code__)


def _at_output(error: OSError) -> bool:
    """Whether a standard stream could not be written."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code in _WRITERS


def tell_failure(error: Exception) -> int:
    """Reports an exception that nothing else has handled; the exit code."""
    if isinstance(error, BrokenPipeError):
        discard_output()
        return BROKEN_PIPE
    if not isinstance(error, OSError) or not _at_output(error):
        return _tell_internal(error)
    with suppress(OSError):
        write_stderr(f"error: cannot write standard output: {error.strerror or error}\n")
    # Unwritten text would be reported a second time.
    discard_output()
    return UNWRITABLE


def _tell_internal(error: Exception) -> int:
    from pto_dialect.driver.internal_error import internal_error  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up

    write_stderr(render((internal_error(error, ""),), False))
    return INTERNAL


def rule_ids(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    """The rules that ``--allow`` or ``--deny`` names."""
    ids = frozenset(id.strip() for text in texts for id in text.split(","))
    if ids:
        from pto_dialect.driver.explain.rules import UnknownRuleError, find_rule  # deferred: start-up

        for id in sorted(ids):
            try:
                find_rule(id)
            except UnknownRuleError as error:
                raise click.BadParameter(str(error), ctx, param) from None
    return ids


def cycle_options(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs that ``--cycle-option`` states."""
    pairs: list[tuple[str, str]] = []
    for text in texts:
        key, equals, value = text.partition("=")
        if key not in CYCLE_OPTIONS or not equals or not value:
            known = ", ".join(CYCLE_OPTIONS)
            raise click.BadParameter(f"'{text}' is not KEY=VALUE with one of the keys {known}", ctx, param)
        values = CYCLE_OPTIONS[key]
        if value not in values:
            raise click.BadParameter(f"{key} is one of {', '.join(values)}", ctx, param)
        pairs.append((key, value))
    return tuple(pairs)


def cycle_parameters(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what the cycle model counts with."""
    table = "Parameters of the cycle model instead of the shipped ones, or what pto cycles --calibrate has written."
    keys = "; ".join(f"{key}={', '.join(values)}" for key, values in CYCLE_OPTIONS.items())
    stated = f"What the cycle model takes about variants: {keys}."
    option = click.option(
        "--cycle-option", "cycle_options", metavar="KEY=VALUE", multiple=True, callback=cycle_options, help=stated
    )
    return click.option("--cycle-table", "--calibration", "cycle_table", metavar="FILE", help=table)(option(command))


def cycle_model_options(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options about the cycle model, of which ``--cycles`` does what ``text`` says."""
    cycles = click.option("--cycles", type=click.Choice(["text", "json"]), metavar="[=text|json]", help=text)
    return lambda command: cycles(cycle_parameters(command))


def cycle_request(ctx: click.Context, given: dict[str, Any]) -> CycleRequest | None:
    """The request of ``--cycles``, ``None`` without it; a table that cannot be used is a fault of the command line."""
    if given["cycles"] is None:
        for option in ("cycle_table", "cycle_options"):
            if given[option]:
                text = option.removesuffix("s").replace("_", "-")
                raise click.UsageError(f"--{text} has no meaning without --cycles", ctx)
        return None
    from pto_dialect.driver.options import CycleRequest  # deferred: start-up

    check_cycle_table(ctx, given["cycle_table"])
    return CycleRequest(given["cycle_table"], given["cycle_options"])


def check_cycle_table(ctx: click.Context, path: str | None) -> None:
    """Raises ``click.UsageError`` for a table that cannot be used."""
    from pto_dialect.analysis.cycles.table import CycleTableError, read_table  # deferred: start-up

    if path is not None:
        try:
            read_table(path)
        except CycleTableError as error:
            raise click.UsageError(str(error), ctx) from None


no_config_option = click.option(
    "--no-config", is_flag=True, help="Ignore pto.toml and the table [tool.pto] of pyproject.toml."
)
"""The option of all commands that read settings of projects."""

no_plans_option = click.option("--no-plans", is_flag=True, help="Disable the parse-template cache.")


def _plain(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        before = switch(False)
        ctx.call_on_close(lambda: switch(before))


plain_option = click.option(
    OPTION, is_flag=True, expose_value=False, is_eager=True, callback=_plain,
    help="Disable caches and all other code for speed alone, as with PTO_PLAIN=1.",
)  # fmt: skip
color_option = click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True
)


def _force(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from pto_dialect.diagnostics.file_kinds import forcing  # deferred: start-up

    ctx.with_resource(forcing(wanted))


force_option = click.option(
    "--force", is_flag=True, expose_value=False, callback=_force,
    help="Let outputs replace files of another kind than their own.",
)  # fmt: skip
watch_option = click.option(
    "--watch", is_flag=True, help="Run again whenever a file changes (extra watch); Ctrl-C ends it."
)


def findings_options(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options that say which findings count, and how many are shown as ``text`` says."""
    options = (
        click.option("--max-errors", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", help=text),
        click.option("--allow", metavar="RULE", multiple=True, callback=rule_ids, help="Ignore this rule."),
        click.option(
            "--deny", metavar="RULE", multiple=True, callback=rule_ids, help="Make this rule's findings errors."
        ),
        click.option("--werror", is_flag=True, help="Make warnings errors."),
        click.option("--pedantic", is_flag=True, help="Show remarks as well."),
        no_config_option,
    )

    def declare(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return declare


def check_settings(ctx: click.Context, inputs: Iterable[Input], refused: bool, color: str, form: str = "text") -> None:
    """Ends the command where settings of the projects of ``inputs`` cannot be used, unless they are ``refused``;
    reported in the ``form`` of the diagnostics."""
    if refused:
        return
    from pto_dialect.driver.project.settings_path import folder_of, settings_file  # deferred: start-up

    for folder in dict.fromkeys(folder_of(item.path) for item in inputs):
        file = settings_file(folder)
        if file is not None:
            from pto_dialect.diagnostics.formats_ci import to_github  # deferred: start-up
            from pto_dialect.driver.project.settings import SettingsError, read_project  # deferred: start-up
            from pto_dialect.driver.report import render  # deferred: start-up

            try:
                read_project(file)
            except SettingsError as error:
                if form == "github":
                    let_annotations_through()
                    write_stderr(to_github((error.diagnostic,)))
                else:
                    write_stderr(render((error.diagnostic,), wants_color(color)))
                ctx.exit(2)


def stated_options(ctx: click.Context) -> frozenset[str]:
    """Names of the parameters that the command line states."""
    default = click.core.ParameterSource.DEFAULT
    names = (parameter.name for parameter in ctx.command.params if parameter.name)
    return frozenset(name for name in names if ctx.get_parameter_source(name) is not default)


def release_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option ``--reference-release`` of a command."""

    def known(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
        from pto_dialect.targets.release import release_named, unknown_release  # deferred: start-up

        if text is not None and release_named(text) is None:
            raise click.BadParameter(unknown_release(text), ctx, param)
        return text

    return click.option("--reference-release", metavar="RELEASE", callback=known, help=help)


def write_releases(formatter: click.HelpFormatter) -> None:
    """Writes the values of ``--reference-release`` below the options."""
    from pto_dialect.targets.release import NEWEST, OLDEST  # deferred: start-up

    with formatter.section("Releases"):
        formatter.write_text(f"{OLDEST} to {NEWEST}, the newest known; docs/reference/releases.md has their changes.")


def version_option(command: str, *others: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option ``--version`` of a command; ``others`` are packages whose versions it shows as well."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if not wanted or ctx.resilient_parsing:
            return
        from pto_dialect.versions import NEWEST_RELEASE, installed_version, python_version  # deferred: start-up

        versions = [f"{name} {installed_version(name.lower())}" for name in others]
        versions.append(f"reference release {NEWEST_RELEASE}")
        click.echo(f"{command} {__version__} ({', '.join([*versions, f'Python {python_version()}'])})")
        ctx.exit()

    return click.option(
        "--version", is_flag=True, is_eager=True, expose_value=False, callback=show, help="Show the version and exit."
    )


def verdicts_of(refused: bool) -> Verdicts | None:
    """Results of earlier runs, unless they are ``refused``."""
    command = click.get_current_context().command
    # Whoever calls the command inside a process of theirs may have changed what it does.
    if refused or not (isinstance(command, PtoCommand) and command.alone):
        return None
    from .known_runs import opened  # deferred: start-up

    return opened()


def read_stdin() -> bytes:
    """All of standard input; raises OSError when it is closed."""
    check_open(sys.stdin)
    return sys.stdin.buffer.read()


def say(text: str) -> None:
    """Prints ``text`` as it is, without an end of line."""
    click.echo(shown(text), nl=False)


def write_stderr(text: str) -> None:
    """Writes finished text, colours included, to standard error."""
    click.echo(shown_error(text), nl=False, err=True, color=True)


def write_over_progress(text: str) -> None:
    """As ``write_stderr``, on the line of the progress bar."""
    if stderr_is_terminal():
        plain(sys.stderr).write(CLEAR_LINE)
    write_stderr(text)


def progress(length: int) -> AbstractContextManager[Any]:
    """A progress bar on a terminal, else nothing."""
    return click.progressbar(
        length=length, label="checking", file=plain(sys.stderr), hidden=not stderr_is_terminal(), show_pos=True
    )


def _beside(rate: Any) -> str:
    return rate or ""


def rated_progress(length: int) -> AbstractContextManager[Any]:
    """The same with a text beside the bar, and the time that is left."""
    return click.progressbar(
        length=length,
        label="running",
        file=plain(sys.stderr),
        hidden=not stderr_is_terminal(),
        show_pos=True,
        show_eta=True,
        item_show_func=_beside,
    )
