"""Launches that change nothing when they are repeated, as in loops that measure time.

A launch computes its results from its arguments and the memory that they point to. If such memory was the same before
and after a launch, the next one with these arguments and this memory leaves it as it is, and is not executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.ir.core.roles import Role, has_role

BYTES_A_SECOND = 50_000_000
"""Bytes of memory for which a launch must compute a second, so that comparing them takes less than a tenth of it."""


def reports(module: ModuleOp) -> bool:
    """Returns whether a program prints or may end itself, so that each launch of it is executed."""
    return any(has_role(op, Role.REPORT) for op in module.walk())


class Begun(NamedTuple):
    """A launch that is executed: the state before it, where that is compared, and when it began."""

    state: bytes | None
    time: float


class Repeats:
    """What the launches of a program have left."""

    def __init__(self) -> None:
        self._worthwhile = False
        self._latest: bytes | None = None
        self._settled: bytes | None = None

    def begin(self, values: Sequence[Any], blocks: int) -> Begun | None:
        """The state before a launch, ``None`` where it need not be executed.

        States are compared from the second launch with the same arguments on.
        """
        arguments = _digest(values, blocks, False)
        is_repeated, self._latest = arguments == self._latest, arguments
        before = _digest(values, blocks, True) if self._worthwhile and is_repeated else None
        return Begun(before, process_time()) if before is None or before != self._settled else None

    def end(self, begun: Begun, values: Sequence[Any], blocks: int) -> None:
        """Notes the state after a launch, if it took long enough for that."""
        seconds = process_time() - begun.time
        size = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
        self._worthwhile = size < seconds * BYTES_A_SECOND
        if begun.state is not None and begun.state == _digest(values, blocks, True):
            self._settled = begun.state


def _digest(values: Sequence[Any], blocks: int, with_contents: bool) -> bytes:
    """Returns a digest of a launch: its blocks, numbers, and addresses, with the contents of their memory if these
    count."""
    digest = hashlib.blake2b(f"{blocks}".encode())
    for value in values:
        if isinstance(value, np.ndarray):
            digest.update(f"\0{value.ctypes.data} {value.dtype} {value.nbytes}\0".encode())
            if with_contents:
                digest.update(value.reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"\0{type(value).__name__} {value!r}\0".encode())
    return digest.digest()
