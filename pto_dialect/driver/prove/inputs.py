"""Arguments for proofs: synthesized from types, boundary values, small trip counts, poison.

The same function gets the same arguments each time. Source: docs/reference/proving.md, "Arguments".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.runtime.compile.program import Symbols
from pto_dialect.runtime.compile.usage import access_of, slot_arguments
from pto_dialect.runtime.memory.spaces import POISON, Array
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import copied

from ..explore.synthesized import synthesize_arguments, values_of
from ..run.arrays import generate
from ..run.binding import part_of
from ..run.value_text import Generated, Given

SEEDS = (1, 2)
ROOM = 4
"""How many times as large the arrays are that hold entries of queues."""
NUMBERS = (0, 1, 2, 3, 5)
"""Values of scalars besides the synthesized one: loops with these trip counts run zero times, once, often."""

_FLOATS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 65504.0, -3.4e38, 6e-8, 1e-45, 0.5, 255.5)


class Input(NamedTuple):
    """Arguments of one run; ``name`` says where they come from."""

    name: str
    values: list[Any]


def inputs_of(kernel: Kernel, blocks: int) -> Iterator[Input]:
    """Yields the inputs for a function, the usual one first; the function need not run on the others.

    Raises ``ProgramError`` or ``BindingError`` where no arguments can be synthesized.
    """
    given = _with_room(kernel, dict(synthesize_arguments(kernel, {}, SEEDS[0], blocks)))
    base = values_of(kernel, {}, given)
    words = [f"{name}={one.content.text}" for name, one in given.items()]
    yield Input(" ".join(words) or "none", base)
    yield from _with_numbers(kernel, base)
    poisoned = _poisoned(kernel, base)
    if poisoned is not None:
        yield Input("0xFF in every byte of what is only written", poisoned)
    drawn = {name for name, one in given.items() if isinstance(one.content, Generated) and one.content.kind == "random"}
    if drawn:
        yield Input("other random elements", _replaced(kernel, base, drawn, _redrawn(given)))
        yield Input("boundary values", _replaced(kernel, base, drawn, _boundary))


def _with_room(kernel: Kernel, given: dict[str, Given]) -> dict[str, Given]:
    """Returns the same with ``ROOM`` times as many elements where the arguments hold entries of queues, which a pass
    may make larger."""
    names = {kernel.arguments[place][0] for place in slot_arguments(kernel.program)}
    return {name: _larger(one) if name in names else one for name, one in given.items()}


def _larger(one: Given) -> Given:
    content = one.content
    if not isinstance(content, Generated):
        return one
    shape = (content.shape[0] * ROOM, *content.shape[1:])
    sizes = ["x".join(map(str, each)) for each in (content.shape, shape)]
    text = content.text.replace(f":{sizes[0]}", f":{sizes[1]}", 1)
    return one._replace(content=content._replace(shape=shape, text=text))


def _with_numbers(kernel: Kernel, base: list[Any]) -> Iterator[Input]:
    """Yields the same with other numbers."""
    places = [
        place
        for place, ((_, type_), value) in enumerate(zip(kernel.arguments, base, strict=True))
        if _is_number(type_) and isinstance(value, int)
    ]
    for number in NUMBERS if places else ():
        values = [copied(value) for value in base]
        for place in places:
            values[place] = number
        yield Input(" ".join(f"{kernel.arguments[place][0]}={number}" for place in places), values)


def _is_number(type_: Attribute) -> bool:
    return isinstance(type_, IndexType) or (isinstance(type_, IntegerType) and type_.width.data > 1)


def _poisoned(kernel: Kernel, base: list[Any]) -> list[Any] | None:
    """Poison in the buffers that are only written; ``None`` where there are none."""
    symbols = Symbols(kernel.module)
    arguments = kernel.function.regions[0].blocks[0].args
    if len(arguments) != len(base):
        return None
    values = [copied(value) for value in base]
    found = False
    for value, argument in zip(values, arguments, strict=True):
        if isinstance(value, np.ndarray) and access_of(argument, symbols).direction == "out":
            value.reshape(-1).view(np.uint8)[...] = POISON
            found = True
    return values if found else None


def _replaced(
    kernel: Kernel, base: list[Any], names: set[str], make: Callable[[str, Array, Format], Array]
) -> list[Any]:
    """Returns the same with other elements in the buffers ``names``."""
    values: list[Any] = []
    for (name, type_), value in zip(kernel.arguments, base, strict=True):
        fmt = part_of(type_) or argument_format(type_)
        new = copied(value)
        if name in names and isinstance(value, np.ndarray) and fmt is not None and fmt.bits > 1:
            new = make(name, new, fmt)
        values.append(new)
    return values


def _redrawn(given: dict[str, Given]) -> Callable[[str, Array, Format], Array]:
    def drawn(name: str, array: Array, fmt: Format) -> Array:
        content = given[name].content
        assert isinstance(content, Generated)
        return generate(content._replace(seed=(content.seed or 0) + 1000 * SEEDS[1]), fmt)

    return drawn


def _boundary(name: str, array: Array, fmt: Format) -> Array:
    if fmt.is_packed:
        return array
    if not fmt.is_float:
        low, high = int(fmt.min_value), int(fmt.max_value)
        return np.resize(np.array([0, 1, high, low, high - 1, low + 1], fmt.storage), array.shape)
    values = np.resize(np.array(_FLOATS), array.shape)
    if fmt.name == "f8E8M0":
        values = np.abs(values)
    return np.require(encode(values, fmt, saturate=True), requirements=("C", "W"))
