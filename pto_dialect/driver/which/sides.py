"""Arrays bit by bit: the first element that differs, both values, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format

from ..run.compare import Expected, Tolerance
from ..run.elements import to_values
from ..run.outputs import Output


class Side(NamedTuple):
    """What an output holds: its numbers, and the storage units of each, where they are known."""

    name: str
    fmt: Format
    values: Array
    bits: Array | None


class Difference(NamedTuple):
    """The first element that differs: where, how many of how many do, both numbers and both bit patterns; ``ulp`` is
    how many steps of the format lie between the two, where it has an order. ``shown`` are the numbers for people."""

    name: str
    element: tuple[int, ...]
    differing: int
    size: int
    one: int | float | bool
    other: int | float | bool
    shown: tuple[str, str]
    bits: tuple[str, str] | None
    ulp: int | None

    @property
    def place(self) -> str:
        """The name with the index."""
        return f"%{self.name}" + (f"[{', '.join(map(str, self.element))}]" if self.element else "")

    def as_data(self) -> dict[str, object]:
        """Returns the same for JSON, which has no infinities and no NaN."""
        return {
            "name": self.name, "index": list(self.element), "differing": self.differing, "elements": self.size,
            "values": [_json_number(self.one), _json_number(self.other)],
            "bits": None if self.bits is None else list(self.bits), "ulp": self.ulp,
        }  # fmt: skip


def side_of(output: Output) -> Side:
    """Returns an output of a run."""
    values = to_values(output.array, output.fmt)
    units = np.ascontiguousarray(output.array).view(f"u{output.fmt.bytes}")
    # A packed unit holds several numbers; all of them are shown when it differs.
    bits = np.repeat(np.atleast_1d(units), output.fmt.elements, axis=-1).reshape(values.shape)
    return Side(output.name, output.fmt, values, bits)


def side_given(expected: Expected) -> Side:
    """Returns an array that the user has brought."""
    place, bits = expected.place, expected.bits
    if bits is None:
        return Side(place.name, place.fmt, np.broadcast_to(expected.values, _shape(expected)), None)
    return side_of(Output(place.name, place.fmt, np.broadcast_to(bits, place.shape)))


def _shape(expected: Expected) -> tuple[int, ...]:
    return expected.values.shape or expected.place.shape


def first_difference(ones: Sequence[Side], others: Sequence[Side], tolerance: Tolerance | None) -> Difference | None:
    """Returns where two runs differ: in a bit, or by more than ``tolerance``. All NaNs are equal, since no source
    defines their payloads. ``others`` may have fewer places."""
    known = {one.name: one for one in ones}
    for other in others:
        one = known.get(other.name)
        found = None if one is None else _difference(one, other, tolerance)
        if found is not None:
            return found
    return None


def _difference(one: Side, other: Side, tolerance: Tolerance | None) -> Difference | None:
    if one.values.shape != other.values.shape:
        return Difference(one.name, (), one.values.size, one.values.size, 0, 0, ("", ""), None, None)
    wrong = _wrong(one, other, tolerance)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    index = tuple(int(part) for part in np.argwhere(np.atleast_1d(wrong))[0]) if wrong.ndim else ()
    bits = None
    if one.bits is not None and other.bits is not None:
        bits = _hexadecimal(one, index), _hexadecimal(other, index)
    ulp = None if bits is None else _ulp(one.fmt, int(bits[0], 16), int(bits[1], 16))
    left, right = one.values[index], other.values[index]
    shown = str(left), str(right)
    return Difference(one.name, index, count, wrong.size, left.item(), right.item(), shown, bits, ulp)


def _wrong(one: Side, other: Side, tolerance: Tolerance | None) -> Array:
    a, b = one.values, other.values
    with np.errstate(all="ignore"):
        same = (a == b) if one.bits is None or other.bits is None else one.bits == other.bits
        if one.fmt.is_float:
            x, y = a.astype(np.float64), b.astype(np.float64)
            same = same | (np.isnan(x) & np.isnan(y))
            if tolerance is not None:
                relative, absolute = tolerance.of(one.fmt)
                same |= (np.abs(x - y) <= absolute + relative * np.abs(x)) & np.isfinite(x)
    return ~np.asarray(same)


def _hexadecimal(side: Side, index: tuple[int, ...]) -> str:
    assert side.bits is not None
    return f"0x{int(side.bits[index]):0{2 * side.fmt.bytes}x}"


def _ulp(fmt: Format, one: int, other: int) -> int | None:
    """Returns how many steps of the format lie between two bit patterns. Formats without a sign, and packed ones, have
    none."""
    if not fmt.is_float or fmt.is_packed or fmt.name.startswith("f8e8"):
        return None
    sign = 1 << (8 * fmt.bytes - 1)
    places = [-(bits - sign) if bits & sign else bits for bits in (one, other)]
    return abs(places[0] - places[1])


def _json_number(value: int | float | bool) -> int | float | bool | str:
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
