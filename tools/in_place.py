"""Rewriting the files of a command line: fixes and layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from pto_dialect.terminal import shown

from .command_line import write_stderr
from .streams import wants_color, write_stdout

if TYPE_CHECKING:
    from pto_dialect.diagnostics.diagnostic import Diagnostic
    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.inputs import Input


class Rewritten(NamedTuple):
    """A text after a change: its diagnostics, which of them are errors, and what was done, for people."""

    text: str
    found: tuple[Diagnostic, ...] = ()
    wrong: bool = False
    done: str = ""


class Showing(NamedTuple):
    """How a command shows what it does: ``check`` and ``diff`` change nothing."""

    check: bool = False
    diff: bool = False
    color: str = "auto"
    would: str = "would be laid out differently"


def refuse_cpp(ctx: click.Context, inputs: Sequence[Input], command: str) -> None:
    """Ends a command that rewrites its inputs where one is a C++ kernel: its file is not the program."""
    if any(item.is_cpp for item in inputs):
        raise click.UsageError(f"{command} .pto programs; C++ kernels are changed by hand", ctx)


def rewrite(inputs: list[Input], change: Callable[[str, Input], Rewritten], showing: Showing) -> tuple[int, int]:
    """Rewrites files in place, a program from standard input to standard output; the numbers of those that failed, and
    of those that are, or would be, others than before."""
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.formatting import difference  # deferred: start-up
    from pto_dialect.driver.inputs import read  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up

    failed = changed = 0
    for item in inputs:
        text, remark = read(item)
        if remark is not None:
            write_stderr(render((remark,), wants_color(showing.color)))
            failed += remark.rule != "input-empty"
            continue
        result = change(text, item)
        if result.found:
            write_stderr(render(result.found, wants_color(showing.color)))
        failed += result.wrong
        differs = result.text != text
        changed += differs
        if showing.diff and differs:
            write_stdout(shown(difference(text, result.text, item.name)))
        if showing.check and differs:
            write_stderr(f"{item.name}: {showing.would}\n")
        if result.done:
            write_stderr(result.done)
        if showing.check or showing.diff:
            continue
        if item.data is not None:
            write_stdout(result.text)
        elif differs:
            try:
                atomic_write(item.path, result.text)
            except OSError as error:
                write_stderr(f"error: cannot write '{item.path}': {error.strerror or error}\n")
                failed += 1
    return failed, changed


def mend(task: Task, *, fix: bool, unsafe: bool, layout: bool, diff: bool) -> Callable[[str, Input], Rewritten]:
    """The change that ``--fix`` and ``--format`` make: fixes first, then the layout."""

    def change(text: str, item: Input) -> Rewritten:
        from pto_dialect.diagnostics.diagnostic import Severity  # deferred: start-up

        name, options = item.name, task.options_of(item)
        new, found, done = text, (), ""
        if fix:
            from pto_dialect.driver.fixes.files import fixed_file  # deferred: start-up

            result = fixed_file(text, name, options, unsafe=unsafe)
            new, found = result.text, result.left
            if result.applied:
                number = len(result.applied)
                verb = "would be made" if diff else "made"
                lines = "".join(f"  line {made.line}: {made.title}\n" for made in result.applied)
                done = f"{name}: {number} {'fix' if number == 1 else 'fixes'} {verb}\n{lines}"
        if layout:
            from pto_dialect.driver.formatting import formatted  # deferred: start-up

            laid = formatted(new, name, columns=columns_of(item.path) if task.stated is not None else None)
            new = laid.text
            found = found or laid.errors
        return Rewritten(new, found, any(diag.severity is Severity.ERROR for diag in found), done)

    return change


def columns_of(path: str) -> int | None:
    """The width that the settings of the project of an input state."""
    from pto_dialect.driver.project.settings import settings_of  # deferred: start-up

    settings = settings_of(path)
    return None if settings is None else settings.columns
