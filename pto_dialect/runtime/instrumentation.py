"""The interface between the runtime and instrumented runs: the methods that generated code calls, and observers of
work-items.

An instrumented run is a code generation variant with a generator of its own. Its code calls the methods of
``Instrumentation`` on the core, so the check of generated code allows these names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .memory.spaces import Arena, Array, Pointer
    from .memory.values import Tile


class Observer(Protocol):
    """Observes accesses between two barriers."""

    def access(
        self, kind: str, arena: Arena, chosen: Array | None, starts: Array, nbytes: int, values: Array | None = None
    ) -> None:
        """Reports that the work-items with these ids (``None``: all) access bytes; ``kind`` is ``reads``, ``writes``
        with the ``values``, or the name of an atomic update."""
        ...

    def synchronise(self) -> None:
        """Reports a barrier, or the end of the launch."""
        ...


class Parts(Protocol):
    """Checks parts of views."""

    def check(self, number: int, view: Any, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Checks the part at ``offsets`` with ``sizes`` elements of ``view``, which the operation ``number`` takes."""
        ...


class Signals(Protocol):
    """Follows signals and locks."""

    def lock(self, pipe: str, number: int, acquire: bool) -> None:
        """Reports that ``pipe`` gets or releases a buffer id."""
        ...


class Streams(Protocol):
    """Follows unaligned streams of vector loads and stores."""

    def reach(self, state: Any, pointer: Pointer, step: int) -> None:
        """Reports the next operation on the stream with ``state``, ``step`` bytes after ``pointer``."""
        ...

    def goes_on(self, state: Any) -> None:
        """Reports that the operation has left the stream in ``state``."""
        ...


class Instrumentation(Protocol):
    """The methods of a core that only generated code of an instrumented run calls. Operations, with their loop indices,
    are identified by numbers."""

    @property
    def parts(self) -> Parts:
        """Returns the check of parts of views."""
        ...

    @property
    def signals(self) -> Signals:
        """Returns the observer of signals and locks."""
        ...

    @property
    def streams(self) -> Streams:
        """Returns the observer of unaligned streams."""
        ...

    def at(self, site: int, loops: tuple[int, ...]) -> None:
        """Reports that the scalar unit reaches an operation."""
        ...

    def inside(self, site: int, loops: tuple[int, ...]) -> None:
        """Reports the next operation inside a vector scope."""
        ...

    def in_body(self, site: int, loops: tuple[int, ...]) -> None:
        """Reports that the running work-items reach one of their operations."""
        ...

    def allocated(self, handle: Any) -> Any:
        """Returns the handle that the program uses for a tile that has just been allocated."""
        ...

    def aligned(self, pointer: Pointer, step: int, alignment: int) -> None:
        """Checks the alignment of a vector access ``step`` bytes after ``pointer``."""
        ...

    def aligned_blocks(self, pointer: Pointer, offsets: Array, mask: Array) -> None:
        """Checks the alignment of the active blocks at offsets in bytes after ``pointer``."""
        ...

    def through(self, handles: dict[int, Any]) -> None:
        """Returns the handles, by operand index, of tiles whose allocation the text leaves open."""
        ...

    def accesses(self, tiles: tuple[Any, ...]) -> None:
        """Reports the tiles that the operation of the scalar unit accesses, before it does."""
        ...

    def fence(self, pipe: str) -> None:
        """Reports a barrier on a pipe."""
        ...

    def maintain(self, pointer: Pointer | None) -> None:
        """Reports that the data cache of the scalar unit is cleaned and invalidated, for one line or completely."""
        ...

    def hand_over(self, word: str, pointer: Pointer, m: int, n: int, stride: int | None) -> None:
        """Reports that the accumulators [m, n] at ``pointer`` are handed over between two pipes; ``word`` is the unit
        flag mode."""
        ...

    def hand_over_tile(self, word: str, tile: Tile) -> None:
        """Records that the next instruction checks the unit flags of the valid region of an accumulator."""
        ...


class Recorded(Protocol):
    """The further methods of a core that generated code of a recorded run calls."""

    def note(self, statement: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]) -> None:
        """Notes the next statement, with the indices of the loops around it, new numbers, and the handles among its
        operands."""
        ...

    def alone(self) -> None:
        """Reports that the statement noted last is complete, without a queue."""
        ...

    def structure(self) -> None:
        """Reports that the statement noted last is not an instruction: a loop, a branch or a call starts."""
        ...

    def reached(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """Reports that the scalar unit reaches a statement of the recording, which is the operation ``site``."""
        ...

    def placed(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """Reports that the scalar unit reaches an allocation, which completes at once; only a recording needs it."""
        ...

    def reached_part(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """Reports that the running instruction, or its work-items, reach a statement of the recording."""
        ...


def _names(*protocols: type) -> frozenset[str]:
    return frozenset(name for protocol in protocols for name in vars(protocol) if not name.startswith("_"))


CALLS = _names(Parts, Signals, Streams, Instrumentation, Recorded)
"""Attributes that the code of an instrumented run uses in addition to those of plain code."""
