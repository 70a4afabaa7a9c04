"""Compiled kernels, and the execution of their blocks and cores.

Source: docs/reference/execution.md, "Cores and memories", "Launches".
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp
from xdsl.ir import Operation

from pto_dialect.accel import enabled
from pto_dialect.analysis.pipe_order import has_manual_synchronization
from pto_dialect.analysis.target import note_on_default, profile_of
from pto_dialect.deadline import TimedOut
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.facts.operation_form import pipe_of
from pto_dialect.ir.core.facts.unit_flags import unit_check
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.targets.backend import backend_of
from pto_dialect.targets.profile import Profile

from ..compile.compiler import CompiledModule, compile_module
from ..compile.generator import Generator as CodeGenerator
from ..compile.program import Root, Symbols, find_entry, find_program
from ..compile.usage import Usage, buffer_usage
from ..compile.variants import PLAIN, PROFILED, Variant
from ..errors import ProgramError, wrong_argument_count
from ..faults import OUT_OF_MEMORY, Fault, exhausted
from ..memory.spaces import Array, Pointer
from ..memory.values import content_of
from ..queues.run import Deadlock, OrderedCore, QueueCore, QueuedFault, run_queued
from .arguments import argument_of_core, bind_foreign, binder, hand_back
from .machine import Block, Core, NeedsQueues, RunOptions
from .per_core import CorePosition, core_positions, prepare
from .profiling import ProfileLog
from .threads import single_threaded_products

if TYPE_CHECKING:
    from ..compile.group import Group

UNIT_FLAG_PIPES = ("PIPE_M", "PIPE_FIX")
"""The pipes between which unit flags hand an accumulator over; instrumented cores follow each block."""


def orders_blocks(op: Operation) -> bool:
    """Returns whether an operation orders the cores of different blocks: also signals whose mode does so, and waits for
    signals in memory."""
    if has_role(op, Role.SIGNAL):
        return has_role(op, Role.WAITS)
    mode = op.attributes.get("ffts_mode")
    return has_role(op, Role.BLOCKS) or (isinstance(mode, IntegerAttr) and mode.value.data == 0)


class Started(NamedTuple):
    """Blocks that are ready to run: their cores with their programs, and the core that runs the entry first."""

    device: list[Block]
    programs: list[tuple[QueueCore, Generator[None, None, Any]]]
    first: int


class CompiledKernel:
    """An entry function, with its peer if it is one of a pair of kernels, that is ready to run; or a ``group`` of
    functions, for which ``module`` and ``entry`` are not meaningful.

    ``arguments`` are pairs (name, type) in order, those of a group called ``function.name``; ``results`` the result
    types of the entry, the first function of a group.
    """

    def __init__(
        self,
        module: ModuleOp | None,
        entry: str | None,
        target: str | None,
        options: RunOptions,
        profile_log: ProfileLog | None = None,
        group: Group | None = None,
    ) -> None:
        self.group = group
        self._target = target
        if group is None:
            assert module is not None
            symbols = Symbols(module)
            self.entry = find_entry(module, entry, symbols)
            function = symbols.first[self.entry]
            self.profile: Profile = profile_of(function, target)
            self.program = find_program(module, self.entry, self.profile.arch, symbols)
        else:
            from ..compile.group import common_profile, group_program  # deferred: start-up

            module, self.entry, function = group.module, group.name, group.starts[0].function
            self.profile = common_profile(group, target)
            self.program = group_program(group, self.profile.arch)
        self.module = module
        self.function = function
        self.options = replace(options, backend=backend_of(function, options.backend, self.profile.arch))
        self.profile_log = profile_log
        function_type = function.properties["function_type"]
        assert isinstance(function_type, FunctionType)
        self.arguments = self.program.arguments
        self.results = list(function_type.outputs.data)
        self.kinds = self.program.kinds
        self.compiled = self._compile(queued=False)
        self._queued = self.compiled if self.compiled.queued else None
        schedule = options.schedule
        self._side_by_side = self.compiled.queued or (schedule is not None and schedule.queued)
        self._idle: list[Block] = []

    def _compile(self, queued: bool) -> CompiledModule:
        return compile_module(
            self.module,
            self.entry,
            self.profile,
            self.options,
            queued=queued,
            profile_log=self.profile_log,
            program=self.program,
            variant=self.variant,
            generator_class=self.generator_class,
        )

    @property
    def variant(self) -> Variant:
        """Returns the code generation variant."""
        return PLAIN if self.profile_log is None else PROFILED

    @property
    def generator_class(self) -> Callable[..., CodeGenerator]:
        """Returns the code generator class."""
        if not self._reordered:
            return CodeGenerator
        # Few runs have a schedule.
        from ..compile.holding import HoldingGenerator  # deferred: start-up

        return HoldingGenerator

    @property
    def source(self) -> str:
        """The generated Python source."""
        return self.compiled.source

    @property
    def listing(self) -> str:
        """Returns the generated Python source, with the corresponding lines of the program as comments."""
        return self.compiled.listing()

    @cached_property
    def usage(self) -> Usage:
        """Returns how the program uses its buffers."""
        return buffer_usage(self.program)

    def ignores(self, argument: str) -> bool:
        """Returns whether runs do not depend on the contents of a buffer, by its name or position; never where they
        compute numbers."""
        return False

    def run_bound(self, bound: list[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Runs all blocks on arguments that ``bind`` has prepared, in up to ``jobs`` processes."""
        prepare(bound, self.arguments, self.core_positions, blocks)
        if self.compiled.holds:
            self._mark_constant(bound)
        try:
            with single_threaded_products() if self.multiplies else nullcontext():
                return self._run_blocks(bound, blocks, jobs)
        except MemoryError as error:
            raise self.out_of_memory(error) from None
        finally:
            hand_back(bound)

    def bind(self, values: Sequence[Any]) -> list[Any]:
        """Returns the run-time values of all arguments. Raises ``BindingError``."""
        if len(values) != len(self.arguments):
            raise wrong_argument_count(self.entry, self.arguments, len(values))
        return [bind(value) for bind, value in zip(self._binders, values, strict=True)]

    def _bind_foreign(self, position: int, value: Any) -> Any:
        """Returns the run-time value of an argument that is not a plain array or number. Raises ``BindingError``."""

        def may_write() -> bool:
            return position in self.usage.written

        name, type_ = self.arguments[position]
        return bind_foreign(name, type_, value, self.profile, may_write, self.entry)

    def core_positions(self, blocks: int) -> list[CorePosition]:
        """Returns all cores of a launch of ``blocks`` blocks."""
        return core_positions(blocks, self.kinds, self.program.vector_cores)

    def _mark_constant(self, bound: Sequence[Any]) -> None:
        """Marks the buffers of arguments in global memory that no block can change, under any alias."""
        contents = {index: found for index, value in enumerate(bound) if (found := content_of(value)) is not None}
        written = [contents[index] for index in self.usage.written if index in contents]
        for index, content in contents.items():
            value = bound[index]
            if isinstance(value, Pointer) and not any(np.may_share_memory(content, other) for other in written):
                value.arena.constant = value.arena.space == "gm"

    @cached_property
    def _binders(self) -> list[Callable[[Any], Any]]:
        return [
            binder(name, type_, self.profile, partial(self._bind_foreign, position))
            for position, (name, type_) in enumerate(self.arguments)
        ]

    def _run_blocks(self, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        if self._together:
            return self._with_queues(bound, range(blocks), blocks)
        results: list[Any] = []
        for index in range(blocks):
            returned = self.run_block(bound, index, blocks)
            if index == 0:
                results = returned
        return results

    @property
    def _together(self) -> bool:
        """Returns whether all blocks run concurrently."""
        schedule = self.options.schedule
        return self._orders_blocks or (schedule is not None and schedule.queued)

    @property
    def shares_blocks(self) -> bool:
        """Returns whether blocks do not depend on each other, so that several processes can run them."""
        return not self._together and not self.usage.combines

    @property
    def side_by_side(self) -> bool:
        """Returns whether cores run concurrently, with queues."""
        return self._side_by_side

    @cached_property
    def multiplies(self) -> bool:
        """Returns whether the program may use the matrix unit."""
        operations = (op for op in self.program.operations if isinstance(op, PtoOp))
        return any(pipe_of(op, self.profile.arch) is Pipe.M for op in operations)

    @cached_property
    def orders_pipes(self) -> bool:
        """Returns whether the program itself orders its pipes; otherwise the compiler does."""
        return self.program.explicit or has_manual_synchronization(self.program.operations)

    @cached_property
    def _reordered(self) -> bool:
        """Returns whether a schedule decides the order of pipes."""
        schedule = self.options.schedule
        return schedule is not None and schedule.queued and (schedule.strict or self.orders_pipes)

    @cached_property
    def _hands_over(self) -> bool:
        """Returns whether unit flags hand accumulators from the cube unit to the write-back and back."""
        return any(unit_check(op) for op in self.program.operations)

    @cached_property
    def _orders_blocks(self) -> bool:
        """Returns whether blocks wait for each other, so that all of them run concurrently."""
        return any(orders_blocks(op) for op in self.program.operations)

    def run_block(self, bound: list[Any], index: int, count: int) -> list[Any]:
        """Runs block ``index`` of ``count`` on bound arguments."""
        if self._side_by_side:
            return self._with_queues(bound, [index], count)
        saved = self._snapshot(bound) if self._waits else []
        mark = self.profile_log.mark() if self.profile_log is not None else None
        try:
            return self._in_order(bound, index, count)
        except NeedsQueues:
            # Later blocks run the same code, so they do not try again.
            self._side_by_side = True
            if self.profile_log is not None:
                assert mark is not None
                self.profile_log.rewind(mark)
            for content, copy in saved:
                content[...] = copy
            return self._with_queues(bound, [index], count)

    @cached_property
    def _waits(self) -> bool:
        """Returns whether the code in program order may find that a flag is not set yet."""
        return "core.wait_flag(" in self.compiled.source

    def _snapshot(self, bound: list[Any]) -> list[tuple[Array, Array]]:
        """Returns the buffers that the program may write, each with a copy."""
        contents = (content_of(bound[position]) for position in self.usage.written)
        return [(content, content.copy()) for content in contents if content is not None]

    def _block(self, index: int, count: int, core_class: Callable[[Block, str, int], Core]) -> Block:
        mixed = len(self.kinds) > 1 or self.kinds == ("aiv",)
        return Block(
            index,
            count,
            self.profile,
            self.options,
            mixed,
            self.kinds,
            core_class=core_class,
            vector_cores=self.program.vector_cores,
        )

    def _call(self, compiled: CompiledModule, core: Core, bound: list[Any]) -> Any:
        """Starts the program of ``core``."""
        root = self._root(core)
        return compiled.callables[root.function](core, *_arguments(root, core, bound))

    def _root(self, core: Core) -> Root:
        return self.program.roots.get(core.kind) or self.program.root(core.kind, core.index)

    def _in_order(self, bound: list[Any], index: int, count: int) -> list[Any]:
        compiled = self.compiled
        returned: Any = None
        block = self._idle_block(index, count, Core)
        roots = [(core, self._root(core)) for core in block.cores]
        for core, function, arguments in [(core, root.function, _arguments(root, core, bound)) for core, root in roots]:
            try:
                with np.errstate(all="ignore"):
                    result = compiled.callables[function](core, *arguments)
            except Fault as fault:
                raise self.located(fault, compiled.locate(fault.__traceback__)) from None
            if returned is None and function is self.function:
                returned = result
        results = _copied(returned)
        if enabled("blocks") and self.options.fill == "zero":
            self._idle.append(block)
        return results

    def _idle_block(self, index: int, count: int, core_class: Callable[[Block, str, int], Core]) -> Block:
        """Returns a block that has run before, because making one takes as long as some ten instructions, otherwise a
        new one."""
        while self._idle and self._idle[-1].core_class is not core_class:
            self._idle.pop()
        if not self._idle:
            return self._block(index, count, core_class)
        block = self._idle.pop()
        block.renew(index, count)
        return block

    def prepare_queues(self) -> CompiledModule:
        """Returns the code that hands instructions to queues, compiled on first use."""
        if self._queued is None:
            self._queued = self._compile(queued=True)
        return self._queued

    def queued_blocks(self, indices: Iterable[int], count: int) -> list[Block]:
        """Runs the blocks ``indices`` of ``count`` concurrently, with queues for their pipes."""
        core_class = QueueCore if self.program.explicit or self._reordered else OrderedCore
        device = [self._idle_block(index, count, core_class) for index in indices]
        if self._hands_over and core_class is QueueCore:
            for core in (core for block in device for core in block.cores):
                assert isinstance(core, QueueCore)
                core.in_turn = UNIT_FLAG_PIPES
        return device

    def start(self, bound: list[Any], indices: Iterable[int], count: int) -> Started:
        """Returns blocks that are ready to run concurrently, with each other and with those of other kernels."""
        compiled = self.prepare_queues()
        started = Started(self.queued_blocks(indices, count), [], -1)
        for block in started.device:
            block.device = started.device
            for core in block.cores:
                assert isinstance(core, QueueCore)
                if started.first < 0 and self._root(core).function is self.function:
                    started = started._replace(first=len(started.programs))
                started.programs.append((core, self._call(compiled, core, bound)))
        return started

    def end(self, started: Started, returned: Sequence[Any] | None) -> list[Any]:
        """Returns the result of the entry function in the first of these blocks, which may be reused."""
        results = _copied(returned)
        if enabled("blocks") and self.options.fill == "zero" and self.options.schedule is None:
            self._idle += started.device
        return results

    def _with_queues(self, bound: list[Any], indices: Iterable[int], count: int) -> list[Any]:
        compiled = self.prepare_queues()
        started = self.start(bound, indices, count)
        try:
            with np.errstate(all="ignore"):
                returned = run_queued(started.programs, schedule=self.options.schedule)[started.first]
        except QueuedFault as error:
            op = compiled.locate(error.fault.__traceback__) or compiled.at_line(error.line)
            raise self.located(error.fault, op) from None
        except Deadlock as fault:
            raise self.located(fault, compiled.at_line(fault.line) or compiled.location_of(fault.stopped)) from None
        except Fault as fault:
            raise self.located(fault, compiled.locate(fault.__traceback__)) from None
        return self.end(started, returned)

    def queued_programs(
        self, bound: list[Any], index: int, count: int, core_class: Callable[[Block, str, int], QueueCore]
    ) -> tuple[Block, list[tuple[QueueCore, Generator[None, None, Any]]]]:
        """Returns a block of its own, and the programs of its cores in code that hands instructions to queues."""
        block = self._block(index, count, core_class)
        block.device = [block]
        compiled = self.prepare_queues()
        cores = [core for core in block.cores if isinstance(core, QueueCore)]
        return block, [(core, self._call(compiled, core, bound)) for core in cores]

    def locate(self, trace: TracebackType | None) -> Operation | None:
        """Returns the operation whose code raised an exception."""
        op = self.compiled.locate(trace)
        return op if op is not None or self._queued is None else self._queued.locate(trace)

    def stopped_at(self, over: TimedOut) -> Operation:
        """Returns the operation that was running at the time limit; the function where that is unknown."""
        op = self.locate(over.__traceback__)
        if op is None and self._queued is not None:
            op = self._queued.at_line(over.line)
        return op if op is not None else self.function

    def located(self, fault: Fault, op: Operation | None) -> ProgramError:
        """Returns the error at an operation, or at the function where that is unknown."""
        near = op if op is not None else self.function
        message = fault.message
        if fault.rule == OUT_OF_MEMORY:
            message = f"{f'@{self.entry}' if near is self.function else near.name} {message}"
        notes = fault.notes
        if fault.needed is not None and (note := note_on_default(self.function, self._target, *fault.needed)):
            notes = (*notes, note)
        return ProgramError(fault.rule, message, span_of(near), notes, near)

    def out_of_memory(self, error: MemoryError) -> ProgramError:
        """Returns the error of a run that exhausted the memory, at the operation that allocated it."""
        return self.located(exhausted(error), self.locate(error.__traceback__))


def _arguments(root: Root, core: Core, bound: list[Any]) -> list[Any]:
    """Returns the arguments with which a core calls its function."""
    return [argument_of_core(bound[position], core) for position in root.positions]


def _copied(returned: Sequence[Any] | None) -> list[Any]:
    """Returns a copy of the result of a function; tiles are views of memory that the next block reuses."""
    return [np.array(value.read()) if hasattr(value, "read") else value for value in returned or ()]
