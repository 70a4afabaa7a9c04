"""Direct conversions give, bit for bit, what the steps that define a conversion give."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.kernels.tile.convert import Conversion, conversion
from pto_dialect.runtime.numerics import direct as module
from pto_dialect.runtime.numerics.direct import TableConversion, added, by_steps, cast, checked_cast, direct, rounded
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.targets.tcvt_pairs import A5_TCVT_PAIRS

LETTERS = "RAFCZO"
PAIRS = [(s, t) for s, targets in A5_TCVT_PAIRS.items() for t in sorted(targets)]
PAIRS += [("ui16", "f16"), ("ui16", "f32"), ("i32", "f16"), ("ui64", "f32"), ("f16", "bf16"), ("i8", "ui8")]
PLAIN = [(s, t) for s, t in PAIRS if not (format_of(s).is_packed or format_of(t).is_packed or s == t)]


def singles(*values: float) -> np.ndarray[Any, Any]:
    """One row of float32."""
    return np.array([values], np.float32)


def sources(name: str) -> list[np.ndarray[Any, Any]]:
    """All values of a source of at most 16 bits; of wider ones those near powers of two, random ones, special ones."""
    fmt = format_of(name)
    if fmt.bits <= 16:
        return [np.arange(1 << fmt.bits, dtype=f"u{fmt.bytes}").view(fmt.storage).reshape(-1, 16)]
    rng = np.random.default_rng(7)
    if not fmt.is_float:
        near = [sign * (1 << bits) + step for bits in range(64) for step in range(-2, 3) for sign in (1, -1)]
        values = [value for value in near if fmt.min_value <= value <= fmt.max_value]
        return [np.array(values, fmt.storage).reshape(1, -1), np.arange(128).astype(fmt.storage).reshape(8, 16)]
    steps = np.array([0, 0.25, 0.5, 0.75, 1, 1.5, -0.5], np.float32)
    powers = (np.ldexp(np.float32(1), np.arange(-30, 70))[:, None] * singles(1, -1)).reshape(-1, 1)
    near = np.concatenate([powers + steps, np.nextafter(powers, np.float32(0)), np.nextafter(powers, np.inf)], axis=1)
    special = np.array([[np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, -1e-45, 3e38]], np.float32)
    inside = (rng.random((64, 128), np.float32) - 0.5) * 200
    ties = (np.arange(-128, 128) / 2).astype(np.float32).reshape(16, 16)
    large = singles(32767.49, 32767.5, -32768.5, 20000), singles(2147483520, 2147483648, -2147483648, 0)
    near_limit = singles(32767, 32766.7, -32768), singles(2147483520, -2147483648), singles(180, 180, 180)
    odd = inside.copy()
    odd[5, 7] = np.nan
    bits = rng.integers(0, 1 << 32, (64, 128), np.uint64).astype(np.uint32).view(np.float32)
    found = [near, special, inside, ties, *large, *near_limit, odd, bits, inside.repeat(2, axis=0)]
    return [values.astype(np.float32) for values in found]


def bits_of(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of an array."""
    return np.ascontiguousarray(values).view(np.uint8)


@in_groups(("source", "target"), PLAIN, "_".join)
def test_every_conversion_gives_the_bits_of_its_definition(source: str, target: str) -> None:
    have, want = format_of(source), format_of(target)
    for letter, saturate in product(LETTERS, (False, True)):
        if letter != "R" and have.name in ("i64", "ui64") and want.name == "f64":
            continue
        convert = conversion(have, want, letter, saturate)
        for values in sources(source):
            with np.errstate(all="ignore"):
                expected = by_steps(values, have, want, letter, saturate)
                # The second time there may be a table.
                for _ in range(2):
                    found = np.full(values.shape, 1, want.storage)
                    convert(values, found)
                    np.testing.assert_array_equal(bits_of(found), bits_of(expected), f"{letter} {saturate}")


@pytest.mark.parametrize(("source", "target"), [p for p in PLAIN if format_of(p[0]).bytes == format_of(p[1]).bytes])
def test_results_may_lie_in_the_memory_of_the_source(source: str, target: str) -> None:
    have, want = format_of(source), format_of(target)
    for values in sources(source):
        with np.errstate(all="ignore"):
            expected = by_steps(values, have, want, "R", True)
            for shift in (0, 1):
                memory = np.zeros(values.size + 1, have.storage)
                memory[: values.size] = values.reshape(-1)
                out = memory[shift:][: values.size].view(want.storage).reshape(values.shape)
                conversion(have, want, "R", True)(memory[: values.size].reshape(values.shape), out)
                np.testing.assert_array_equal(bits_of(out), bits_of(expected))


@pytest.mark.parametrize("name", ["f32", "bf16", "i32", "f16"])
def test_parts_of_wider_tiles_are_converted(name: str) -> None:
    have, want = format_of(name), format_of("i16")
    wide = np.arange(4 * 32).reshape(4, 32).astype(have.storage)
    out = np.zeros((4, 32), np.int16)
    conversion(have, want, "R", True)(wide[:, :20], out[:, :20])
    assert (out[:, :20] == wide[:, :20].astype(np.int64)).all() and not out[:, 20:].any()


def made_by(convert: object) -> str:
    """The function that has made a conversion."""
    return convert.__qualname__.partition(".")[0]  # pyright: ignore[reportAttributeAccessIssue]


def test_pairs_have_the_conversion_that_was_measured_for_them() -> None:
    def found(source: str, target: str, letter: str = "R", saturate: bool = True) -> object:
        have, want = format_of(source), format_of(target)
        return direct(have, want, letter, saturate, Conversion(have, want, letter, saturate))

    assert (
        found("i32", "f32")
        is found("i16", "i32")
        is found("bf16", "f32")
        is found("i32", "i16", saturate=False)
        is cast
    )
    assert found("i32", "f32", "Z") is None and found("ui16", "f16") is None
    assert made_by(found("i16", "ui8")) == "clamped"
    assert made_by(found("f32", "i16")) == "added" and made_by(found("f32", "i16", "F")) == "rounded"
    assert made_by(found("f32", "ui8")) == made_by(found("bf16", "i64", "F")) == "rounded"
    assert made_by(found("bf16", "i32", "F")) == made_by(found("f32", "i32")) == "checked_cast"
    assert isinstance(found("f16", "ui8"), TableConversion) and isinstance(found("bf16", "i32", "O"), TableConversion)
    assert found("f32", "f16") is None and found("f4E1M2x2", "bf16") is None and found("i1", "i8") is None


def test_a_table_is_made_when_it_pays() -> None:
    have, want = format_of("f16"), format_of("i8")
    calls: list[int] = []

    def rest(values: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
        calls.append(values.size)
        out[...] = by_steps(values, have, want, "R", True)

    looked = TableConversion(have, want, "R", True, rest)
    values, out = np.ones((128, 128), np.float16), np.zeros((128, 128), np.int8)
    for _ in range(6):
        looked(values, out)
    assert calls == [128 * 128] * 3 and (out == 1).all()


def test_numbers_out_of_range_take_the_steps() -> None:
    have, want = format_of("f32"), format_of("i32")
    calls: list[int] = []
    convert = rounded(have, want, "R", lambda values, out: calls.append(values.size))
    out = np.zeros((1, 2), np.int32)
    for values, steps in (([2147483520.0, -2147483648.0], 0), ([2147483648.0, 0.0], 1), ([np.nan, 0.0], 2)):
        convert(singles(*values), out)
        assert len(calls) == steps


def test_low_bits_of_sums_are_taken_of_arrays_in_order_whose_numbers_fit() -> None:
    want, size = format_of("i16"), 4 * 32
    calls: list[int] = []
    convert = added(want, lambda values, out: calls.append(values.size))
    memory, out = np.zeros((4, 64), np.float32), np.zeros((4, 32), np.int16)
    ties = np.arange(-size, size, 2).astype(np.float32).reshape(4, 32) / 4
    values = ties.copy()
    for step in range(3):
        # The array stays, its content does not.
        values += step
        convert(values, out)
        wanted = [[round(float(x)) for x in row] for row in values]
        assert out.tolist() == wanted and calls == []
    memory[:, :32] = ties
    convert(memory[:, :32], out)
    assert calls == [size]
    for number in (32768.0, -40000.0, np.nan, np.inf):
        values[2, 3] = number
        convert(values, out)
    assert calls == [size] * 5
    values[...] = ties
    convert(values, out)
    assert calls == [size] * 5 and out.tolist() == [[round(float(x)) for x in row] for row in ties]


def test_casts_that_report_what_does_not_fit_do_not_scan_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(values: np.ndarray[Any, Any], *key: Any) -> np.ndarray[Any, Any]:
        calls.append(values.size)
        return by_steps(values, *key)

    monkeypatch.setattr(module, "by_steps", counted)
    convert = checked_cast(format_of("f32"), format_of("i32"), "R", True)
    out = np.zeros((1, 2), np.int32)
    for values, steps in (([2147483520.0, -2147483648.0], 0), ([2147483648.0, 0.5], 1), ([np.nan, 0.5], 2)):
        convert(singles(*values), out)
        assert len(calls) == steps
    assert out.tolist() == [[0, 0]] and np.geterr()["invalid"] != "raise"


def test_without_such_casts_numbers_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    have, want = format_of("f32"), format_of("i32")
    monkeypatch.setattr(module, "_cast_in_range", lambda whole, out: True)
    module._cast_signals_range.cache_clear()
    assert made_by(direct(have, want, "R", True, Conversion(have, want, "R", True))) == "rounded"
    module._cast_signals_range.cache_clear()
