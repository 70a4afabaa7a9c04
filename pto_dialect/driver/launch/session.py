"""Carries out a launch file: everything is read and checked first, then run in order, then compared and stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.diagnostics.suggest import nearest
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import CrossCore, RunOptions
from pto_dialect.targets.backend import Backend

from ..inputs import Input
from ..report import render
from ..run.arrays import with_key
from ..run.binding import Bound, Held, bind, hold, signature
from ..run.compare import Expected, expectation, mismatches_of
from ..run.elements import to_saved
from ..run.files import FileError, Writing, check_files, write_files
from ..run.memory_budget import memory_budget
from ..run.outputs import Output, Place, Places
from ..run.program import Launch, changed
from ..run.request import Request
from ..run.sanitizing import Sanitizing
from ..run.status import OK, TIMED_OUT, WRONG_LAUNCH, WRONG_PROGRAM, Failure, Streams, out_of_time
from ..run.value_text import NPZ, Given, OutputFile
from .cpp_keys import CppCommand, cpp_input
from .document import Key, LaunchError
from .measured import document_of, measure, originals_of, wants_results
from .plan import Argument, BufferName, Expect, Plan, Step, Target
from .prepared import Prepared
from .rank_values import RankContext, Window
from .run_outputs import has_run_output, is_observed, numbered_outputs, page_of_launch

if TYPE_CHECKING:
    from ..verdicts import Verdicts
    from .tasks import TaskRun


@dataclass(frozen=True)
class Settings:
    """Options of the command line for every launch; ``None`` leaves the choice to the launch file.

    ``jobs`` is how many processes share the blocks, or the ranks, of a launch, ``ranks`` how many ranks there are.
    ``sanitizing`` enables the sanitizers, ``schedule`` selects how pipes are scheduled, ``cross_core`` the receivers of
    signals without a mode, ``scalar_cache`` models data caches of scalar units. ``timeout`` is how many seconds a
    launch file may take, ``max_memory`` how many bytes the arrays of all its launches may. With ``allow_outside`` it
    may name files outside of its folder. Without ``plans`` the parse templates are disabled. ``verdicts`` are results
    of earlier runs. ``spread`` replaces the kernel of a target by one whose blocks run elsewhere. ``cpp`` is about C++
    kernels. ``cycles`` is the form of the times that are shown of each launch, with ``advice`` that was tried.
    """

    target: str | None = None
    backend: Backend | None = None
    release: str | None = None
    accumulate: str | None = None
    fill: str | None = None
    jobs: int = 1
    dump: bool = False
    quiet: bool = False
    policy: DiagnosticOptions = field(default_factory=DiagnosticOptions)
    sanitizing: Sanitizing | None = None
    ranks: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    allow_outside: bool = False
    schedule: Schedule | None = None
    cross_core: CrossCore = "auto"
    scalar_cache: bool = False
    plans: bool = True
    verdicts: Verdicts | None = None
    spread: Callable[[Kernel, str | None], Kernel] | None = None
    cpp: CppCommand = field(default_factory=CppCommand)
    cycles: str | None = None
    advice: bool = True


def run_plan(plan: Plan, settings: Settings, streams: Streams, programs: dict[str, ModuleOp] | None = None) -> int:
    """Runs all launches of ``plan``; ``programs`` keeps parsed programs by path for further plans.

    Returns ``OK``, ``WRONG_PROGRAM`` (or its result), ``WRONG_LAUNCH``, ``FINDINGS`` of a sanitizer, or ``TIMED_OUT``.
    Files are written only when everything went well.
    """
    return reported(
        lambda: Session(plan, settings, streams, {} if programs is None else programs).run(), settings, streams
    )


def reported(run: Callable[[], int], settings: Settings, streams: Streams) -> int:
    """Returns the result of ``run`` within its time limit; what stops it goes to ``streams`` and is a result of its
    own."""
    try:
        with np.errstate(all="ignore"), deadline(settings.timeout):
            return run()
    except Failure as failure:
        return failure.code
    except TimedOut:
        streams.err(render((out_of_time(None),), streams.color))
        return TIMED_OUT
    except LaunchError as error:
        streams.err(render((error.diagnostic,), streams.color))
        return WRONG_LAUNCH
    except FileError as error:
        streams.err(f"error: {error}\n")
        return WRONG_LAUNCH


class Session:
    """The buffers and kernels of one launch file."""

    def __init__(self, plan: Plan, settings: Settings, streams: Streams, programs: dict[str, ModuleOp]) -> None:
        self.plan = plan
        self.settings = settings
        self.streams = streams
        self.modules = programs
        self.parts: dict[str, ModuleOp] = {}
        self.kernels: dict[object, Kernel] = {}
        self.held: dict[str, Held] = {}
        self.files: list[tuple[str, OutputFile]] = []
        self.expectations: list[Expected] = []
        self.outputs: list[tuple[str, OutputFile]] = []
        # Ranks share the kernel of a launch, but for recordings.
        self.observed = (is_observed if plan.rank is None else has_run_output)(settings.sanitizing)
        self.computes = settings.cycles is not None and wants_results(plan)
        shown = settings.dump or not settings.quiet
        self.budget = memory_budget(settings.max_memory, shown, settings.sanitizing is not None)

    def run(self) -> int:
        """Runs all launches, and compares and stores what they wrote when everything has run."""
        prepared = self.prepare_all()
        tasks = self.tasks(prepared)
        mismatches: list[str] = []
        writings: list[Writing] = []
        for one in tasks.in_order() if tasks is not None else prepared:
            if tasks is not None:
                tasks.start(one)
            mismatches += self.execute(one, writings)
        if tasks is not None:
            tasks.report(prepared[0].launch)
        mismatches += self.close(writings)
        if not mismatches:
            write_files(writings)
        for text in mismatches:
            self.streams.err(text)
        if self.settings.cycles is not None:
            self.streams.out(document_of(prepared, self.settings.cycles))
        if any(one.launch.unsaved for one in prepared):
            return WRONG_LAUNCH
        return WRONG_PROGRAM if mismatches else OK

    def tasks(self, prepared: list[Prepared]) -> TaskRun | None:
        """Returns the order of launches that are tasks."""
        if self.plan.steps[0].task is None:
            return None
        from .tasks import TaskRun  # deferred: start-up

        return TaskRun(self.plan, prepared)

    def prepare_all(self) -> list[Prepared]:
        """Returns all launches, ready to run, and what the buffers should hold at the end."""
        plan = self.plan
        prepared = [self.prepare(step) for step in plan.steps]
        self.check_buffers()
        self.expectations = [self.expected(self.buffer_place(name), one) for name, one in plan.expect.items()]
        self.outputs = [(name, self.file(name, one)) for name, one in plan.outputs.items()]
        self.outputs += self.buffer_write_backs()
        return prepared

    def close(self, writings: list[Writing]) -> list[str]:
        """Compares the buffers with their expected contents after the last launch; adds what is to be stored of
        them."""
        for name, file in self.outputs:
            writings.append(Writing(name, file, to_saved(self.held[name].array, self.held[name].fmt)))
        return mismatches_of(self.expectations, lambda place: self.buffer(place.name))

    def fail(self, key: Key, error: Exception, help: str | None = None) -> LaunchError:
        """Reports ``error`` at the location of ``key``."""
        return self.plan.document.error(key, str(error), help)

    # ------------------------------------------------------------ preparation

    def prepare(self, step: Step) -> Prepared:
        """Parses, compiles and binds one launch, and reads what it should give."""
        settings, plan = self.settings, self.plan
        request = Request(
            entry=step.entry,
            target=settings.target or plan.target,
            release=settings.release or plan.release,
            blocks=step.blocks,
            jobs=settings.jobs,
            run=RunOptions(
                settings.accumulate or plan.accumulate or "fast",
                self.fill(),
                backend=settings.backend or plan.backend,
                schedule=settings.schedule,
                cross_core=settings.cross_core,
                scalar_cache=settings.scalar_cache,
            ),
            policy=settings.policy,
            dump=settings.dump,
            quiet=settings.quiet,
            sanitizing=numbered_outputs(settings.sanitizing, plan.steps.index(step) + 1, len(plan.steps)),
            plans=settings.plans,
            verdicts=settings.verdicts,
            tasks=step.task is not None,
            cycles=settings.cycles,
            advice=settings.advice,
            computes=self.computes,
        )
        launch = self.launch(self.input_of(step.program, step.entry, step), request)
        kernel = self.kernel(step, launch)
        keys: dict[str, Key] = {}
        try:
            given, keys = self.arguments(step, kernel)
            bound = bind(kernel, given, self.budget, step.blocks)
        except BindingError as error:
            key = (*step.key, "arguments", *([error.subject] if error.subject is not None else []))
            key = keys.get(error.subject or "", key)
            listed = None if error.subject else signature(kernel).replace("\n  ", "; ").replace("takes; ", "takes ")
            raise self.fail(key, error, listed) from None
        places = Places(kernel, bound)
        expected: list[Expected] = []
        for name, wanted in step.expect.items():
            expected.append(self.expected(self.place(places, name, wanted.key), wanted))
        outputs = [(self.place(places, name, one.key), self.file(name, one)) for name, one in step.outputs.items()]
        outputs += [(places.arguments[one.name], self.write_back(one, step)) for one in bound if one.write_back]
        return Prepared(step, launch, kernel, bound, places, expected, outputs)

    def launch(self, item: Input, request: Request) -> Launch:
        """Returns the steps of a launch."""
        return Launch(item, request, self.streams)

    def fill(self) -> Any:
        """Returns what on-chip memory holds at first."""
        return self.settings.fill or self.plan.fill or ("zero" if self.settings.sanitizing is None else "poison")

    def kernel(self, step: Step, launch: Launch) -> Kernel:
        """Returns the compiled entry of a launch; programs and kernels of earlier launches are used again."""
        if step.group:
            return self.group_kernel(step, launch)
        path = self.path_of(launch.item)
        self.read(launch.item, step.key, launch)
        try:
            entry = launch.entry(self.modules[path])
        except BindingError as error:
            raise self.plan.document.error((*step.key, "entry"), str(error), rule=error.rule) from None
        # What a launch leaves is its own, so is the kernel that writes it down.
        if (path, entry) not in self.kernels or self.observed:
            self.kernels[path, entry] = launch.kernel(self.modules[path], entry)
        return self.kernels[path, entry]

    def group_kernel(self, step: Step, launch: Launch) -> Kernel:
        """Returns the compiled functions of a group; those of an earlier launch are used again."""
        from .groups import group_of, kernel_of  # deferred: start-up

        inputs = [self.input_of(part.program, part.entry, step) for part in step.group]
        paths = [self.path_of(item) for item in inputs]
        key = tuple((path, part.entry, part.core) for path, part in zip(paths, step.group, strict=True))
        if key not in self.kernels or self.observed:
            for part, item in zip(step.group, inputs, strict=True):
                self.read(item, part.key, launch, verified=len({*paths}) == 1)
            known = self.modules if len({*paths}) == 1 else self.parts
            group = group_of(self.plan.document, step, launch, [known[path] for path in paths])
            self.kernels[key] = kernel_of(self.plan.document, step, launch, group)
        return self.kernels[key]

    def input_of(self, program: str, entry: str | None, step: Step) -> Input:
        """Returns a program of a launch, and how it is compiled."""
        return cpp_input(program, entry, step.cpp, self.settings.cpp)

    def path_of(self, item: Input) -> str:
        """Returns what a program is known by: its path, how it is compiled, and the release that it is read for."""
        release = self.settings.release or self.plan.release
        compiled = f"\0{item.cpp}" if item.cpp is not None else ""
        return os.path.realpath(item.path) + compiled + (f"\0{release}" if release else "")

    def read(self, item: Input, key: Key, launch: Launch, verified: bool = True) -> None:
        """Parses a program unless that has been done, and has it ``verified`` alone."""
        path = self.path_of(item)
        known = self.modules if verified else self.parts
        if path in known:
            return
        if not os.path.isfile(item.path):
            raise self.plan.document.error((*key, "program"), f"cannot read program '{item.path}': no such file")
        known[path] = Launch(item, launch.request, self.streams).module(verified)

    def arguments(self, step: Step, kernel: Kernel) -> tuple[list[tuple[str, Given | Held]], dict[str, Key]]:
        """Returns the values of the arguments of a launch, and where those of a group stand."""
        if kernel.group is None:
            return [
                (name, self.value(kernel.entry, kernel.arguments, name, one)) for name, one in step.arguments.items()
            ], {}
        from .groups import group_arguments  # deferred: start-up

        return group_arguments(self.plan.document, step, kernel.group, self.value, self.budget)

    def value(
        self, function: str, arguments: Sequence[tuple[str, Attribute]], name: str, argument: Argument
    ) -> Given | Held:
        """Returns the value of an argument among the ``arguments`` of ``function``; a shared buffer is read when the
        first launch needs it."""
        if isinstance(argument.value, Window | RankContext):
            return self.of_ranks(argument.value)
        if not isinstance(argument.value, BufferName):
            return argument.value
        buffer = argument.value.name
        types = dict(arguments) | {str(i): type_ for i, (_, type_) in enumerate(arguments)}
        if buffer not in self.held and name in types:
            source = self.plan.buffers[buffer]
            try:
                self.held[buffer] = hold(buffer, types[name], source.value, self.budget)
            except BindingError as error:
                raise self.fail(source.key, error) from None
        if buffer not in self.held:
            raise BindingError(f"@{function} has no argument {name}{nearest(name, types)}", name)
        return self.held[buffer]

    def of_ranks(self, value: Window | RankContext) -> Held:
        """Returns what ranks have in common; there is nothing without them."""
        raise NotImplementedError(value)

    def check_buffers(self) -> None:
        """Complains about a buffer that no launch uses."""
        for name, one in self.plan.buffers.items():
            if name not in self.held:
                raise self.plan.document.error(one.key, f"no launch uses buffer {name}")

    def place(self, places: Places, name: str, key: Key) -> Place:
        """Returns what ``name`` is called after the run."""
        try:
            return places.find(name)
        except BindingError as error:
            raise self.fail(key, error) from None

    def expected(self, place: Place, wanted: Expect) -> Expected:
        """Returns what ``place`` should hold."""
        try:
            return expectation(place, wanted.content, wanted.judgement, self.budget)
        except BindingError as error:
            raise self.fail(wanted.key, error) from None

    def file(self, name: str, target: Target) -> OutputFile:
        """Returns the file of ``target``, checked to be writable and unique."""
        return self._checked(name, target.file, target.key)

    def write_back(self, one: Bound, step: Step) -> OutputFile:
        """Returns the file that receives the buffer of an argument."""
        assert one.write_back is not None
        file = OutputFile(one.write_back.path, one.write_back.kind, one.write_back.key)
        return self._checked(one.name, file, (*step.key, "arguments", one.name))

    def _checked(self, name: str, file: OutputFile, key: Key) -> OutputFile:
        if file.kind == NPZ and file.key is None:
            file = file._replace(key=name)
        self.files.append((f"{name} ({len(self.files) + 1})", file))
        try:
            check_files(self.files)
        except FileError as error:
            raise self.fail(key, error) from None
        return file

    # ------------------------------------------------------------ shared buffers

    def buffer(self, name: str) -> Output:
        """Returns what a shared buffer holds."""
        held = self.held[name]
        return Output(name, held.fmt, held.array)

    def buffer_place(self, name: str) -> Place:
        """Returns the location of a shared buffer."""
        held = self.held[name]
        return Place(name, 0, False, held.fmt, held.array.shape)

    def buffer_write_backs(self) -> list[tuple[str, OutputFile]]:
        """Returns the shared buffers that files receive."""
        found: list[tuple[str, OutputFile]] = []
        for name, one in self.plan.buffers.items():
            stored = one.value.stored
            if one.value.write_back and stored is not None:
                content = with_key(stored)
                file = OutputFile(content.path, content.kind, content.key)
                found.append((name, self._checked(name, file, one.key)))
        return found

    # ------------------------------------------------------------ run

    def execute(self, one: Prepared, writings: list[Writing]) -> Sequence[str]:
        """Runs a launch, shows what it wrote and adds what is to be stored; reports of what it missed."""
        with page_of_launch(one):
            one.launch.mismatches = [*self.carried_out(one, writings)]
        return one.launch.mismatches

    def carried_out(self, one: Prepared, writings: list[Writing]) -> Sequence[str]:
        """As ``execute``, without a page."""
        before = one.launch.copies(one.bound)
        originals = originals_of(one)
        try:
            returned = one.launch.execute(self.spread(one), [argument.launched for argument in one.bound])
        except BindingError as error:
            message = str(error).partition("\n")[0]
            raise self.plan.document.error((*one.step.key, "arguments"), message) from None
        one.launch.findings(one.kernel)
        mismatches = self.finish(one, before, returned, writings)
        measure(one, originals, returned)
        return mismatches

    def spread(self, one: Prepared) -> Kernel:
        """Returns what runs a launch: its kernel, or its replacement."""
        spread = self.settings.spread
        if spread is None or self.settings.sanitizing is not None:
            return one.kernel
        return spread(one.kernel, one.launch.request.target)

    def finish(
        self, one: Prepared, before: list[Array | None] | None, returned: list[Any], writings: list[Writing]
    ) -> list[str]:
        """Shows what a launch wrote and adds what is to be stored; reports of what it missed."""
        values = [argument.value for argument in one.bound]

        def value(place: Place) -> Output:
            return one.places.output(place, values, returned)

        mismatches = mismatches_of(one.expected, value)
        mine: list[Writing] = []
        for place, file in one.outputs:
            output = value(place)
            # Later launches may write to this buffer.
            mine.append(Writing(place.name, file, np.array(to_saved(output.array, output.fmt))))
        writings += mine
        if len(self.plan.steps) > 1 and before is not None:
            name = "" if one.step.task is None else f"{one.step.task.name}: "
            self.streams.out(f"{name}@{one.kernel.entry}\n")
        one.launch.show(changed(one.places, one.bound, before), value, [] if mismatches else mine)
        return mismatches
