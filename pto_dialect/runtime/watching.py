"""All that the runtime knows of those who watch a run: what their code calls, and who learns of work-items.

A watched run is another flavour of generated code, made by a generator of its own. Its lines call the methods of
``Watching`` on the core, so the check of generated code lets these names pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .memory.spaces import Arena, Array, Pointer


class Observer(Protocol):
    """Learns who accesses what between two barriers."""

    def access(
        self, kind: str, arena: Arena, chosen: Array | None, starts: Array, nbytes: int, values: Array | None = None
    ) -> None:
        """The work-items with these numbers (``None``: all) access bytes; ``kind`` is ``reads``, ``writes`` with the
        ``values``, or the name of an atomic update."""
        ...

    def synchronise(self) -> None:
        """A barrier, or the end of the launch."""
        ...


class Parts(Protocol):
    """Looks at parts of views."""

    def check(self, number: int, view: Any, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """The operation ``number`` takes the part at ``offsets`` with ``sizes`` elements from ``view``."""
        ...


class Signals(Protocol):
    """Follows signals and locks."""

    def lock(self, pipe: str, number: int, acquire: bool) -> None:
        """``pipe`` gets or releases a buffer number."""
        ...


class Streams(Protocol):
    """Follows unaligned streams of vector loads and stores."""

    def reach(self, state: Any, pointer: Pointer, step: int) -> None:
        """An operation on the stream with ``state`` comes next, ``step`` bytes behind ``pointer``."""
        ...

    def goes_on(self, state: Any) -> None:
        """The operation has left the stream in ``state``."""
        ...


class Watching(Protocol):
    """What generated code of a watched run tells its core, beside what it tells any core. Operations, with their loop
    indices, have numbers."""

    @property
    def parts(self) -> Parts:
        """Who looks at parts of views."""
        ...

    @property
    def signals(self) -> Signals:
        """Who follows signals and locks."""
        ...

    @property
    def streams(self) -> Streams:
        """Who follows unaligned streams."""
        ...

    def at(self, site: int, loops: tuple[int, ...]) -> None:
        """The scalar unit reaches an operation."""
        ...

    def inside(self, site: int, loops: tuple[int, ...]) -> None:
        """An operation inside a vector scope comes next."""
        ...

    def in_body(self, site: int, loops: tuple[int, ...]) -> None:
        """The work-items that run reach one of their operations."""
        ...

    def allocated(self, handle: Any) -> Any:
        """The handle of a tile that has just been allocated, as the program is to use it."""
        ...

    def aligned(self, pointer: Pointer, step: int, alignment: int) -> None:
        """A vector access ``step`` bytes behind ``pointer`` has to be aligned."""
        ...

    def through(self, handles: dict[int, Any]) -> None:
        """The handles, by number of the operand, of tiles whose allocation the text leaves open."""
        ...

    def fence(self, pipe: str) -> None:
        """A barrier on a pipe."""
        ...

    def maintain(self, pointer: Pointer | None) -> None:
        """The data cache of the scalar unit is cleaned and invalidated, at a line or altogether."""
        ...

    def hand_over(self, word: str, pointer: Pointer, m: int, n: int, stride: int | None) -> None:
        """The accumulators [m, n] at ``pointer`` are handed over between two pipes; ``word`` says how."""
        ...


class Recorded(Protocol):
    """What generated code of a recorded run tells its core beside that."""

    def note(self, statement: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]) -> None:
        """A statement comes next, with the indices of the loops around it, new numbers, and handles among its
        operands."""
        ...

    def alone(self) -> None:
        """What was noted last is done, without a queue."""
        ...

    def structure(self) -> None:
        """What was noted last is no instruction: a loop, a branch or a call begins."""
        ...

    def reached(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """The scalar unit reaches a statement of the recording, which is the operation ``site``."""
        ...

    def placed(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """The scalar unit reaches an allocation, which is done at once; a recording alone wants to know."""
        ...

    def reached_part(
        self, statement: int, site: int, loops: tuple[int, ...], numbers: tuple[Any, ...], handles: tuple[Any, ...]
    ) -> None:
        """The instruction that runs, or its work-items, reach a statement of the recording."""
        ...


def _names(*protocols: type) -> frozenset[str]:
    return frozenset(name for protocol in protocols for name in vars(protocol) if not name.startswith("_"))


CALLS = _names(Parts, Signals, Streams, Watching, Recorded)
"""Attributes that code of a watched run uses beside those of plain code."""
