"""Runs jobs on a Dask cluster: the schedulers and workers that exist, or some of this machine.

A worker that dies loses nothing: its jobs run again elsewhere, with files that the scheduler still has. Source:
docs/cluster.md, "Clusters".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pto_dialect.children import UncleanStart, clean_start
from pto_dialect.version import __version__

from ..launch.suite import FileResult
from ..run.status import WRONG_PROGRAM
from .ahead import ENVIRONMENT, FORKS, start_ahead
from .batches import Batch, Batches
from .jobs import Contents, Job
from .work import Done, run_batch

MISSING = "--cluster needs the extra cluster: pip install 'pto-dialect[cluster]'"
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_PATIENCE = 5
"""Seconds in which a scheduler has to answer."""
_ENCRYPTED = ("tls", "wss")
"""Protocols with certificates of both sides."""
_DEATHS = 5
"""Workers that one job may take with it."""


class ClusterError(Exception):
    """A cluster that cannot be used; the message is for the user."""


class ClusterAddress(NamedTuple):
    """The cluster that is used: ``tls://host:port``, a scheduler file, or ``local:N`` for N processes of this machine.

    ``insecure`` allows one without TLS. ``show_dashboard`` gets the address of the dashboard of a local cluster, which
    has none without it.
    """

    address: str
    insecure: bool = False
    show_dashboard: Callable[[str], None] | None = None


@contextmanager
def connected(place: ClusterAddress) -> Iterator[Any]:
    """A client of the cluster at ``place``. Raises ``ClusterError``."""
    address = place.address
    local = _LOCAL.fullmatch(address)
    try:
        if local is not None and find_spec("distributed") is not None:
            start_ahead()
        dask, distributed = import_module("dask"), import_module("distributed")
    except ModuleNotFoundError:
        raise ClusterError(MISSING) from None
    except UncleanStart as error:
        raise ClusterError(f"no worker processes: {error.strerror}") from None
    if local is None and (address.startswith("local") or not _is_address(address)):
        raise ClusterError(f"'{address}' is no cluster, expected local:N, tls://HOST:PORT or a scheduler file")
    with ExitStack() as stack:
        settings = _settings(stack, place.show_dashboard is not None)
        stack.enter_context(dask.config.set(settings))
        if local is not None:
            cluster = stack.enter_context(_local_cluster(distributed, int(local[1]), place))
            client = _client(distributed, address, {"address": cluster, "security": cluster.security})
        else:
            scheduler = _scheduler_address(address)
            if not place.insecure:
                _check_encrypted(scheduler, dask.config.get("distributed.comm.default-scheme", "tcp"))
                stack.enter_context(dask.config.set({"distributed.comm.require-encryption": True}))
            client = _client(distributed, address, {"address": scheduler})
        stack.callback(client.close)
        _check(client)
        yield client


def _settings(stack: ExitStack, dashboard: bool) -> dict[str, Any]:
    """Returns what differs from the defaults of Dask, with a folder that no other user can enter."""
    folder = stack.enter_context(TemporaryDirectory(prefix="pto-cluster-", ignore_cleanup_errors=True))
    settings: dict[str, Any] = {
        "temporary-directory": folder,
        "distributed.worker.http.routes": [],
        "distributed.scheduler.allowed-failures": _DEATHS,
        "distributed.admin.large-graph-warning-threshold": "1TB",
        "distributed.worker.daemon": True,
        # Nobody looks at what workers measure of themselves.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.scheduler.work-stealing-interval": "1s",
        # Memory that is released at once must be reacquired at once.
        "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
        "distributed.logging": {"distributed": "critical"},
    }
    if FORKS:
        settings["distributed.worker.multiprocessing-method"] = "forkserver"
    if not dashboard:
        # The scheduler listens for HTTP all the same; there is nothing to be had from it.
        settings["distributed.scheduler.http.routes"] = []
    return settings


@contextmanager
def _local_cluster(distributed: Any, workers: int, place: ClusterAddress) -> Iterator[Any]:
    """Processes of this machine that only this one can reach: certificates that nobody else has, and no network."""
    try:
        security = distributed.Security.temporary()
    except ImportError:
        raise ClusterError(MISSING) from None
    # Workers that die are started again, so what they start with holds until the end.
    with (
        clean_start(),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            host="127.0.0.1",
            security=security,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            scheduler_kwargs={"dashboard": place.show_dashboard is not None},
        ) as cluster,
    ):
        if place.show_dashboard is not None:
            place.show_dashboard(cluster.dashboard_link)
        yield cluster


def _is_address(address: str) -> bool:
    return "://" in address or os.path.exists(address) or bool(re.fullmatch(r"[\w.-]+:\d+", address))


def _scheduler_address(place: str) -> str:
    """Returns ``place``, or the address in the file of that name. Raises ``ClusterError``."""
    if not os.path.exists(place):
        return place
    try:
        with open(place, encoding="utf-8") as stream:
            return str(json.load(stream)["address"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ClusterError(f"'{place}' is no file of a Dask scheduler") from None


def _check_encrypted(address: str, usual: str) -> None:
    """Raises ``ClusterError`` for the scheduler of a cluster without TLS."""
    scheme, colon, _ = address.partition("://")
    if (scheme if colon else usual) not in _ENCRYPTED:
        reason = "whoever reaches its scheduler or a worker, or is on the way to them, can run code there and here"
        raise ClusterError(f"the cluster at '{address}' has no TLS: {reason}; --insecure uses it all the same")


def _client(distributed: Any, address: str, cluster: dict[str, Any]) -> Any:
    try:
        return distributed.Client(**cluster, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError, KeyError, TypeError) as error:
        told = str(error).partition("\n")[0]
        raise ClusterError(f"no scheduler answers at '{address}'" + (f": {told}" if told else "")) from None


def version_of() -> str:
    """Returns the version of this package, as reported by a worker."""
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
        raise ClusterError(f"the version of the workers cannot be queried: {error}") from None
    for worker, version in found.items():
        if isinstance(version, BaseException):
            raise ClusterError(f"worker {worker} has no pto_dialect that could run this: {version}")
        if version != __version__:
            raise ClusterError(f"worker {worker} has version {version} of pto_dialect, this is {__version__}")


_ENDS = ("finished", "error", "cancelled")
"""What has ended: nothing more comes of it."""


def run_jobs(client: Any, jobs: Sequence[Job], contents: Contents) -> Generator[tuple[Job, Done]]:
    """Yields what becomes of each job, as they end. Raises ``ClusterError`` for a worker with another version that has
    come later, and when the scheduler is lost."""
    from distributed import as_completed  # deferred: optional

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
                batches.ended(batch, sum(one.result.seconds for one in done))
                for job, one in zip(batch, done, strict=True):
                    yield job, _checked(one)
            future.release()
            submit()
    finally:
        if running:
            client.cancel(list(running), force=True)


def kept(content: bytes) -> bytes:
    """Returns a file as a task: whoever needs it gets it from the worker that has it, or from the scheduler."""
    return content


def _checked(done: Done) -> Done:
    if done.version != __version__:
        raise ClusterError(f"worker {done.worker} has version {done.version} of pto_dialect, this is {__version__}")
    return done


def _done(job: Job, future: Any) -> list[Done]:
    """Returns the record of a job without a result."""
    if future.status == "cancelled":
        raise ClusterError("the scheduler is lost; results so far are stored, and the same command runs the rest")
    error = future.exception()
    text = f"error: {type(error).__name__}: {error}\n"
    if type(error).__name__ == "KilledWorker":
        text = f"error: {_DEATHS} workers have ended while they ran this\n"
    return [Done(job.key, FileResult(job.label, WRONG_PROGRAM, 0.0, "", text))]
