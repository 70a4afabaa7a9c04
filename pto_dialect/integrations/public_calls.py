"""Launches through the functions of `pto_dialect`, as those of a client: instrumented, and reported to the observers.

See docs/integrations.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.api import LAUNCHERS
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.sanitize.options import SanitizeOptions

from .base import told
from .events import watching
from .instrumented import instrumented_kernel

CLIENT = "pto_dialect"

_instrumented: WeakKeyDictionary[Kernel, dict[SanitizeOptions, Kernel]] = WeakKeyDictionary()


@contextmanager
def observe_calls() -> Iterator[None]:
    """Reports kernel calls to the observers, and enables the sanitizers, inside the ``with`` block."""
    LAUNCHERS.append(_launch)
    try:
        yield
    finally:
        LAUNCHERS.remove(_launch)


def _launch(kernel: Kernel, values: Sequence[Any], blocks: int, jobs: int) -> list[Any]:
    span = span_of(kernel.function)
    name = span.source.name if span is not None else kernel.entry
    sanitize = watching()
    if sanitize is None:
        return told(CLIENT, name, kernel, values, blocks, jobs)
    made = _instrumented.setdefault(kernel, {})
    if sanitize not in made:
        joined = kernel.group
        what = (None, None) if joined is not None else (kernel.module, kernel.entry)
        made[sanitize] = instrumented_kernel(*what, kernel.profile.name, kernel.options, sanitize, joined)
    return told(CLIENT, name, made[sanitize], values, blocks)
