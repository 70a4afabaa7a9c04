"""An instrumented core: its pipes are queues, and every signal carries the clock of its sender.

Source: docs/reference/execution.md, "Scheduling"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.deadline import TimedOut
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.sync.flags import FenceBarrierAllOp, MemBarOp
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.data_cache import offsets_of
from pto_dialect.runtime.memory.spaces import Array, Pointer
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.queues.run import LEVEL, RUN, SET, WAIT, Key, QueuedFault, Test
from pto_dialect.runtime.run.machine import Block, Core
from pto_dialect.runtime.simt.items import WorkItems
from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..checks.item_races import ItemRaces
from ..checks.parts import Parts
from ..checks.streams import Streams
from ..context import NO_HANDLES, Context
from ..report.describe import operation_text
from ..report.findings import Finding
from ..state.arena import InstrumentedArena
from ..state.clocks import Mark
from .observed import ObservedCore
from .observer import RunObserver
from .posts import UnreportedTest
from .signals import Signals
from .tiles import BOUND
from .unit_flags import UnitFlags

CHECK, HAND = 4, 5
"""Further kinds of entries: the unit flag of an accumulator is checked, and set or cleared."""

_TRANSFERS = ("PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX")
_EVENTS = len(ENUMS["event"].values)
"""Number of flag ids between two pipes."""


class InstrumentedCore(ObservedCore):
    """A core whose operations are reported to ``observer``.

    ``ordered`` cores run in program order as long as nothing waits: the compiler orders their pipes.
    """

    def __init__(self, block: Block, kind: str, index: int, observer: RunObserver, ordered: bool) -> None:
        super().__init__(block, kind, index)
        self.observer = observer
        self.ordered = ordered
        self.fences: dict[str, int] = {}
        self.signals = Signals(self, observer)
        self.unit_flags = UnitFlags(self, observer)
        self.parts = Parts(self)
        self.streams = Streams(self)

    # ------------------------------------------------------------ scalar unit

    def at(self, site: int, loops: tuple[int, ...]) -> None:
        """Handles that the scalar unit reaches an operation."""
        self.site = site
        self.loops = loops
        self.order += 1
        self.observer.sites.reach(site)
        self.handles = NO_HANDLES
        thread = self.threads["PIPE_S"]
        self.observer.enter(Context(thread, Mark(site, loops, thread.clock, order=self.order)))

    def accesses(self, tiles: tuple[Any, ...]) -> None:
        """Records the tiles that the operation of the scalar unit accesses next."""
        found, context = self.observer.tiles, self.observer.current
        if found is not None and context is not None:
            found.limit(context, tiles)

    def inside(self, site: int, loops: tuple[int, ...]) -> None:
        """Handles that the running instruction reaches one of its parts."""
        observer = self.observer
        context = observer.current
        if observer.muted or context is None:
            return
        context.scope = context.scope or context.event
        self._part(context, site, loops, context.scope)
        op = observer.sites[site].op
        if isinstance(op, MemBarOp):
            context.bars = (*context.bars, (len(observer.log.count) - 1, enumerator(op, "kind")))

    def in_body(self, site: int, loops: tuple[int, ...]) -> None:
        """Handles that the running work-items reach one of their operations."""
        context = self.observer.current
        if not self.observer.muted and context is not None:
            self._part(context, site, loops, context.mark.fence)

    def _part(self, context: Context, site: int, loops: tuple[int, ...], fence: int) -> None:
        self.observer.sites.reach(site)
        context.mark = Mark(site, loops, context.mark.known, fence, order=context.mark.order)
        context.event = 0

    def observe(self, items: WorkItems) -> None:
        """Returns the observer of the work-items of a scope."""
        if self.observer.wants("race"):
            items.observer = ItemRaces(self.observer, self.threads["PIPE_V"], items)

    def mark(self, pipe: str) -> Mark:
        """Returns the mark of an operation that is issued now to ``pipe``."""
        scalar = self.threads["PIPE_S"]
        fence = self.fences.get(pipe, 0)
        return Mark(self.site, self.loops, scalar.issued(), fence, scalar.time, self.order)

    def allocated(self, handle: Any) -> Any:
        """Records the address of a tile; returns the handle that the program uses."""
        return handle if self.observer.tiles is None else self.observer.tiles.allocated(self, handle)

    def popped(self, entry: Any) -> Any:
        """Records the pop of a queue entry; returns the handle that the program uses."""
        tiles = self.observer.tiles
        if tiles is None:
            return entry
        tile = tiles.popped(self, entry)
        self.handles = {**self.handles, BOUND: tile}
        return tile

    def aligned(self, pointer: Pointer, step: int, alignment: int) -> None:
        """Checks that the next access is ``step`` bytes after ``pointer``, at a multiple of ``alignment``."""
        observer, context = self.observer, self.observer.current
        address = pointer.offset + step
        if address % alignment == 0 or context is None or observer.muted or not observer.wants("bounds"):
            return
        site = observer.sites[context.mark.site]
        if observer.findings.repeated("mem-align", site):
            return
        message = f"{site.name} wants an address that is a multiple of {alignment}; byte {address} of "
        message += f"{pointer.arena.space} is not"
        notes = [(operation_text(site, context.mark.loops, context.thread), None)]
        observer.findings.add(Finding("mem-align", message, (site,), site.span, notes))

    def aligned_blocks(self, pointer: Pointer, offsets: Array, mask: Array) -> None:
        """Checks that the active blocks of 32 bytes begin at multiples of 32 bytes."""
        steps = offsets.view(np.uint32)[: mask.size // VLANE_BYTES][mask[::4][: mask.size // VLANE_BYTES]]
        wrong = steps[(steps + np.uint32(pointer.offset)) % VLANE_BYTES != 0]
        if wrong.size:
            self.aligned(pointer, int(wrong[0]), VLANE_BYTES)

    def through(self, handles: dict[int, Any]) -> None:
        """Records the handles of the next operation that the text does not determine."""
        self.handles = handles
        context = self.observer.current
        if context is not None:
            context.handles = handles

    def fence(self, pipe: str) -> None:
        """Handles a barrier on one pipe, or on all of them."""
        for name in self.threads if pipe == "PIPE_ALL" else (pipe,):
            self.fences[name] = self.fences.get(name, 0) + 1
        if pipe == "PIPE_S":
            self.threads[pipe].drain()

    def maintain(self, pointer: Pointer | None) -> None:
        """Handles that the scalar unit cleans and invalidates the line at ``pointer`` of its data cache, or
        all of it."""
        caches = self.observer.caches
        arena = None if pointer is None else pointer.arena
        if caches is not None and (arena is None or isinstance(arena, InstrumentedArena)):
            caches.maintain(self.threads["PIPE_S"], arena, 0 if pointer is None else pointer.offset)

    def hand_over(self, word: str, pointer: Pointer, m: int, n: int, stride: int | None) -> None:
        """Records that the next instruction checks the unit flag of its accumulator."""
        self.unit_flags.expect(word, pointer, m, n, stride)

    def hand_over_tile(self, word: str, tile: Tile) -> None:
        """Records that the next instruction checks the unit flags of the valid region of an accumulator."""
        if tile.loc == "acc" and not (self.ordered and not self.waiting):
            self.unit_flags.expect_tile(word, tile)

    # ------------------------------------------------------------ issue

    def issue(self, pipe: str, line: int, action: Callable[..., Any], *arguments: Any) -> None:
        """Queues ``action`` on ``pipe``, after the earlier work of the core."""
        context = self.context(pipe)
        if self.ordered and not self.waiting:
            self.issued += 1
            self.observer.run(context, action, arguments)
            return
        check = self.unit_flags.take(pipe)
        if check is not None:
            self._append(pipe, (self.issued, line, CHECK, context, (check,)))
        self._append(pipe, (self.issued, line, RUN, context, (action, arguments)))
        if check is not None and check.sets is not None:
            self._append(pipe, (self.issued, line, HAND, context, (check,)))

    def context(self, pipe: str) -> Context:
        """Returns the context of an operation that is issued now to ``pipe``."""
        context = Context(self.threads[pipe], self.mark(pipe))
        context.handles = self.handles
        return context

    # ------------------------------------------------------------ signals

    def queue_set(self, source: str, target: str, event: int) -> None:
        """Queues the setting of a flag on the ``source`` pipe."""
        check_event(event)
        super().queue_set(source, target, event)

    def queue_wait(self, source: str, target: str, event: int, line: int = 0) -> None:
        """Queues the wait for a flag on the ``target`` pipe."""
        check_event(event)
        super().queue_wait(source, target, event, line)

    def signal(self, pipe: str, targets: tuple[tuple[Core, Key], ...]) -> None:
        """Queues a signal to other cores after the work of ``pipe``."""
        mark = self.mark(pipe)
        if pipe == "PIPE_S" or (self.ordered and not self.waiting):
            self.issued += 1
            self.signals.give(self.threads[pipe], mark, targets)
        else:
            self._append(pipe, (self.issued, 0, SET, mark, targets))

    def await_signals(self, pipe: str, keys: tuple[Key, ...], line: int = 0) -> None:
        """Queues a wait for signals of other cores on ``pipe``."""
        if pipe == "PIPE_S":
            self.scalar_wait = keys
        elif self.ordered and not self.waiting and self._ready(keys):
            self.issued += 1
            self.signals.take(self.threads[pipe], self.mark(pipe), keys)
        else:
            self._append(pipe, (self.issued, 0, WAIT, self.mark(pipe), keys))

    def await_level(self, pipe: str, key: Key, level: int, line: int = 0) -> None:
        """Queues a wait on ``pipe`` until a signal was given ``level`` times."""
        if pipe == "PIPE_S":
            self.scalar_level = (key, level)
        elif level:
            self._append(pipe, (self.issued, 0, LEVEL, self.mark(pipe), (key, level)))

    def join_scalar(self) -> Generator[None, None, None]:
        """Waits until the queued work that the scalar unit needs is complete."""
        mark = self.mark("PIPE_S")
        if self.scalar_level is not None:
            key, level = self.scalar_level
            while self.flags.get(key, 0) < level:
                yield
            self.signals.reach(self.threads["PIPE_S"], mark, key, level)
        while not self._ready(self.scalar_wait):
            yield
        self.signals.take(self.threads["PIPE_S"], mark, self.scalar_wait)
        self.scalar_wait, self.scalar_level = (), None
        self.issued += 1

    def join_all(self) -> Generator[None, None, None]:
        """Waits until all queued work is complete."""
        site = self.site
        yield from super().join_all()
        scalar = self.threads["PIPE_S"]
        scalar.drain()
        transfers = isinstance(self.observer.sites[site].op, FenceBarrierAllOp)
        for pipe in _TRANSFERS if transfers else self.threads:
            scalar.join(self.threads[pipe].snapshot())
            self.observer.delay(scalar, self.threads[pipe].time, "barrier", self.threads[pipe], site)

    def reach(self, pipe: str) -> Generator[None, None, None]:
        """Waits until the work of ``pipe`` is complete."""
        yield from super().reach(pipe)
        mark = self.mark(pipe)
        thread = self.threads[pipe]
        thread.join(mark.known)
        self.observer.enter(Context(thread, mark))

    def meet(self, *pipes: str) -> Generator[None, None, None]:
        """Makes the given pipes wait for one another."""
        yield from super().meet(*pipes)
        threads = [self.threads[pipe] for pipe in ("PIPE_S", *pipes)]
        for thread in threads:
            for other in threads:
                thread.join(other.snapshot())
                self.observer.delay(thread, other.time, "barrier", other, self.site)

    # ------------------------------------------------------------ signals in memory

    def notify(self, action: Callable[[Any, int], None], signal: Any, value: int) -> None:
        """Changes a signal in memory, which carries the clock of the scalar unit."""
        self._resume()
        self._past_cache(signal)
        super().notify(action, signal, value)
        self.observer.posts.give(self.threads["PIPE_S"], signal)

    def until(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Waits for a signal in memory, and joins the clocks of the threads that have changed it."""
        yield from super().until(UnreportedTest(test, self.observer), signal, value)
        self._learn(signal)
        test(signal, value)

    def look(self, test: Test, signal: Any, value: int) -> Generator[None, None, None]:
        """Lets other cores run before the scalar unit polls again."""
        yield from super().look(UnreportedTest(test, self.observer), signal, value)

    def holds(self, test: Callable[[Any, int], bool], signal: Any, value: int) -> bool:
        """Returns whether a signal in memory satisfies the condition; then the scalar unit joins the clocks as in a
        wait."""
        unseen = UnreportedTest(test, self.observer)
        if unseen(signal, value):
            self._learn(signal)
        else:
            self._resume()
        return test(signal, value)

    def _past_cache(self, signal: Any) -> None:
        """Removes the lines of a signal from the data cache before an operation changes or reads it."""
        caches = self.observer.caches
        arena = signal.pointer.arena
        if caches is not None and isinstance(arena, InstrumentedArena):
            for offset in offsets_of(signal):
                caches.maintain(self.threads["PIPE_S"], arena, offset)

    def _learn(self, signal: Any) -> None:
        self.observer.posts.take(self.threads["PIPE_S"], signal)
        self._past_cache(signal)
        self._resume()

    def _resume(self) -> None:
        """Attributes accesses to the scalar unit again, after others have run."""
        self.observer.enter(Context(self.threads["PIPE_S"], self.mark("PIPE_S")))

    # ------------------------------------------------------------ execution

    def step(self) -> bool:
        """Executes one queued action; returns False where none can continue."""
        chosen: str | None = None
        if self.chooser is not None:
            chosen = self.chosen()
        else:
            oldest = self.issued
            for pipe, queue in self.queues.items():
                if queue and queue[0][0] < oldest and self.runnable(pipe, queue[0]):
                    oldest, chosen = queue[0][0], pipe
        if chosen is None:
            return False
        _, line, kind, item, arguments = self.queues[chosen].popleft()
        self.waiting -= 1
        thread = self.threads[chosen]
        if kind == RUN:
            try:
                self.observer.run(item, *arguments)
            except Fault as fault:
                raise QueuedFault(fault, line, self) from None
            except TimedOut as over:
                over.line = line
                raise
        elif kind == SET:
            self.signals.give(thread, item, arguments)
        elif kind == WAIT:
            self.signals.take(thread, item, arguments)
        elif kind == LEVEL:
            self.signals.reach(thread, item, *arguments)
        elif kind == CHECK:
            self.unit_flags.passed(thread, arguments[0])
        else:
            self.unit_flags.hand(thread, arguments[0])
        return True

    def runnable(self, pipe: str, head: Any) -> bool:
        """Returns whether the first action of a queue can continue."""
        kind, arguments = head[2], head[4]
        if kind == WAIT:
            return self._ready(arguments)
        if kind == LEVEL:
            return self.flags.get(arguments[0], 0) >= arguments[1]
        return kind != CHECK or self.unit_flags.open(arguments[0])

    def heads(self) -> list[tuple[str, int, Mark, Any]]:
        """Returns the heads of the queues: pipe, kind of entry, issue site, and its arguments."""
        waiting: list[tuple[str, int, Mark, Any]] = []
        for pipe, queue in self.queues.items():
            if queue:
                _, _, kind, item, arguments = queue[0]
                waiting.append((pipe, kind, item.mark if isinstance(item, Context) else item, arguments))
        return waiting

    def relieve(self) -> bool:
        """Lets an instruction pass whose unit flag can never be satisfied; returns True when there was one."""
        for pipe, queue in self.queues.items():
            if queue and queue[0][2] == CHECK:
                _, _, _, context, (check,) = queue.popleft()
                self.waiting -= 1
                self.unit_flags.refused(self.threads[pipe], context, check)
                return True
        return False


def check_event(event: int) -> None:
    """Raises ``Fault`` (``sync-flag-range``) for a number that no flag has."""
    if not 0 <= event < _EVENTS:
        raise Fault("sync-flag-range", f"flags have the numbers 0 to {_EVENTS - 1}, found {event}")
