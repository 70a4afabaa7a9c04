"""Carries out a launch file with ranks: each has a session of its own, every launch runs on all of them side by side.

Source: docs/ranks.md, "Processes".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.compile.group import Group
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.ranks import Part
from pto_dialect.runtime.run.windows import World

from ..inputs import Input
from ..run.arrays import load
from ..run.binding import Held
from ..run.files import Writing, write_files
from ..run.program import Launch
from ..run.request import Request
from ..run.sanitizing import instrumented_kernel
from ..run.status import OK, WRONG_LAUNCH, WRONG_PROGRAM, Failure, Streams
from ..run.value_text import Number, shape_text
from .plan import Plan, Step
from .prepared import Prepared
from .rank_values import RankContext, Window
from .run_outputs import has_run_output, outputs_of_ranks, write_page
from .session import Session, Settings, reported

if TYPE_CHECKING:
    from pto_dialect.sanitize.launch import InstrumentedKernel


def run_rank_plans(plans: Sequence[Plan], settings: Settings, streams: Streams) -> int:
    """Runs the launches of all ranks; ``plans`` has one plan for each. Results are those of ``run_plan``."""
    with TemporaryDirectory(prefix="pto-ranks-") if has_run_output(settings.sanitizing) else nullcontext("") as scratch:
        return reported(lambda: _World(plans, settings, streams, scratch).run(), settings, streams)


class _RankLaunch(Launch):
    """A launch whose watch is that of all ranks."""

    def __init__(self, item: Input, request: Request, streams: Streams, world: _World) -> None:
        asked = request.sanitizing
        self.page = None if asked is None else asked.html
        super().__init__(item, replace(request, sanitizing=outputs_of_ranks(asked, world.scratch)), streams)
        self.world = world

    def instrumented(self, kernel: Kernel) -> InstrumentedKernel:
        """Returns the instrumented kernel that runs instead of ``kernel``."""
        return super().instrumented(kernel.ones[0].kernel if isinstance(kernel, _Together) else kernel)

    def compiled(self, module: ModuleOp, entry: str, group: Group | None = None) -> Kernel:
        """Returns the compiled entry function or group; reports no errors."""
        request = self.request
        if request.sanitizing is None:
            return super().compiled(module, entry, group)
        # What a launch leaves is its own, so is its watch.
        others = [] if has_run_output(request.sanitizing) else self.world.instrumented
        observer = others[0].observer if others else None
        kernel = instrumented_kernel(module, entry, request.target, request.run, request.sanitizing, group, observer)
        others.append(kernel)
        return kernel

    def write_page(self) -> None:
        """Writes the page of the launch, if there is to be one. Raises ``FileError``."""
        request = self.request.sanitizing
        if self.page is not None and not self.unsaved:
            assert request is not None and request.record is not None
            write_page(self.page, request.record)


class _RankSession(Session):
    """The part of one rank in a launch file."""

    def __init__(self, plan: Plan, world: _World) -> None:
        super().__init__(plan, world.settings, world.streams, world.modules)
        self.world = world
        self.kernels = world.kernels
        self.parts = world.parts
        self.files = world.files

    def launch(self, item: Input, request: Request) -> Launch:
        return _RankLaunch(item, request, self.streams, self.world)

    def kernel(self, step: Step, launch: Launch) -> Kernel:
        """Returns the compiled entry of a launch, which is the same on all ranks where it is kept."""
        if self.settings.scalar_cache:
            raise self.fail(
                step.key, ValueError("the data caches of ranks are not modelled"), "leave --scalar-cache out"
            )
        if not has_run_output(self.settings.sanitizing):
            return super().kernel(step, launch)
        number = self.plan.steps.index(step)
        if number not in self.world.kept:
            self.world.kept[number] = super().kernel(step, launch)
        return self.world.kept[number]

    def of_ranks(self, value: Window | RankContext) -> Held:
        if isinstance(value, RankContext):
            return Held("context", format_of("i64"), self.world.memory.context(value.rank), record=True)
        return self.world.windows[value.name, value.rank]

    def read_windows(self) -> dict[str, Held]:
        """Returns what the windows of this rank hold at first."""
        found: dict[str, Held] = {}
        for name, one in self.plan.windows.items():
            try:
                if isinstance(one.value.content, Number) or one.value.write_back:
                    raise BindingError(f"a window is an array, as zeros:TYPE:SHAPE, not '{one.value.content.text}'")
                array, fmt = load(cast(Any, one.value.content), None, self.budget)
            except BindingError as error:
                raise self.fail(one.key, error) from None
            found[name] = Held(name, fmt, array)
        return found


class _World:
    """All ranks of a launch file, with what they have in common."""

    def __init__(self, plans: Sequence[Plan], settings: Settings, streams: Streams, scratch: str = "") -> None:
        self.settings = settings
        self.streams = streams
        self.modules: dict[str, ModuleOp] = {}
        self.kernels: dict[object, Kernel] = {}
        self.parts: dict[str, ModuleOp] = {}
        self.files: list[Any] = []
        self.instrumented: list[Any] = []
        self.kept: dict[int, Kernel] = {}
        """By number of the launch: the kernels of launches that are to leave something."""
        self.scratch = scratch
        self.sessions = [_RankSession(plan, self) for plan in plans]
        self.windows: dict[tuple[str, int], Held] = {}
        self.memory = self._memory()

    def _memory(self) -> World:
        """Returns the windows, filled with what the launch file says."""
        contents = [session.read_windows() for session in self.sessions]
        first = contents[0]
        for rank, held in enumerate(contents):
            for name, one in held.items():
                if (one.fmt, one.array.shape) != (first[name].fmt, first[name].array.shape):
                    here, there = (f"{h.fmt.name} {shape_text(h.array.shape)}" for h in (one, first[name]))
                    message = f"windows of all ranks are the same; that of rank {rank} is {here}, of rank 0 {there}"
                    raise self.sessions[rank].fail(self.sessions[rank].plan.windows[name].key, BindingError(message))
        try:
            memory = World(len(contents), {name: one.array.nbytes for name, one in first.items()})
        except ValueError as error:
            session = self.sessions[0]
            raise session.fail(("windows",), error) from None
        for rank, held in enumerate(contents):
            for name, one in held.items():
                array = memory.array(name, rank, one.array.shape, one.array.dtype)
                array[...] = one.array
                self.windows[name, rank] = one._replace(array=array)
        return memory

    def run(self) -> int:
        """Runs all launches, and compares and stores what they wrote when everything has run."""
        prepared = [session.prepare_all() for session in self.sessions]
        mismatches: list[str] = []
        writings: list[Writing] = []
        for number in range(len(prepared[0])):
            mismatches += self.launch([ones[number] for ones in prepared], writings)
        for rank, session in enumerate(self.sessions):
            mismatches += [f"rank {rank}: {text}" for text in session.close(writings)]
        if not mismatches:
            write_files(writings)
        for text in mismatches:
            self.streams.err(text)
        if any(one.launch.unsaved for one in prepared[0]):
            return WRONG_LAUNCH
        return WRONG_PROGRAM if mismatches else OK

    def copies(self, rank: int, one: Prepared) -> list[Array | None] | None:
        """Returns the buffers of a rank before the run; what its peers have is shown with them."""
        before = one.launch.copies(one.bound)
        if before is None:
            return None
        for number, bound in enumerate(one.bound):
            offset = self.memory.offset_of(bound.value) if bound.is_array else None
            found = None if offset is None else self.memory.layout.around(offset)
            if found is not None and found.rank != rank:
                before[number] = None
        return before

    def launch(self, ones: Sequence[Prepared], writings: list[Writing]) -> list[str]:
        """Runs one launch on all ranks; reports of what it missed."""
        befores = [self.copies(rank, one) for rank, one in enumerate(ones)]
        first = ones[0]
        together = _Together(ones, self)
        try:
            returned = first.launch.execute(cast(Kernel, together), [])
        except BindingError as error:
            message = str(error).partition("\n")[0]
            raise self.sessions[0].fail((*first.step.key, "arguments"), BindingError(message)) from None
        except Failure:
            cast(_RankLaunch, first.launch).write_page()
            raise
        cast(_RankLaunch, first.launch).write_page()
        first.launch.findings(first.kernel)
        mismatches: list[str] = []
        for rank, (session, one) in enumerate(zip(self.sessions, ones, strict=True)):
            if befores[rank] is not None:
                self.streams.out(f"rank {rank}\n")
            missed = session.finish(one, befores[rank], cast(Any, returned[rank]), writings)
            mismatches += [f"rank {rank}: {text}" for text in missed]
        return mismatches


class _Together:
    """One launch of all ranks in place of a kernel; queries are answered for rank 0."""

    def __init__(self, ones: Sequence[Prepared], world: _World) -> None:
        self.ones = ones
        self.world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ones[0].kernel, name)

    def run(self, values: Sequence[Any], blocks: int, jobs: int) -> list[Any]:
        """Returns what the entries return, a list for each rank."""
        parts = [Part(one.kernel, [bound.launched for bound in one.bound], one.step.blocks) for one in self.ones]
        memory = self.world.memory
        if self.world.settings.sanitizing is not None:
            from pto_dialect.sanitize.ranks import run_sanitized_ranks  # deferred: start-up

            return run_sanitized_ranks(parts, memory)
        from pto_dialect.runtime.run.rank_processes import run_ranks_apart  # deferred: start-up

        return run_ranks_apart(parts, memory, jobs)
