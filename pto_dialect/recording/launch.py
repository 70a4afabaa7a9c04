"""Recording from Python. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.runtime.api import LAUNCHERS
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.options import SanitizeOptions

from .kernel import LIMIT, RecordingKernel
from .save import save


@contextmanager
def record(path: str | os.PathLike[str], limit: int = LIMIT) -> Iterator[None]:
    """Launches inside of the block are recorded to ``path``, which has the last of them in the end, at most ``limit``
    bytes of it (0: all). A launch that fails is recorded up to there.

    Raises ``RecordingError`` where the file cannot be written.
    """

    def launch(kernel: Kernel, values: Sequence[Any], blocks: int, jobs: int) -> list[Any]:
        options = SanitizeOptions(frozenset())
        target = kernel.profile.name
        recorded = RecordingKernel(
            kernel.module, kernel.entry, target, kernel.options, options, None, kernel.group, limit=limit
        )
        failure: Diagnostic | None = None
        try:
            return recorded.run(values, blocks, jobs)
        except ProgramError as error:
            failure = error.diagnostic()
            raise
        finally:
            save(path, recorded, blocks, failure=failure)

    LAUNCHERS.append(launch)
    try:
        yield
    finally:
        LAUNCHERS.remove(launch)
