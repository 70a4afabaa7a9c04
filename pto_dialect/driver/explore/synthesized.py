"""Synthesizes arguments from their types, with consistent sizes, so that a function runs without further input.

Buffers get the size that a first run accesses, scalars are tried one after the other until the program runs, none
larger than its uses allow; where no buffer is used, larger ones are tried. The same seed gives the same arguments.
Source: docs/reference/execution.md, "Launches".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, NamedTuple

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.deadline import TimedOut, can_limit, deadline, is_over
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import copied, launcher_value
from pto_dialect.runtime.run.probe import MOST_BYTES, wanted_bytes

from ..run.arrays import generate
from ..run.binding import part_of, static_shape
from ..run.value_text import Generated, Given, Number, parse_given, shape_text
from .ranges import largest_numbers

NUMBERS = (32, 16, 1, 64, 8, 128, 4, 2, 256, 0)
"""What integer arguments and open extents are, in the order in which that is tried."""

INTEGERS = ("random", "zeros", "ones")
"""What buffers of integers hold, in the order in which that is tried: they may be indices."""


MOST_RANDOM = 1 << 23
"""Storage units of the largest buffer with random elements; larger ones would take seconds to make."""


MOST_AT_ONCE = 3
"""Arguments that get a larger number together: the work may be their product."""


MOST_LIKED = 1 << 24
"""Storage units of all buffers together that are taken without looking for smaller ones."""


LEAST_BYTES = 1 << 20
"""Bytes of a buffer of which a run that did not end has shown no need."""


TRIAL_SECONDS = 10.0
"""Processor time of one try: integers of a buffer may be the bounds of loops, and random ones take years."""


MOST_ENDED = 3
"""Tries that take longer, after which no other one is made."""


class Missing(NamedTuple):
    """An argument that gets a value: position, name, type, and the largest number that its uses allow."""

    position: int
    name: str
    type: Attribute
    most: int | None


class Trial(NamedTuple):
    """One way to make arguments up: ``number`` for integers and open extents, ``integers`` for buffers of these.
    ``alone``: only the argument at this position gets the number, all others 1 (-1: all get it)."""

    number: int
    integers: str
    alone: int = -1


def synthesize_arguments(kernel: Kernel, known: Mapping[str, Any], seed: int, blocks: int) -> list[tuple[str, Given]]:
    """Returns the values for the arguments of ``kernel`` that are not ``known``, by name, with which it runs; what it
    prints meanwhile is dropped.

    ``known`` are the values of the others as the kernel takes them. Raises ``ProgramError`` or ``BindingError`` of the
    first try when none succeeds.
    """
    with redirect_stdout(StringIO()):
        return _searched(kernel, known, seed, blocks)


def _missing(kernel: Kernel, known: Mapping[str, Any]) -> list[Missing]:
    most = largest_numbers(kernel)
    return [
        Missing(position, name, type_, most.get(position))
        for position, (name, type_) in enumerate(kernel.arguments)
        if name not in known and launcher_value(name, type_) is None
    ]


def _searched(kernel: Kernel, known: Mapping[str, Any], seed: int, blocks: int) -> list[tuple[str, Given]]:
    missing = _missing(kernel, known)
    numbers = NUMBERS if any(_is_number(one.type) or _is_open(one.type) for one in missing) else NUMBERS[:1]
    kinds = INTEGERS if any(_holds_integers(one.type) for one in missing) else INTEGERS[:1]
    trials = [Trial(number, integers) for number in numbers for integers in kinds]
    search = Search(kernel, known, missing, seed, blocks)
    # Large buffers are left for later: a smaller number may do.
    large = [trial for trial in trials if not search.best and search.tries(trial, MOST_LIKED) is False]
    for trial in large:
        if search.best is None:
            search.tries(trial)
    if search.best is None:
        assert search.first is not None
        raise search.first
    # What a program does with integers of buffers does not grow with its numbers alone.
    for trial in _larger(missing) if search.best.is_idle and len(kinds) == 1 else ():
        if search.best.is_idle:
            search.tries(trial, MOST_LIKED)
    return search.best.given


def _larger(missing: Sequence[Missing]) -> list[Trial]:
    """Larger numbers than the first: for one argument, so that a run stays short, then for a few at once."""
    places = [one.position for one in missing if _is_number(one.type)]
    numbers = sorted(number for number in NUMBERS if number > NUMBERS[0])
    alone = [Trial(number, INTEGERS[0], place) for number in numbers for place in places]
    return alone + [Trial(number, INTEGERS[0]) for number in numbers if 1 < len(places) <= MOST_AT_ONCE]


class Found(NamedTuple):
    """Arguments with which the function runs; ``is_idle``: it does not use any of its buffers then."""

    given: list[tuple[str, Given]]
    is_idle: bool


@dataclass
class Search:
    """The ``best`` arguments so far, and the ``first`` error."""

    kernel: Kernel
    known: Mapping[str, Any]
    missing: Sequence[Missing]
    seed: int
    blocks: int
    best: Found | None = None
    first: ProgramError | BindingError | None = None
    ended: int = 0
    """Tries that took too long."""

    def tries(self, trial: Trial, most: int | None = None) -> bool | None:
        """Returns whether the function runs with the arguments of a trial; ``False`` where these have more than
        ``most`` storage units, ``None`` where it fails or takes too long."""
        if self.ended >= MOST_ENDED:
            return None
        try:
            with deadline(TRIAL_SECONDS if can_limit() else None, processor=True):
                return self._runs(trial, most)
        except TimedOut:
            if is_over():
                raise
            self.ended += 1
            long = f"a run with generated arguments takes longer than {TRIAL_SECONDS:g} s: --arg gives some of them"
            self.first = self.first or BindingError(long)
            return None

    def _runs(self, trial: Trial, most: int | None) -> bool | None:
        try:
            sizes = _sizes(self.kernel, self.known, self.missing, trial, self.blocks)
            given = [
                (one.name, _given(one, trial, self.seed + one.position, sizes.get(one.position)))
                for one in self.missing
            ]
            if most is not None and sum(math.prod(_shape(one)) for _, one in given) > most:
                return False
            buffers = [one.position for one in self.missing if isinstance(one.type, t.PtrType)]
            is_idle = bool(buffers) and all(sizes.get(one, 2) <= 1 for one in buffers)
            if self.best is not None and is_idle:
                return None
            self.kernel.run(values_of(self.kernel, self.known, dict(given)), self.blocks)
        except (ProgramError, BindingError) as error:
            self.first = self.first or error
            return None
        except MemoryError:
            self.first = self.first or BindingError("the generated arguments do not fit into memory")
            return None
        self.best = Found(given, is_idle)
        return True


def _sizes(
    kernel: Kernel,
    known: Mapping[str, Any],
    missing: Collection[Missing],
    trial: Trial,
    blocks: int,
    to_error: bool = False,
) -> dict[int, int]:
    """Storage units that a run accesses through each missing pointer, by position; with ``to_error`` before its
    error, if it has one."""
    trial = trial._replace(integers="ones" if trial.integers == "ones" else "zeros")
    sizes = {one.position: size for one in missing if (size := _on_chip_units(kernel, one.type)) is not None}
    given = {one.name: _given(one, trial, 0, sizes.get(one.position, 1)) for one in missing}
    units: dict[int, int] = {}
    for one in missing:
        fmt = argument_format(one.type)
        if isinstance(one.type, t.PtrType) and one.position not in sizes and fmt is not None:
            units[one.position] = fmt.storage.itemsize
    if not units:
        return sizes
    number = int(trial.integers == "ones")
    wanted = wanted_bytes(kernel, values_of(kernel, known, given), blocks, number, to_error)
    return sizes | {position: max(-(-wanted[position] // unit), 1) for position, unit in units.items()}


def _on_chip_units(kernel: Kernel, type_: Attribute) -> int | None:
    """Storage units of a whole memory of the chip for a pointer into one, which nothing could grow beyond."""
    space = (space_of(type_) or "gm") if isinstance(type_, t.PtrType) else "gm"
    fmt = argument_format(type_)
    if space == "gm" or fmt is None:
        return None
    return max((kernel.profile.capacity.get(space) or 0) // fmt.storage.itemsize, 1)


def first_arguments(kernel: Kernel, known: Mapping[str, Any], seed: int, blocks: int) -> list[tuple[str, Given]]:
    """Returns the values that are tried first for the arguments that are not ``known``, with buffers of the bytes that
    a run accesses before its error. Raises ``ProgramError`` or ``BindingError`` where nothing runs."""
    trial, missing = Trial(NUMBERS[0], INTEGERS[0]), _missing(kernel, known)
    with redirect_stdout(StringIO()):
        sizes = _sizes(kernel, known, missing, trial, blocks, to_error=True)
    return [(one.name, _given(one, trial, seed + one.position, sizes.get(one.position))) for one in missing]


def zeros_of(kernel: Kernel, numbers: Mapping[str, int], blocks: int) -> list[Any]:
    """Returns the call of ``kernel`` with these ``numbers``, by argument, and zeros in all others: buffers of the bytes
    that the call touches, and at least ``LEAST_BYTES``. The call need not end well; without ``blocks`` it is not run.

    Raises ``BindingError`` where no array of that size is made, and ``ProgramError`` where nothing runs.
    """
    trial = Trial(NUMBERS[0], "zeros")
    missing: list[Missing] = []
    known: dict[str, Any] = {}
    for place, (name, type_) in enumerate(kernel.arguments):
        if argument_format(type_) is not None:
            missing.append(Missing(place, name, type_, None))
        elif launcher_value(name, type_) is None:
            known[name] = bool(numbers.get(name, 0)) if _is_truth(type_) else numbers.get(name, 0)
    sizes = _sizes(kernel, known, missing, trial, blocks, to_error=True)
    for one in missing:
        if one.position in sizes:
            fmt = argument_format(one.type)
            assert fmt is not None
            sizes[one.position] = max(sizes[one.position], LEAST_BYTES // fmt.storage.itemsize)
    return values_of(kernel, known, {one.name: _given(one, trial, 0, sizes.get(one.position)) for one in missing})


def values_of(kernel: Kernel, known: Mapping[str, Any], given: Mapping[str, Given]) -> list[Any]:
    """Returns what the kernel is called with; known arrays are copied, because a try writes into them."""
    values: list[Any] = []
    for name, type_ in kernel.arguments:
        if name in known:
            values.append(copied(known[name]))
        elif name not in given:
            values.append(launcher_value(name, type_))
        else:
            values.append(_value(type_, given[name]))
    return values


def _shape(given: Given) -> Sequence[int]:
    return given.content.shape if isinstance(given.content, Generated) else ()


def _value(type_: Attribute, given: Given) -> Any:
    content = given.content
    if isinstance(content, Number):
        return content.value
    fmt = part_of(type_) or argument_format(type_)
    assert isinstance(content, Generated) and fmt is not None
    return generate(content, fmt)


def _is_number(type_: Attribute) -> bool:
    return isinstance(type_, (IntegerType, IndexType)) and not _is_truth(type_)


def _is_truth(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType) and type_.width.data == 1


def _holds_integers(type_: Attribute) -> bool:
    fmt = argument_format(type_)
    return fmt is not None and not fmt.is_float


def _is_open(type_: Attribute) -> bool:
    return isinstance(type_, (t.ShapedView, MemRefType)) and t.DYNAMIC in t.shape_of(type_)


def _number(trial: Trial, most: int | None) -> int:
    """Returns the number of a trial, or the first of all that is at most ``most``."""
    return next(number for number in (trial.number, *NUMBERS) if most is None or number <= max(most, 0))


def _given(missing: Missing, trial: Trial, seed: int, size: int | None) -> Given:
    """Returns a value for an argument; ``size`` is that of a pointer's buffer in storage units."""
    type_ = missing.type
    if trial.alone not in (-1, missing.position):
        trial = trial._replace(number=1)
    if _is_truth(type_):
        return parse_given("true")
    fmt = argument_format(type_)
    if fmt is None:
        return parse_given(str(_number(trial, missing.most)) if _is_number(type_) else "1.0")
    shape = static_shape(type_)
    if shape is None and isinstance(type_, (t.ShapedView, MemRefType)):
        shape = tuple(trial.number if extent == t.DYNAMIC else extent for extent in t.shape_of(type_))
    if shape is None:
        shape = (size or 1,)
    if not 0 < math.prod(shape) * fmt.bytes <= MOST_BYTES:
        raise BindingError(f"no array of shape {shape_text(shape)} is generated")
    part = part_of(type_)
    if part is not None:
        # Vectors are made from single numbers.
        shape, fmt = (shape[0] * (fmt.bytes // part.bytes),), part
    kind = "random" if fmt.is_float else trial.integers
    if kind == "random" and math.prod(shape) > MOST_RANDOM:
        kind = "ones"
    text = f"{kind}:{fmt.name}:{shape_text(shape)}"
    return parse_given(f"{text}:seed={seed}" if kind == "random" else text)
