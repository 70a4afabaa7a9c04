"""The cores that run a program, their memories and their control state. Source: docs/reference/execution.md, "Cores and
memories".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pto_dialect.targets.backend import Backend
from pto_dialect.targets.profile import Profile

from ..faults import Fault
from ..memory.spaces import Arena, CoreMemory, Fill, Pointer
from ..queues.schedule import Schedule

if TYPE_CHECKING:
    from ..memory.data_cache import DataCache
    from ..simt.items import WorkItems


CrossCore = Literal["auto", "block", "p2p"]


@dataclass(frozen=True)
class RunOptions:
    """Options of a launch: how it computes and its initial state.

    ``accumulate`` is ``"fast"`` (BLAS) or ``"exact"`` (sequential fused multiply-add); ``fill`` is the initial content
    of on-chip memory; ``cross_core`` states which cores ``sync.set`` and ``sync.wait`` without ``ffts_mode`` concern on
    a5: all cores of the ``"block"``, one vector core (``"p2p"``), or those that the text suggests (``"auto"``);
    ``backend`` is the library that tile operations follow (``None``: that of the module), ``schedule`` the order in
    which pipes and cores run (``None``: the cheapest), ``scalar_cache`` states that scalar units access global memory
    through data caches.
    """

    accumulate: str = "fast"
    fill: Fill = "zero"
    cross_core: CrossCore = "auto"
    backend: Backend | None = None
    schedule: Schedule | None = None
    scalar_cache: bool = False


class Core:
    """One core of one block.

    ``cube`` and ``vector`` state which sections it executes. The single core of a program without sections executes
    both and owns all memories.
    """

    def __init__(self, block: Block, kind: str, index: int) -> None:
        self.block = block
        self.kind = kind
        self.index = index
        self.cube = kind in ("aic", "all")
        self.vector = kind in ("aiv", "all")
        self.arenas: dict[str, Arena] = {}
        self.cache: DataCache | None = None
        self.flags: dict[tuple[Any, ...], int] = {}
        self.state: dict[Hashable, Any] = {}
        self.reset()
        self.subblock_count = block.vector_cores if block.mixed else 1
        self.name = self.label

    @property
    def label(self) -> str:
        """Returns the name for messages: ``AIV0``, with its rank where there are several."""
        name = {"aic": "AIC", "aiv": f"AIV{self.index}", "all": "core"}[self.kind]
        return name if self.block.rank is None else core_of_rank(name, self.block.rank)

    def set_valid(self, tile: Any, rows: int, cols: int) -> None:
        """Changes the valid region of a tile. Instructions that were issued before keep the previous region."""
        tile.set_valid(rows, cols)

    def reset(self) -> None:
        """Resets the control state."""
        self.flags.clear()
        self.state.clear()
        self.state["ctrl"] = 0

    def arena(self, space: str) -> Arena:
        """Returns the memory called ``space`` that this core's instructions address."""
        memory = self.arenas.get(space)
        if memory is None:
            raise Fault("unmodelled", f"{self.name} has no memory {space}")
        return memory

    # addresses

    def locate(self, space: str, address: int) -> tuple[Arena, int]:
        """Returns memory and byte offset of a byte address of ``space``."""
        if space == "gm" or address >= AddressMap.GAP // 2:
            return self.block.addresses.locate(address)
        return self.arena(space), address

    def address_of(self, value: Any) -> int:
        """Returns the byte address of a pointer; buffers of the host have distinct address ranges."""
        pointer = self.pointer_of(value)
        if pointer.arena.space == "gm" or pointer.arena is not self.arenas.get(pointer.arena.space):
            return self.block.addresses.base(pointer.arena) + pointer.offset
        return pointer.offset

    def pointer_of(self, value: Any) -> Pointer:
        """Returns the pointer of a pointer, view or memref value."""
        if isinstance(value, Pointer):
            return value
        pointer = getattr(value, "pointer", None)
        if isinstance(pointer, Pointer):
            return pointer
        raise Fault("unmodelled", f"a value of kind {type(value).__name__} has no address")

    def observe(self, items: WorkItems) -> None:
        """Returns the observer of work-items that are about to start."""

    # signals in memory

    def notify(self, action: Callable[[Any, int], None], signal: Any, value: int) -> None:
        """Changes a signal in memory by ``action``, atomically."""
        if self.cache is not None:
            self.cache.forget(signal)
        with self.block.guard:
            action(signal, value)

    def holds(self, test: Callable[[Any, int], bool], signal: Any, value: int) -> bool:
        """Returns whether a signal in memory satisfies ``test``."""
        if self.cache is not None:
            self.cache.forget(signal)
        return test(signal, value)

    # flags, program order

    def set_flag(self, source: str, target: str, event: int) -> None:
        """Adds a token."""
        key = (source, target, event)
        self.flags[key] = self.flags.get(key, 0) + 1

    def wait_flag(self, source: str, target: str, event: int) -> None:
        """Takes a token; in program order there must be one."""
        key = (source, target, event)
        tokens = self.flags.get(key, 0)
        if not tokens:
            raise NeedsQueues(f"wait_flag[{source}, {target}, {event}] precedes its set_flag")
        self.flags[key] = tokens - 1


class AddressMap:
    """Assigns a range of byte addresses to every buffer of the host, for programs that turn pointers into integers; the
    ``first`` ones get the first ranges."""

    GAP = 1 << 32

    def __init__(self, first: Iterable[Arena] = ()) -> None:
        self._arenas: list[Arena] = [*first]
        self._null = Arena("gm", 0, name="null pointer")

    def base(self, arena: Arena) -> int:
        """Returns the first address of a buffer; one without bytes is a null pointer."""
        if arena.is_null:
            return 0
        for index, known in enumerate(self._arenas):
            if known is arena:
                return (index + 1) * self.GAP
        self._arenas.append(arena)
        return len(self._arenas) * self.GAP

    def locate(self, address: int) -> tuple[Arena, int]:
        """Returns buffer and offset of an address; that of a null pointer has no bytes."""
        if not address:
            return self._null, 0
        index = (address + self.GAP // 2) // self.GAP - 1
        if not 0 <= index < len(self._arenas):
            raise Fault("mem-oob", f"address {address:#x} is in no global-memory buffer")
        return self._arenas[index], address - (index + 1) * self.GAP


_UNSHARED: AbstractContextManager[Any] = nullcontext()
"""The memory is not shared."""


def _nothing() -> None:
    """Does nothing: there is no observer."""


class NeedsQueues(Exception):
    """The program cannot run in program order: a wait precedes its set in the text."""


OF_RANK = " of rank "
"""Separator between the name of a core and the id of its rank."""


def core_of_rank(core: str, rank: int) -> str:
    """Returns the name of a core of one of several ranks."""
    return f"{core}{OF_RANK}{rank}"


@dataclass
class Block:
    """One block: an AIC with two AIVs, or the single core of a plain program.

    ``rank`` is the id of its rank where there are several; whatever changes a signal that other processes see holds
    ``guard``, and calls ``passed`` when a wait for such a signal is over.
    """

    index: int
    count: int
    profile: Profile
    options: RunOptions
    mixed: bool
    kinds: tuple[str, ...] = ("all",)
    cores: list[Core] = field(default_factory=list)
    addresses: AddressMap = field(default_factory=AddressMap)
    core_class: Callable[[Block, str, int], Core] = Core
    device: list[Block] = field(default_factory=list)
    vector_cores: int = 2
    rank: int | None = None
    guard: AbstractContextManager[Any] = _UNSHARED
    passed: Callable[[], None] = _nothing

    def __post_init__(self) -> None:
        sizes = {space: size for space, size in self.profile.capacity.items() if size is not None}
        fill = self.options.fill
        cube, *vector = (CoreMemory(kind, sizes, fill=fill) for kind in ("aic", "aiv", "aiv"))
        self._memories = {"aic": cube, "aiv0": vector[0], "aiv1": vector[1]}
        self._name_memories()
        self.unified_buffers = [memory["ub"] for memory in vector]
        self.arenas = [*cube, *vector[0], *vector[1]]
        for kind in self.kinds:
            if kind == "aiv":
                for index in range(self.vector_cores):
                    core = self.core_class(self, kind, index)
                    core.arenas = {**cube.arenas, **vector[index].arenas}
                    self.cores.append(core)
            else:
                core = self.core_class(self, kind, 0)
                core.arenas = {**cube.arenas, **vector[0].arenas}
                self.cores.append(core)

    def _name_memories(self) -> None:
        for name, memory in self._memories.items():
            for space, arena in memory.arenas.items():
                arena.name = f"block{self.index}.{name}.{space}"

    def renew(self, index: int, count: int) -> None:
        """Makes a block that has run, and whose memory starts with zeros, block ``index`` of ``count``."""
        if index != self.index:
            self.index = index
            self._name_memories()
        self.count = count
        self.rank, self.guard, self.passed = None, _UNSHARED, _nothing
        self.addresses = AddressMap()
        for arena in self.arenas:
            arena.clear()
        for core in self.cores:
            core.reset()
            core.name = core.label

    def join_rank(self, rank: int, windows: Arena) -> None:
        """Makes it a block of a rank whose peers have ``windows``, the first buffer that has addresses."""
        self.rank = rank
        self.addresses = AddressMap([windows])
        for core in self.cores:
            core.name = core.label


def block_cores(core: Core) -> tuple[Core | None, list[Core]]:
    """Returns AIC and AIVs of the block of ``core``."""
    cores = core.block.cores
    cube = next((c for c in cores if c.kind == "aic"), None)
    return cube, [c for c in cores if c.kind == "aiv"]
