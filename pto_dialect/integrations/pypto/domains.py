"""Communication domains: memory of several chips that each of them reaches, by the distance between their windows.

See docs/ranks.md, "How a program addresses the memory of a peer", and docs/pypto.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.windows import World

from ..memory import AddressSpace
from .interface import CommBufferSpec, DataType, Tensor


class Window(NamedTuple):
    """One buffer in the window of one chip."""

    base: int
    nbytes: int
    keep: Any

    def tensor(self, shapes: Sequence[int], dtype: DataType, *_: Any, **__: Any) -> Tensor:
        """Returns the buffer as an argument."""
        return Tensor(self.base, tuple(int(extent) for extent in shapes), DataType(dtype), self.keep)


class AccessMode(Enum):
    """Allowed accesses to memory of the host that was passed to a run."""

    READ = 0
    READWRITE = 1


class BackendKind(Enum):
    """Where memory of the host comes from, which makes no difference here."""

    FORK_COW = 0
    FORK_SHM = 1


def wrap_fork_inherited(data_ptr: int, nbytes: int, *_: Any, **__: Any) -> Window:
    """Memory of the host at an address."""
    return Window(int(data_ptr), int(nbytes), None)


class Journal:
    """The domains that the run at work has made, by name."""

    def __init__(self) -> None:
        self.live_domains: dict[str, Domain] = {}
        self.domain_lock = Lock()
        self.retired = False


class Member(NamedTuple):
    """What a chip has of a domain: its rank in it, its buffers by name, and the address of its context."""

    domain_rank: int
    domain_size: int
    actual_window_size: int
    buffers: Mapping[str, Window]
    device_ctx: int
    context: Array


class Domain:
    """A domain of the chips ``workers``, whose order is that of their ranks.

    Raises ``BindingError`` for chips and windows that there cannot be.
    """

    def __init__(self, name: str, workers: Sequence[int], size: int, specs: Sequence[CommBufferSpec]) -> None:
        self.name = name
        self.workers = tuple(int(worker) for worker in workers)
        self.freed = False
        try:
            self.world = World(len(self.workers), {spec.name: max(int(spec.nbytes), 1) for spec in specs})
        except ValueError as error:
            raise BindingError(f"communication domain {name}: {error}") from None
        self._members: dict[int, Member] = {}
        for rank, worker in enumerate(self.workers):
            context = self.world.context(rank)
            windows = {spec.name: self._window(spec, rank) for spec in specs}
            address = context.ctypes.data
            self._members[worker] = Member(rank, len(self.workers), int(size), windows, address, context)

    def _window(self, spec: CommBufferSpec, rank: int) -> Window:
        content = self.world.array(spec.name, rank, (max(int(spec.nbytes), 1),), np.dtype(np.uint8))
        return Window(content.ctypes.data, int(spec.nbytes), content)

    def __getitem__(self, worker: int) -> Member:
        return self._members[worker]

    @property
    def contexts(self) -> Mapping[int, Member]:
        """What each chip has, by its number."""
        return self._members

    def __enter__(self) -> Domain:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Ends the domain; tasks that were submitted before keep its memory."""
        self.freed = True

    def rank_of(self, worker: int) -> int | None:
        """Returns the rank of a chip; ``None`` for one that does not take part."""
        found = self._members.get(worker)
        return None if found is None else found.domain_rank

    def show(self, worker: int, memory: AddressSpace) -> None:
        """Lets a chip find its windows and its context by their addresses."""
        member = self._members[worker]
        memory.register(member.device_ctx, member.context.nbytes, member.context)
        for window in member.buffers.values():
            memory.register(window.base, window.nbytes, window.keep)

    def holds(self, value: Any) -> bool:
        """Returns True for an array that lies in a window, or is a context, of the domain."""
        if not isinstance(value, np.ndarray):
            return False
        if self.world.offset_of(value) is not None:
            return True
        address = value.__array_interface__["data"][0]
        return any(one.device_ctx <= address < one.device_ctx + one.context.nbytes for one in self._members.values())
