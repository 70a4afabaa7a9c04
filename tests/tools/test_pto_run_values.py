"""Every form of VALUE: how it is read, which array it is for, and what is stored in which file."""

from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_dialect.driver.run.arrays import generate, load
from pto_dialect.driver.run.elements import element_format, is_bit_pattern, to_saved, to_storage, to_values
from pto_dialect.driver.run.value_text import (
    Generated,
    Given,
    Number,
    OutputFile,
    Stored,
    ValueTextError,
    parse_content,
    parse_given,
    parse_output,
    split_assignment,
)
from pto_dialect.runtime.numerics.formats import FORMATS

Args = Callable[..., list[str]]

IN_MEMORY = sorted(name for name, fmt in FORMATS.items() if not fmt.compute_only and name != "index")
"""Element types that buffers can have."""

KEEP = "func.func @keep(%x: !pto.ptr<{}>) {{\n  return\n}}\n"
"""A program that leaves its buffer alone."""


def pointer_element(name: str) -> str:
    """The element type as a program writes it."""
    custom = ("hif8", "hif8x2", "bf16x2", "f4E1M2x2", "f4E2M1x2", "f8E8M0")
    return f"!pto.{name}" if name in custom else name


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-5", -5), ("+5", 5), ("0x1F", 31), ("-0x10", -16), ("007", 7), ("true", True),
        ("false", False), ("1.5", 1.5), ("-.5", -0.5), ("2.", 2.0), ("1e-3", 1e-3), ("-1E+3", -1000.0),
        ("inf", np.inf), ("-inf", -np.inf),
    ],
)  # fmt: skip
def test_numbers(text: str, value: object) -> None:
    content = parse_content(text)
    assert isinstance(content, Number)
    assert content.value == value
    assert type(content.value) is type(value)
    assert content.text == text


def test_nan_is_a_number() -> None:
    content = parse_content("nan")
    assert isinstance(content, Number)
    assert content.value != content.value


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("x.npy", ("x.npy", "npy", None, None, None)),
        ("x.npy:bf16", ("x.npy", "npy", None, "bf16", None)),
        ("dir.npy/y.npz:k", ("dir.npy/y.npz", "npz", "k", None, None)),
        ("x.npz", ("x.npz", "npz", None, None, None)),
        ("x.npz:k:f8E8M0", ("x.npz", "npz", "k", "f8E8M0", None)),
        ("x.bin:f16:256x512", ("x.bin", "raw", None, "f16", (256, 512))),
        ("x.bin:!pto.hif8:3", ("x.bin", "raw", None, "!pto.hif8", (3,))),
        ("v8:i32", ("v8", "raw", None, "i32", None)),
        ("a:b/x.dat:ui8:4x1x2", ("a:b/x.dat", "raw", None, "ui8", (4, 1, 2))),
        ("C:/x.dat:ui8", ("C:/x.dat", "raw", None, "ui8", None)),
    ],
)
def test_files(text: str, fields: tuple[object, ...]) -> None:
    content = parse_content(text)
    assert isinstance(content, Stored)
    assert content == (*fields, text)
    assert parse_given(f"{text}:inout") == Given(content, write_back=True)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("zeros:f32:16x16", ("zeros", "f32", (16, 16), 0)),
        ("ones:ui8:4", ("ones", "ui8", (4,), 0)),
        ("random:f16:16x8", ("random", "f16", (16, 8), 0)),
        ("random:f16:16x8:seed=12", ("random", "f16", (16, 8), 12)),
    ],
)
def test_generators(text: str, wanted: tuple[object, ...]) -> None:
    content = parse_content(text)
    assert isinstance(content, Generated)
    assert content == (*wanted, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no value"),
        ("foo", "is no value"),
        ("1_000", "is no value"),
        ("x.bin", "has no element type, write x.bin:TYPE"),
        ("zeros", "zeros:TYPE:SHAPE"),
        ("zeros:f32", "zeros:TYPE:SHAPE"),
        ("zeros:f32:4:4", "zeros:TYPE:SHAPE"),
        ("zeros:f32:4:seed=1", "zeros:TYPE:SHAPE"),
        ("random:f32:seed=1", "random:TYPE:SHAPE[:seed=N]"),
        ("random:f32:4:seed=-1", "no seed"),
        ("random:f32:4:seed=x", "no seed"),
        ("zeros:f32:4x", "no shape"),
        ("zeros:f32:0x4", "no shape"),
        ("zeros:f32:", "no shape"),
        ("x.bin:f32:4*4", "no shape"),
        ("x.npy:f16:4x4", "the file has the shape"),
        ("x.npz::f16", "x.npz:KEY[:TYPE]"),
        ("x.bin:", "FILE:TYPE:SHAPE"),
        (":f32", "FILE:TYPE:SHAPE"),
    ],
)
def test_wrong_values(text: str, said: str) -> None:
    with pytest.raises(ValueTextError) as raised:
        parse_content(text)
    assert said in str(raised.value)


@pytest.mark.parametrize("text", ["5:inout", "zeros:f32:4:inout", ":inout", "foo:inout"])
def test_only_files_are_written_back(text: str) -> None:
    with pytest.raises(ValueTextError):
        parse_given(text)


def test_outputs() -> None:
    assert parse_output("a/y.npy") == OutputFile("a/y.npy", "npy", None)
    assert parse_output("y.npz") == OutputFile("y.npz", "npz", None)
    assert parse_output("y.npz:a:b") == OutputFile("y.npz", "npz", "a:b")
    assert parse_output("y.bin") == OutputFile("y.bin", "raw", None)
    for wrong in ("y", "y.txt", "y.npy:f16", "y.npz:", "y.bin:f16", ""):
        with pytest.raises(ValueTextError):
            parse_output(wrong)


def test_assignments() -> None:
    assert split_assignment("%a=x=y.npy") == ("a", "x=y.npy")
    for wrong in ("a", "=x", "a=", "%=x"):
        with pytest.raises(ValueTextError):
            split_assignment(wrong)


@given(st.text(st.sampled_from("0123456789xX.:=-+eEnpyzbiuf16%aro/ \n\0é"), max_size=24))
def test_any_text_is_a_value_or_an_error(text: str) -> None:
    for parse in (parse_given, parse_content, parse_output, split_assignment):
        try:
            parse(text)
        except ValueTextError as error:
            assert str(error)


# ---------------------------------------------------------------- generated arrays


def generated(text: str) -> np.ndarray:
    content = parse_content(text)
    assert isinstance(content, Generated)
    return load(content, None)[0]


@in_groups("name", IN_MEMORY)
def test_zeros_and_ones(name: str) -> None:
    fmt = element_format(name)
    zeros, ones = generated(f"zeros:{name}:2x3"), generated(f"ones:{name}:2x3")
    assert zeros.dtype == ones.dtype == fmt.storage
    assert zeros.shape == ones.shape == (2, 3)
    assert not zeros.view(np.uint8).any()
    # i4 and friends have two ones in a byte; the smallest f8E8M0 is what its zero byte means.
    assert (to_values(ones, fmt) == 1).all()
    assert to_values(ones, fmt).shape == (2, 3 * fmt.elements)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("f16", np.float16), ("f32", np.float32), ("f64", np.float64), ("bf16", ml_dtypes.bfloat16)],
)
def test_random_floats_are_rounded_normals(name: str, dtype: type) -> None:
    normal = np.random.default_rng(7).standard_normal((5, 9))
    assert (generated(f"random:{name}:5x9:seed=7") == normal.astype(dtype)).all()
    assert (generated(f"random:{name}:5x9") == generated(f"random:{name}:5x9:seed=0")).all()


@pytest.mark.parametrize("name", [name for name in IN_MEMORY if not FORMATS[name].is_float])
def test_random_integers_take_every_value(name: str) -> None:
    fmt = element_format(name)
    values = to_values(generated(f"random:{name}:4096:seed=3"), fmt)
    if fmt.bits <= 8:
        assert set(values.tolist()) == set(range(fmt.min_value, fmt.max_value + 1))
    else:
        assert values.min() < fmt.min_value + (fmt.max_value - fmt.min_value) // 64
        assert values.max() > fmt.max_value - (fmt.max_value - fmt.min_value) // 64


@pytest.mark.parametrize("name", [name for name in IN_MEMORY if FORMATS[name].is_float])
def test_random_floats_are_finite_and_differ(name: str) -> None:
    fmt = element_format(name)
    values = to_values(generated(f"random:{name}:64x8:seed=1"), fmt)
    assert np.isfinite(values).all()
    assert len(np.unique(values)) >= 4
    if name != "f8E8M0":
        assert (values < 0).any()


# ---------------------------------------------------------------- element types in files


@pytest.mark.parametrize("name", IN_MEMORY)
@pytest.mark.parametrize("form", ["y.npy", "y.npz:k", "y.bin"])
def test_every_type_survives_every_file(pto_run, args: Args, name: str, form: str) -> None:
    """Out of one run, into the next: the bytes stay, and numpy reads the file without ml_dtypes."""
    program = KEEP.format(pointer_element(name))
    start = generate(Generated("random", name, (3, 8), 5, ""), element_format(name))
    pto_run.good(program, *args(x=f"random:{name}:3x8:seed=5"), "--out", f"x={form}")
    again = f"{form}:{name}:3x8" if form.endswith(".bin") else form
    pto_run.good(program, *args(x=again), "--out", "x=z.npy", "--expect", f"x={again}")
    read = np.load("z.npy")
    assert read.dtype.kind in "biuf"
    assert read.shape == (3, 8)
    assert read.tobytes() == start.tobytes()
    if form == "y.bin":
        assert Path("y.bin").read_bytes() == start.tobytes()


def test_ml_dtypes_arrays_saved_by_numpy(pto_run, args: Args) -> None:
    """`numpy.save` writes them as void; their bits are all that is needed."""
    values = np.array([1.5, -2, 448, np.nan])
    for name, dtype in (("bf16", ml_dtypes.bfloat16), ("f8E4M3FN", ml_dtypes.float8_e4m3fn)):
        array = values.astype(dtype)
        np.save("x.npy", array)
        assert np.load("x.npy").dtype.kind == "V"
        for form in ("x.npy", f"x.npy:{name}"):
            pto_run.good(KEEP.format(name), *args(x=form), "--out", "x=y.bin")
            assert Path("y.bin").read_bytes() == array.tobytes()


def test_stated_type_reads_unsigned_integers_as_bits(pto_run, args: Args) -> None:
    array = np.array([1.5, -0.0], np.float16)
    np.save("bits.npy", array.view(np.uint16))
    pto_run.good(KEEP.format("f16"), *args(x="bits.npy:f16"), "--out", "x=y.npy")
    assert np.load("y.npy").tobytes() == array.tobytes()
    said = pto_run.bad(2, KEEP.format("f16"), *args(x="bits.npy"))
    assert "if they are the bits of f16, write bits.npy:f16" in said


def test_byte_order_and_column_order_do_not_matter(pto_run, args: Args) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for stored in (array.astype(">f4"), np.asfortranarray(array)):
        np.save("x.npy", stored)
        pto_run.good(KEEP.format("f32"), *args(x="x.npy"), "--out", "x=y.npy")
        assert np.load("y.npy").dtype.isnative
        assert (np.load("y.npy") == array).all()


@pytest.mark.parametrize("name", ["i32", "si32", "ui32"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_integers_of_equal_width_are_interchangeable(pto_run, args: Args, name: str, dtype: type) -> None:
    array = np.array([1, 0x80000000, 0xFFFFFFFF], np.uint32).view(dtype)
    np.save("x.npy", array)
    pto_run.good(KEEP.format(name), *args(x="x.npy"), "--out", "x=y.bin")
    assert Path("y.bin").read_bytes() == array.tobytes()


@settings(max_examples=50)
@given(st.sampled_from(IN_MEMORY), st.integers(0, 2**32 - 1))
def test_saved_form_is_readable_as_the_same_storage(name: str, seed: int) -> None:
    fmt = element_format(name)
    array = generate(Generated("random", name, (2, 4), seed, ""), fmt)
    saved = to_saved(array, fmt)
    assert saved.dtype.kind in ("u" if is_bit_pattern(fmt) else "biuf")
    back = to_storage(saved, None, fmt)
    assert back.dtype == fmt.storage
    assert back.tobytes() == array.tobytes()


def test_raw_file_without_shape_takes_that_of_the_argument(pto_run, args: Args) -> None:
    np.arange(512, dtype=np.float16).tofile("a.bin")
    given_ = args(a="a.bin:f16", b="ones:f16:32x16")
    pto_run.good("level1", *given_, "--out", "a=a.npy")
    assert np.load("a.npy").shape == (16, 32)


# ---------------------------------------------------------------- writing back


def test_written_back_to_npy(pto_run, args: Args) -> None:
    np.save("z.npy", np.zeros(32, np.float32))
    out = pto_run.good("add", *args(x="ones:f32:32", y="ones:f32:32", z="z.npy:inout"))
    assert (np.load("z.npy") == np.full(32, 2, np.float32)).all()
    assert out == "z: f32 32, min 2, max 2, mean 2 -> z.npy\n"


def test_written_back_to_a_raw_file(pto_run, args: Args) -> None:
    np.zeros(32, np.float32).tofile("z.bin")
    pto_run.good("add", *args(x="ones:f32:32", y="ones:f32:32", z="z.bin:f32:4x8:inout"))
    assert (np.fromfile("z.bin", np.float32) == 2).all()


@pytest.mark.parametrize("value", ["z.npz:k:inout", "z.npz:inout"])
def test_written_back_into_an_archive(pto_run, args: Args, value: str) -> None:
    others = {} if value == "z.npz:inout" else {"first": np.arange(3), "last": np.array(["text"])}
    np.savez("z.npz", k=np.zeros(32, np.float32), **others)
    pto_run.good("add", *args(x="ones:f32:32", y="ones:f32:32", z=value))
    with np.load("z.npz") as archive:
        assert sorted(archive.files) == sorted(["k", *others])
        assert (archive["k"] == 2).all()
        for name, array in others.items():
            assert (archive[name] == array).all()


def test_outputs_share_an_archive(pto_run, args: Args) -> None:
    np.savez("old.npz", kept=np.arange(2), x=np.zeros(1))
    given_ = args(x="ones:f32:32", y="ones:f32:32", z="zeros:f32:32")
    pto_run.good("add", *given_, "--out", "x=old.npz", "--out", "z=old.npz:sum")
    with np.load("old.npz") as archive:
        assert sorted(archive.files) == ["kept", "sum", "x"]
        assert (archive["sum"] == 2).all()
        assert (archive["x"] == 1).all()
        assert archive["kept"].tolist() == [0, 1]


def test_equal_arrays_make_equal_files(pto_run, args: Args) -> None:
    given_ = args(x="ones:f32:32", y="ones:f32:32", z="zeros:f32:32")
    for name in ("1.npz", "2.npz"):
        pto_run.good("add", *given_, "--out", f"z={name}")
    assert Path("1.npz").read_bytes() == Path("2.npz").read_bytes()


def test_mode_and_links_of_output_files_are_kept(pto_run, args: Args) -> None:
    Path("real.npy").write_bytes(b"\x93NUMPY old")
    Path("real.npy").chmod(0o640)
    Path("link.npy").symlink_to("real.npy")
    pto_run.good("add", *args(x="ones:f32:32", y="ones:f32:32", z="zeros:f32:32"), "--out", "z=link.npy")
    assert Path("link.npy").is_symlink()
    assert Path("real.npy").stat().st_mode & 0o777 == 0o640
    assert (np.load("real.npy") == 2).all()
