"""The outputs of a run: buffers and returned values, by name, and how they are printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.suggest import nearest_or
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel

from .binding import Bound, static_shape
from .elements import scalar_format, to_values
from .value_text import Shape, shape_text

_FEW = 8
"""Arrays of at most this many numbers are shown in full."""


class Place(NamedTuple):
    """What has a value after the run: argument or result number ``number``, its element type and shape."""

    name: str
    number: int
    is_result: bool
    fmt: Format
    shape: Shape


class Output(NamedTuple):
    """The value of an output: ``array`` holds storage units, shape () for a scalar."""

    name: str
    fmt: Format
    array: Array


def result_places(kernel: Kernel) -> list[Place]:
    """Returns the returned tiles, vectors and scalars; other results have no value outside the run.

    A result is called as the SSA value that is returned, or by its position where that is no name of its own.
    """
    arguments = {name for name, _ in kernel.arguments}
    names = {index: name for name, index in result_names(kernel).items() if name not in arguments}
    places: list[Place] = []
    for index, type_ in enumerate(kernel.results):
        fmt = argument_format(type_) if _is_array(type_) else scalar_format(type_)
        if fmt is not None:
            places.append(Place(names.get(index, str(index)), index, True, fmt, _result_shape(type_)))
    return places


def _is_array(type_: Attribute) -> bool:
    return isinstance(type_, (t.TileType, t.TileBufType, t.VRegType, t.VmiVRegType, t.VmiMaskType))


def _result_shape(type_: Attribute) -> Shape:
    """Returns the shape of what comes back: the valid region of a tile, the lanes of a vector, () for a scalar."""
    if isinstance(type_, t.TileBufType):
        open_ = t.DYNAMIC in (type_.valid_rows, type_.valid_cols)
        return (type_.rows, type_.cols) if open_ else (type_.valid_rows, type_.valid_cols)
    return static_shape(type_) or ()


def result_names(kernel: Kernel) -> dict[str, int]:
    """Position of each result by the SSA name it is returned from, where all ``return``s agree on it."""
    function_type = kernel.function.properties["function_type"]
    assert isinstance(function_type, FunctionType)
    names: list[set[str | None]] = [set() for _ in function_type.outputs.data]
    for op in walk(kernel.function):
        if has_role(op, Role.RETURN):
            for known, value in zip(names, op.operands, strict=True):
                known.add(value.name_hint)
    found: dict[str, int] = {}
    for index, known in enumerate(names):
        (name, *others) = known or (None,)
        if name is not None and not others:
            found.setdefault(name, index)
    return found


class Places:
    """Finds what a name on the command line means.

    The order: argument names, SSA names of returned values, then numbers, which count the results of a
    function that has some and the arguments of one that has none. In a group an argument needs the name of its
    function only where functions mean different memory by it.
    """

    def __init__(self, kernel: Kernel, bound: Sequence[Bound]) -> None:
        self.entry = kernel.entry
        self.arguments = {
            one.name: Place(one.name, index, False, one.fmt, one.value.shape)
            for index, one in enumerate(bound)
            if one.is_array
        }
        self.scalars = {one.name for one in bound if not one.is_array}
        self.positions = [one.name for one in bound]
        self.results = result_places(kernel)
        self.result_names = result_names(kernel)
        self.has_results = bool(kernel.results)
        self.is_group = kernel.group is not None
        self.short = _short_names(bound) if self.is_group else {}

    def find(self, name: str) -> Place:
        """Returns the output called ``name``; raises ``BindingError``."""
        name = self.short.get(name, name)
        if name in self.arguments:
            return self.arguments[name]
        index = self.result_names.get(name)
        if index is None and self.has_results and name.isdecimal():
            index = int(name)
        for place in self.results:
            if place.number == index:
                return place
        if not self.has_results and name.isdecimal() and int(name) < len(self.positions):
            name = self.positions[int(name)]
            if name in self.arguments:
                return self.arguments[name]
        if name in self.scalars:
            raise BindingError(f"{name} is a number that @{self.entry} only reads")
        raise BindingError(f"@{self.entry} has no buffer or result {name}; {self._known(name)}")

    def _known(self, name: str) -> str:
        names = [*self.arguments, *self.result_names]
        results = [place.name for place in self.results if place.number not in self.result_names.values()]
        return nearest_or(name, names, f"there are: {', '.join([*names, *results]) or 'none'}")

    def output(self, place: Place, values: Sequence[object], returned: Sequence[object]) -> Output:
        """Returns the value of ``place`` after the run."""
        value = (returned if place.is_result else values)[place.number]
        if isinstance(value, np.ndarray):
            return Output(place.name, place.fmt, value)
        return Output(place.name, place.fmt, scalar_array(value, place.fmt))


def _short_names(bound: Sequence[Bound]) -> dict[str, str]:
    """Returns the arguments of a group by their names in their functions, where these mean one memory."""
    found: dict[str, list[Bound]] = {}
    for one in bound:
        if one.is_array:
            found.setdefault(one.name.partition(".")[2], []).append(one)
    return {name: those[0].name for name, those in found.items() if len({memory_of(one) for one in those}) == 1}


def memory_of(one: Bound) -> int:
    """Address of the memory of an array."""
    return one.value.__array_interface__["data"][0]


def scalar_array(value: object, fmt: Format) -> Array:
    """Returns a Python number as an array of one storage unit, shape ()."""
    if fmt.is_float:
        return encode(np.array(value, np.float64), fmt, saturate=False)
    assert isinstance(value, (int, np.integer))
    return np.array(int(value) & ((1 << fmt.bits) - 1), np.uint64).astype(fmt.storage)


def summary(output: Output) -> str:
    """Returns one line: name, element type, shape, and the numbers or their range."""
    values = to_values(output.array, output.fmt)
    head = f"{output.name}: {output.fmt.name}"
    if output.array.ndim:
        head += f" {shape_text(output.array.shape)}"
    if values.size <= _FEW:
        return f"{head} = {_numbers(values.reshape(-1) if values.ndim else values)}"
    if values.dtype.kind == "b":
        return f"{head}, {np.count_nonzero(values)} of {values.size} true"
    finite = values if values.dtype.kind in "iu" else values[np.isfinite(values)]
    parts = [head]
    if finite.size:
        mean = finite.astype(np.float64).mean()
        parts += [f"min {finite.min():.6g}", f"max {finite.max():.6g}", f"mean {mean:.6g}"]
    if values.dtype.kind == "f":
        nans, infs = np.count_nonzero(np.isnan(values)), np.count_nonzero(np.isinf(values))
        parts += [f"{number} {word}" for number, word in ((nans, "nan"), (infs, "inf")) if number]
    return ", ".join(parts)


def dump(output: Output) -> str:
    """Name, element type, shape, and every number, exactly."""
    head = f"{output.name}: {output.fmt.name}"
    if output.array.ndim:
        head += f" {shape_text(output.array.shape)}"
    return f"{head}\n{_numbers(to_values(output.array, output.fmt))}"


def _numbers(values: Array) -> str:
    return np.array2string(values, threshold=sys.maxsize, max_line_width=100, floatmode="unique")
