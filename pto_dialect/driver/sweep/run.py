"""Runs launch files with all their points, here, in several processes or on a cluster.

Source: docs/cluster.md, "Clusters".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, cast

from pto_dialect.diagnostics.file_kinds import kind_of
from pto_dialect.diagnostics.files import atomic_write

from ..launch.document import LaunchError
from ..launch.paths import Folder, PathError
from ..launch.session import Settings
from ..launch.suite import FileResult, file_result, show_result, table
from ..report import render
from ..run.status import OK, WRONG_LAUNCH, Streams
from .jobs import Contents, Job, has_blocks, jobs_of
from .store import Store, record_of, result_of_record
from .work import Done, run_job

if TYPE_CHECKING:
    from pto_dialect.runtime.run.launch import Kernel

    from .cluster import ClusterAddress


class Bar(Protocol):
    """How far a run over many launches has come, and how fast it goes."""

    def update(self, n_steps: int, current_item: str | None = None) -> None:
        """Advances the bar by ``n_steps``; ``current_item`` is shown next to it."""
        ...


ShowBar = Callable[[int], AbstractContextManager[Bar]]


class WriteError(Exception):
    """A file that a launch wrote and that cannot be stored; the message is for the user."""


def run_points(
    paths: Sequence[str],
    settings: Settings,
    streams: Streams,
    show_bar: ShowBar,
    *,
    jobs: int = 1,
    cluster: ClusterAddress | None = None,
    results: str | None = None,
) -> list[FileResult]:
    """Runs every point of every launch file without a record in ``results``; returns all results, in order.

    Raises ``StoreError``, ``ClusterError``, ``WriteError``; points completed before that have their record.
    """
    wrong: list[FileResult] = []
    contents: Contents = {}
    todo: list[Job] = []
    for path in paths:
        try:
            todo += jobs_of(path, settings, contents)
        except LaunchError as error:
            wrong.append(FileResult(path, WRONG_LAUNCH, 0.0, "", render((error.diagnostic,), streams.color)))
        except OSError as error:
            message = f"error: cannot read '{path}': {error.strerror or error}\n"
            wrong.append(FileResult(path, WRONG_LAUNCH, 0.0, "", message))
    for result in wrong:
        show_result(result, streams.err)
    store = Store(results) if results is not None else None
    known = {} if store is None else {job.key: store.records[job.key] for job in todo if job.key in store.records}
    found = {key: result_of_record(known[key], job.label) for job in todo if (key := job.key) in known}
    missing = [job for job in todo if job.key not in known]
    if known:
        streams.err(f"{len(known)} of {len(todo)} launches are in '{results}' already\n")
    with (
        _running(cluster, missing, contents, jobs) as ended,
        _storing(store, bool(missing)),
        closing(ended),
        show_bar(len(missing)) as bar,
    ):
        rate = _Rate()
        for job, done in ended:
            _write_files(job, done)
            if store is not None:
                store.add(record_of(job, done))
            found[job.key] = done.result
            if done.result.code != OK:
                show_result(done.result, streams.err)
            bar.update(1, rate.text())
    finished = [*wrong, *(found[job.key] for job in todo)]
    streams.out(table(finished))
    return finished


class _Rate:
    """Launches that end in a second."""

    def __init__(self) -> None:
        self.started = perf_counter()
        self.count = 0

    def text(self) -> str:
        """One more has ended."""
        self.count += 1
        return f"{self.count / max(perf_counter() - self.started, 1e-9):.1f}/s"


@contextmanager
def _storing(store: Store | None, adds: bool) -> Iterator[None]:
    if store is None or not adds:
        yield
        return
    store.open()
    try:
        yield
    finally:
        store.close()


@contextmanager
def _running(
    cluster: ClusterAddress | None, jobs: Sequence[Job], contents: Contents, processes: int
) -> Iterator[Generator[tuple[Job, Done]]]:
    if cluster is None or not jobs:
        yield _here(jobs, contents, min(processes, len(jobs)))
        return
    from .cluster import connected, run_jobs  # deferred: start-up

    with connected(cluster) as client:
        if len(jobs) == 1 and has_blocks(jobs[0]):
            yield _spread(jobs[0], client)
        else:
            yield run_jobs(client, jobs, contents)


def _spread(job: Job, client: Any) -> Generator[tuple[Job, Done]]:
    """Runs a single launch file here, and its blocks on the workers."""
    from .blocks import Spread  # deferred: start-up

    def spread(kernel: Kernel, target: str | None) -> Kernel:
        return cast("Kernel", Spread(kernel, client, target))

    yield job, Done(job.key, file_result(job.file, replace(job.settings, spread=spread)))


def _here(jobs: Sequence[Job], contents: Contents, processes: int) -> Generator[tuple[Job, Done]]:
    work: Callable[[Any], Done] = partial(run_job, contents=contents)
    if processes > 1:
        from ..workers import in_parallel  # deferred: start-up

        yield from zip(jobs, in_parallel(jobs, work, processes), strict=True)
        return
    for job in jobs:
        yield job, work(job)


def _write_files(job: Job, done: Done) -> None:
    folder = Folder(os.path.dirname(job.file), job.settings.allow_outside)
    for path, content in done.files.items():
        try:
            kind = kind_of(content[:4096])
            atomic_write(folder.resolve(path), content, kind if kind in ("npy", "npz") else "raw")
        except (OSError, PathError) as error:
            raise WriteError(f"cannot write '{path}': {getattr(error, 'strerror', None) or error}") from None
