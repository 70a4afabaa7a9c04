"""Runs jobs on a Dask cluster: the schedulers and workers that exist, or some of this machine.

A worker that dies loses nothing: its jobs run again elsewhere, with files that the scheduler still has. Source:
docs/cluster.md, "Clusters".
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pto_dialect import __version__

from ..launch.suite import Outcome
from ..run.program import WRONG_PROGRAM
from .ahead import ENVIRONMENT, FORKS, start_ahead
from .batches import Batch, Batches
from .jobs import Contents, Job
from .work import Done, run_batch

MISSING = "--cluster needs the extra cluster: pip install 'pto-dialect[cluster]'"
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_PATIENCE = 5
"""Seconds in which a scheduler has to answer."""
_DEATHS = 5
"""Workers that one job may take with it."""


class ClusterError(Exception):
    """A cluster that cannot be used; the message is for the user."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster at ``address``: ``tcp://host:port``, a scheduler file, or ``local:N`` for N processes of
    this machine. Raises ``ClusterError``."""
    local = _LOCAL.fullmatch(address)
    try:
        if local is not None and find_spec("distributed") is not None:
            start_ahead()
        dask, distributed = import_module("dask"), import_module("distributed")
    except ModuleNotFoundError:
        raise ClusterError(MISSING) from None
    settings = {
        "distributed.scheduler.allowed-failures": _DEATHS,
        "distributed.admin.large-graph-warning-threshold": "1TB",
        "distributed.worker.daemon": True,
        # Nobody looks at what workers measure of themselves.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.scheduler.work-stealing-interval": "1s",
        # Memory that is given back at once has to be asked for again at once.
        "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
        "distributed.logging": {"distributed": "critical"},
    }
    if FORKS:
        settings["distributed.worker.multiprocessing-method"] = "forkserver"
    with dask.config.set(settings):
        if local is None and (address.startswith("local") or not _is_place(address)):
            raise ClusterError(f"'{address}' is no cluster, expected local:N, tcp://HOST:PORT or a scheduler file")
        cluster = None
        try:
            if local is not None:
                cluster = distributed.LocalCluster(
                    n_workers=int(local[1]),
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=50,
                )
            client = _client(distributed, cluster if cluster is not None else address, address)
            try:
                _check(client)
                yield client
            finally:
                client.close()
        finally:
            if cluster is not None:
                cluster.close()


def _is_place(address: str) -> bool:
    return "://" in address or os.path.exists(address) or bool(re.fullmatch(r"[\w.-]+:\d+", address))


def _client(distributed: Any, cluster: Any, address: str) -> Any:
    name = "scheduler_file" if isinstance(cluster, str) and os.path.exists(cluster) else "address"
    try:
        return distributed.Client(**{name: cluster}, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError, KeyError) as error:
        told = str(error).partition("\n")[0]
        raise ClusterError(f"no scheduler answers at '{address}'" + (f": {told}" if told else "")) from None


def version_of() -> str:
    """The version of this package, told by a worker."""
    return __version__


def _check(client: Any) -> None:
    """There are workers, and all have this version of the package. Raises ``ClusterError``."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise ClusterError("the cluster has no workers") from None
    try:
        found = client.run(version_of, on_error="return")
    except Exception as error:
        raise ClusterError(f"the workers cannot be asked for their version: {error}") from None
    for worker, version in found.items():
        if isinstance(version, BaseException):
            raise ClusterError(f"worker {worker} has no pto_dialect that could run this: {version}")
        if version != __version__:
            raise ClusterError(f"worker {worker} has version {version} of pto_dialect, this is {__version__}")


_ENDS = ("finished", "error", "cancelled")
"""What has ended: nothing more comes of it."""


def run_jobs(client: Any, jobs: Sequence[Job], contents: Contents) -> Generator[tuple[Job, Done]]:
    """What becomes of each job, as they end. Raises ``ClusterError`` for a worker with another version that has come
    later, and when the scheduler is lost."""
    from distributed import as_completed

    # Tasks, not scattered data: what a task has made can be made again when the worker that has it dies.
    files = {digest: client.submit(kept, content, key=f"pto-file-{digest}") for digest, content in contents.items()}
    batches = Batches(jobs, sum(client.nthreads().values()))
    running: dict[str, Batch] = {}
    ended = as_completed(loop=client.loop)

    def submit() -> None:
        for batch in batches.next():
            needed = {digest: files[digest] for job in batch for digest in job.large()}
            future = client.submit(run_batch, batch, needed, key=f"pto-jobs-{len(batch)}-{batch[0].key}")
            running[future.key] = batch
            ended.add(future)

    try:
        submit()
        for future in ended:
            status = future.status
            if status not in _ENDS:
                # The worker that had the result has died since; the scheduler has it made again.
                ended.add(future)
                continue
            batch = running.pop(future.key)
            if status == "error" and len(batch) > 1:
                # One of them is to blame, and what the others come to is not known.
                batches.again(batch)
            else:
                done = _done(batch[0], future) if status != "finished" else future.result()
                batches.ended(batch, sum(one.outcome.seconds for one in done))
                for job, one in zip(batch, done, strict=True):
                    yield job, _checked(one)
            future.release()
            submit()
    finally:
        if running:
            client.cancel(list(running), force=True)


def kept(content: bytes) -> bytes:
    """A file as a task: whoever needs it gets it from the worker that has it, or from the scheduler."""
    return content


def _checked(done: Done) -> Done:
    if done.version != __version__:
        raise ClusterError(f"worker {done.worker} has version {done.version} of pto_dialect, this is {__version__}")
    return done


def _done(job: Job, future: Any) -> list[Done]:
    """What is told of a job that has no result."""
    if future.status == "cancelled":
        raise ClusterError("the scheduler is lost; what has ended is kept, and the same command goes on with the rest")
    error = future.exception()
    text = f"error: {type(error).__name__}: {error}\n"
    if type(error).__name__ == "KilledWorker":
        text = f"error: {_DEATHS} workers have ended while they ran this\n"
    return [Done(job.key, Outcome(job.label, WRONG_PROGRAM, 0.0, "", text))]
