"""A core of a run for times alone: what its scalar unit issues is collected in segments.

Source: docs/reference/cycles.md, "Steady states".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.queues.run import Key, Test
from pto_dialect.runtime.run.machine import Block, Core

from ..context import Context
from ..instrument.core import InstrumentedCore, check_event
from ..state.clocks import Mark
from .footprints import operands_of
from .segments import Entry, Flag, Instruction, Segments

if TYPE_CHECKING:
    from .observer import TimesObserver

_LONGEST = 4096
"""Maximum number of entries of a segment."""

_MOST = 1 << 16
"""Maximum number of different entries."""

_PERSISTENT = frozenset((Tile, int, bool, str, type(None)))
"""Types of operands that are the same while they are equal."""


class TimesCore(InstrumentedCore):
    """A core that hands over what it issues in segments, where it is the only one that runs."""

    def __init__(self, block: Block, kind: str, index: int, observer: TimesObserver, ordered: bool) -> None:
        super().__init__(block, kind, index, observer, ordered)
        self.times = observer
        self.segments: Segments | None = None
        self._entries: list[Entry] = []
        self._numbers: dict[Any, int] = {}
        self._kept: list[Any] = []
        """Objects whose identities are in the numbers of entries."""
        self._known: dict[tuple[int, tuple[Any, ...]], Instruction] = {}
        """Instructions by their line and operands, which have no address in global memory and stay as they are."""
        self._flags: dict[tuple[int, Key, bool], Flag] = {}
        self._scalar: Context | None = None

    def start_segments(self) -> None:
        """Collects entries from now on."""
        self.segments = Segments(self, self.times, self.carry_out)

    # ------------------------------------------------------------ scalar unit

    def at(self, site: int, loops: tuple[int, ...]) -> None:
        """Handles that the scalar unit reaches an operation."""
        if loops != self.loops and self._entries:
            self.close()
        self.site = site
        self.loops = loops
        self.times.sites.reach(site)
        scalar = self._scalar
        if scalar is None:
            thread = self.threads["PIPE_S"]
            scalar = self._scalar = Context(thread, Mark(site, loops, thread.clock))
        scalar.event = 0
        self.times.current = scalar

    def through(self, handles: dict[int, Any]) -> None:
        """Does nothing: handles do not concern times."""

    def close(self) -> None:
        """Ends the present segment."""
        entries = self._entries
        if entries:
            assert self.segments is not None
            self._entries = []
            self.segments.end(entries)
            if not self.segments.is_active or len(self._numbers) > _MOST:
                self.stop_segments()

    def carry_out(self, entries: list[Entry]) -> None:
        """Executes entries in order; the position of an instruction is its index."""
        here = self.site, self.loops
        current = self.observer.current
        segments, self.segments = self.segments, None
        try:
            for number, entry in enumerate(entries):
                self.site, self.order = entry.site, number
                if isinstance(entry, Instruction):
                    super().issue(entry.pipe, entry.line, entry.action, *entry.arguments)
                elif entry.sets:
                    super().queue_set(*entry.flag)
                else:
                    super().queue_wait(*entry.flag, 0)
        finally:
            self.segments = segments
            self.site, self.loops = here
            self.observer.current = current

    def _collect(self, entry: Entry) -> None:
        self._entries.append(entry)
        if len(self._entries) >= _LONGEST:
            self.close()

    # ------------------------------------------------------------ entries

    def issue(self, pipe: str, line: int, action: Callable[..., Any], *arguments: Any) -> None:
        """Collects an instruction."""
        if self.segments is None:
            super().issue(pipe, line, action, *arguments)
            return
        try:
            known = self._known.get((line, arguments))
        except TypeError:
            known = None
        if known is None:
            known = self._instruction(pipe, line, action, arguments)
        self._collect(known)

    def _instruction(self, pipe: str, line: int, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Instruction:
        operands = operands_of(action, arguments)
        number = None if operands is None else self._number((line, operands.key), (action, arguments))
        made = Instruction(number, self.site, pipe, None, line, action, arguments, operands)
        if all(type(argument) in _PERSISTENT for argument in arguments) and not hasattr(action, "__code__"):
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[line, arguments] = made
        return made

    def queue_set(self, source: str, target: str, event: int) -> None:
        """Collects a flag that is set."""
        if self.segments is None:
            super().queue_set(source, target, event)
        else:
            self._flag(source, (source, target, event), True)

    def queue_wait(self, source: str, target: str, event: int, line: int = 0) -> None:
        """Collects a flag that is waited for."""
        if self.segments is None:
            super().queue_wait(source, target, event, line)
        else:
            self._flag(target, (source, target, event), False)

    def _flag(self, pipe: str, key: tuple[str, str, int], sets: bool) -> None:
        known = self._flags.get((self.site, key, sets))
        if known is not None:
            self._collect(known)
            return
        check_event(key[2])
        if pipe == "PIPE_S":
            self.close()
            segments, self.segments = self.segments, None
            super().queue_set(*key) if sets else super().queue_wait(*key, 0)
            self.segments = segments
            return
        number = self._number((self.site, key, sets), None)
        made = self._flags[self.site, key, sets] = Flag(number, self.site, pipe, key, sets)
        self._collect(made)

    def _number(self, key: Any, kept: Any) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._kept.append(kept)
        return number

    # ------------------------------------------------------------ what ends a segment

    def set_valid(self, tile: Any, rows: int, cols: int) -> None:
        """Changes the valid region of a tile."""
        self.close()
        self._known.clear()
        super().set_valid(tile, rows, cols)

    def hand_over(self, word: str, pointer: Pointer, m: int, n: int, stride: int | None) -> None:
        """Records that the next instruction checks the unit flag of its accumulator; nothing is collected from now
        on."""
        self.stop_segments()
        super().hand_over(word, pointer, m, n, stride)

    def hand_over_tile(self, word: str, tile: Tile) -> None:
        """Records that the next instruction checks unit flags of an accumulator; nothing is collected from now on."""
        self.stop_segments()
        super().hand_over_tile(word, tile)

    def stop_segments(self) -> None:
        """Ends the present segment, and collects nothing any more."""
        entries, self._entries = self._entries, []
        if entries and self.segments is not None:
            self.segments.end(entries)
        if self.segments is not None:
            self.segments.finish()
            self.segments = None

    def signal(self, pipe: str, targets: tuple[tuple[Core, Key], ...]) -> None:
        """Queues a signal to other cores."""
        self.close()
        super().signal(pipe, targets)

    def await_signals(self, pipe: str, keys: tuple[Key, ...], line: int = 0) -> None:
        """Queues a wait for signals of other cores."""
        self.close()
        super().await_signals(pipe, keys, line)

    def await_level(self, pipe: str, key: Key, level: int, line: int = 0) -> None:
        """Queues a wait until a signal was given ``level`` times."""
        self.close()
        super().await_level(pipe, key, level, line)

    def join_scalar(self) -> Generator[None, None, None]:
        """Waits until the queued work that the scalar unit needs is complete."""
        self.close()
        yield from super().join_scalar()

    def join_all(self) -> Generator[None, None, None]:
        """Waits until all queued work is complete."""
        self.close()
        yield from super().join_all()

    def reach(self, pipe: str) -> Generator[None, None, None]:
        """Waits until the work of ``pipe`` is complete."""
        self.close()
        yield from super().reach(pipe)

    def meet(self, *pipes: str) -> Generator[None, None, None]:
        """Makes the given pipes wait for one another."""
        self.close()
        yield from super().meet(*pipes)

    def notify(self, action: Callable[[Any, int], None], signal: Any, value: int) -> None:
        """Changes a signal in memory."""
        self.close()
        super().notify(action, signal, value)

    def until(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Waits for a signal in memory."""
        self.close()
        yield from super().until(test, signal, value)

    def look(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Lets other cores run before the scalar unit polls again."""
        self.close()
        yield from super().look(test, signal, value)

    def holds(self, test: Callable[[Any, int], bool], signal: Any, value: int) -> bool:
        """Returns whether a signal in memory satisfies the condition."""
        self.close()
        return super().holds(test, signal, value)
