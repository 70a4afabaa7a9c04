"""``pto-run`` on launch files, their sweeps, and several ranks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .command_line import progress, rated_progress, say, stated_options, write_over_progress, write_stderr
from .constants import PROGRAM_ONLY
from .run_checks import check_files, check_options, option_of
from .run_requests import settings_of
from .streams import wants_color

if TYPE_CHECKING:
    from pto_dialect.driver.launch.session import Settings
    from pto_dialect.driver.launch.suite import FileResult
    from pto_dialect.driver.sweep.cluster import ClusterAddress

ALONE = (
    *("format", "profile", "cycles", "no_advice", "emit_python", "fix"),
    *("listing", "auto", "init_launch", "reference", "debug", "compare"),
)
"""Parameters that are about the run of one kernel."""


def run_launches(ctx: click.Context, paths: tuple[str, ...], given: dict[str, Any]) -> int:
    """Runs the launch files that ``paths`` name."""
    from pto_dialect.driver.inputs import InputError  # deferred: start-up
    from pto_dialect.driver.launch import suite  # deferred: start-up
    from pto_dialect.driver.run.status import Streams, exit_status  # deferred: start-up

    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise click.UsageError(f"no such file or folder: '{missing[0]}'", ctx)
    try:
        files = suite.launch_files(paths)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    stated = stated_options(ctx)
    for name in PROGRAM_ONLY:
        if name in stated:
            raise click.UsageError(f"{option_of(ctx, name)} does not go with launch files", ctx)
    check_options(ctx)
    color = wants_color(given["color"])
    many = len(files) > 1 or os.path.isdir(paths[0])
    settings = settings_of(ctx, given, many)
    alone = ("record", "html", "trace", "report", "cycles")
    for name in alone if many or given["cluster"] or given["results"] or _has_sweep(files) else ():
        if name in stated:
            text = "goes with a single launch file, and one without a sweep"
            raise click.UsageError(f"{option_of(ctx, name)} {text}", ctx)
    if given["junit"] is not None and os.path.exists(given["junit"]):
        check_files(ctx, given, suite.input_files(files, settings), ())
    if given["cluster"] is not None or given["results"] is not None or _has_sweep(files):
        return _points(files, settings, given, color)
    if not many and given["junit"] is None:
        return exit_status(suite.run_file(files[0], settings, Streams(say, write_stderr, color)))
    from pto_dialect.driver.jobs import WorkerError  # deferred: start-up

    try:
        if many:
            streams = Streams(say, write_over_progress, color)
            results = suite.run_suite(files, settings, given["jobs"], streams, progress)
        else:
            results = [suite.file_result(files[0], settings, color)]
            say(results[0].out)
            write_stderr(results[0].err)
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        return 1
    if given["junit"] is not None and not _write_junit(given["junit"], results):
        return 2
    return suite.exit_code(results)


def _has_sweep(paths: Sequence[str]) -> bool:
    """True when one of the launch files has points, as far as they can be read; others load nothing of a sweep."""
    for path in paths:
        try:
            with open(path, "rb") as stream:
                if b"sweep" in stream.read():
                    return True
        except OSError:
            continue
    return False


def _points(files: list[str], settings: Settings, given: dict[str, Any], color: bool) -> int:
    """Runs all points of launch files."""
    from pto_dialect.driver.jobs import WorkerError  # deferred: start-up
    from pto_dialect.driver.launch.suite import exit_code  # deferred: start-up
    from pto_dialect.driver.run.status import Streams  # deferred: start-up
    from pto_dialect.driver.sweep.cluster import ClusterError  # deferred: start-up
    from pto_dialect.driver.sweep.run import WriteError, run_points  # deferred: start-up
    from pto_dialect.driver.sweep.store import StoreError  # deferred: start-up

    streams = Streams(say, write_over_progress, color)
    try:
        results = run_points(
            files, settings, streams, rated_progress,
            jobs=given["jobs"], cluster=_cluster(given), results=given["results"],
        )  # fmt: skip
    except (ClusterError, StoreError, WriteError) as error:
        write_stderr(f"error: {error}\n")
        return 2
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        return 1
    if given["junit"] is not None and not _write_junit(given["junit"], results):
        return 2
    return exit_code(results)


def _cluster(given: dict[str, Any]) -> ClusterAddress | None:
    """The requested cluster."""
    from pto_dialect.driver.sweep.cluster import ClusterAddress  # deferred: start-up

    def show(address: str) -> None:
        write_stderr(f"the dashboard of the cluster is at {address}\n")

    if given["cluster"] is None:
        return None
    return ClusterAddress(given["cluster"], given["insecure"], show if given["dashboard"] else None)


def run_ranks(ctx: click.Context, path: str, given: dict[str, Any]) -> int:
    """Runs the program in ``path`` on several ranks."""
    from pto_dialect.driver.launch.rank_command import run_ranks_of  # deferred: start-up
    from pto_dialect.driver.run.status import Streams, exit_status  # deferred: start-up

    for name in (name for name in ALONE if name in stated_options(ctx)):
        instead = "; --record RUN.pto-rec keeps the run, and --debug RUN.pto-rec shows it" if name == "debug" else ""
        raise click.UsageError(f"{option_of(ctx, name)} does not go with --ranks{instead}", ctx)
    streams = Streams(say, write_stderr, wants_color(given["color"]))
    return exit_status(run_ranks_of(path, given, settings_of(ctx, given, False), streams))


def _write_junit(path: str, results: list[FileResult]) -> bool:
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.launch.junit import junit_xml  # deferred: start-up

    try:
        atomic_write(path, junit_xml(results), "junit")
    except OSError as error:
        write_stderr(f"error: cannot write '{path}': {error.strerror or error}\n")
        return False
    return True
