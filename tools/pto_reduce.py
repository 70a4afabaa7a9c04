"""The command ``pto reduce``: the smallest program that still shows something."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import click

from .command_line import NumberRange, PtoCommand, force_option, read_stdin, version_option, write_stderr, write_stdout
from .reduce_trial import KILLED, Command, CommandError, Outcome, Trials

NOT_SHOWN = 1
"""Exit code: the program does not show what the options state."""

STDIN = "-"

FACTOR, LEAST = 3, 2.0
"""A run may take so many times as long as the first one, and at least so many seconds."""

Holds = Callable[[str], bool]


@click.command(
    cls=PtoCommand,
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": True},
)
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.argument("command", metavar="[-- COMMAND [OPTIONS]...]", nargs=-1)
@click.option("--rule", metavar="RULE", help="A finding of this rule is reported.")
@click.option("--exit-code", type=int, metavar="N", help="The command ends with this exit code.")
@click.option("--stderr", "message", metavar="TEXT", help="The command writes this text to standard error.")
@click.option(
    "--between", nargs=2, type=str, metavar="OPTIONS OPTIONS",
    help="The command gives something else with the first options than with the second ones.",
)  # fmt: skip
@click.option(
    "--pipelines", nargs=2, type=str, metavar="PASSES PASSES",
    help="The command gives something else after the first passes than after the second ones.",
)  # fmt: skip
@click.option(
    "--script", metavar="PROGRAM", type=click.Path(exists=True, dir_okay=False),
    help="This program, called with the path of a candidate, ends with 0; no other command is run.",
)  # fmt: skip
@click.option(
    "-o", "output", metavar="FILE", type=click.Path(dir_okay=False), help="Write here, not to standard output."
)
@click.option(
    "--seconds", type=NumberRange(min=0.1, max=86_400), default=60.0, show_default=True, help="Time of the search."
)
@click.option(
    "--timeout", type=NumberRange(min=0.1, max=3600), metavar="SECONDS",
    help="Time of a run; by default three times that of the first one.",
)  # fmt: skip
@force_option
@version_option("pto reduce", "xDSL")
@click.pass_context
def main(ctx: click.Context, path: str, command: tuple[str, ...], **given: Any) -> None:
    """Reduce the program in FILE (- is standard input) to the smallest one that still shows something.

    COMMAND is a sub-command of pto with its options and without the file: check (the default), opt, lower, run or
    prove. Without other options, its exit code and the rules of its errors stay what they are for FILE. FILE is never
    changed.

    Exit code: 0 if the result shows it, 1 if FILE does not, 2 if the command line is wrong.
    """
    if not hasattr(os, "fork"):
        raise click.UsageError("pto reduce needs a system that can copy processes", ctx)
    text = _text(ctx, path)
    _check_output(ctx, path, given["output"])
    from pto_dialect.driver.project.settings_path import folder_of, settings_file  # deferred: start-up
    from pto_dialect.driver.reduce.operations import Reduction  # deferred: start-up

    with ExitStack() as stack:
        trials = stack.enter_context(Trials(_name(path), settings_file(folder_of(path)), given["timeout"] or 3600.0))
        try:
            holds = _condition(ctx, trials, text, command, given)
        except CommandError as error:
            raise click.UsageError(str(error), ctx) from None
        begin = time.monotonic()
        reduction = Reduction(text, holds, given["seconds"])
        interrupted = False
        try:
            reduction.run()
        except KeyboardInterrupt:
            interrupted = True
        result = reduction.text
        if not interrupted and not holds(result):
            raise click.ClickException("the smallest program does not show it when it is run again: use --timeout")
        seconds, runs = time.monotonic() - begin, trials.runs
    _write(result, given["output"])
    lines, now = len(text.splitlines()), len(result.splitlines())
    write_stderr(f"{lines} lines reduced to {now} in {seconds:.1f} s and {runs} runs\n")
    if interrupted:
        raise KeyboardInterrupt


def _name(path: str) -> str:
    """The name of the programs that are tried."""
    return "stdin.pto" if path == STDIN else os.path.basename(path)


def _content(path: str) -> bytes:
    if path == STDIN:
        return read_stdin()
    with open(path, "rb") as stream:
        return stream.read()


def _text(ctx: click.Context, path: str) -> str:
    from pto_dialect.driver.inputs import decode  # deferred: start-up

    try:
        text, remark = decode(_content(path), "<stdin>" if path == STDIN else path)
    except OSError as error:
        raise click.UsageError(f"cannot read '{path}': {error.strerror or error}", ctx) from None
    if remark is not None:
        raise click.UsageError(remark.message, ctx)
    return text


def _check_output(ctx: click.Context, path: str, output: str | None) -> None:
    """Refuses outputs that could not be written, before the search."""
    from pto_dialect.diagnostics.file_kinds import check_kind  # deferred: start-up
    from pto_dialect.driver.output import KINDS_OF_LANGUAGES, identity  # deferred: start-up

    if output is None:
        return
    if path != STDIN and identity(output) == identity(path):
        raise click.UsageError(f"-o would overwrite '{path}', which is read", ctx)
    target = os.path.realpath(output)
    try:
        check_kind(target, KINDS_OF_LANGUAGES["pto"])
        # Raises OSError for a folder that is not there.
        os.stat(os.path.dirname(target))
        if not os.access(target if os.path.exists(target) else os.path.dirname(target), os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise click.UsageError(f"cannot write '{output}': {error.strerror or error}", ctx) from None


def _write(text: str, output: str | None) -> None:
    if output is None:
        write_stdout(text)
        return
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.output import KINDS_OF_LANGUAGES  # deferred: start-up

    try:
        atomic_write(output, text, KINDS_OF_LANGUAGES["pto"])
    except OSError as error:
        # The search took its time: its result is not lost.
        write_stdout(text)
        raise click.ClickException(
            f"cannot write '{output}': {error.strerror or error}; the program is above"
        ) from None


def _condition(ctx: click.Context, trials: Trials, text: str, words: tuple[str, ...], given: dict[str, Any]) -> Holds:
    """What a program has to show; ends the command where the original does not."""
    if given["script"] is not None:
        if words or any(given[name] is not None for name in ("rule", "exit_code", "message")) or given["between"]:
            raise CommandError("--script decides alone")
        script = os.path.abspath(given["script"])
        if not os.access(script, os.X_OK):
            raise CommandError(f"'{given['script']}' cannot be executed")
        holds = partial(_script_accepts, trials, script, given["timeout"] or given["seconds"])
        if not holds(text):
            raise _not_shown(f"{given['script']} does not end with 0 for it")
        return holds
    command = Command(words[0] if words else "check", words[1:])
    if given["between"] and given["pipelines"]:
        raise CommandError("--between and --pipelines state two differences, choose one")
    trials.warm(command)
    if given["between"] or given["pipelines"]:
        if any(given[name] is not None for name in ("rule", "exit_code", "message")):
            raise CommandError("a difference is the whole condition: use no --rule, --exit-code or --stderr")
        return _difference(trials, text, command, given)
    return _same_outcome(trials, text, command, given)


def _not_shown(why: str) -> click.ClickException:
    return click.ClickException(f"the program does not show it: {why}")


def _timed(trials: Trials, given: dict[str, Any], run: Callable[[], Any]) -> Any:
    """The result of the first run, which sets the time that others may take."""
    begin = time.monotonic()
    result = run()
    if given["timeout"] is None:
        trials.seconds = max(LEAST, FACTOR * (time.monotonic() - begin))
    return result


def _same_outcome(trials: Trials, text: str, command: Command, given: dict[str, Any]) -> Holds:
    """The condition about one command."""
    rule, code, message = given["rule"], given["exit_code"], given["message"]
    first: Outcome = _timed(trials, given, lambda: trials.run(command, text))
    if rule is not None:
        _check_rule(rule)
    errors = first.rules("error")
    stated = rule is not None or code is not None or message is not None
    if not stated and first.code == 0:
        raise _not_shown(f"pto {command.name} accepts it; state what to keep with --rule, --exit-code or --stderr")

    def shows(outcome: Outcome) -> bool:
        if outcome.code == KILLED or not outcome.rules("error") <= errors:
            return False
        if not stated:
            return outcome.code == first.code and outcome.rules("error") == errors
        return (
            (rule is None or rule in outcome.rules())
            and (code is None or outcome.code == code)
            and (message is None or message in outcome.err)
        )

    if first.code == KILLED:
        raise _not_shown(f"pto {command.name} did not end in time")
    if not shows(first):
        found = ", ".join(sorted(first.rules())) or "none"
        raise _not_shown(f"pto {command.name} ends with {first.code}, rules of its findings: {found}")
    return lambda candidate: shows(trials.run(command, candidate))


def _check_rule(rule: str) -> None:
    from pto_dialect.driver.explain.rules import UnknownRuleError, find_rule  # deferred: start-up

    try:
        find_rule(rule)
    except UnknownRuleError as error:
        raise CommandError(str(error)) from None


def _difference(trials: Trials, text: str, command: Command, given: dict[str, Any]) -> Holds:
    """The condition about two runs. Both end as they do for the original, with errors of the same rules, and what they
    print differs if it does for the original."""
    sides: list[Callable[[str], Outcome]] = []
    if given["between"]:
        for options in given["between"]:
            varied = Command(command.name, (*command.arguments[_before(command.name) :], *_words(options)))
            sides.append(partial(trials.run, varied))
    else:
        for passes in given["pipelines"]:
            sides.append(partial(_after_passes, trials, Command("opt", ("-p", passes)), command))

    def signature(candidate: str) -> tuple[object, ...]:
        outcomes = [side(candidate) for side in sides]
        if any(outcome.code == KILLED for outcome in outcomes):
            return ()
        ends = tuple((outcome.code, outcome.rules("error")) for outcome in outcomes)
        return (*ends, outcomes[0].out != outcomes[1].out)

    first = _timed(trials, given, lambda: signature(text))
    if not first or (first[0] == first[1] and not first[2]):
        raise _not_shown("both runs give the same, or did not end")
    return lambda candidate: signature(candidate) == first


def _before(name: str) -> int:
    from .subcommands import SUBCOMMANDS  # deferred: start-up

    return len(SUBCOMMANDS[name].before)


def _words(options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise CommandError(f"'{options}' are no options: {error}") from None


def _after_passes(trials: Trials, passes: Command, command: Command, text: str) -> Outcome:
    """What the command gives for a program after passes; the outcome of these where they fail."""
    changed = trials.run(passes, text)
    return changed if changed.code != 0 else trials.run(command, changed.out)


def _script_accepts(trials: Trials, script: str, seconds: float, text: str) -> bool:
    from pto_dialect.children import run_limited  # deferred: start-up

    trials.runs += 1
    return run_limited([script, trials.write(text)], None, seconds=seconds)[0] == 0


if __name__ == "__main__":
    main()
