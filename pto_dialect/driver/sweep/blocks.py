"""Spreads the blocks of one launch over the workers of a cluster. Source: docs/cluster.md, "Clusters".

Each worker runs some of the blocks on a copy of the buffers, and returns the bytes they have changed.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.analysis.release import release_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import content_of
from pto_dialect.runtime.run.arguments import hand_back
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.parallel import Failure, failure_of
from pto_dialect.runtime.run.per_core import prepare
from pto_dialect.version import __version__

from ..options import Options
from ..pipeline import build_module
from .cluster import ClusterError, kept

_SHARES = 4
"""Ranges of blocks for each worker, so that none waits long for the last."""


class Program(NamedTuple):
    """What a worker compiles."""

    name: str
    text: str
    entry: str
    target: str | None
    release: str
    options: RunOptions


class Change(NamedTuple):
    """Bytes of the buffer of one argument that blocks have changed."""

    position: int
    places: Array
    content: Array


class Ran(NamedTuple):
    """What some blocks have changed and, for block 0, returned; or which of them failed."""

    changes: list[Change]
    results: list[Any] | None
    failure: Failure | None
    version: str = __version__


@lru_cache(8)
def _kernel(program: Program) -> Kernel:
    options = Options(target=program.target, release=program.release)
    module = build_module(SourceFile(program.name, program.text), DiagnosticEngine(), options)
    assert module is not None
    return Kernel(module, program.entry, program.target, program.options)


def run_range(program: Program, values: bytes, first: int, end: int, blocks: int) -> Ran:
    """Runs the blocks from ``first`` to before ``end``; ``values`` are those of the arguments, pickled."""
    kernel = _kernel(program)
    bound = kernel.bind(pickle.loads(values))
    prepare(bound, kernel.arguments, kernel.core_positions, blocks)
    before = {position: _bytes(bound[position]).copy() for position in kernel.usage.written}
    results: list[Any] | None = None
    for index in range(first, end):
        try:
            returned = kernel.run_block(bound, index, blocks)
        except Exception as error:
            return Ran([], None, failure_of(index, error, kernel))
        results = returned if index == 0 else results
    changes: list[Change] = []
    for position, old in before.items():
        new = _bytes(bound[position])
        places = np.flatnonzero(old != new)
        changes.append(Change(position, places, new[places]))
    return Ran(changes, results, None)


def _bytes(value: Any) -> Array:
    content = content_of(value)
    return np.zeros(0, np.uint8) if content is None else content.reshape(-1).view(np.uint8)


class Spread:
    """A kernel whose blocks run on the workers of ``client`` where they do not depend on each other."""

    def __init__(self, kernel: Kernel, client: Any, target: str | None) -> None:
        self.kernel = kernel
        self.client = client
        self.target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """As ``Kernel.run``; raises the error of the lowest block that failed."""
        kernel, span = self.kernel, span_of(self.kernel.function)
        if blocks < 2 or kernel.group is not None or not kernel.shares_blocks or span is None:
            return kernel.run(values, blocks, jobs)
        bound = kernel.bind(values)
        release = str(release_of(kernel.function))
        program = Program(span.source.name, span.source.text, kernel.entry, self.target, release, kernel.options)
        reports = self._run_blocks(program, pickle.dumps(list(values)), blocks)
        failures = [one.failure for one in reports if one.failure is not None]
        if failures:
            raise min(failures, key=lambda failure: failure.block).exception()
        for change in (change for one in reports for change in one.changes):
            _bytes(bound[change.position])[change.places] = change.content
        hand_back(bound)
        return next((one.results for one in reports if one.results is not None), [])

    def _run_blocks(self, program: Program, values: bytes, blocks: int) -> list[Ran]:
        workers = len(self.client.scheduler_info()["workers"])
        count = min(blocks, max(1, workers) * _SHARES)
        ends = [blocks * number // count for number in range(count + 1)]
        digest = hashlib.sha256(values).hexdigest()
        shared = self.client.submit(kept, values, key=f"pto-values-{digest}")
        futures = [
            self.client.submit(run_range, program, shared, first, end, blocks, pure=False)
            for first, end in pairwise(ends)
        ]
        found: list[Ran] = []
        for future in futures:
            try:
                found.append(future.result())
            except ProgramError:
                raise
            except Exception as error:
                raise ClusterError(f"blocks cannot run on the cluster: {type(error).__name__}: {error}") from None
        for one in found:
            if one.version != __version__:
                raise ClusterError(f"a worker has version {one.version} of pto_dialect, this is {__version__}")
        return found
