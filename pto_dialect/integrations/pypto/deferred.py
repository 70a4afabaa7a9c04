"""Tasks that end later than their kernel does: when counters in windows have reached what the kernel has registered.

Generated kernels register a counter through a function of the run time, which gets the array of arguments. Here it is a
function of the program, which notes address and value in memory that stands for this array. See docs/pypto.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.machine import AddressMap

from .domains import Domain

ARGUMENT = "__pypto_deferred_raw_args"
"""The parameter of a kernel for the array of arguments."""

_MOST = 64
"""Counters that a task may register."""

_DECLARED = re.compile(
    r"func\.func private @pypto_register_counter_completion\(!pto\.ptr<i64>, !pto\.ptr<i32>, i64, i64\)"
)
_DEFINED = """func.func private @pypto_register_counter_completion(
    %args: !pto.ptr<i64>, %counter: !pto.ptr<i32>, %offset: i64, %expected: i64) {
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i64 %size = arith.constant 4 : i64
  %count = pto.load_scalar %args[%c0] : !pto.ptr<i64> -> i64
  %number = arith.index_cast %count : i64 to index
  %twice = arith.muli %number, %c2 : index
  %place = arith.addi %twice, %c1 : index
  %next = arith.addi %twice, %c2 : index
  %base = pto.ptrtoint %counter : !pto.ptr<i32> -> i64
  %bytes = arith.muli %offset, %size : i64
  %address = arith.addi %base, %bytes : i64
  pto.store_scalar %address, %args[%place] : !pto.ptr<i64>, i64
  pto.store_scalar %expected, %args[%next] : !pto.ptr<i64>, i64
  %more = arith.addi %count, %one : i64
  pto.store_scalar %more, %args[%c0] : !pto.ptr<i64>, i64
  return
}
""".replace("\n", " ")
"""The function on one line, so that all lines of the program keep their numbers."""


def with_registration(text: str) -> str:
    """Returns the text of a program that declares the function of the run time, with its definition."""
    return _DECLARED.sub(_DEFINED, text)


class Counter(NamedTuple):
    """A number in a window, and what it has to be at least."""

    cell: Array
    expected: int

    @property
    def is_reached(self) -> bool:
        """True when the task may end as far as this counter is concerned."""
        return int(self.cell[0]) >= self.expected

    def __str__(self) -> str:
        return f"a counter is {int(self.cell[0])}, and has to be at least {self.expected}"


def registration() -> Array:
    """Memory for what a kernel registers: how many counters, then address and value of each."""
    return np.zeros(1 + 2 * _MOST, np.int64)


def counters_of(registered: Array, domain: Domain | None) -> list[Counter]:
    """Returns the counters that a kernel has registered. Raises ``BindingError`` for one that is in no window."""
    found: list[Counter] = []
    for number in range(int(registered[0])):
        address, expected = (int(word) for word in registered[1 + 2 * number : 3 + 2 * number])
        offset = address - AddressMap.GAP
        if domain is None or not 0 <= offset <= domain.world.content.size - 4:
            raise BindingError("a task waits for a counter that is in no window of its chip")
        found.append(Counter(domain.world.content[offset : offset + 4].view(np.int32), expected))
    return found
