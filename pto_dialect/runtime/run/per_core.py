"""Arguments that the launcher fills in for each core: numbers that differ from core to core, and parts of a buffer.

Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.analysis.launcher_arguments import LAUNCHER_VALUES
from pto_dialect.diagnostics.wording import count

from ..errors import BindingError
from ..memory.spaces import Array, Pointer
from .core_expression import CoreExpression, ExpressionError

if TYPE_CHECKING:
    from .machine import Core

By = Literal["core", "block"]


@dataclass(frozen=True)
class CorePosition:
    """One core of a launch.

    ``block`` of ``count`` blocks; ``core`` of ``cores``, block by block, in each the cube core before the vector cores;
    ``subblock`` of ``subblocks`` vector cores of its block, 0 on the cube core; ``cube`` is 1 on the cube core of a
    block that has vector cores too.
    """

    block: int
    count: int
    core: int
    cores: int
    subblock: int
    subblocks: int
    cube: int


class PerCore:
    """A number for each core.

    ``source`` is an expression over the fields of ``CorePosition`` (``"block * 2 + subblock"``), a function of the
    ``CorePosition``, or an array with one value for each core (``by="block"``: for each block). ``identity`` is equal
    for functions that return the same numbers, ``None`` where that is unknown. Raises ``ExpressionError`` for a text
    that is not an expression.
    """

    def __init__(
        self,
        source: str | Callable[[CorePosition], Any] | Array | Sequence[Any],
        by: By = "core",
        identity: Hashable = None,
    ) -> None:
        self.by = by
        self.identity = identity
        self.text = source if isinstance(source, str) else ""
        self._expression = CoreExpression(source) if isinstance(source, str) else None
        self._function = source if callable(source) else None
        computed = self._expression is not None or self._function is not None
        self._array = None if computed else np.asarray(source).reshape(-1)

    def values(self, positions: Sequence[CorePosition]) -> list[Any]:
        """Returns the number of each core in ``positions``, all cores of a launch. Raises ``BindingError``."""
        if self._array is not None:
            needed = len(positions) if self.by == "core" else positions[-1].count
            if self._array.size != needed:
                raise BindingError(
                    f"it needs one value for each {self.by}, {needed} for {_launch_text(positions[-1])}, found"
                    f" {self._array.size}"
                )
            return [
                self._array[position.core if self.by == "core" else position.block].item() for position in positions
            ]
        if self._function is not None:
            return [_plain(self._function(position)) for position in positions]
        assert self._expression is not None
        try:
            return [self._expression(vars(position)) for position in positions]
        except ExpressionError as error:
            raise BindingError(str(error)) from None


class InParts:
    """An array of which each block (``by="core"``: each core) gets an equal part, in order, as its buffer.

    The whole stays one memory: accesses beyond a part reach the adjacent part.
    """

    def __init__(self, array: Any, by: By = "block") -> None:
        self.array = array
        self.by: By = by


def copied(value: Any) -> Any:
    """Returns a copy of a value of an argument in memory of its own, if it has memory."""
    if isinstance(value, InParts):
        return InParts(value.array.copy(), value.by)
    return value.copy() if isinstance(value, np.ndarray) else value


class BoundPerCore:
    """A number for each core, bound to an argument; ``check`` converts a number to the argument's run-time form."""

    def __init__(self, name: str, source: PerCore, check: Callable[[Any], Any]) -> None:
        self.name = name
        self.source = source
        self.check = check
        self._values: list[Any] = []

    def prepare(self, positions: Sequence[CorePosition]) -> None:
        """Computes the numbers of all cores. Raises ``BindingError``."""
        try:
            values = self.source.values(positions)
        except BindingError as error:
            raise BindingError(f"argument {self.name}: {error}") from None
        self._values = [self.check(value) for value in values]

    def of(self, core: Core) -> Any:
        """Returns the number of ``core``."""
        cores = core.block.cores
        return self._values[core.block.index * len(cores) + cores.index(core)]


class PartedPointer(Pointer):
    """A pointer to a buffer of which every block or core has a part."""

    __slots__ = ("by", "nbytes", "part")

    def __init__(self, pointer: Pointer, by: By, nbytes: int, part: int = 0) -> None:
        super().__init__(pointer.arena, pointer.offset, pointer.dtype, pointer.item_bytes)
        self.by: By = by
        self.nbytes = nbytes
        self.part = part

    def prepared(self, name: str, positions: Sequence[CorePosition]) -> PartedPointer:
        """Returns the same pointer with the size of a part. Raises ``BindingError`` where parts are not equal."""
        try:
            elements = part_size(self.nbytes // self.item_bytes, self.by, positions)
        except BindingError as error:
            raise BindingError(f"argument {name}: {error}") from None
        return PartedPointer(self, self.by, self.nbytes, elements * self.item_bytes)

    def at(self, pointer: Pointer) -> PartedPointer:
        """Returns the same parts of the memory of ``pointer``."""
        return PartedPointer(pointer, self.by, self.nbytes, self.part)

    def of(self, core: Core) -> Pointer:
        """Returns the start of the part of ``core``."""
        cores = core.block.cores
        index = core.block.index
        if self.by == "core":
            index = index * len(cores) + cores.index(core)
        return self.shifted(index * self.part)


def part_size(elements: int, by: By, positions: Sequence[CorePosition]) -> int:
    """Returns the elements of each of the equal parts of a buffer. Raises ``BindingError`` where there are none."""
    parts = len(positions) if by == "core" else positions[-1].count
    if elements % parts:
        raise BindingError(f"{elements} elements make no {parts} equal parts, one for each {by}")
    return elements // parts


def core_positions(blocks: int, kinds: Sequence[str], vector_cores: int) -> list[CorePosition]:
    """Returns all cores of a launch of ``blocks`` blocks that have cores of ``kinds``."""
    inside = [(kind, index) for kind in kinds for index in range(vector_cores if kind == "aiv" else 1)]
    subblocks = vector_cores if "aiv" in kinds else 1
    cores = blocks * len(inside)
    return [
        CorePosition(block, blocks, block * len(inside) + number, cores, index, subblocks, int(kind == "aic"))
        for block in range(blocks)
        for number, (kind, index) in enumerate(inside)
    ]


def prepare(
    bound: list[Any], arguments: Sequence[tuple[str, Any]], positions: Callable[[int], list[CorePosition]], blocks: int
) -> None:
    """Computes the arguments that differ between the cores of a launch of ``blocks`` blocks. Raises
    ``BindingError``."""
    known: list[CorePosition] = []
    for index, value in enumerate(bound):
        if isinstance(value, (BoundPerCore, PartedPointer)):
            known = known or positions(blocks)
            if isinstance(value, BoundPerCore):
                value.prepare(known)
            else:
                bound[index] = value.prepared(arguments[index][0], known)


def launcher_value(name: str, type_: Attribute) -> PerCore | None:
    """Returns the value that a launcher passes for the argument ``name``, with its function before a dot or alone, if
    only launchers know it."""
    text = LAUNCHER_VALUES.get(name.rpartition(".")[2])
    return PerCore(text) if text is not None and isinstance(type_, (IntegerType, IndexType)) else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _launch_text(position: CorePosition) -> str:
    each = position.cores // position.count
    blocks = count(position.count, "block")
    return blocks if each == 1 else f"{blocks} of {each} cores"
