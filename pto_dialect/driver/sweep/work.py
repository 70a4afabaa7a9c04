"""Runs one job wherever this is, in a folder of its own. Source: docs/cluster.md, "Clusters"."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter

from pto_dialect.version import __version__

from ..internal_error import internal_error
from ..launch.document import LaunchError
from ..launch.paths import Folder
from ..launch.plan import default_program, plans_of
from ..launch.suite import FileResult, run_plans
from ..report import render
from ..run.status import WRONG_LAUNCH, WRONG_PROGRAM, Streams
from .jobs import Job


@dataclass(frozen=True)
class Done:
    """What became of a job: the result, the files that it wrote by the path that it calls them, and who ran it."""

    key: str
    result: FileResult
    files: dict[str, bytes] = field(repr=False, default_factory=dict)
    worker: str = ""
    version: str = __version__


class Shipped(Folder):
    """A folder in which each file that the launch file names has a path of its own."""

    def __init__(self, root: str) -> None:
        super().__init__(root, True)
        self.paths: dict[str, str] = {}

    def resolve(self, path: str) -> str:
        """Returns the path of the file that is called ``path``."""
        if path not in self.paths:
            folder = os.path.join(self.path, str(len(self.paths)))
            os.mkdir(folder)
            self.paths[path] = os.path.join(folder, os.path.basename(path) or "file")
        return self.paths[path]


def run_job(job: Job, contents: Mapping[str, bytes]) -> Done:
    """Runs a job; ``contents`` has the files that do not go with it."""
    out: list[str] = []
    err: list[str] = []
    started = perf_counter()
    files: dict[str, bytes] = {}
    with ExitStack() as held:
        folder = Shipped(held.enter_context(tempfile.TemporaryDirectory(prefix="pto-job-")))
        before: dict[str, tuple[int, int]] = {}
        for path, digest in job.inputs.items():
            local = folder.resolve(path)
            with open(local, "wb") as stream:
                stream.write(contents[digest] if digest in contents else job.small[digest])
            before[path] = _state(local)
        code = _code(job, folder, Streams(out.append, err.append))
        seconds = perf_counter() - started
        for path, local in folder.paths.items():
            if os.path.isfile(local) and before.get(path) != _state(local):
                with open(local, "rb") as stream:
                    files[path] = stream.read()
        texts = [_named("".join(text), folder) for text in (out, err)]
    result = FileResult(job.label, code, seconds, *texts)
    return Done(job.key, result, files if code == 0 else {}, f"{socket.gethostname()}:{os.getpid()}")


def run_batch(jobs: Sequence[Job], contents: Mapping[str, bytes]) -> list[Done]:
    """Returns what becomes of several jobs, one after the other."""
    return [run_job(job, contents) for job in jobs]


def _code(job: Job, folder: Folder, streams: Streams) -> int:
    try:
        plans = plans_of(job.document(), folder, default_program(job.file), job.settings.ranks)
        return run_plans(plans, job.settings, streams)
    except LaunchError as error:
        streams.err(render((error.diagnostic,), streams.color))
        return WRONG_LAUNCH
    except OSError:
        raise
    except Exception as error:
        streams.err(render((internal_error(error, ""),), streams.color))
        return WRONG_PROGRAM


def _state(path: str) -> tuple[int, int]:
    # Files are written by replacing them, so one that was written is another file.
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns


def _named(text: str, folder: Shipped) -> str:
    """Returns a text with the paths that the launch file uses."""
    for path, local in folder.paths.items():
        text = text.replace(local, path)
    return text
