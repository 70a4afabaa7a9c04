"""The interface of the checks: the operation that is executed, and the instrumentation that calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.machine import Block

from .report.findings import Finding, Findings
from .report.sites import Sites
from .state.arena import InstrumentedArena
from .state.clocks import EventLog, Mark, Thread
from .state.regions import Bytes, Region

NO_HANDLES: dict[int, Any] = {}

Extent = tuple[Any, Any, int]
"""Memory of a tile and its byte range [first, end); without a memory the pointer itself."""


class Torn(NamedTuple):
    """Bytes of a source that the write ``target`` of the same operation replaces, and their content before."""

    arena: InstrumentedArena
    target: Region
    shared: Array
    content: Array


class Context:
    """One operation while it runs: its thread, its site, and its accesses.

    ``event`` is its event id, 0 before the first access. ``unwritten`` lists reads of uninitialized bytes, ``offsets``
    these bytes, ``written`` writes with the bytes they replace; both with their sites; ``good`` and ``doubtful`` state
    that it has read bytes of that kind. ``doubled`` lists findings that two cores have written bytes in one operation,
    with the content that the first has left there. Inside a vector scope ``scope`` is the event that started it, and
    ``bars`` lists its barriers: the last event before, and the kind. ``handles`` has, by operand index, the handles of
    tiles that the text does not determine; ``copied`` what a copy inside one memory has read, and what it has written
    (``True``); ``sources`` what a tile operation has read, and ``torn`` bytes of these that it has replaced too early;
    ``undefined`` bytes whose content is undefined after it; ``tiles`` the locations of the tiles among its operands,
    once queried. ``step`` and ``issue`` are its indices in a recording, -1 where it has none yet.
    """

    __slots__ = (
        *("bars", "copied", "doubled", "doubtful", "event", "good", "handles", "issue", "mark", "nbytes", "offsets"),
        *("operands", "scope", "sources", "step", "thread", "tiles", "torn", "undefined", "unwritten", "written"),
    )

    def __init__(self, thread: Thread, mark: Mark) -> None:
        self.thread = thread
        self.mark = mark
        self.event = 0
        self.step = self.issue = -1
        self.nbytes = 0
        self.operands: Sequence[Any] = ()
        self.good = False
        self.doubtful = False
        self.handles: dict[int, Any] = NO_HANDLES
        self.tiles: list[Extent] | None = None
        self.copied: Sequence[tuple[InstrumentedArena, Bytes, bool]] = ()
        self.sources: Sequence[tuple[InstrumentedArena, Region]] = ()
        self.torn: Sequence[Torn] = ()
        self.scope = 0
        self.bars: Sequence[tuple[int, str]] = ()
        self.undefined: Sequence[tuple[InstrumentedArena, Bytes]] = ()
        self.unwritten: Sequence[tuple[InstrumentedArena, int]] = ()
        self.offsets: Sequence[Array] = ()
        self.written: Sequence[tuple[InstrumentedArena, Bytes, Array, int]] = ()
        self.doubled: Sequence[tuple[Finding, InstrumentedArena, Array, Array]] = ()


class RunObserver(Protocol):
    """The instrumentation of one run, as checks see it.

    ``current`` is the operation that is executed; while ``muted`` nothing is recorded. ``ordered`` states that the
    program leaves the order of its pipes to the compiler. A check that depends on the content of memory sets
    ``judged_by_content``: with other content it may have another result.
    """

    sites: Sites
    findings: Findings
    log: EventLog
    current: Context | None
    muted: bool
    ordered: bool
    judged_by_content: bool

    def wants(self, check: str) -> bool:
        """Returns whether ``check`` was requested."""
        ...


class Core(Protocol):
    """An instrumented core, as checks see it."""

    block: Block

    @property
    def observer(self) -> RunObserver:
        """Returns the instrumentation of the core."""
        ...

    @property
    def name(self) -> str:
        """Returns the name for messages: ``AIV0``."""
        ...
