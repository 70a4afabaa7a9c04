"""The calls of a launch on arrays of its own, bound to the arguments of each launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from pto_dialect.accel.replay.batch import Area, Call, Layout, Operand
from pto_dialect.accel.replay.steps import PLAIN, Foreign, Style
from pto_dialect.runtime.memory.spaces import CACHE_LINE, Array

MOST_BYTES = 1 << 26
"""Bytes that the values of one launch may take between two launches."""


_Slot = tuple[list[Any], int]
"""Where a call has one of its arrays: in which list of values, and at which index."""


class Plan:
    """What is done in a launch: ``run`` with the bytes of the arguments."""

    def __init__(self, layout: Layout) -> None:
        calls = _ordered(layout.calls)
        arrays = _Arrays(layout, calls)
        self._calls: list[tuple[Callable[..., Any], list[Any]]] = []
        self._places: dict[Operand, list[_Slot]] = {}
        self._written = {call.target.area.number for call in calls if call.target.area.given}
        for call in calls:
            self._add(call, arrays)
        self._series = _in_series(self._places)
        self._reach = _reach(self._places)

    def _add(self, call: Call, arrays: _Arrays) -> None:
        function, operands = call.function, [arrays.placed(x) if isinstance(x, Operand) else x for x in call.operands]
        values: list[Any] = [arrays.array(x) if isinstance(x, Operand) else x for x in operands]
        places = list(range(len(values)))
        if call.style is Style.ROWS:
            function, values, places = function.reduce, [values[0], -1, None, values[1], True], [0, 3]
        elif call.style is Style.SAME:
            values, places = [values[1], values[0]], [1, 0]
        for number, operand in zip(places, operands, strict=True):
            if isinstance(operand, Operand) and operand.area.given:
                self._places.setdefault(operand, []).append((values, number))
        self._calls.append((function, values))

    def fits(self, buffers: Sequence[Array]) -> bool:
        """Returns True for arguments that have all that is accessed, and of which those that are written share no
        memory with others."""
        if any(buffers[number].nbytes < nbytes for number, nbytes in self._reach):
            return False
        for number in self._written:
            one = buffers[number]
            for other in buffers:
                if other is not one and np.may_share_memory(one, other):
                    return False
            if sum(other is one for other in buffers) > 1:
                return False
        return True

    def run(self, buffers: Sequence[Array]) -> None:
        """Executes the launch on these arguments, arrays with contiguous elements."""
        for (area, offset, shape, strides, dtype), places in self._series:
            # The parts of an array take a fifth of the time that an array of each would.
            for array, slots in zip(
                np.ndarray(shape, dtype, buffers[area.number], offset, strides), places, strict=True
            ):
                for values, number in slots:
                    values[number] = array
        try:
            for function, values in self._calls:
                function(*values)
        finally:
            # The arguments belong to the caller.
            for slots in self._places.values():
                for values, number in slots:
                    values[number] = None

    @property
    def count(self) -> int:
        """How many calls there are."""
        return len(self._calls)


def _reach(places: Iterable[Operand]) -> list[tuple[int, int]]:
    """Returns the arguments that have some of these arrays, with the end of the last byte of any."""
    found: dict[int, int] = {}
    for operand in places:
        number = operand.area.number
        found[number] = max(found.get(number, 0), _span(operand)[1])
    return list(found.items())


def _in_series(places: Mapping[Operand, list[_Slot]]) -> list[tuple[Operand, list[list[_Slot]]]]:
    """Returns the arrays of the arguments as parts of larger ones, which have them along their first axis: evenly
    spaced arrays of one shape are one of these."""
    alike: dict[Any, list[Operand]] = {}
    for operand in places:
        alike.setdefault((operand.area, *operand[2:]), []).append(operand)
    found: list[tuple[Operand, list[list[_Slot]]]] = []
    for operands in alike.values():
        operands.sort(key=attrgetter("offset"))
        while operands:
            first, distance = operands[0], operands[1].offset - operands[0].offset if len(operands) > 1 else 0
            count = next((n for n, x in enumerate(operands) if x.offset != first.offset + n * distance), len(operands))
            whole = first._replace(shape=(count, *first.shape), strides=(distance, *first.strides))
            found.append((whole, [places[operand] for operand in operands[:count]]))
            del operands[:count]
    return found


class _Arrays:
    """Memory of the values: areas share it where their times do not overlap."""

    def __init__(self, layout: Layout, calls: Sequence[Call]) -> None:
        self._moved = _in_arguments(layout, calls)
        self._bytes: dict[int, Array] = {
            number: np.ascontiguousarray(values).reshape(-1).view(np.uint8)
            for number, values in layout.constants.items()
        }
        last = {area.number: index for index, call in enumerate(calls) for area in call.reads if not area.given}
        free: dict[int, list[Array]] = {}
        total = 0
        for index, call in enumerate(calls):
            ended = [area for area in call.reads if not area.given and last[area.number] == index]
            area = self.placed(call.target).area
            fresh = not area.given and area.number not in self._bytes
            size = layout.sizes[area.number] if fresh else 0
            if fresh and _in_place(call):
                for given in ended:
                    if (
                        given.number in self._bytes
                        and given.number not in layout.constants
                        and self._replaces(call, given, size)
                    ):
                        self._bytes[area.number] = self._bytes[given.number]
                        ended.remove(given)
                        fresh = False
                        break
            if fresh:
                known = free.get(size)
                if known:
                    self._bytes[area.number] = known.pop()
                else:
                    total += size
                    if total > MOST_BYTES:
                        raise Foreign("too much memory")
                    self._bytes[area.number] = _memory(size)
            for given in ended:
                if given.number not in layout.constants and given.number not in self._moved:
                    content = self._bytes[given.number]
                    free.setdefault(content.nbytes, []).append(content)

    def _replaces(self, call: Call, given: Area, size: int) -> bool:
        """Returns True when the result may lie where an operand lies that nobody reads any more."""
        content = self._bytes[given.number]
        same = [x for x in call.operands[:-1] if isinstance(x, Operand) and x.area == given]
        target = call.target
        return content.nbytes == size and all(
            (x.offset, x.shape, x.strides, x.dtype) == (target.offset, target.shape, target.strides, target.dtype)
            for x in same
        )

    def placed(self, operand: Operand) -> Operand:
        """Returns the operand in its final memory: some values are in arguments meanwhile."""
        return operand if operand.area.given else self._moved.get(operand.area.number, operand)

    def array(self, operand: Operand) -> Any:
        """Returns the array of an operand; ``None`` for one in an argument."""
        area, offset, shape, strides, dtype = operand
        if area.given:
            return None
        return np.ndarray(shape, dtype, self._bytes[area.number], offset, strides)


@dataclass
class _FreePart:
    """A part of an argument that the call ``until`` writes; before, other values may be in it from ``since`` on."""

    place: Operand
    until: int
    since: int = -1


def _in_arguments(layout: Layout, calls: Sequence[Call]) -> dict[int, Operand]:
    """Areas in arguments where a value of the same shape is stored later: less memory to access."""
    uses: dict[int, list[tuple[int, Operand]]] = {}
    free_parts: dict[Any, list[_FreePart]] = {}
    for index, call in enumerate(calls):
        for operand in call.operands:
            if isinstance(operand, Operand) and not operand.area.given:
                uses.setdefault(operand.area.number, []).append((index, operand))
        target = call.target
        if target.area.given and _in_place(call):
            free_parts.setdefault((target.shape, target.strides, target.dtype), []).append(_FreePart(target, index))
    found: dict[int, Operand] = {}
    for number, places in uses.items():
        (first, view), (last, _) = places[0], places[-1]
        if number in layout.constants or any(operand != view for _, operand in places):
            continue
        for room in free_parts.get((view.shape, view.strides, view.dtype), ()):
            before = room.since < first or (room.since == first and _in_place(calls[first]))
            if before and last <= room.until:
                found[number], room.since = room.place, last
                break
    return found


def _in_place(call: Call) -> bool:
    return call.style is Style.EACH and call.function in PLAIN


def _memory(nbytes: int) -> Array:
    whole = np.zeros(nbytes + CACHE_LINE, np.uint8)
    start = -whole.__array_interface__["data"][0] % CACHE_LINE
    return whole[start : start + nbytes]


def _ordered(calls: Sequence[Call]) -> list[Call]:
    """Returns the same calls, those first on whose results the first stores depend: so values are read while they are
    near."""
    writers: dict[Area, list[tuple[int, int, int]]] = {}
    for index, call in enumerate(calls):
        writers.setdefault(call.target.area, []).append((index, *_span(call.target)))
    done: set[int] = set()
    found: list[Call] = []
    late: list[Call] = []
    for root, call in enumerate(calls):
        if not call.target.area.given:
            continue
        pending = [(root, False)]
        while pending:
            index, ready = pending.pop()
            if index in done:
                continue
            if ready:
                done.add(index)
                (late if calls[index].late else found).append(calls[index])
                continue
            pending.append((index, True))
            read = {x for x in calls[index].operands[:-1] if isinstance(x, Operand) and not x.area.given}
            for operand in sorted(read, key=attrgetter("area", "offset"), reverse=True):
                low, high = _span(operand)
                pending += [
                    (other, False)
                    for other, first, last in writers.get(operand.area, ())
                    if first < high and low < last and other not in done and other != index
                ]
    return found + late


def _span(operand: Operand) -> tuple[int, int]:
    """Returns the bytes of its area between which an array lies."""
    ways = [(extent - 1) * stride for extent, stride in zip(operand.shape, operand.strides, strict=True)]
    low = operand.offset + sum(way for way in ways if way < 0)
    return low, operand.offset + sum(way for way in ways if way > 0) + operand.dtype.itemsize
