"""Runs many launch files: collects them from folders, runs them in several processes, prints a table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.wording import count

from ..aligned import aligned
from ..inputs import InputError
from ..report import render
from ..run.status import FINDINGS, OK, TIMED_OUT, WRONG_LAUNCH, WRONG_PROGRAM, Streams, exit_status
from .document import LaunchError
from .plan import SUFFIX, Plan, read_plan, read_plans
from .run_outputs import check_run_outputs
from .session import Settings, run_plan

if TYPE_CHECKING:
    from ..command import ShowProgress

VERDICTS = {OK: "passed", WRONG_PROGRAM: "FAILED", TIMED_OUT: "TIMEOUT", WRONG_LAUNCH: "WRONG", FINDINGS: "FOUND"}
"""The verdict on a launch file, as one token."""
_HEAD = ("launch file", "ms", "result")


COLORS = re.compile(r"\x1b\[[0-9;]*m")


class FileResult(NamedTuple):
    """The result of one launch file: exit code as of ``run_plan``, seconds, and its output on both streams."""

    path: str
    code: int
    seconds: float
    out: str
    err: str

    @property
    def reason(self) -> str:
        """The first line of its error output, without the source location."""
        first = COLORS.sub("", self.err.partition("\n")[0])
        return first.partition(": error: ")[2] or first.removeprefix("error: ")


def launch_files(paths: Sequence[str]) -> list[str]:
    """Returns the launch files that ``paths`` name, each once; folders are searched at any depth, hidden ones left out.

    Raises ``InputError`` for a path that does not exist, is no launch file, or has none in it.
    """
    found: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            below = sorted(_below(path))
            if not below:
                raise InputError(f"folder '{path}' has no {SUFFIX} files")
        elif not path.endswith(SUFFIX):
            raise InputError(f"'{path}' is no launch file (their names end in {SUFFIX}); a program is run alone")
        elif not os.path.exists(path):
            raise InputError(f"no such file or folder: '{path}'")
        else:
            below = [path]
        for file in below:
            found.setdefault(os.path.normpath(file), file)
    return list(found.values())


def _below(folder: str) -> list[str]:
    found: list[str] = []
    for directory, subfolders, files in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [os.path.normpath(os.path.join(directory, file)) for file in files if file.endswith(SUFFIX)]
    return found


def input_files(paths: Sequence[str], settings: Settings) -> list[str]:
    """Returns the launch files and all that they read, as far as they can be read themselves."""
    found = list(paths)
    for path in paths:
        try:
            found += read_plan(path, settings.allow_outside).inputs()
        except (LaunchError, OSError):
            continue
    return found


def run_file(path: str, settings: Settings, streams: Streams) -> int:
    """Runs one launch file; the code is that of ``run_plan``."""
    try:
        plans = read_plans(path, settings.allow_outside, settings.ranks)
    except LaunchError as error:
        streams.err(render((error.diagnostic,), streams.color))
        return WRONG_LAUNCH
    except OSError as error:
        streams.err(f"error: cannot read '{path}': {error.strerror or error}\n")
        return WRONG_LAUNCH
    return run_plans(plans, settings, streams)


def run_plans(plans: Sequence[Plan], settings: Settings, streams: Streams) -> int:
    """Runs one plan, or those of several ranks; the code is that of ``run_plan``."""
    wrong = check_run_outputs(plans, settings.sanitizing)
    if wrong is not None:
        streams.err(f"error: {wrong}\n")
        return WRONG_LAUNCH
    if plans[0].rank is None:
        return run_plan(plans[0], settings, streams)
    from .ranks import run_rank_plans  # deferred: start-up

    return run_rank_plans(plans, settings, streams)


def file_result(path: str, settings: Settings, color: bool = False) -> FileResult:
    """Runs one launch file and keeps what it says."""
    out: list[str] = []
    err: list[str] = []
    started = perf_counter()
    try:
        code = run_file(path, settings, Streams(out.append, err.append, color))
    except OSError:
        raise
    except Exception as error:
        from ..internal_error import internal_error  # deferred: start-up

        err.append(render((internal_error(error, ""),), color))
        code = WRONG_PROGRAM
    return FileResult(path, code, perf_counter() - started, "".join(out), "".join(err))


def run_files(paths: Sequence[str], settings: Settings, jobs: int, color: bool) -> Generator[FileResult]:
    """Yields the results of all files, in their order, as they complete; raises ``WorkerError`` when a process dies."""
    work = partial(file_result, settings=settings, color=color)
    jobs = min(jobs, len(paths))
    if jobs > 1:
        from ..workers import in_parallel  # deferred: start-up

        yield from in_parallel(paths, work, jobs)
        return
    for path in paths:
        yield work(path)


def run_suite(
    paths: Sequence[str], settings: Settings, jobs: int, streams: Streams, show_progress: ShowProgress
) -> list[FileResult]:
    """Runs all files, reports those that failed and prints a table at the end."""
    results: list[FileResult] = []
    found = run_files(paths, settings, jobs, streams.color)
    with closing(found), show_progress(len(paths)) as progress:
        for result in found:
            results.append(result)
            if result.code != OK:
                show_result(result, streams.err)
            progress.update(1)
    streams.out(table(results))
    return results


def show_result(result: FileResult, write: Callable[[str], None]) -> None:
    """Writes what a launch file complained about, under its name."""
    write(f"{result.path}:\n" + "".join(f"  {line}\n" for line in result.err.splitlines()))


def exit_code(results: Sequence[FileResult]) -> int:
    """0 when all went well; 3 when a sanitizer has found an error, 2 when a launch file is wrong, 1 when only programs
    or results are."""
    return max((exit_status(result.code) for result in results), default=OK)


def table(results: Sequence[FileResult]) -> str:
    """Path, milliseconds and verdict of each file, and the numbers of all."""
    rows: list[tuple[str, str, str]] = [_HEAD]
    for result in results:
        verdict = VERDICTS[result.code]
        rows.append((result.path, f"{result.seconds * 1e3:.1f}", f"{verdict}  {result.reason}".rstrip()))
    return "".join(f"{line}\n" for line in [*aligned(rows, "<><"), tally(results)])


def tally(results: Sequence[FileResult]) -> str:
    """Returns ``12 launch files: 10 passed, 1 failed, 1 wrong``."""
    counts = {code: sum(result.code == code for result in results) for code in VERDICTS}
    parts = [f"{counts[code]} {word.lower()}" for code, word in VERDICTS.items() if counts[code] or code == OK]
    return f"{count(len(results), 'launch file')}: {', '.join(parts)}"
