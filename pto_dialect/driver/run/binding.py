"""From names and values to what a kernel is called with. Source: docs/reference/execution.md, "Launches"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.suggest import nearest
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.errors import BindingError, NoValueError
from pto_dialect.runtime.memory.packed_element import part_format
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format, host_shape
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import By, InParts, PerCore, launcher_value, part_size

from .arrays import fitted, load, stated_format, with_key
from .elements import is_bit_pattern, same_elements, scalar_format, to_values
from .memory_budget import MemoryBudget
from .value_text import Each, Elements, Generated, Given, Number, Shape, Stored, file_of, shape_text


class Bound(NamedTuple):
    """One argument of a launch.

    ``value`` is an array of storage units, a Python number or a number for each core, ``fmt`` its element type.
    ``write_back`` is the file that receives the buffer after the run; ``parts`` says who gets a part of the buffer of
    its own (``None``: all have all of it).
    """

    name: str
    type: Attribute
    fmt: Format
    value: Any
    write_back: Stored | None = None
    parts: By | None = None

    @property
    def launched(self) -> Any:
        """What a kernel is called with."""
        return self.value if self.parts is None else InParts(self.value, self.parts)

    @property
    def is_array(self) -> bool:
        """True for buffers, tiles and vectors, False for scalars."""
        return argument_format(self.type) is not None

    def copied(self) -> Bound:
        """Returns the same argument with a buffer of its own."""
        return self._replace(value=self.value.copy()) if self.is_array else self


class Held(NamedTuple):
    """A buffer in memory that several launches share: storage units of element type ``fmt``; ``parts`` and
    ``write_back`` as in ``Bound``. A ``record`` has integers of several widths, and a kernel may take it as any."""

    name: str
    fmt: Format
    array: Array
    parts: By | None = None
    write_back: Stored | None = None
    record: bool = False

    def fitted(self, needed: Format, shape: Shape | None) -> Array:
        """Returns the same memory as elements of ``needed`` in ``shape``; raises ``BindingError`` if it is other
        data."""
        is_integer = needed.kind != "float" and needed.elements == 1
        if not same_elements(self.fmt, needed) and not (self.record and is_integer):
            raise BindingError(f"buffer {self.name} has {self.fmt.name} elements, not {needed.name}")
        array = self.array.view(needed.storage)
        if shape is None or array.shape == shape:
            return array
        if array.size != math.prod(shape):
            raise BindingError(f"buffer {self.name} has shape {shape_text(array.shape)}, not {shape_text(shape)}")
        return array.reshape(shape)


def signature(kernel: Kernel) -> str:
    """Returns the arguments of the entry function, one on each line."""
    if not kernel.arguments:
        return f"@{kernel.entry} takes no arguments"
    width = max(len(name) for name, _ in kernel.arguments)
    rows = [f"  {name.ljust(width)} : {t.type_text(type_)}" for name, type_ in kernel.arguments]
    return "\n".join([f"@{kernel.entry} takes", *rows])


def advice(kernel: Kernel, missing: Sequence[str]) -> str:
    """How a command line gives a value to the first of the arguments ``missing``, and to all of them."""
    name = missing[0]
    type_ = dict(kernel.arguments)[name]
    fmt = argument_format(type_)
    if fmt is None:
        ways = f"'--arg {name}=1'"
    else:
        shape = static_shape(type_)
        made = f"random:{fmt.name}:{'SHAPE' if shape is None else shape_text(shape)}"
        ways = f"'--arg {name}={made}' or '--arg {name}={name}.npy'"
    return f"help: {ways} gives {name} a value; '--auto' makes up all that have none"


def bind(
    kernel: Kernel, given: Sequence[tuple[str, Given | Held]], budget: MemoryBudget, blocks: int = 1
) -> list[Bound]:
    """Returns the arguments of ``kernel`` in order, in memory that ``budget`` grants; names are argument names or
    positions.

    Arguments that only launchers know need no value. Raises ``BindingError`` for arguments that are missing, unknown,
    given twice, or do not fit their types or the cores of ``blocks`` blocks; its ``subject`` is the name as it was
    given.
    """
    chosen = by_name(kernel, given)
    for name, type_ in kernel.arguments:
        filled = None if name in chosen else launcher_value(name, type_)
        if filled is not None:
            chosen[name] = name, Given(Each("core", filled.text, filled.text))
    missing = [name for name, _ in kernel.arguments if name not in chosen]
    if missing:
        raise NoValueError(missing)
    bound: list[Bound] = []
    for name, type_ in kernel.arguments:
        asked, value = chosen[name]
        try:
            one = _bind_one(name, type_, value, budget)
            _check_cores(kernel, one, blocks)
            bound.append(one)
        except BindingError as error:
            raise BindingError(str(error), asked) from None
    return bound


def _check_cores(kernel: Kernel, one: Bound, blocks: int) -> None:
    """Every core has a number that fits, and parts of a buffer are equal. Raises ``BindingError``."""
    try:
        if isinstance(one.value, PerCore):
            places = kernel.core_positions(blocks)
            for place, number in zip(places, one.value.values(places), strict=True):
                _checked_number(number, one.type, one.fmt, f"{number} for core {place.core}")
        elif one.parts is not None:
            part_size(one.value.size, one.parts, kernel.core_positions(blocks))
    except BindingError as error:
        raise BindingError(f"argument {one.name} ({t.type_text(one.type)}): {error}") from None


def bind_given(kernel: Kernel, given: Sequence[tuple[str, Given]], budget: MemoryBudget) -> list[Bound]:
    """As ``bind`` for the arguments that have a value; others may be missing."""
    chosen = by_name(kernel, given)
    types = dict(kernel.arguments)
    return [_bind_one(name, types[name], value, budget) for name, (_, value) in chosen.items()]


def by_name(kernel: Kernel, given: Sequence[tuple[str, Given | Held]]) -> dict[str, tuple[str, Given | Held]]:
    """Returns the name as it was given and the value, by the name of the argument."""
    names = [name for name, _ in kernel.arguments]
    chosen: dict[str, tuple[str, Given | Held]] = {}
    for asked, value in given:
        name = asked
        if asked not in names and asked.isdecimal() and int(asked) < len(names):
            name = names[int(asked)]
        if name not in names:
            raise BindingError(f"@{kernel.entry} has no argument {asked}{nearest(asked, names)}", asked)
        if name in chosen:
            raise BindingError(f"argument {name} is given twice", asked)
        chosen[name] = asked, value
    return chosen


def _bind_one(name: str, type_: Attribute, given: Given | Held, budget: MemoryBudget) -> Bound:
    if isinstance(given, Held):
        return _bind_held(name, type_, given)
    content = given.content
    parts: By | None = None
    try:
        fmt = argument_format(type_)
        if fmt is None:
            return _bind_scalar(name, type_, given, budget)
        if isinstance(content, Each):
            parts, content = content.by, _whole_buffer(type_, content)
        if isinstance(content, Number):
            raise BindingError(f"it needs an array, not the number {content.text}")
        if file_of(content) is not None:
            array, _ = load(content, fmt, budget)
        else:
            array = _generated(content, fmt, budget, part_of(type_))
        shape = static_shape(type_)
        if shape is not None:
            array = fitted(array, content, shape)
    except BindingError as error:
        raise BindingError(f"argument {name} ({t.type_text(type_)}): {error}") from None
    write_back = with_key(content) if given.write_back and isinstance(content, Stored) else None
    return Bound(name, type_, fmt, array, write_back, parts)


def _whole_buffer(type_: Attribute, each: Each) -> Stored | Generated:
    """Returns the array that is handed out in parts."""
    if isinstance(each.content, str):
        raise BindingError(f"it needs an array, not the number '{each.text}'")
    if not isinstance(type_, t.PtrType):
        raise BindingError(f"only a pointer takes a part of a buffer, as '{each.text}' requires")
    return each.content


def hold(name: str, type_: Attribute, given: Given, budget: MemoryBudget) -> Held:
    """Returns the shared buffer ``name`` as the argument type ``type_`` of its first launch needs it."""
    if argument_format(type_) is None:
        raise BindingError(f"it is used for a number ({t.type_text(type_)}), buffers are arrays")
    bound = _bind_one(name, type_, given, budget)
    return Held(name, bound.fmt, bound.value, bound.parts, bound.write_back)


def _bind_held(name: str, type_: Attribute, held: Held) -> Bound:
    try:
        fmt = argument_format(type_)
        if fmt is None:
            raise BindingError(f"it needs a number, not buffer {held.name}")
        return Bound(name, type_, fmt, held.fitted(fmt, static_shape(type_)), held.write_back, held.parts)
    except BindingError as error:
        raise BindingError(f"argument {name} ({t.type_text(type_)}): {error}") from None


def part_of(type_: Attribute) -> Format | None:
    """Returns the format of single numbers where the elements of a buffer are vectors of them."""
    if not isinstance(type_, t.PtrType) or not isinstance(type_.element, VectorType):
        return None
    return part_format(type_.element)


def _generated(content: Elements, needed: Format, budget: MemoryBudget, part: Format | None) -> Array:
    array, stated = load(content, None, budget)
    if part is not None and same_elements(stated, part):
        if array.nbytes % needed.bytes:
            raise BindingError(f"'{content.text}' makes no whole elements of {needed.name}")
        return array.reshape(-1).view(needed.storage)
    if not same_elements(stated, needed):
        raise BindingError(f"'{content.text}' makes {stated.name} elements, not {needed.name}")
    return array.view(needed.storage)


def static_shape(type_: Attribute) -> Shape | None:
    """Returns the shape of an array for an argument of ``type_``; ``None`` where the type leaves it open."""
    if isinstance(type_, (t.TileType, t.TileBufType)):
        return host_shape(type_)
    if isinstance(type_, (t.VRegType, t.VmiVRegType, t.VmiMaskType)):
        return (type_.lanes,)
    if not isinstance(type_, (t.ShapedView, MemRefType)):
        return None
    shape = t.shape_of(type_)
    return None if t.DYNAMIC in shape else shape


def _bind_scalar(name: str, type_: Attribute, given: Given, budget: MemoryBudget) -> Bound:
    fmt = scalar_format(type_)
    if fmt is None:
        raise BindingError("values of this type cannot be given")
    content = given.content
    if given.write_back:
        raise BindingError("it is a number, nothing is written back to it")
    if isinstance(content, Each):
        return Bound(name, type_, fmt, _number_for_each(content, fmt, budget))
    value = content.value if isinstance(content, Number) else _elements(content, fmt, budget)[0].item()
    return Bound(name, type_, fmt, _checked_number(value, type_, fmt, content.text))


def _number_for_each(each: Each, fmt: Format, budget: MemoryBudget) -> PerCore:
    if isinstance(each.content, str):
        return PerCore(each.content, each.by)
    return PerCore(_elements(each.content, fmt, budget), each.by)


def _elements(content: Elements, fmt: Format, budget: MemoryBudget) -> Array:
    stated = stated_format(content)
    as_bits = is_bit_pattern(fmt) if stated is None else same_elements(stated, fmt)
    array, found = load(content, fmt if as_bits and isinstance(content, Stored) else None, budget)
    return to_values(array, found).reshape(-1)


def _checked_number(value: int | float | bool, type_: Attribute, fmt: Format, shown: str) -> Any:
    if fmt.is_float:
        largest = fmt.max_finite
        # Compared before it is converted: an integer may be too large for any float.
        if (isinstance(value, int) or math.isfinite(value)) and abs(value) > largest:
            raise BindingError(f"{shown} does not fit, the largest value is {largest:g}")
        return float(value)
    if isinstance(value, float):
        raise BindingError(f"it needs an integer, not {shown}")
    if isinstance(type_, IntegerType) and type_.width.data == 1:
        if value not in (0, 1):
            raise BindingError(f"it needs true or false, not {shown}")
        return bool(value)
    if isinstance(value, bool):
        raise BindingError(f"it needs a number, not {shown}")
    low, high = fmt.min_value, fmt.max_value
    # Signless integers are bits: both readings of them are welcome.
    if fmt.kind == "int" and not isinstance(type_, IndexType) and not t.type_text(type_).startswith("si"):
        high = (1 << fmt.bits) - 1
    if not low <= value <= high:
        raise BindingError(f"{shown} does not fit, values are {low} to {high}")
    return int(value)
