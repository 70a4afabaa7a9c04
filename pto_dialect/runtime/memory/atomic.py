"""The atomic mode of stores to global memory, which is part of the control register.

Source: docs/reference/execution.md, "Control words", "Registers of a core"; docs/reference/numerics.md, "Write-back".
Bits 6 to 8 hold the element type, 0 for none, and bits 9 and 10 the operation. A store uses the content of the register
at the time of issue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import ml_dtypes
import numpy as np

from ..faults import Fault
from ..numerics.formats import Format
from .spaces import Array, DType

TYPES: tuple[tuple[str, DType], ...] = (
    ("f32", np.dtype(np.float32)),
    ("f16", np.dtype(np.float16)),
    ("s16", np.dtype(np.int16)),
    ("s32", np.dtype(np.int32)),
    ("s8", np.dtype(np.int8)),
    ("bf16", np.dtype(ml_dtypes.bfloat16)),
)
"""Element types in the order of their codes, from 1."""

OPERATIONS: tuple[tuple[str, np.ufunc], ...] = (("add", np.add), ("max", np.maximum), ("min", np.minimum))
"""Operations in the order of their codes, from 0."""

TYPE_BIT, TYPE_MASK = 6, 7
OPERATION_BIT, OPERATION_MASK = 9, 3


@dataclass(frozen=True, slots=True)
class AtomicMode:
    """How a store combines with memory: ``combine`` on elements ``dtype``; ``operation`` is add, max or min."""

    element: str
    dtype: DType
    operation: str
    combine: np.ufunc

    @property
    def label(self) -> str:
        """The same name as the attribute of a single atomic store."""
        return f"atomic_{self.operation}"

    def check(self, fmt: Format) -> None:
        """Requires elements of this type; integers may be unsigned, their bits are combined as signed numbers.

        Raises:
            Fault: ``unmodelled``.
        """
        integers = self.dtype.kind == "i" and fmt.storage.kind in "iu" and not fmt.is_float and not fmt.is_packed
        if fmt.storage != self.dtype and not (integers and fmt.storage.itemsize == self.dtype.itemsize):
            raise Fault("unmodelled", f"a store of {fmt.name} elements while the atomic mode is {self.element}")

    def combined(self, memory: Array, values: Array) -> Array:
        """Returns the content of memory after a store of ``values``, both of one type that :meth:`check` admits."""
        return self.combine(memory.view(self.dtype), values.view(self.dtype)).view(memory.dtype)


@lru_cache
def mode_of(ctrl: int) -> AtomicMode | None:
    """Returns the mode in a control register; ``None`` for stores that replace.

    Raises: Fault: ``unmodelled`` for an undefined type or operation.
    """
    number, operation = ctrl >> TYPE_BIT & TYPE_MASK, ctrl >> OPERATION_BIT & OPERATION_MASK
    if number == 0:
        return None
    if number > len(TYPES) or operation >= len(OPERATIONS):
        raise Fault("unmodelled", f"the control register says atomic type {number}, operation {operation}")
    return AtomicMode(*TYPES[number - 1], *OPERATIONS[operation])


def with_type(ctrl: int, element: str) -> int:
    """Returns the register with another element type, ``none`` for stores that replace."""
    names = ["none", *(name for name, _ in TYPES)]
    return ctrl & ~(TYPE_MASK << TYPE_BIT) | names.index(element) << TYPE_BIT


def with_operation(ctrl: int, operation: str) -> int:
    """Returns the register with another operation."""
    names = [name for name, _ in OPERATIONS]
    return ctrl & ~(OPERATION_MASK << OPERATION_BIT) | names.index(operation) << OPERATION_BIT
