"""Tasks of an orchestration: what its cores start with becomes one launch of their functions on arrays."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.compile.program import functions_of
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import InParts, PerCore

from ..base import Device, Function, Program, group_kernel
from ..events import watching
from ..memory import AddressSpace
from .chips import Chip, Launch
from .deferred import ARGUMENT, Counter, counters_of, registration
from .domains import Domain

CORES = ("cube", "vector0", "vector1")
"""The cores of a block, as orchestrations number them."""

ROOTS = ("aic", "aiv0", "aiv1")
"""What the runtime calls them."""


_WRITING = frozenset((1, 2, 3))
"""Tags of tensors that a task writes: output, inout, existing output."""

_NO_DEP = 4
"""The tag of a tensor that orders nothing."""


class Access(NamedTuple):
    """A tensor of a task: what the task does with it, its first address, and the bytes from there to its last."""

    tag: int
    address: int
    size: int


class Call(NamedTuple):
    """What one core of one block starts: a function of a program, by their numbers, on arguments of 64 bits each."""

    block: int
    core: int
    program: int
    function: int
    values: Sequence[int]


class Task(NamedTuple):
    """A task: its number, the tasks that it names as earlier ones, its tensors, blocks and what their cores start;
    ``manual`` states that it follows the tasks that it names alone."""

    number: int
    after: Sequence[int]
    accesses: Sequence[Access]
    blocks: int
    calls: Sequence[Call]
    manual: bool = False

    def meets(self, other: Task) -> bool:
        """Returns True when one of both writes what the other accesses."""
        return any(
            mine.address < theirs.address + theirs.size
            and theirs.address < mine.address + mine.size
            and (mine.tag in _WRITING or theirs.tag in _WRITING)
            for mine in self.accesses
            for theirs in other.accesses
            if _NO_DEP not in (mine.tag, theirs.tag)
        )


def decode(words: Sequence[int]) -> Task:
    """Returns the task that an orchestration has handed over, word by word."""
    number, manual, blocks, tensors, deps = words[:5]
    at = 5 + 3 * tensors
    accesses = [Access(*words[index : index + 3]) for index in range(5, at, 3)]
    after = words[at : at + deps]
    at += deps
    calls: list[Call] = []
    while at < len(words):
        place, program, function, count = words[at : at + 4]
        calls.append(Call(place >> 8, place & 0xFF, program, function, words[at + 4 : at + 4 + count]))
        at += 4 + count
    return Task(number, after, accesses, blocks, calls, bool(manual))


class Tasks:
    """The tasks of one run of an orchestration, on ``memory``; ``programs`` are those of its kernels, by number,
    ``chip`` is where it runs among several."""

    def __init__(
        self, device: Device, memory: AddressSpace, programs: Mapping[int, Program], chip: Chip | None = None
    ) -> None:
        self._device = device
        self._chip = chip
        self._memory = memory
        self._programs = programs
        self._names: dict[int, list[str]] = {}
        self._open: dict[int, Task] = {}
        """Tasks that have not ended, in order."""
        self._counters: dict[int, list[Counter]] = {}
        """What those of them wait for that have run."""
        self._registered: Array | None = None

    def run(self, task: Task) -> None:
        """Runs a task, later if it follows one that has not ended. Raises ``BindingError`` and ``ProgramError``."""
        self._advance()
        self._open[task.number] = task
        if not self._follows(task):
            self._start(task)

    def finish(self) -> None:
        """Runs the tasks that are left, while other chips continue. Raises as ``run`` does."""
        while self._advance():
            if self._chip is None or not self._chip.until(self._may_advance):
                counters = dict.fromkeys(str(one) for counters in self._counters.values() for one in counters)
                raise BindingError(f"tasks wait for counters that nobody changes: {'; '.join(counters)}")

    def _may_advance(self) -> bool:
        return any(all(one.is_reached for one in counters) for counters in self._counters.values())

    def _advance(self) -> bool:
        """Ends tasks whose counters are reached, and starts those that follow; True when some are left."""
        while self._may_advance():
            for number, counters in list(self._counters.items()):
                if all(one.is_reached for one in counters):
                    del self._counters[number], self._open[number]
            for number, task in list(self._open.items()):
                if number not in self._counters and not self._follows(task):
                    self._start(task)
        return bool(self._open)

    def _follows(self, task: Task) -> bool:
        """Returns True for a task that an earlier one which has not ended has to precede."""
        earlier = (one for one in self._open.values() if one.number < task.number)
        return any(one.number in task.after or (not task.manual and task.meets(one)) for one in earlier)

    def _start(self, task: Task) -> None:
        self._registered = None
        domain = self._carry_out(task)
        counters = [] if self._registered is None else counters_of(self._registered, domain)
        if all(one.is_reached for one in counters):
            del self._open[task.number]
        else:
            self._counters[task.number] = counters

    def _carry_out(self, task: Task) -> Domain | None:
        """Runs the kernels of a task; returns the domain that it takes part in."""
        by_core: dict[int, list[Call]] = {}
        for call in task.calls:
            by_core.setdefault(call.core, []).append(call)
        if not by_core:
            return None
        functions = {CORES[core]: self._function(calls[0]) for core, calls in by_core.items()}
        if "vector1" in functions and functions["vector1"] == functions.get("vector0"):
            del functions["vector1"]
            functions["vector"] = functions.pop("vector0")
        kernel = group_kernel(functions, watching())
        values = self._values(kernel, by_core)
        domain = self._chip.domain_of(values) if self._chip is not None else None
        if self._chip is not None and domain is not None:
            self._chip.carry_out(domain, Launch(functions, values, task.blocks))
        else:
            self._device.run(functions[min(functions)].program, kernel, values, task.blocks)
        return domain

    def _function(self, call: Call) -> Function:
        program = self._programs.get(call.program)
        if program is None:
            raise BindingError("a task starts a function of a program that is none of the orchestration's")
        names = self._names.get(call.program)
        if names is None:
            names = self._names[call.program] = list(functions_of(program.module))
        return Function(program, names[call.function])

    def _values(self, kernel: Kernel, by_core: Mapping[int, Sequence[Call]]) -> list[Any]:
        values: list[Any] = []
        assert kernel.group is not None
        for start in kernel.group.starts:
            calls = {core: by_core[core] for core in sorted(by_core) if ROOTS[core] in start.cores}
            for index, (name, type_) in enumerate(start.arguments):
                words = {core: [call.values[index] for call in each] for core, each in calls.items()}
                values.append(self._value(name, type_, words))
        return values

    def _value(self, name: str, type_: Attribute, given: Mapping[int, Sequence[int]]) -> Any:
        """Returns the value of one argument, from what each core gets in each block."""
        if name == ARGUMENT:
            self._registered = registration() if self._registered is None else self._registered
            return self._registered
        distinct = {word for words in given.values() for word in words}
        fmt = argument_format(type_)
        if fmt is None:
            if len(distinct) == 1:
                return number(distinct.pop(), type_)
            first = next(iter(given.values()))
            table = {core: [number(word, type_) for word in words] for core, words in given.items()}
            other = [number(word, type_) for word in first]
            return PerCore(
                lambda place: table.get(0 if place.cube else 1 + place.subblock, other)[place.block],
                identity=tuple((core, *words) for core, words in given.items()),
            )
        if len(distinct) == 1:
            return self._memory.array_at(distinct.pop(), fmt)
        starts = next(iter(given.values()))
        if any(list(words) != list(starts) for words in given.values()):
            raise BindingError(f"argument {name}: the cores of a block have different buffers")
        part = starts[1] - starts[0]
        if part < 0 or any(later - earlier != part for earlier, later in pairwise(starts)):
            raise BindingError(f"argument {name}: the buffers of the blocks are no equal parts of one")
        return InParts(self._memory.array_at(starts[0], fmt)[: part * len(starts) // fmt.bytes])


def number(word: int, type_: Attribute) -> Any:
    """Returns the number that 64 bits stand for as an argument of ``type_``. Raises ``BindingError``."""
    if isinstance(type_, (IntegerType, IndexType)):
        width = type_.width.data if isinstance(type_, IntegerType) else 64
        word &= (1 << width) - 1
        return bool(word) if width == 1 else word - (1 << width) if word >> (width - 1) else word
    fmt = format_of(t.element_name(type_))
    if fmt.name == "f32":
        return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]
    if fmt.name == "f64":
        return struct.unpack("<d", struct.pack("<Q", word))[0]
    return float(np.array([word & (1 << 8 * fmt.bytes) - 1], f"<u{fmt.bytes}").view(fmt.storage).astype(np.float64)[0])
