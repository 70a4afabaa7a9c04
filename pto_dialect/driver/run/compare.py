"""Results against what was expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format

from ..aligned import aligned
from .arrays import fitted, load, stated_format
from .binding import Bound
from .elements import is_bit_pattern, same_elements, to_values
from .memory_budget import MemoryBudget
from .outputs import Output, Place, scalar_array
from .value_text import Content, Elements, Number, Shape, Stored, shape_text

SHOWN = 10
"""Mismatches that are listed."""

_KEPT = 1 << 26
"""Maximum size in bytes of an argument that is copied to determine what the run has left unchanged."""

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-3, "bf16": 1e-2, "bf16x2": 1e-2}
"""Default of both tolerances by element type of the result; 0 for the others."""


class Tolerance(NamedTuple):
    """``|got - want| <= absolute + relative * |want|`` passes; ``None``: the default of the element type."""

    relative: float | None = None
    absolute: float | None = None

    def of(self, fmt: Format) -> tuple[float, float]:
        """Relative and absolute tolerance for results of a type; integers are always compared exactly."""
        if not fmt.is_float:
            return 0.0, 0.0
        default = TOLERANCE.get(fmt.name, 0.0)
        return (
            default if self.relative is None else self.relative,
            default if self.absolute is None else self.absolute,
        )


class Judgement(NamedTuple):
    """How a result is compared: within ``tolerance``, or, if ``exact``, bit by bit.

    ``equal_nan`` lets NaN pass where NaN is expected. Only the first ``valid`` elements of each axis count
    (``None``: all).
    """

    tolerance: Tolerance = Tolerance()
    equal_nan: bool = True
    exact: bool = False
    valid: Shape | None = None


PLAIN = Judgement()
"""All elements, within the tolerances of their type."""


class Expected(NamedTuple):
    """Expected contents of a location: an array of its logical shape, or one number for every element.

    ``bits`` are the corresponding storage units, where the comparison is exact; ``before`` are the contents before the
    run, where known.
    """

    place: Place
    values: Array
    text: str
    judgement: Judgement = PLAIN
    bits: Array | None = None
    before: Array | None = None


def with_starts(expected: Sequence[Expected], bound: Sequence[Bound]) -> list[Expected]:
    """Returns the same, with what arguments hold now unless they are large."""
    found: list[Expected] = []
    for one in expected:
        value = None if one.place.is_result else bound[one.place.number].value
        if isinstance(value, np.ndarray) and value.nbytes <= _KEPT:
            found.append(one._replace(before=value.copy()))
        else:
            found.append(one)
    return found


def expectation(
    place: Place, content: Content, judgement: Judgement = PLAIN, budget: MemoryBudget | None = None
) -> Expected:
    """Reads what ``place`` should hold.

    Elements may be of any number type; unsigned integers stand for the bits of a type that numpy does not
    have. A file may hold the valid region alone. Raises ``BindingError`` for unreadable files, other shapes, and
    elements of another type where bits are to be compared.
    """
    try:
        whole, place = place.shape, _valid(place, judgement.valid)
        if isinstance(content, Number):
            bits = scalar_array(content.value, place.fmt) if judgement.exact else None
            return Expected(place, np.array(content.value), content.text, judgement, bits)
        stated = stated_format(content)
        as_bits = is_bit_pattern(place.fmt) if stated is None else same_elements(stated, place.fmt)
        array, fmt = _load(content, place.fmt, as_bits, budget)
        if judgement.valid is not None and array.shape == whole:
            array = array[tuple(slice(extent) for extent in judgement.valid)]
        packing, wanted = place.fmt.elements // fmt.elements, place.shape
        if packing > 1 and array.shape[-1:] == (wanted[-1] * packing,):
            wanted = (*wanted[:-1], wanted[-1] * packing)
        array = fitted(array, content, wanted)
        bits = _bits(array, fmt, content, place) if judgement.exact else None
        return Expected(place, to_values(array, fmt), content.text, judgement, bits)
    except BindingError as error:
        raise BindingError(f"expectation of {place.name}: {error}") from None


def _valid(place: Place, valid: Shape | None) -> Place:
    """Returns ``place`` cut to its valid region."""
    if valid is None:
        return place
    if len(valid) != len(place.shape) or any(v > n for v, n in zip(valid, place.shape, strict=True)):
        raise BindingError(f"valid region {shape_text(valid)} does not lie in {shape_text(place.shape)} elements")
    return place._replace(shape=valid)


def _bits(array: Array, fmt: Format, content: Content, place: Place) -> Array:
    if not same_elements(fmt, place.fmt):
        raise BindingError(f"'{content.text}' holds {fmt.name} elements, an exact comparison needs {place.fmt.name}")
    return np.ascontiguousarray(array).view(place.fmt.storage)


def _load(content: Elements, needed: Format, as_bits: bool, budget: MemoryBudget | None) -> tuple[Array, Format]:
    if as_bits and isinstance(content, Stored):
        if content.element is not None:
            return load(content, needed, budget)
        # Nothing is stated: bits of the type itself, or the values as another type.
        try:
            return load(content, needed, budget)
        except BindingError:
            return load(content, None, budget)
    array, fmt = load(content, None, budget)
    if content.element is None and fmt.kind == "uint" and needed.is_float and fmt.bytes == needed.bytes:
        raise BindingError(
            f"'{content.text}' holds {array.dtype} elements; if they are the bits of {needed.name},"
            f" write {content.text}:{needed.name}"
        )
    return array, fmt


def mismatches_of(expected: Sequence[Expected], value: Callable[[Place], Output]) -> list[str]:
    """Reports of the expectations that were not met."""
    reports = [mismatch_report(one, value(one.place)) for one in expected]
    return [report for report in reports if report is not None]


def mismatch_report(expected: Expected, output: Output) -> str | None:
    """Returns what differs, as text with the first mismatches; ``None`` when nothing does."""
    judgement = expected.judgement
    if judgement.valid is not None:
        output = output._replace(array=output.array[tuple(slice(extent) for extent in judgement.valid)])
    got = np.atleast_1d(to_values(output.array, output.fmt))
    want = np.atleast_1d(expected.values)
    if want.shape != got.shape:
        if want.size != 1:
            return f"{output.name} has shape {shape_text(got.shape)}, {expected.text} {shape_text(want.shape)}\n"
        want = np.broadcast_to(want, got.shape)
    relative, absolute = (0.0, 0.0) if judgement.exact else judgement.tolerance.of(output.fmt)
    if expected.bits is not None:
        wrong = _other_bits(output, expected.bits, got.shape)
    else:
        wrong = _wrong(got, want, relative, absolute)
        if not judgement.equal_nan and want.dtype.kind == "f":
            wrong |= np.isnan(want)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    if output.fmt.is_float:
        limits = f" by more than {absolute:g} + {relative:g} * |want|" if relative or absolute else ""
    else:
        limits = ""
    lines = [f"{output.name} differs from {expected.text}: {count} of {got.size} elements{limits}"]
    lines += _table(got, want, wrong)
    if count > SHOWN:
        lines.append(f"  and {count - SHOWN} more")
    lines += [*_largest(got, want, wrong), *_untouched(wrong, output, expected.before)]
    return "\n".join(lines) + "\n"


def _wrong(got: Array, want: Array, relative: float, absolute: float) -> Array:
    with np.errstate(all="ignore"):
        if got.dtype.kind in "biu" and want.dtype.kind in "biu":
            # Sign and bits separately: numpy has no type that holds both int64 and uint64.
            return ((got < 0) != (want < 0)) | (got.astype(np.uint64) != want.astype(np.uint64))
        a, b = got.astype(np.float64), want.astype(np.float64)
        near = np.abs(a - b) <= absolute + relative * np.abs(b)
        return ~((near & np.isfinite(b)) | (a == b) | (np.isnan(a) & np.isnan(b)))


def _other_bits(output: Output, bits: Array, shape: Shape) -> Array:
    unsigned = f"u{output.fmt.bytes}"
    different = np.ascontiguousarray(output.array).view(unsigned) != np.ascontiguousarray(bits).view(unsigned)
    # A packed unit holds several numbers; all of them are shown when it differs.
    return np.repeat(np.atleast_1d(different), output.fmt.elements, axis=-1).reshape(shape)


def _table(got: Array, want: Array, wrong: Array) -> list[str]:
    rows = [("index", "got", "want", "error")]
    for index in np.argwhere(wrong)[:SHOWN]:
        place = tuple(index)
        a, b = got[place].item(), want[place].item()
        rows.append((_index(place), str(got[place]), str(want[place]), f"{a - b:.6g}"))
    return aligned(rows, "<<<<", "  ")


def _index(place: tuple[int, ...]) -> str:
    return "[" + ", ".join(str(int(i)) for i in place) + "]"


def _largest(got: Array, want: Array, wrong: Array) -> list[str]:
    """Returns the largest finite errors, absolute and relative, with their positions."""
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), want.astype(np.float64)
        error = np.where(wrong & np.isfinite(a) & np.isfinite(b), np.abs(a - b), 0.0)
        parts = []
        for word, errors in (("absolute", error), ("relative", np.where(b != 0, error / np.abs(b), 0.0))):
            if errors.max() > 0:
                place = np.unravel_index(int(errors.argmax()), errors.shape)
                parts.append(f"largest {word} error {errors.max():.6g} at {_index(tuple(map(int, place)))}")
    return [f"  {', '.join(parts)}"] if parts else []


def _untouched(wrong: Array, output: Output, before: Array | None) -> list[str]:
    """Returns how many of the wrong elements hold what they held before the run, and the box around them; nothing if
    few do."""
    if before is None or output.fmt.elements > 1:
        return []
    now = np.atleast_1d(np.ascontiguousarray(output.array))
    kept = np.ascontiguousarray(np.atleast_1d(before)[tuple(map(slice, now.shape))])
    unsigned = f"u{now.itemsize}"
    same = wrong & (now.view(unsigned) == kept.view(unsigned)).reshape(wrong.shape)
    count = int(np.count_nonzero(same))
    if 2 * count < np.count_nonzero(wrong):
        return []  # A few of many have the same numbers by chance.
    box = ", ".join(f"{places.min()}:{places.max() + 1}" for places in np.nonzero(same))
    return [f"  {count} of them {'is' if count == 1 else 'are'} as before the run, in [{box}]"]
