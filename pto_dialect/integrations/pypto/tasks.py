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
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import InParts, PerCore

from ..base import Device, Program
from ..events import watching
from ..memory import AddressSpace
from .chips import Chip, Launch

CORES = ("cube", "vector0", "vector1")
"""The cores of a block, as orchestrations number them."""

ROOTS = ("aic", "aiv0", "aiv1")
"""What the runtime calls them."""


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
    """A task: its number, the tasks that it names as earlier ones, its tensors, blocks and what their cores start."""

    number: int
    after: Sequence[int]
    accesses: Sequence[Access]
    blocks: int
    calls: Sequence[Call]


def decode(words: Sequence[int]) -> Task:
    """The task that an orchestration has handed over, word by word."""
    number, blocks, tensors, deps = words[:4]
    at = 4 + 3 * tensors
    accesses = [Access(*words[index : index + 3]) for index in range(4, at, 3)]
    after = words[at : at + deps]
    at += deps
    calls: list[Call] = []
    while at < len(words):
        place, program, function, count = words[at : at + 4]
        calls.append(Call(place >> 8, place & 0xFF, program, function, words[at + 4 : at + 4 + count]))
        at += 4 + count
    return Task(number, after, accesses, blocks, calls)


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

    def run(self, task: Task) -> None:
        """Runs a task. Raises ``BindingError`` and ``ProgramError``."""
        by_core: dict[int, list[Call]] = {}
        for call in task.calls:
            by_core.setdefault(call.core, []).append(call)
        if not by_core:
            return
        named = {core: self._function(calls[0]) for core, calls in by_core.items()}
        if len({program for program, _ in named.values()}) > 1:
            functions = ", ".join(f"@{name}" for _, name in named.values())
            raise BindingError(f"the cores of a group start functions of several programs: {functions}")
        program = self._programs[named[min(named)][0]]
        functions = {CORES[core]: name for core, (_, name) in named.items()}
        if "vector1" in functions and functions["vector1"] == functions.get("vector0"):
            del functions["vector1"]
            functions["vector"] = functions.pop("vector0")
        kernel = program.group(functions, watching())
        values = self._values(kernel, by_core)
        domain = self._chip.domain_of(values) if self._chip is not None else None
        if self._chip is not None and domain is not None:
            self._chip.carry_out(domain, Launch(program, functions, values, task.blocks))
        else:
            self._device.run(program, kernel, values, task.blocks)

    def _function(self, call: Call) -> tuple[int, str]:
        names = self._names.get(call.program)
        if names is None:
            if call.program not in self._programs:
                raise BindingError("a task starts a function of a program that is none of the orchestration's")
            names = self._names[call.program] = list(functions_of(self._programs[call.program].module))
        return call.program, names[call.function]

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
        """The value of one argument, from what each core gets in each block."""
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
    """The number that 64 bits stand for as an argument of ``type_``. Raises ``BindingError``."""
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
