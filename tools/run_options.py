"""What the options of ``pto-run`` mean: values, sizes, times, checks and schedules read from their texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .command_line import (
    BACKENDS,
    NumberRange,
    PtoCommand,
    check_settings,
    stated_options,
    write_releases,
    write_stderr,
)
from .streams import let_annotations_through, wants_color
from .target_choice import TARGETS

if TYPE_CHECKING:
    from pto_dialect.driver.inputs import Input
    from pto_dialect.driver.report import Reporter
    from pto_dialect.driver.run.request import Request
    from pto_dialect.driver.run.status import Streams
    from pto_dialect.runtime.queues.schedule import Schedule

T = TypeVar("T")

BESIDE = "*.launch.toml"
"""What ``--init-launch`` alone stands for: the name of the program."""


def pairs_of(parse: Callable[[str], T], form: str) -> Callable[..., tuple[tuple[str, T], ...]]:
    """A click callback that reads ``NAME=...`` texts."""

    def convert(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, T], ...]:
        from pto_dialect.driver.run.value_text import ValueTextError, split_assignment  # deferred: start-up

        found: list[tuple[str, Any]] = []
        # Values of ranks have words of their own, which are read for each rank.
        read: Callable[[str], Any] = str if ctx.params.get("ranks") else parse
        for text in texts:
            name = ""
            try:
                name, value = split_assignment(text, form)
                found.append((name, read(value)))
            except ValueTextError as error:
                where = f"{name}: " if name else ""
                raise click.BadParameter(f"{where}{error}", ctx, param) from None
        return tuple(found)

    return convert


def given_value(text: str) -> Any:
    """A value of ``--arg``."""
    from pto_dialect.driver.run.value_text import parse_given  # deferred: start-up

    return parse_given(text)


def content_value(text: str) -> Any:
    """A value of ``--expect``."""
    from pto_dialect.driver.run.value_text import parse_content  # deferred: start-up

    return parse_content(text)


def output_value(text: str) -> Any:
    """A value of ``--out``."""
    from pto_dialect.driver.run.value_text import parse_output  # deferred: start-up

    return parse_output(text)


def timeout_of(ctx: click.Context, param: click.Parameter, seconds: float | None) -> float | None:
    """Seconds, where the system has timers."""
    from pto_dialect.deadline import can_limit  # deferred: start-up

    if seconds is not None and not can_limit():
        raise click.BadParameter("this system has no timers that could end a run", ctx, param)
    return seconds


def size_of(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    """A number of bytes."""
    from pto_dialect.driver.run.memory_budget import SizeError, parse_size  # deferred: start-up

    try:
        return None if text is None else parse_size(text)
    except SizeError as error:
        raise click.BadParameter(str(error), ctx, param) from None


class PtoRunCommand(PtoCommand):
    """Lets ``--sanitize``, ``--fix`` and ``--init-launch`` stand alone: the next argument is not their value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments with what these options mean alone."""
        end = args.index("--") if "--" in args else len(args)
        alone = {"--sanitize": "--sanitize=all", "--fix": "--fix=-"}
        alone["--init-launch"] = f"--init-launch={BESIDE}"
        every = [alone.get(arg, arg) for arg in args[:end]]
        return super().parse_args(ctx, every + args[end:])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the releases below the options."""
        write_releases(formatter)


def checks_of(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    """Names of checks."""
    if not texts:
        return frozenset()
    from pto_dialect.sanitize.options import UnknownCheckError, parse_checks  # deferred: start-up

    try:
        return parse_checks(texts)
    except UnknownCheckError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def schedule_of(ctx: click.Context, param: click.Parameter, text: str | None) -> str | None:
    """The text of a schedule, which there is."""
    from pto_dialect.runtime.queues.schedule import Schedule, ScheduleError  # deferred: start-up

    try:
        return None if text is None else (Schedule.parse(text) and text)
    except ScheduleError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def order_of(given: dict[str, Any]) -> Schedule | None:
    """The requested schedule."""
    from pto_dialect.runtime.queues.schedule import Schedule  # deferred: start-up

    return None if given["schedule"] is None else Schedule.parse(given["schedule"], given["sync"] == "strict")


def record_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of recordings."""
    limit = click.option(
        "--record-limit", metavar="SIZE", callback=size_of, default="1G", show_default=True,
        help="Size limit of a recording in bytes, which drops its beginning; 0 for none.",
    )  # fmt: skip
    every = click.option(
        "--record-every", type=NumberRange(min=0.1), metavar="SECONDS",
        help="Write the recording during the run as well, at this interval; pto report --serve shows it.",
    )  # fmt: skip
    record = click.option("--record", metavar="FILE", help="Record the run in RUN.pto-rec.")
    debug = click.option(
        "--debug", is_flag=True, help="Debug the run, forwards and backwards, also after an error; or FILE.pto-rec."
    )
    stop = click.option("--break-on-finding", is_flag=True, help="Start at the first finding of a sanitizer.")
    compare = click.option(
        "--compare", metavar="OTHER",
        help="Run another program (OTHER.pto), target:NAME, backend:NAME or release:NAME as well, and compare.",
    )  # fmt: skip
    return record(every(limit(debug(stop(compare(command))))))


RECORDING = ".pto-rec"


def check_debug(ctx: click.Context, path: str, given: dict[str, Any]) -> None:
    """Debugs a recording instead of a program, and refuses options that do not go with --debug."""
    is_recording = path.endswith(RECORDING)
    if is_recording and not given["debug"]:
        raise click.UsageError(f"'{path}' is a recording; --debug shows it, pto report makes a page of it", ctx)
    if not given["debug"]:
        return
    for name in ("profile", "fix", "html"):
        if given[name]:
            raise click.UsageError(f"--debug does not go with --{name}", ctx)
    if path == "-":
        raise click.UsageError("--debug reads its commands from standard input, so the program needs a FILE", ctx)
    if is_recording:
        from pto_dialect.driver.run.debugging import debug_recording  # deferred: start-up
        from pto_dialect.driver.run.status import exit_status  # deferred: start-up

        stops, room = given["break_on_finding"], given["max_memory"]
        ctx.exit(exit_status(debug_recording(path, _streams(given), stops, max_memory=room)))
    if given["break_on_finding"] and not given["sanitize"]:
        given["sanitize"] = checks_of(ctx, ctx.command.params[0], ("all",))


def compare(ctx: click.Context, item: Input, request: Request, streams: Streams, given: dict[str, Any]) -> int:
    """Runs a program and another one, or the same as another target or backend, and reports where they differ."""
    from dataclasses import replace  # deferred: start-up

    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up
    from pto_dialect.driver.run.comparing import compare_programs  # deferred: start-up
    from pto_dialect.targets.release import release_named  # deferred: start-up

    for name in ("profile", "fix", "html", "debug", "record", "outputs", "expectations", "cycles", "reference", "auto"):
        if given[name]:
            raise click.UsageError(f"--compare does not go with --{OPTION_NAMES.get(name, name)}", ctx)
    kind, colon, name = given["compare"].partition(":")
    other, theirs = item, request
    if colon and kind == "target" and name in TARGETS:
        theirs = replace(request, target=name)
    elif colon and kind == "backend" and name in BACKENDS:
        theirs = replace(request, run=replace(request.run, backend=name))
    elif colon and kind == "release" and release_named(name) is not None:
        theirs = replace(request, release=name)
    else:
        try:
            other = collect((given["compare"],), lambda: b"")[0]
        except InputError as error:
            raise click.UsageError(str(error), ctx) from None
    return compare_programs(item, (request, theirs), other, streams)


OPTION_NAMES = {"outputs": "out", "expectations": "expect"}


def debug(item: Input, request: Request, streams: Streams, given: dict[str, Any]) -> int:
    """Runs a program and debugs it."""
    from pto_dialect.driver.run.debugging import debug_program  # deferred: start-up

    return debug_program(item, request, streams, given["break_on_finding"])


def _streams(given: dict[str, Any]) -> Streams:
    from pto_dialect.driver.run.status import Streams  # deferred: start-up

    return Streams(lambda text: click.echo(text, nl=False), write_stderr, wants_color(given["color"]))


def with_settings(ctx: click.Context, path: str, given: dict[str, Any]) -> None:
    """Adds to the options what the settings of the project of ``path`` say and the command line does not."""
    from pto_dialect.driver.project.settings_path import folder_of, settings_file  # deferred: start-up

    if settings_file(folder_of(path)) is None:
        return
    from pto_dialect.driver.inputs import Input  # deferred: start-up

    check_settings(ctx, [Input(path, path, path)], False, given["color"], given["format"])
    from pto_dialect.diagnostics.engine import DiagnosticOptions  # deferred: start-up
    from pto_dialect.driver.project.settings import policy_with, settings_of  # deferred: start-up

    settings = settings_of(path)
    if settings is None:
        return
    stated = stated_options(ctx)
    policy = DiagnosticOptions(given["allow"], given["deny"], given["werror"], given["pedantic"], given["max_errors"])
    given.update(policy_with(policy, settings, stated)._asdict())
    for name in ("target", "backend"):
        if name not in stated and getattr(settings, name) is not None:
            given[name] = getattr(settings, name)
    if "reference_release" not in stated and settings.release is not None:
        given["reference_release"] = settings.release
    if given.get("cycles") and given["cycle_table"] is None:
        given["cycle_table"] = settings.calibration


def reporter_of(form: str) -> Reporter | None:
    """What collects the diagnostics of a run for a report in ``form``; ``None`` for text."""
    if form == "text":
        return None
    from pto_dialect.driver.report import Reporter  # deferred: start-up

    if form == "github":
        let_annotations_through()
    return Reporter(form, False, write_stderr, tool="pto-run")
