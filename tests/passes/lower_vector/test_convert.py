"""Conversions as vector functions. Source: docs/reference/tiles.md, "Conversion"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, lowered, refusals
from sampling import sampled

from pto_dialect import print_module

RNG = np.random.default_rng(29)
STORAGE = {
    **{"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8, "ui8": np.uint8},
    **{"i16": np.int16, "ui16": np.uint16, "i32": np.int32, "ui32": np.uint32, "i64": np.int64},
    **{"si8": np.int8, "si16": np.int16, "si32": np.int32},
    **{"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "!pto.hif8": np.uint8},
}
PAIRS = [
    *[("f32", target) for target in ("f16", "bf16", "f32", "i16", "i32")],
    *[("f16", target) for target in ("f32", "i32", "i16", "i8", "ui8")],
    *[("bf16", target) for target in ("f32", "f16", "i32")],
    *[("i16", target) for target in ("f16", "f32", "ui8", "i32")],
    *[("i32", target) for target in ("f32", "f16", "i16", "ui16", "ui8")],
    *[("ui8", "f16"), ("ui8", "ui16"), ("i8", "f16"), ("i8", "i16"), ("i8", "i32"), ("ui32", "ui8"), ("ui32", "i16")],
    *[("f32", "i64"), ("i32", "i64"), ("i64", "f32"), ("i64", "i32")],
    *[("si8", "f16"), ("si8", "si16"), ("si8", "si32"), ("f16", "si8"), ("f32", "si16"), ("si32", "f32")],
    *[("ui16", "ui8"), ("ui16", "ui32"), ("ui32", "ui16"), ("ui8", "ui32"), ("i16", "ui32")],
]
MODES = ("RINT", "ROUND", "FLOOR", "CEIL", "TRUNC")
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 65504, 65519.9, 65520, 1e30, -1e30, 0.5, 1.5, 2.5, -0.5, 127.5, 255.5,
           -128.5, 32767.5, 1e-7, 2**31 - 128, 2.0**31, 300.5, -300.5, 1e-40]  # fmt: skip
WHOLE = [0, 1, -1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24 + 1, 2**24 + 3, 2049, 2051, 65519, 65520,
         2**31 - 1, -(2**31), 4097 * 3]  # fmt: skip


def values(shape, element: str):
    """Ordinary and special numbers, also in the part of a row after whole registers."""
    kind = STORAGE[element]
    if np.dtype(kind).itemsize == 1 and "f" in element:
        return RNG.integers(0, 256, shape).astype(np.uint8).view(kind)
    if element.lstrip("us")[0] == "i":
        most = 62 if element == "i64" else 31
        drawn = RNG.integers(-(2**most), 2**most, shape)
        special = np.array([*WHOLE, 2**53 + 1, -(2**62) - 1]).astype(kind)
    else:
        drawn = RNG.uniform(-1, 1, shape) * 10.0 ** RNG.integers(-3, 6, shape)
        with np.errstate(over="ignore", invalid="ignore"):
            special = np.array(SPECIAL, np.float32).astype(kind)
    with np.errstate(over="ignore"):
        found = drawn.astype(kind)
    found[0, : len(special)] = special
    found[-1, -len(special) :] = special
    return found


def program(source: str, target: str, mode: str, saturation: str, rows: int, cols: int, valid: int) -> Program:
    """One conversion of tiles of which ``valid`` columns count."""
    found = Program(a=source, c=target)
    for tile, array, element in (("x", "a", source), ("z", "c", target)):
        found.view(f"v{tile}", array, (rows, valid), (valid, 1))
        found.tile(tile, "vec", rows, cols, element, valid=f"{rows}x{valid}")
    words = [f"rmode = #pto<round_mode {mode}>"] if mode else []
    words += [f"sat_mode = #pto<saturation_mode {saturation}>"] if saturation else []
    found.op("tload", "vx", to="x")
    found.op("tcvt", "x", to="z", more=f" {{{', '.join(words)}}}")
    found.op("tstore", "z", to="vz")
    return found


CASES = [
    (*pair, MODES[number % 5], ("", "ON", "OFF")[(number + number // 3) % 3]) for number, pair in enumerate(PAIRS * 2)
]


@pytest.mark.parametrize(("source", "target", "mode", "saturation"), sampled(CASES, 2))
def test_conversions_of_registers_give_the_same_bits(source, target, mode, saturation):
    case = program(source, target, mode, saturation, 2, 320, 301)
    arrays = {"a": values((2, 301), source), "c": np.zeros((2, 301), STORAGE[target])}
    module, found = lowered(case, "lower-vector", **arrays)
    assert "pto.tcvt" not in print_module(module)
    assert found["c"].any()


@pytest.mark.parametrize(
    ("source", "target", "modes"),
    [
        *((source, "f32", MODES) for source in ("f8E4M3FN", "f8E5M2", "!pto.hif8")),
        *(("f32", target, ("RINT", "ROUND", "TRUNC")) for target in ("f8E4M3FN", "f8E5M2")),
        *((source, "!pto.hif8", (*MODES, "ODD")) for source in ("f32", "f16")),
    ],
)
def test_conversions_of_floats_of_8_bits(source, target, modes):
    """All of them round to hif8 in one way, whatever the mode is."""
    for number, mode in enumerate(modes):
        saturation = ("", "ON", "OFF")[number % 3]
        case = program(source, target, mode, saturation, 2, 128, 101)
        arrays = {"a": values((2, 101), source), "c": np.zeros((2, 101), STORAGE[target])}
        module, _ = lowered(case, "lower-vector", **arrays)
        assert "pto.tcvt" not in print_module(module)


@pytest.mark.parametrize("saturation", ["", "ON", "OFF"])
def test_numbers_below_0_become_unsigned_words(saturation):
    a = values((2, 101), "i16")
    arrays = {"a": a, "c": np.zeros((2, 101), np.uint32)}
    _, found = lowered(program("i16", "ui32", "", saturation, 2, 128, 101), "lower-vector", **arrays)
    expected = a.astype(np.int64).astype(np.uint32) if saturation == "OFF" else np.maximum(a, 0).astype(np.uint32)
    assert np.array_equal(found["c"], expected)


@pytest.mark.parametrize(
    ("source", "target"), [("f16", "f32"), ("bf16", "f32"), ("i16", "f32"), ("ui8", "f16"), ("i8", "i32")]
)
def test_tiles_of_less_than_a_register_are_loaded_by_blocks(source, target):
    case = program(source, target, "", "", 3, 96, 70)
    a = values((3, 70), source)
    module, found = lowered(case, "lower-vector", a=a, c=np.zeros((3, 70), STORAGE[target]))
    assert "pto.vsldb" in print_module(module)
    assert np.array_equal(found["c"], a.astype(STORAGE[target]), equal_nan=True)


@pytest.mark.parametrize("columns", [0, 5, 64, 301])
def test_sizes_that_only_a_run_knows(columns):
    found = program("bf16", "f32", "", "", 2, 320, 301)
    found.arguments["columns"] = "=index"
    for name, kind in list(found.types.items()):
        if name in "xz":
            found.types[name] = kind.replace("2x301", "2x?")
    found.tiles = [
        line.replace("2x301", "2x?").replace("alloc_tile ", "alloc_tile valid_col = %columns ") for line in found.tiles
    ]
    found.lines = [line.replace("valid=2x301", "valid=2x?") for line in found.lines]
    at = next(number for number, line in enumerate(found.lines) if line.startswith("%vz ="))
    part = "!pto.partition_tensor_view<2x?xf32>"
    found.lines[at] = (
        "%vz = pto.partition_view %vz_all, offsets = [%c0, %c0], sizes = [%c2, %columns] "
        f": !pto.tensor_view<?x?xf32> -> {part}"
    )
    found.lines[-1] = found.lines[-1].replace(found.types["vz"], part)
    a = values((2, 301), "bf16")
    _, result = lowered(found, "lower-vector", a=a, c=np.zeros((2, 301), np.float32), columns=columns)
    assert np.array_equal(result["c"][:, :columns], a.astype(np.float32)[:, :columns], equal_nan=True)
    assert not result["c"][:, columns:].any()


REFUSED = {
    ("f32", "f32", "ODD"): "no conversions of registers from f32 give the bits of f32",
    ("f32", "f8E4M3FN", "FLOOR"): "no conversions of registers from f32 give the bits of f8E4M3FN",
}


@pytest.mark.parametrize("pair", REFUSED)
def test_what_conversions_of_registers_do_not_give_is_refused(pair):
    source, target, mode = pair
    assert refusals(program(source, target, mode, "", 2, 64, 60), "lower-vector") == [f"pto.tcvt: {REFUSED[pair]}"]


def test_wider_results_do_not_take_the_address_of_their_source():
    found = program("f16", "f32", "RINT", "", 2, 64, 60)
    found.tiles = [line.replace("alloc_tile ", "alloc_tile addr = %at ") for line in found.tiles]
    found.tiles.insert(0, "%at = arith.constant 0 : i64")
    reason = "its destination overlaps elements that are converted later"
    assert refusals(found, "lower-vector") == [f"pto.tcvt: {reason}"]
