"""The observer of one run: accesses, their threads and order, and findings.

Source: docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from pto_dialect.analysis.scalar_cache import MEMORY as SCALAR_STORES
from pto_dialect.ir.core.base import Pipe
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.atomic import AtomicMode
from pto_dialect.runtime.run.windows import WindowArena

from .. import checks
from ..checks import self_copy, torn_sources
from ..checks.numbers import Numbers
from ..checks.operand_values import ARGUMENT_CHECKS
from ..checks.races import ApartRaces, Races
from ..checks.scalar_cache import ScalarCaches
from ..checks.unwritten import Unwritten
from ..context import Context
from ..options import SanitizeOptions
from ..report.findings import Findings
from ..report.sites import Sites
from ..report.timeline import Ran, Timeline
from ..state.arena import InstrumentedArena, Listener
from ..state.clocks import PIPES, Clock, EventLog, Mark, OrderedThread, ScalarThread, Thread, Token
from ..state.regions import Bytes, Region
from ..state.windows import InstrumentedWindows
from .posts import Posts
from .tiles import Tiles

if TYPE_CHECKING:
    from .observed import ObservedCore


for _module in iter_modules(checks.__path__, f"{checks.__name__}."):
    import_module(_module.name)
# Every module of the folder registers its checks.


class RunObserver:
    """State of one run: events, findings, and the checks that accesses pass through."""

    thread_class: type[Thread] = Thread
    scalar_thread_class: type[Thread] = ScalarThread
    arena_class: type[InstrumentedArena] = InstrumentedArena
    windows_class: Callable[[WindowArena, Listener], InstrumentedArena] = InstrumentedWindows

    def __init__(self, options: SanitizeOptions, ordered: bool, timeline: Timeline | None = None) -> None:
        self.options = options
        self.timeline = timeline
        self.latest = 0.0
        self.ordered = ordered
        self.sites = Sites()
        self.log = EventLog()
        self.findings = Findings()
        self.current: Context | None = None
        self.failed: Context | None = None
        self.muted = False
        self.judged_by_content = False
        self.devices = 0
        self.pipes = PIPES
        checks = options.checks
        self.posts = Posts()
        self.apart = False
        self.races = Races(self) if "race" in checks and not ordered else None
        self.unwritten = Unwritten(self) if "init" in checks else None
        self.numbers = Numbers(self) if "numeric" in checks else None
        self.caches = ScalarCaches(self) if "cache" in checks else None
        self.caching: ScalarCaches | None = None
        """The caches, where the program uses them."""
        self.tiles = Tiles(self, "bounds" in checks, "overlap" in checks) if checks & {"bounds", "overlap"} else None

    def wants(self, check: str) -> bool:
        """Returns whether ``check`` was requested."""
        return check in self.options.checks

    # ------------------------------------------------------------ cores

    def part(self) -> None:
        """Prepares for several cores of one block or of several blocks or ranks: also where the compiler orders the
        pipes of a core, nothing orders these."""
        self.apart = True
        if self.ordered and self.races is None and self.wants("race"):
            self.races = ApartRaces(self)

    def add_pipes(self, names: Iterable[str]) -> None:
        """Adds pipes of the next cores on which only flags occur."""
        self.pipes += tuple(name for name in dict.fromkeys(names) if name not in self.pipes)

    def open_device(self, cores: Sequence[ObservedCore]) -> None:
        """Takes the cores that run concurrently from now on."""
        self.devices += 1
        if self.caches is not None:
            self.caching = self.caches if self.caches.needed() else None
        self.posts.clear()
        together = self.apart and self.ordered
        threads: list[Thread] = []
        for core in cores:
            for pipe in self.pipes:
                own = self.scalar_thread_class if pipe == Pipe.S.value else self.thread_class
                kind = OrderedThread if together else own
                thread = kind(len(self.log.threads), core, pipe, self.devices, len(threads))
                self.log.threads.append(thread)
                threads.append(thread)
                core.threads[pipe] = thread
        scalars = [thread for thread in threads if isinstance(thread, ScalarThread)]
        for slot, thread in enumerate(scalars, len(threads)):
            thread.slot = slot
        clock: Clock = []
        for number, thread in enumerate(threads):
            if not together or number % len(self.pipes) == 0:
                clock = [0] * (len(threads) + len(scalars))
            thread.clock = clock

    def forget(self) -> None:
        """Removes all events, which reference the cores of all runs and their memory.

        Nothing may run, and later memory is instrumented again.
        """
        self.log.clear()
        self.findings.clear()
        self.posts.clear()
        self.judged_by_content = False
        self.current = self.failed = None
        if self.caches is not None:
            self.caches.clear()
        if self.tiles is not None:
            self.tiles.clear()
        if self.unwritten is not None:
            self.unwritten.undefined.clear()

    def end_launch(self) -> None:
        """Handles the end of all cores of a launch."""
        if self.caches is not None:
            self.caches.end()

    def arrived(self, token: Token, thread: Thread, mark: Mark) -> None:
        """Handles that ``thread`` has received a signal."""
        if self.timeline is not None:
            since = max(thread.time, mark.time)
            thread.time = max(since, token.time)
            self.timeline.taken(thread, self.sites[mark.site], mark.loops, since, token.flow)

    def delay(self, thread: Thread, until: float, kind: str, other: Thread | None = None, site: int = 0) -> None:
        """Delays ``thread`` until ``until`` at the earliest, because of ``other`` and the operation at ``site``."""
        thread.time = max(thread.time, until)

    def timed(self, context: Context, first: int) -> None:
        """Adds an instruction that has run, with the events from ``first`` on, to the timeline."""
        timeline, thread, mark = self.timeline, context.thread, context.mark
        if timeline is None:
            return
        start = max(thread.time, mark.time, self.latest if self.ordered else 0.0)
        duration = timeline.duration(thread, context.nbytes)
        thread.time = self.latest = start + duration
        site = self.sites[self.log.site[first]]
        timeline.operation(thread, site, Ran(mark.loops, start, duration, range(first, len(self.log.count))))

    # ------------------------------------------------------------ operations

    def enter(self, context: Context | None) -> Context | None:
        """Attributes accesses to ``context`` from now on; returns the previous one."""
        before = self.current
        self.current = context
        return before

    def begin(self, context: Context) -> int:
        """Assigns an event to the operation."""
        thread, mark = context.thread, context.mark
        context.event = self.log.add(thread, thread.tick(), mark)
        return context.event

    def run(self, context: Context, action: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Runs an instruction."""
        context.thread.join(context.mark.known)
        first = self.begin(context)
        context.operands = arguments
        for argument in arguments:
            if isinstance(argument, AtomicMode):
                self.log.atomic[first] = argument.label
        outer = self.current
        self.current = context
        if self.numbers is not None:
            self.numbers.start()
        try:
            site = self.sites.all[context.mark.site]
            check = None if site is None else ARGUMENT_CHECKS.get(type(site.op))
            if check is not None:
                check(self, context, arguments)
            result = action(*arguments)
            if context.scope:
                core: Any = context.thread.core
                core.streams.end(context)
            if self.races is not None and context.doubled:
                self.races.settle(context)
            if context.copied and self.wants("overlap"):
                self_copy.settle(self, context)
            if context.torn and self.wants("overlap"):
                torn_sources.settle(self, context)
            if self.unwritten is not None and context.unwritten:
                self.unwritten.settle(context, action, arguments)
            if self.unwritten is not None and context.undefined:
                self.unwritten.undefine(context)
            if self.numbers is not None:
                self.numbers.settle(context)
            if self.timeline is not None:
                self.timed(context, first)
            return result
        except Fault:
            self.failed = context
            raise
        finally:
            self.current = outer

    # ------------------------------------------------------------ accesses

    def read(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a read of the current operation before it happens."""
        context = self.current
        if context is None or self.muted:
            return
        event = context.event or self.begin(context)
        context.nbytes += region.size
        shadow = arena.shadow
        ranges = region.places if region.version == shadow.version else shadow.locate(region)
        site = self.sites.all[context.mark.site]
        if site is not None and site.copies:
            context.copied = (*context.copied, (arena, region, False))
        elif site is not None and site.computes and not arena.public and isinstance(region, Region):
            context.sources = (*context.sources, (arena, region))
        if self.races is not None:
            self.races.read(context, event, arena, region, ranges)
        if self.caching is not None and arena.public:
            self.caching.read(context, arena, region)
        if self.tiles is not None and not arena.public:
            self.tiles.read(context, arena, region, ranges)
        if self.unwritten is not None and not arena.public:
            self.unwritten.read(context, arena, region, ranges)

    def undefined(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles that the current operation leaves bytes with undefined contents."""
        context = self.current
        if context is not None and not self.muted:
            # Overwriting them is not part of the operation.
            context.nbytes -= region.size
            context.torn = [torn for torn in context.torn if torn.target is not region]
            context.undefined = (*context.undefined, (arena, region))

    def write(self, arena: InstrumentedArena, region: Bytes) -> None:
        """Handles a write of the current operation before it happens."""
        context = self.current
        if context is None or self.muted:
            return
        event = context.event or self.begin(context)
        context.nbytes += region.size
        thread = context.thread
        if arena.space == SCALAR_STORES and isinstance(thread, ScalarThread):
            self.log.stores[event] = thread.store()
        shadow = arena.shadow
        ranges = region.places if region.version == shadow.version else shadow.locate(region)
        if self.races is not None:
            self.races.write(context, event, arena, region, ranges)
        if self.caching is not None and arena.public:
            self.caching.write(context, arena, region)
        if self.tiles is not None and not arena.public:
            self.tiles.write(context, event, arena, region, ranges)
        if self.unwritten is not None:
            self.unwritten.write(context, arena, region, ranges)
        if context.copied:
            context.copied = (*context.copied, (arena, region, True))
        if context.sources and isinstance(region, Region):
            torn_sources.written(context, self.sites[context.mark.site], arena, region)
