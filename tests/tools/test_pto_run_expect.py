"""`--expect`: what passes, what does not, and what is reported about it."""

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.driver.run.compare import Expected, Judgement, Tolerance, mismatch_report
from pto_dialect.driver.run.outputs import Output, Place
from pto_dialect.runtime.numerics.formats import format_of

Args = Callable[..., list[str]]

KEEP = "func.func @keep(%x: !pto.ptr<{}>) {{\n  return\n}}\n"

numbers = st.floats(allow_nan=True, allow_infinity=True, width=32)
small = st.sampled_from([0.0, 1e-6, 1e-3, 0.5])


def report(got: np.ndarray, want: np.ndarray, type_: str, relative: float | None, absolute: float | None) -> str | None:
    fmt = format_of(type_)
    expected = Expected(Place("c", 0, False, fmt, got.shape), want, "golden", Judgement(Tolerance(relative, absolute)))
    return mismatch_report(expected, Output("c", fmt, got))


def near(got: float, want: float, relative: float, absolute: float) -> bool:
    """The rule, one number at a time."""
    if math.isnan(got) or math.isnan(want):
        return math.isnan(got) and math.isnan(want)
    if math.isinf(got) or math.isinf(want):
        return got == want
    return abs(got - want) <= absolute + relative * abs(want)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20), small, small)
def test_float_rule(pairs: list[tuple[float, float]], relative: float, absolute: float) -> None:
    got, want = (np.array(column, np.float32) for column in zip(*pairs, strict=True))
    wrong = [i for i, (a, b) in enumerate(pairs) if not near(a, b, relative, absolute)]
    said = report(got, want, "f32", relative, absolute)
    if not wrong:
        assert said is None
        return
    assert said is not None
    lines = said.splitlines()
    assert lines[0].startswith(f"c differs from golden: {len(wrong)} of {len(pairs)} elements")
    assert [line.split()[0] for line in lines[2 : 2 + min(len(wrong), 10)]] == [f"[{i}]" for i in wrong[:10]]
    assert (f"  and {len(wrong) - 10} more" in lines) == (len(wrong) > 10)


@given(st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 2), min_size=1, max_size=8))
def test_integers_are_exact_whatever_the_tolerance(pairs: list[tuple[int, int]]) -> None:
    got, want = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    same = all(a == b for a, b in pairs)
    assert (report(got, want, "i64", 0.5, 1e9) is None) == same
    assert (report(got, want.view(np.uint64), "i64", None, None) is None) == (same and want.min() >= 0)


@pytest.mark.parametrize(
    ("type_", "dtype", "tolerance"),
    [
        ("f64", np.float64, 1e-12),
        ("f32", np.float32, 1e-5),
        ("f16", np.float16, 1e-3),
        ("bf16", ml_dtypes.bfloat16, 1e-2),
    ],
)
def test_default_tolerances(type_: str, dtype: type, tolerance: float) -> None:
    """Both tolerances default to the same number: around 1 they add up, near 0 the absolute one remains."""
    want = np.array([1.0, 0.0])
    inside = (want + tolerance * np.array([1.8, 0.9])).astype(dtype)
    outside = (want + tolerance * np.array([3.5, 1.1])).astype(dtype)
    assert report(inside, want, type_, None, None) is None
    said = report(outside, want, type_, None, None)
    assert said is not None
    assert said.startswith(
        f"c differs from golden: 2 of 2 elements by more than {tolerance:g} + {tolerance:g} * |want|"
    )


def test_eight_bit_floats_are_exact_by_default() -> None:
    got = np.array([1.0, 1.125], ml_dtypes.float8_e4m3fn)
    want = np.array([1.0, 1.0])
    assert report(got, want, "f8E4M3FN", None, None) is not None
    assert report(got, want, "f8E4M3FN", 0.0, 0.125) is None


def test_report_shows_numbers_locations_and_largest_errors() -> None:
    got = np.array([[1.5, 2, 3], [-4, 5, np.nan]], np.float32)
    want = np.array([[1.0, 2, 3], [4, 5, 6]], np.float64)
    assert report(got, want, "f32", 0.0, 0.25) == (
        "c differs from golden: 3 of 6 elements by more than 0.25 + 0 * |want|\n"
        "  index   got   want  error\n"
        "  [0, 0]  1.5   1.0   0.5\n"
        "  [1, 0]  -4.0  4.0   -8\n"
        "  [1, 2]  nan   6.0   nan\n"
        "  largest absolute error 8 at [1, 0], largest relative error 2 at [1, 0]\n"
    )


def test_integer_report_has_no_tolerance() -> None:
    said = report(np.array([1, 2], np.int8), np.array([1, 3]), "i8", None, None)
    assert said is not None
    assert said.splitlines()[0] == "c differs from golden: 1 of 2 elements"


# ---------------------------------------------------------------- through the command


@pytest.mark.parametrize("form", ["want.npy", "want.npz:w", "want.npz", "want.bin:f32", "want.bin:f32:4x8"])
def test_forms_of_expectations(pto_run, args: Args, form: str) -> None:
    want = np.full((4, 8), 2, np.float32)
    np.save("want.npy", want)
    np.savez("want.npz", w=want)
    want.tofile("want.bin")
    given_ = args(x="ones:f32:32", y="ones:f32:4x8", z="zeros:f32:4x8")
    pto_run.good("add", *given_, "--expect", f"z={form}", "--expect", "%z=2", "--expect", "1=1")
    want[3, 7] = 2.5
    np.save("want.npy", want)
    np.savez("want.npz", w=want)
    want.tofile("want.bin")
    said = pto_run.bad(1, "add", *given_, "--expect", f"z={form}")
    assert said.startswith(f"z differs from {form}: 1 of 32 elements")
    assert "\n  [3, 7]  2.0  2.5   -0.5\n" in said
    pto_run.good("add", *given_, "--expect", f"z={form}", "--atol", "0.5")
    pto_run.good("add", *given_, "--expect", f"z={form}", "--rtol", "0.2")
    pto_run.bad(1, "add", *given_, "--expect", f"z={form}", "--rtol", "0.1", "--atol", "0.2")


def test_summary_is_shown_before_the_mismatch(pto_run, args: Args) -> None:
    outcome = pto_run(
        "add",
        *args(x="ones:f32:32", y="ones:f32:32", z="zeros:f32:32"),
        "--expect",
        "z=1",
        "--out",
        "z=z.npy",
    )
    assert outcome.code == 1
    assert outcome.out == "z: f32 32, min 2, max 2, mean 2\n"
    assert outcome.err.startswith("z differs from 1: 32 of 32")
    assert "  and 22 more\n" in outcome.err


def test_every_expectation_is_reported(pto_run, args: Args) -> None:
    said = pto_run.bad(
        1, "add", *args(x="ones:f32:32", y="ones:f32:32", z="zeros:f32:32"),
        "--expect", "z=1", "--expect", "x=1", "--expect", "y=zeros:f32:32",
    )  # fmt: skip
    assert [line.split(":")[0] for line in said.splitlines() if "differs" in line] == [
        "z differs from 1",
        "y differs from zeros",
    ]


@pytest.mark.parametrize(("type_", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f8E5M2", ml_dtypes.float8_e5m2)])
def test_expected_values_or_bits(pto_run, args: Args, type_: str, dtype: type) -> None:
    """A float file holds values, unsigned integers of the storage size hold bits of the result's type."""
    values = np.array([1.5, -2, 0.25], dtype)
    bits = values.view(f"u{values.dtype.itemsize}")
    np.save("x.npy", bits)
    np.save("values.npy", values.astype(np.float32))
    np.save("void.npy", values.view(f"V{values.dtype.itemsize}"))
    given_ = args(x="x.npy")
    for want in ("x.npy", f"x.npy:{type_}", "values.npy", "void.npy"):
        pto_run.good(KEEP.format(type_), *given_, "--expect", f"x={want}")
    np.save("values.npy", values.astype(np.float32) + 1)
    pto_run.bad(1, KEEP.format(type_), *given_, "--expect", "x=values.npy")


def test_bits_of_types_that_numpy_has_must_be_stated(pto_run, args: Args) -> None:
    np.save("bits.npy", np.ones(3, np.float16).view(np.uint16))
    given_ = args(x="ones:f16:3")
    pto_run.good(KEEP.format("f16"), *given_, "--expect", "x=bits.npy:f16")
    said = pto_run.bad(2, KEEP.format("f16"), *given_, "--expect", "x=bits.npy")
    assert "if they are the bits of f16, write bits.npy:f16" in said


def test_packed_results_compare_with_logical_values(pto_run, args: Args) -> None:
    np.save("x.npy", np.array([[0x21, 0x43]], np.uint8))  # low nibble first: 0.5, 1, 1.5, 2
    np.save("want.npy", np.array([[0.5, 1, 1.5, 2]], np.float32))
    given_ = args(x="x.npy")
    pto_run.good(KEEP.format("!pto.f4E2M1x2"), *given_, "--expect", "x=want.npy", "--expect", "x=x.npy")
    np.save("want.npy", np.array([[0.5, 1, 1.5, 3]], np.float32))
    said = pto_run.bad(1, KEEP.format("!pto.f4E2M1x2"), *given_, "--expect", "x=want.npy")
    assert "\n  [0, 3]  2.0  3.0" in said


def test_what_the_run_has_left_as_it_was_is_reported() -> None:
    before = np.array([[9, 2, 0], [7, np.nan, 0], [7, 7, 0]], np.float32)
    now = np.array([[9, 2, 1], [7, np.nan, 2], [8, 7, 3]], np.float32)
    want = np.array([[9, 3, 1], [5, 5, 2], [5, 5, 4]], np.float32)
    fmt = format_of("f32")
    expected = Expected(Place("c", 0, False, fmt, now.shape), want, "golden", before=before)
    said = mismatch_report(expected, Output("c", fmt, now))
    assert said is not None
    assert said.splitlines()[0].startswith("c differs from golden: 6 of 9 elements")
    assert said.splitlines()[-1] == "  4 of them are as before the run, in [0:3, 0:2]"
    assert mismatch_report(expected._replace(values=now), Output("c", fmt, now)) is None
    two = np.where(np.arange(9).reshape(3, 3) < 4, now, 100)
    by_chance = mismatch_report(expected._replace(before=two), Output("c", fmt, now))
    assert by_chance is not None
    assert "before" not in by_chance


def test_a_program_that_stores_too_little_is_reported(pto_run, args: Args) -> None:
    said = pto_run.bad(1, KEEP.format("f32"), *args(x="ones:f32:4x8"), "--expect", "x=7")
    assert "  32 of them are as before the run, in [0:4, 0:8]" in said.splitlines()
