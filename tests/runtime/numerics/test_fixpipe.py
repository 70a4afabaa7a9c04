"""L0C write-back: every pre-quant mode, ReLU, clip and saturation against a scalar model of the formulas."""

import math
import struct

import numpy as np
import pytest
from fixpipe_model import (
    CASES,
    INF,
    NAN,
    SCALES,
    X_F32,
    X_I32,
    as_stored,
    clamp,
    entry,
    f32,
    fp19,
    limits,
    model_quant,
    model_store,
    rint,
    source_of,
    stored,
)  # fmt: skip
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.numerics.fixpipe import convert
from pto_dialect.runtime.numerics.formats import FORMATS
from pto_dialect.targets.fixpipe_modes import QUANT_MODES


@pytest.mark.parametrize("saturation", ["default", "sat", "sat_preserve_nan", "nosat"])
@in_groups(("mode", "dst"), CASES)
def test_every_mode(mode, dst, saturation):
    src = source_of(mode)
    column = np.array(X_F32 if src == "f32" else X_I32, np.float32 if src == "f32" else np.int32)
    x = np.repeat(column[:, None], len(SCALES), axis=1)
    offsets, signs = [0, 5, -5, 255, -256, 0, 1, -1], [True, False] * 4
    shifts = [0, 1, 2, 15, 7, 3, 4, 5]
    table = np.array([entry(*row) for row in zip(SCALES, offsets, signs, shifts, strict=True)] + [77], np.uint64)
    signed = FORMATS[dst].kind == "int"
    runs: list[tuple[float | np.ndarray, list[float], list[int], list[bool], list[int]]] = []
    if QUANT_MODES[mode].payload == "vec":
        runs.append((table, [fp19(v) for v in SCALES], offsets, signs, shifts))
    else:
        runs += [(v, [f32(v)] * 8, [0] * 8, [signed] * 8, [0] * 8) for v in SCALES]
        # The tile-level forms hand one packed entry to a scalar mode.
        one = np.array(entry(0.3, -7, True, 2), np.uint64)
        runs.append((one, [fp19(0.3)] * 8, [-7] * 8, [True] * 8, [2] * 8))
    for payload, scale, offset, sign, shift in runs:
        got = stored(convert(x, src, dst, quant=(mode, payload), saturation=saturation), dst)
        want = [
            [
                as_stored(
                    model_store(
                        model_quant(mode, v, scale[n], offset[n], sign[n], shift[n]),
                        dst,
                        saturation,
                        *limits(mode, dst, sign[n]),
                    ),
                    dst,
                )
                for n, v in enumerate(row)
            ]
            for row in x.tolist()
        ]
        np.testing.assert_array_equal(got, want)


@given(
    x=st.floats(width=32),
    scale=st.floats(-1000, 1000, width=32),
    offset=st.integers(-256, 255),
    signed=st.booleans(),
    mode=st.sampled_from(["qf322b8_pre_vec", "qf162b8_pre_vec", "qf322s4_pre_vec"]),
)
def test_integer_quantisation(x, scale, offset, signed, mode):
    dst = "i4" if "s4" in mode else "i8" if signed else "ui8"
    table = np.full(2, entry(scale, offset, signed), np.uint64)
    got = stored(convert(np.full((1, 2), x, np.float32), "f32", dst, quant=(mode, table)), dst)
    assert got[0, 0] == got[0, 1] == model_quant(mode, x, fp19(scale), offset, signed, 0)


def test_the_hardware_form_of_8_bit_rounding():
    """|t| > 255 is limited before the offset, and the offset is added after rounding."""
    table = np.array([entry(1.0, -100, False), entry(1.0, 1, True)], np.uint64)
    got = convert(np.array([[1000.0, 2.5]], np.float32), "f32", "ui8", quant=("qf322b8_pre_vec", table))
    assert got.tolist() == [[155, 3]]


def test_stages_that_round_to_16_bits_first():
    x = np.array([[2.5001]], np.float32)
    assert convert(x, "f32", "i8", quant=("qf322b8_pre_scalar", 1.0)).tolist() == [[3]]
    assert convert(x, "f32", "i8", quant=("qf162b8_pre_scalar", 1.0)).tolist() == [[2]]
    # 2049 is a tie of f16 and 257 one of bf16: ReLU sees the rounded value.
    relu = ("scalar_relu", 0.75)
    x = np.array([[-2049, -257]], np.int32)
    assert convert(x, "i32", "f16", quant=("deqf16_scalar", 1.0), relu=relu).tolist()[0][0] == -1536
    assert convert(x, "i32", "bf16", quant=("qs322bf16_pre_scalar", 1.0), relu=relu).tolist()[0][1] == -192


@pytest.mark.parametrize("src", ["f32", "i32"])
@pytest.mark.parametrize("dst", ["f32", "f16", "bf16", "f8E4M3FN", "hif8", "i32", "i8", "ui8", "i4"])
@pytest.mark.parametrize("saturation", ["default", "nosat"])
def test_plain_stores(src, dst, saturation):
    values = X_F32 if src == "f32" else X_I32
    values = values[: len(values) // 2 * 2]
    x = np.array([values], np.float32 if src == "f32" else np.int32)
    fmt = FORMATS[dst]
    got = stored(convert(x, src, dst, saturation=saturation), dst)[0].tolist()
    for value, result in zip(x[0].tolist(), got, strict=True):
        if fmt.is_float:
            want = model_store(f32(value), dst, saturation, -INF, INF)
        elif saturation == "nosat" and not math.isinf(value):
            whole = 0 if math.isnan(value) else round(value) % (1 << fmt.bits)
            want = whole - (1 << fmt.bits) if whole > fmt.max_value else whole
        else:
            want = clamp(rint(value), fmt.min_value, fmt.max_value)
        assert result == want or (math.isnan(result) and math.isnan(want)), (value, result, want)


def test_relu():
    x = np.array([[-4.0, 0.0, 2.0], [-1.0, INF, -INF]], np.float32)

    def run(relu: tuple[str, float | np.ndarray | None]) -> list[list[float]]:
        return convert(x, "f32", "f32", relu=relu).tolist()

    assert run(("no_relu", None)) == x.tolist()
    assert run(("normal_relu", None)) == [[0, 0, 2], [0, INF, 0]]
    assert run(("scalar_relu", 0.25)) == [[-1, 0, 2], [-0.25, INF, -INF]]
    assert run(("scalar_relu", 0.1))[0][0] == f32(-4 * fp19(f32(0.1)))
    table = np.array([struct.unpack("<I", struct.pack("<f", v))[0] | 0x777 for v in (0.5, 1, -2, 9)], np.uint32)
    assert run(("vector_relu", table)) == [[-2, 0, 2], [-0.5, INF, INF]]
    assert run(("scalar_relu", INF))[0] == [-INF, 0, 2]
    nan = convert(np.array([[NAN]], np.float32), "f32", "f16", relu=("normal_relu", None))
    assert nan.tolist() == [[0]]


def test_relu_acts_between_quantisation_and_conversion():
    x = np.array([[-100.0, 100.0]], np.float32)
    quant = ("qf322f16_pre_scalar", 3.0)
    got = convert(x, "f32", "f16", quant=quant, relu=("scalar_relu", 0.25), clip=np.float16(200))
    assert got.tolist() == [[-75, 200]]
    b8 = ("qf322b8_pre_scalar", 1.0)
    assert convert(x, "f32", "i8", quant=b8, relu=("normal_relu", None)).tolist() == [[0, 100]]
    # -100 * 0.255 is no integer: it is rounded again. A negative alpha can leave the range and is limited.
    assert convert(x, "f32", "i8", quant=b8, relu=("scalar_relu", 0.255)).tolist() == [[-25, 100]]
    assert convert(x, "f32", "i8", quant=b8, relu=("scalar_relu", -4.0)).tolist() == [[127, 100]]
    i32 = np.array([[-7, 7]], np.int32)
    assert convert(i32, "i32", "i32", relu=("scalar_relu", 0.5)).tolist() == [[-4, 7]]
    assert convert(i32, "i32", "i32", relu=("normal_relu", None)).tolist() == [[0, 7]]
    shift = ("deqs16_scalar", 1.0)
    assert convert(i32, "i32", "i16", quant=shift, relu=("normal_relu", None)).tolist() == [[0, 3]]


@pytest.mark.parametrize("dst", ["i8", "ui8", "i16", "i4", "i32"])
def test_clip_of_integers(dst):
    x = np.array([[-3, 5, 6, 100]], np.int32)
    fmt = FORMATS[dst]
    for limit in (5, np.int16(5), -2, 1000):
        want = [clamp(min(v, int(limit)), fmt.min_value, fmt.max_value) for v in (-3, 5, 6, 100)]
        assert stored(convert(x, "i32", dst, clip=limit), dst).tolist() == [want]
        got = convert(x.astype(np.float32) + np.float32(0.25), "f32", dst, clip=limit)
        assert stored(got, dst).tolist() == [want]
    req = convert(x, "i32", "i8", quant=("req8_scalar", 1.0), clip=np.int8(6))
    assert req.tolist() == [[-3, 5, 6, 6]]


def test_clip_of_floats_comes_before_saturation():
    x = np.array([[INF, NAN, -INF, 9.0, 7.75]], np.float32)
    got = convert(x, "f32", "f16", quant=("f32_f16", None), clip=np.float16(8))
    assert got.tolist() == [[8, 0, -65504, 8, 7.75]]
    got = convert(x, "f32", "f16", relu=("no_relu", None), clip=8.0, saturation="nosat")
    assert got[0, [0, 2, 3, 4]].tolist() == [8, -INF, 8, 7.75]
    assert math.isnan(got[0, 1])


def test_packed_result_and_same_type_store():
    x = np.array([[1.0, -1.0, 20.0, -20.0]], np.float32)
    assert convert(x, "f32", "i4", quant=("qf322s4_pre_scalar", 1.0)).tolist() == [[0xF1, 0x87]]
    assert convert(x, "f32", "f32") is x
    big = np.array([[2**31 - 1, -(2**31)]], np.int32)
    assert convert(big, "i32", "i32", quant=("deqs32_int_scalar", 1.0)).tolist() == big.tolist()
    assert convert(big, "i32", "i32", quant=("deqs32_int_scalar", 2.0)).tolist() == big.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quant": ("f32_to_f16", 1.0)}, "unknown pre_quant mode 'f32_to_f16'"),
        ({"quant": ("qf322f16_pre_vec", 1.0)}, "needs a table of uint64 channel entries"),
        ({"quant": ("qf322f16_pre_vec", np.zeros(1, np.uint64))}, "1 channel entries for 2 columns"),
        ({"quant": ("qf322f16_pre_scalar", None)}, "needs a float scalar"),
        ({"quant": ("qf322f16_pre_scalar", np.zeros(2, np.float32))}, "needs a float scalar"),
        ({"relu": ("leaky", 1.0)}, "unknown pre_relu mode 'leaky'"),
        ({"relu": ("scalar_relu", None)}, "scalar_relu needs a float scalar"),
        ({"relu": ("vector_relu", np.zeros(1, np.uint32))}, "a table of 2 uint32 channel entries"),
        ({"saturation": "off"}, "unknown saturation 'off'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        convert(np.zeros((1, 2), np.float32), "f32", "f16", **arguments)
    with pytest.raises(ValueError, match="f32 or i32, not f16"):
        convert(np.zeros((1, 2), np.float32), "f16", "f16")


@pytest.mark.parametrize("dst", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ["req8_scalar", "qf322b8_pre_scalar", "req4_scalar", "qf322s4_pre_scalar"])
def test_integers_of_a_mode_are_numbers_in_a_float(mode, dst):
    """No program that is verified uses it; what is stored then are still the numbers, not their bits."""
    src = "i32" if mode.startswith("req") else "f32"
    x = np.array([[-300, -5, 0, 3, 7, 200]], np.int32 if src == "i32" else np.float32)
    low, high = (-8, 7) if "4_" in mode or "s4" in mode else (0, 255)
    found = convert(x, src, dst, quant=(mode, 1.0))
    assert found.astype(np.float64).tolist() == [np.clip(x[0], low, high).tolist()]


def test_halves_are_limited_and_not_infinite():
    """Beyond the largest f16, both ways, and in f32 and bf16 where there is no such limit."""
    x = np.array([[2**30, -(2**30), 65504, -65520, 65504 + 16, 0]], np.int32)
    found = convert(x, "i32", "f16", quant=("deqf16_scalar", 1.0))
    assert found.tolist() == [[65504, -65504, 65504, -65504, 65504, 0]]
