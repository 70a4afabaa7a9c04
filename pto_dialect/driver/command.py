"""A run over all inputs of a command line: reports, output, exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from pto_dialect.terminal import shown

from .batch import Task, check_files, fixable
from .inputs import Input
from .output import STDOUT, OutputError, write_module
from .pipeline import process_input
from .report import JSON, Reporter, summary_of_input, summary_of_inputs

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles

    from .memory_map import ProgramMap
    from .statistics import ModuleStatistics

OK = 0
WRONG_PROGRAM = 1


class Progress(Protocol):
    """How far a run over many inputs has come."""

    def update(self, n_steps: int) -> None:
        """``n_steps`` more inputs are done."""
        ...


ShowProgress = Callable[[int], AbstractContextManager[Progress]]


def run_one(item: Input, task: Task, reporter: Reporter, write_stdout: Callable[[str], None]) -> int:
    """Checks one input and prints its module to standard output or into the file ``task.output``.

    Nothing is written to a file when there are errors. Raises ``OutputError`` when the output cannot be
    written and BrokenPipeError when nobody reads it.
    """
    result = process_input(item, task.options_of(item), task.verdicts)
    reporter.add(fixable(result.diagnostics, item, task), result.counts)
    reporter.finish(summary_of_input(reporter.counts))
    if result.text is not None:
        file = None if task.output == STDOUT else task.output
        try:
            if file is None:
                write_stdout(result.text)
            elif result.ok:
                write_module(file, item, result.text, task.options.language)
        except BrokenPipeError:
            raise
        except OSError as error:
            name = "standard output" if file is None else f"'{file}'"
            raise OutputError(f"cannot write {name}: {error.strerror or error}") from error
    _write_statistics(result.statistics, task, write_stdout)
    _write_cycles(result.cycles, task, write_stdout)
    return OK if result.ok else WRONG_PROGRAM


def run_many(
    inputs: Sequence[Input],
    task: Task,
    reporter: Reporter,
    jobs: int | None,
    show_progress: ShowProgress,
    write_stdout: Callable[[str], None],
) -> int:
    """Checks all inputs and prints their modules below the folder ``task.output`` (``None``: nowhere).
    Statistics and cycles go to standard output.

    Raises ``OutputError`` at the end when some output could not be written, ``WorkerError`` when a worker
    process dies.
    """
    failed = 0
    unwritten: str | None = None
    statistics: list[ModuleStatistics | ProgramMap] = []
    cycles: list[ModuleCycles] = []
    with closing(check_files(inputs, task, jobs)) as results, show_progress(len(inputs)) as progress:
        for result in results:
            reporter.add(result.diagnostics, result.counts, result.text)
            failed += not result.ok
            unwritten = unwritten or result.unwritten
            statistics += result.statistics
            cycles += result.cycles
            progress.update(1)
    reporter.finish(summary_of_inputs(len(inputs), failed, reporter.counts))
    if unwritten is not None:
        raise OutputError(unwritten)
    _write_statistics(statistics, task, write_stdout)
    _write_cycles(cycles, task, write_stdout)
    return WRONG_PROGRAM if failed else OK


def _write_statistics(
    found: Sequence[ModuleStatistics | ProgramMap], task: Task, write_stdout: Callable[[str], None]
) -> None:
    """Writes the statistics of all programs as one text or one JSON document; raises ``OutputError``."""
    if task.statistics is None:
        return
    as_json = task.statistics == JSON
    name = "memory_map" if task.options.memory is not None else "statistics" if as_json else "statistics_text"
    form: Any = import_module(f".{name}", __package__)
    if as_json:
        import json  # deferred: start-up

        text = json.dumps(form.as_data(found), indent=2) + "\n"
    else:
        text = form.render(found)
    _write(text, write_stdout)


def _write_cycles(found: Sequence[ModuleCycles], task: Task, write_stdout: Callable[[str], None]) -> None:
    """Writes the cycles of all programs as one text or one JSON document; raises ``OutputError``."""
    if task.cycles is not None:
        from .cycle_text import document  # deferred: start-up

        _write(document(found, task.cycles), write_stdout)


def _write(text: str, write_stdout: Callable[[str], None]) -> None:
    try:
        write_stdout(shown(text))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write standard output: {error.strerror or error}") from error
