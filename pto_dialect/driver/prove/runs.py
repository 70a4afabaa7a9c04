"""Runs of one function in one state of a program. Source: docs/reference/proving.md, "What is compared"."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.runtime.compile.usage import slot_arguments
from pto_dialect.runtime.memory.spaces import Array, Fill, Pointer
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import copied
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.findings import Finding

from .inputs import Input

TEXT = "text"
_TEXT = "U512"
"""Texts that stand for handles; of one width, as arrays are compared byte by byte."""
SCHEDULES = (TEXT, "oldest", "newest", "random:1", "random:2")


@dataclass(eq=False)
class Runs:
    """Runs ``function`` of ``module`` on ``blocks`` blocks; ``strict`` lets schedules reorder, and the sanitizers
    judge, pipes that the function does not order itself; ``fill`` is what memory holds before. Code is compiled on
    first use, from the module as it is then."""

    module: ModuleOp
    function: str
    target: str | None
    blocks: int
    strict: bool
    fill: Fill = "poison"
    _kernels: dict[str, Kernel] = field(default_factory=lambda: {}, init=False)
    _instrumented: InstrumentedKernel | None = field(default=None, init=False)

    def kernel(self, schedule: str = TEXT) -> Kernel:
        """Returns the function under a schedule. Raises ``ProgramError``."""
        if schedule not in self._kernels:
            order = None if schedule == TEXT else Schedule.parse(schedule, strict=self.strict)
            options = RunOptions(accumulate="exact", fill=self.fill, schedule=order)
            self._kernels[schedule] = Kernel(self.module, self.function, self.target, options)
        return self._kernels[schedule]

    def results(self, input: Input, schedule: str = TEXT) -> list[Array]:
        """Returns what a run leaves in the buffers, then what it returns; empty arrays for numbers, and for memory that
        has nothing but the entries of queues. Raises ``ProgramError`` and ``BindingError``."""
        kernel = self.kernel(schedule)
        slots = slot_arguments(kernel.program)
        found = _run(kernel, input, self.blocks)
        return [np.zeros(0) if number in slots else one for number, one in enumerate(found)]

    def findings(self, input: Input) -> list[Finding]:
        """Returns what the sanitizers find in a run. Raises ``ProgramError`` and ``BindingError``."""
        if self._instrumented is None:
            sanitize = SanitizeOptions(sync="strict" if self.strict else "auto")
            options = RunOptions(fill="poison")
            self._instrumented = InstrumentedKernel(self.module, self.function, self.target, options, sanitize)
        self._instrumented.observer.findings.clear()
        _run(self._instrumented, input, self.blocks)
        return self._instrumented.observer.findings.all

    def names(self) -> list[str]:
        """Returns the names of the arrays among the results, in order."""
        kernel = self.kernel()
        results = range(len(kernel.results))
        return [*(f"%{name}" for name, _ in kernel.arguments), *(f"result {number}" for number in results)]


def _run(kernel: Kernel, input: Input, blocks: int) -> list[Array]:
    """Returns all arguments after a run, then the results; what the program prints is dropped."""
    values = [copied(value) for value in input.values]
    with redirect_stdout(StringIO()):
        returned = kernel.run(values, blocks)
    return [
        *(value if isinstance(value, np.ndarray) else np.zeros(0) for value in values),
        *map(_array_of, returned),
    ]


def _array_of(value: Any) -> Array:
    """Returns a result as an array. Of a handle it is what a caller may rely on: which bytes of global memory it is
    for, and of memory on the chip, where passes choose addresses, which memory."""
    if not isinstance(value, (GmTensor, Pointer)):
        return np.asarray(value)
    pointer = value.pointer if isinstance(value, GmTensor) else value
    where = "memory that was given back"
    if isinstance(pointer, Pointer):
        arena = pointer.arena
        where = f"%{arena.name} + {pointer.offset} bytes" if arena.space == "gm" else f"an address in {arena.space}"
    extents = f", {value.shape} with strides {value.strides}" if isinstance(value, GmTensor) else ""
    return np.array(f"{where}{extents}", _TEXT)


class Difference(NamedTuple):
    """The first element whose bits differ: number of the array, index, how many do in that array, and both values."""

    array: int
    element: tuple[int, ...]
    differing: int
    expected: str
    found: str


def difference(expected: Sequence[Array], found: Sequence[Array]) -> Difference | None:
    """Returns where two runs have left different bits; ``None`` where all are equal. All NaNs are equal: the payload of
    the result of an operation on two NaNs is not defined."""
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one.tobytes() == other.tobytes():
            continue
        width = one.dtype.itemsize
        before, after = (np.frombuffer(array.tobytes(), np.uint8).reshape(-1, width) for array in (one, other))
        differ = (before != after).any(axis=1)
        if one.dtype.kind in "fV" and one.dtype.names is None:
            differ &= ~(one != one).reshape(-1) | ~(other != other).reshape(-1)
        places = np.flatnonzero(differ)
        if not places.size:
            continue
        index = tuple(int(part) for part in np.unravel_index(int(places[0]), one.shape)) if one.shape else ()
        return Difference(number, index, len(places), str(one[index]), str(other[index]))
    return None
