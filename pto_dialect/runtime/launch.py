"""Launches a compiled kernel on numpy arrays: argument binding, cores, blocks.

Source: execution page, sections 1 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerType, MemRefType, ModuleOp, NoneAttr
from xdsl.ir import Attribute, Operation

from ..ir import types as t
from ..ir.location import span_of
from ..targets.profile import Profile
from ..verify.facts import space_of
from .compiler import CompiledModule, compile_module, find_entry, functions_of, target_of
from .errors import BindingError, ProgramError
from .faults import Fault
from .kernels.core_scalar import is_unsigned, rounder
from .machine import Block, Core, NeedsQueues, RunOptions
from .memory import Array, ByteArray
from .memref import MemRef
from .numerics.formats import Format, format_of
from .parallel import can_fork, run_blocks
from .profiling import ProfileLog
from .program import find_program
from .queues import Deadlock, OrderedCore, QueueCore, QueuedFault, run_queued
from .threads import single_threaded_products
from .usage import Usage, buffer_usage
from .values import GmTensor, ValueTile, buffer_pointer, content_of

BLOCK_ORDERING = frozenset(("pto.syncall", "pto.set_cross_block", "pto.wait_cross_block"))
"""Operations that order the cores of different blocks."""


class Kernel:
    """An entry function, with its peer if it is one of a pair of kernels, that is ready to run.

    ``arguments`` are pairs (name, type) in order; ``results`` the result types of the entry.
    """

    def __init__(
        self,
        module: ModuleOp,
        entry: str | None,
        target: str | None,
        options: RunOptions,
        profile_log: ProfileLog | None = None,
    ) -> None:
        self.module = module
        self.entry = find_entry(module, entry)
        function = functions_of(module)[self.entry]
        self.function = function
        self.profile: Profile = target_of(module, function, target)
        self.options = options
        self.profile_log = profile_log
        self.program = find_program(module, self.entry, self.profile.arch)
        function_type = function.properties["function_type"]
        assert isinstance(function_type, FunctionType)
        self.arguments = self.program.arguments
        self.results = list(function_type.outputs.data)
        self.kinds = tuple(self.program.roots)
        self.compiled = self._compile(queued=False)
        self._queued = self.compiled if self.compiled.queued else None
        self._side_by_side = self.compiled.queued
        self._spare: dict[int, list[ByteArray]] = {}

    def _compile(self, queued: bool) -> CompiledModule:
        return compile_module(
            self.module,
            self.entry,
            self.profile,
            self.options,
            queued=queued,
            profile_log=self.profile_log,
            program=self.program,
        )

    @property
    def source(self) -> str:
        """The generated Python source."""
        return self.compiled.source

    @cached_property
    def usage(self) -> Usage:
        """What the program does with its buffers."""
        return buffer_usage(self.program)

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Runs all blocks; ``values`` are numpy arrays (written in place) and Python numbers, one per argument.

        With ``jobs`` above 1, that many processes share the blocks of a program whose blocks do not depend on each
        other; the results are the same. Returns what the entry function returns (first block). Raises ``BindingError``
        for values that do not fit, ``ProgramError`` for a fault of the program.
        """
        if len(values) != len(self.arguments):
            raise BindingError(f"@{self.entry} takes {len(self.arguments)} arguments, found {len(values)}")
        bound = [bind_argument(name, type_, value) for (name, type_), value in zip(self.arguments, values, strict=True)]
        with single_threaded_products():
            return self._run_blocks(bound, blocks, jobs)

    def _run_blocks(self, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        if self._orders_blocks:
            return self._with_queues(bound, range(blocks), blocks)
        if jobs > 1 and blocks > 1 and can_fork() and not self.usage.combines:
            return run_blocks(self, bound, blocks, min(jobs, blocks))
        results: list[Any] = []
        for index in range(blocks):
            returned = self.run_block(bound, index, blocks)
            if index == 0:
                results = returned
        return results

    @cached_property
    def _orders_blocks(self) -> bool:
        """True when blocks wait for each other, so that all of them run side by side."""
        return any(op.name in BLOCK_ORDERING for function in self.program.functions for op in function.walk())

    def run_block(self, bound: list[Any], index: int, count: int) -> list[Any]:
        """Runs block ``index`` of ``count`` on bound arguments."""
        if self._side_by_side:
            return self._with_queues(bound, [index], count)
        saved = self._snapshot(bound) if "core.wait_flag(" in self.compiled.source else []
        mark = self.profile_log.mark() if self.profile_log is not None else None
        try:
            return self._in_order(bound, index, count)
        except NeedsQueues:
            # Later blocks run the same text, so they do not try again.
            self._side_by_side = True
            if self.profile_log is not None and mark is not None:
                self.profile_log.rewind(mark)
            for content, copy in saved:
                content[...] = copy
            return self._with_queues(bound, [index], count)

    def _snapshot(self, bound: list[Any]) -> list[tuple[Array, Array]]:
        """The buffers that the program may write, each with a copy."""
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
        """Starts on ``core`` what its kind of core runs."""
        root = self.program.roots[core.kind]
        return compiled.callables[root.function](core, *(bound[position] for position in root.positions))

    def _in_order(self, bound: list[Any], index: int, count: int) -> list[Any]:
        compiled = self.compiled
        returned: Any = None
        block = self._block(index, count, Core)
        for arena in block.arenas:
            arena.spare = self._spare.setdefault(arena.capacity, [])
        for core in block.cores:
            try:
                with np.errstate(all="ignore"):
                    result = self._call(compiled, core, bound)
            except Fault as fault:
                raise self._located(fault, compiled.locate(fault.__traceback__)) from None
            if returned is None and self.program.roots[core.kind].function is self.function:
                returned = result
        # Tiles are views of memory that the next block uses again.
        results = [np.array(value.read()) if hasattr(value, "read") else value for value in returned or ()]
        for arena in block.arenas:
            arena.release()
        return results

    def prepare_queues(self) -> CompiledModule:
        """The code that hands instructions to queues, compiled on first use."""
        if self._queued is None:
            self._queued = self._compile(queued=True)
        return self._queued

    def _with_queues(self, bound: list[Any], indices: Iterable[int], count: int) -> list[Any]:
        compiled = self.prepare_queues()
        core_class = QueueCore if self.program.explicit else OrderedCore
        device = [self._block(index, count, core_class) for index in indices]
        programs: list[tuple[QueueCore, Generator[None, None, Any]]] = []
        first = -1
        for block in device:
            block.device = device
            for core in block.cores:
                assert isinstance(core, QueueCore)
                if first < 0 and self.program.roots[core.kind].function is self.function:
                    first = len(programs)
                programs.append((core, self._call(compiled, core, bound)))
        try:
            with np.errstate(all="ignore"):
                returned = run_queued(programs)[first]
        except QueuedFault as error:
            raise self._located(error.fault, compiled.at_line(error.line)) from None
        except Deadlock as fault:
            raise self._located(fault, compiled.place_of(fault.stopped)) from None
        except Fault as fault:
            raise self._located(fault, compiled.locate(fault.__traceback__)) from None
        return [_array_of(value) for value in returned or ()]

    def locate(self, trace: TracebackType | None) -> Operation | None:
        """The operation whose code an exception left."""
        found = self.compiled.locate(trace)
        return found if found is not None or self._queued is None else self._queued.locate(trace)

    def _located(self, fault: Fault, op: Operation | None) -> ProgramError:
        return ProgramError(fault.rule, fault.message, span_of(op if op is not None else self.function), fault.notes)


def _array_of(value: Any) -> Any:
    return value.read() if hasattr(value, "read") else value


def argument_format(type_: Attribute) -> Format | None:
    """Element format of a buffer argument; ``None`` for scalars."""
    element: Attribute | None = None
    if isinstance(type_, MemRefType):
        element = type_.element_type
    elif isinstance(type_, (t.PtrType, t.ShapedView, t.TileType, t.TileBufType)):
        element = type_.element
    if element is None:
        return None
    try:
        return format_of(t.element_name(element))
    except ValueError:
        raise BindingError(f"arguments with elements of {t.type_text(element)} cannot be bound") from None


def bind_argument(name: str, type_: Attribute, value: Any) -> Any:
    """The run-time value of one argument.

    Arrays stay shared with the caller: what the kernel writes appears in them. Raises ``BindingError`` for a value that
    does not fit the argument's type.
    """
    fmt = argument_format(type_)
    if fmt is None:
        return _scalar(name, type_, value)
    if not isinstance(value, np.ndarray):
        raise BindingError(f"argument {name} ({t.type_text(type_)}) needs an array, found {value!r}")
    if value.dtype != fmt.storage:
        if value.dtype.itemsize != fmt.storage.itemsize or (fmt.is_float and value.dtype.kind == "f"):
            raise BindingError(f"argument {name} needs elements of {fmt.name}, found an array of {value.dtype}")
        value = value.view(fmt.storage)
    if isinstance(type_, (t.TileType, t.TileBufType)):
        rows, cols = value.shape if value.ndim == 2 else (1, value.size)
        if (rows, cols) != (type_.rows, type_.cols):
            raise BindingError(f"argument {name} needs a {type_.rows}x{type_.cols} array, found {rows}x{cols}")
        return ValueTile(rows, cols, fmt, value.reshape(rows, cols))
    if not (value.flags.c_contiguous and value.flags.writeable):
        raise BindingError(f"argument {name} needs a writable, contiguous array")
    pointer = buffer_pointer(value, fmt, name)
    if isinstance(type_, t.PtrType):
        if type_.space != "gm":
            raise BindingError(f"argument {name} points into {type_.space}; only global memory can be bound")
        return pointer
    assert isinstance(type_, (MemRefType, t.ShapedView))
    shape, strides, offset = _extents(name, type_, value)
    if isinstance(type_, MemRefType):
        return MemRef(pointer.advance(offset), shape, strides, fmt, offset)
    return GmTensor(pointer.advance(offset), shape, strides, fmt)


def _extents(name: str, type_: MemRefType | t.ShapedView, value: Array) -> tuple[Sequence[int], Sequence[int], int]:
    """Shape, element strides and element offset of a view of a whole buffer."""
    shape = t.shape_of(type_)
    if min(shape, default=1) < 0:
        fixed = [have for have, want in zip(value.shape, shape, strict=False) if want < 0 or have == want]
        if len(fixed) != len(shape) or value.ndim != len(shape):
            wanted, found = ("x".join(map(t.dim_text, dims)) or "()" for dims in (shape, value.shape))
            raise BindingError(f"argument {name} needs an array of shape {wanted}, found {found}")
        shape = value.shape
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    offset = 0
    if isinstance(type_, MemRefType):
        if space_of(type_) not in (None, "gm"):
            raise BindingError(f"argument {name} lies in {space_of(type_)}; only global memory can be bound")
        if not isinstance(type_.layout, NoneAttr):
            stated, start = type_.get_strides(), type_.get_offset()
            known = [stride for stride in stated or () if stride is not None]
            if start is None or stated is None or len(known) != len(shape):
                raise BindingError(f"argument {name} ({t.type_text(type_)}) has a layout that only the caller knows")
            strides, offset = known, start
    needed = 1 + offset + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if 0 not in shape and value.size < needed:
        raise BindingError(f"argument {name} ({t.type_text(type_)}) needs {needed} elements, found {value.size}")
    return shape, strides, offset


def _scalar(name: str, type_: Attribute, value: Any) -> Any:
    """A number in the form that generated code computes with: integers wrapped to their width, floats rounded."""
    if isinstance(value, np.ndarray):
        if value.size < 1:
            raise BindingError(f"argument {name} needs a number, found an empty array")
        value = value.reshape(-1)[0].item()
    if isinstance(type_, (IntegerType, IndexType)):
        width = type_.width.data if isinstance(type_, IntegerType) else 64
        if (isinstance(value, bool) and width != 1) or not isinstance(value, (int, np.integer)):
            raise BindingError(f"argument {name} ({t.type_text(type_)}) needs an integer, found {value!r}")
        if not -(1 << (width - 1)) <= int(value) < 1 << width:
            raise BindingError(f"argument {name}: {value} does not fit into {t.type_text(type_)}")
        if width == 1:
            return bool(value)
        bits = int(value) & ((1 << width) - 1)
        return bits - (1 << width) if bits >> (width - 1) and not is_unsigned(type_) else bits
    if t.is_float(type_):
        if not isinstance(value, (int, float, np.number)):
            raise BindingError(f"argument {name} ({t.type_text(type_)}) needs a number, found {value!r}")
        round_to = rounder(type_)
        return float(value) if round_to is None else round_to(float(value))
    raise BindingError(f"arguments of type {t.type_text(type_)} cannot be bound")
