"""Quantisation of vector tiles, number by number (docs/reference/tiles.md, "Irregular operations";
docs/reference/layouts.md, "MX scales").
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tile_run_helpers import DTYPES, run, tile
from tile_values import random_values, same

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.tile.quant import QuantizeBlocks


@pytest.mark.parametrize("element", ["i8", "i16"])
@pytest.mark.parametrize("valid", [(16, 32), (9, 27)])
def test_dequantisation(element: str, valid: tuple[int, int]) -> None:
    rng = np.random.default_rng(44)
    source = random_values(element, (16, 32), rng)
    scale, offset = (random_values("f32", (16, 1), rng) for _ in range(2))
    rows = valid[0]
    found = run(
        "pto.tdequant ins(%a, %s, %o : {a}, {s}, {o}) outs(%d : {d})",
        tile("a", element, source, valid), tile("s", "f32", scale, (rows, 1), "blayout=col_major"),
        tile("o", "f32", offset, (rows, 1), "blayout=col_major"), tile("d", "f32", np.full((16, 32), 7), valid),
    )["d"]  # fmt: skip
    wanted = np.full((16, 32), 7, np.float32)
    for r, c in np.ndindex(*valid):
        wanted[r, c] = (np.float32(source[r, c]) - offset[r, 0]) * scale[r, 0]
    same(found, wanted)


def quantised(value: np.float32, low: int, high: int) -> int:
    """Nearest integer, ties to even, clamped; NaN gives 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(round(float(value)), low), high)


@pytest.mark.parametrize("kind", ["INT8_SYM", "INT8_ASYM"])
@pytest.mark.parametrize("valid", [(16, 32), (5, 31)])
def test_integer_quantisation(kind: str, valid: tuple[int, int]) -> None:
    rng = np.random.default_rng(45)
    source = random_values("f32", (16, 32), rng) * 20
    source[0, :8] = 0.5, 1.5, 2.5, np.nan, np.inf, -np.inf, 1e30, -0.5
    scale = np.abs(random_values("f32", (16, 1), rng)) + 1
    scale[0] = 1
    offset = random_values("f32", (16, 1), rng) * 10
    signed = kind == "INT8_SYM"
    element, (low, high) = ("i8", (-128, 127)) if signed else ("ui8", (0, 255))
    rows = valid[0]
    vectors = [tile("s", "f32", scale, (rows, 1), "blayout=col_major")]
    if not signed:
        vectors.append(tile("o", "f32", offset, (rows, 1), "blayout=col_major"))
    names, types = ("%s", "{s}") if signed else ("%s, %o", "{s}, {o}")
    found = run(
        f"pto.tquant ins(%a, {names} : {{a}}, {types}) outs(%d : {{d}}) {{quant_type = #pto<quant_type {kind}>}}",
        tile("a", "f32", source, valid), *vectors, tile("d", element, np.full((16, 32), 7), valid),
    )["d"]  # fmt: skip
    wanted = np.full((16, 32), 7, DTYPES[element])
    with np.errstate(all="ignore"):
        for r, c in np.ndindex(*valid):
            value = source[r, c] * scale[r, 0]
            wanted[r, c] = quantised(value if signed else value + offset[r, 0], low, high)
    same(found, wanted)


def exponent_code(largest: float, alg: str, four_bits: bool) -> int:
    """Shared exponent byte of a group with the given largest magnitude."""
    if math.isnan(largest):
        return 255
    if alg == "nv":
        if largest == 0:
            return 0
        quotient = float(np.float32(largest) * np.float32(1 / (6 if four_bits else 448)))
        if math.isinf(quotient):
            return 254
        return max(math.ceil(math.log2(quotient)) + 127, 0) if quotient > 2.0**-127 else 0
    if math.isinf(largest):
        return 255 - (2 if four_bits else 8)
    if largest == 0:
        return 0
    return max(math.floor(math.log2(largest)) + 127 - (2 if four_bits else 8), 0)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def e2m1_code(value: float) -> int:
    """Nearest 4-bit code, ties to the even code; NaN is the largest value."""
    if math.isnan(value):
        return 7
    distance = np.abs(E2M1 - min(abs(value), 6.0))
    best = [int(i) for i in np.flatnonzero(distance == distance.min())]
    code = next((i for i in best if i % 2 == 0), best[0])
    return code | (8 if math.copysign(1, value) < 0 else 0)


def blocks(element: str, shape: tuple[int, int]) -> np.ndarray:
    """Groups of very different magnitude, with zero, NaN and infinite groups."""
    rng = np.random.default_rng(46)
    data = random_values("f32", shape, rng)
    data[:, ::32] *= 100
    data[1] *= 1e-4
    data[2] = 0
    data[3, 5] = np.nan
    data[4, 3] = np.inf
    data[5] *= 30
    return data.astype(DTYPES[element])


def assert_numbers(found: Any, wanted: float, truncated: bool) -> None:
    """A number of a tile; ``truncated``: its bits are those of bf16, with 8 digits of the number."""
    if truncated:
        digits = math.frexp(wanted)[1] - 8 if math.isfinite(wanted) else 0
        wanted = math.ldexp(math.trunc(math.ldexp(wanted, -digits)), digits) if math.isfinite(wanted) else wanted
        found = found.view(ml_dtypes.bfloat16)
    np.testing.assert_equal(float(found), wanted)


@pytest.mark.parametrize("alg", ["ocp", "nv"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("element", "kind"),
    [("f32", "MXFP8"), ("f16", "MXFP8"), ("bf16", "MXFP8"), ("f16", "MXFP4_E2M1"), ("bf16", "MXFP4_E2M1")],
)
def test_block_quantisation(element: str, kind: str, axis: int, alg: str) -> None:
    four_bits = kind == "MXFP4_E2M1"
    rows, cols = 64, 64
    source = blocks(element, (rows, cols))
    groups = (rows // 32, cols) if axis == 0 else (rows, cols // 32)
    target = ("!pto.f4E2M1x2", (rows, cols // 2)) if four_bits else ("i8", (rows, cols))
    width = 64 if axis == 0 else 32
    listed = groups if axis == 0 else (1, groups[0] * groups[1])
    found = run(
        f"pto.tquant.mx ins(%a : {{a}}) outs(%d, %e, %m, %s : {{d}}, {{e}}, {{m}}, {{s}}) "
        f"{{quant_type = #pto<quant_type {kind}>, quantScaleAlg = #pto<quant_scale_alg {alg}>, "
        f"grpAxis = #pto<mx_group_axis axis{axis}>}}",
        tile("a", element, source), tile("d", target[0], np.zeros(target[1])),
        tile("e", "ui8", np.zeros((groups[0], width)), groups),
        *(tile(n, element, np.zeros(listed), listed) for n in ("m", "s")),
    )  # fmt: skip
    wide = source.astype(np.float32)
    for i, j in np.ndindex(*groups):
        part = np.s_[i * 32 : i * 32 + 32, j] if axis == 0 else np.s_[i, j * 32 : j * 32 + 32]
        values = wide[part]
        largest = float(np.abs(values).max())
        code = exponent_code(largest, alg, four_bits)
        assert found["e"][i, j] == code
        scale = math.nan if code == 255 else 2.0 ** (127 - code)
        assert_numbers(found["s"].reshape(groups)[i, j], scale, element == "f16")
        assert_numbers(found["m"].reshape(groups)[i, j], largest, element == "f16" and alg == "ocp")
        scaled = [float(v) * scale if math.isfinite(v) else v * scale for v in values.astype(float)]
        if four_bits:
            wanted = [e2m1_code(v) for v in scaled]
            raw = found["d"]
            nibbles = np.stack([raw & 15, raw >> 4], axis=-1).reshape(rows, cols)[part]
            assert nibbles.tolist() == wanted
        else:
            clamped = [v if math.isnan(v) else min(max(v, -448.0), 448.0) for v in scaled]
            codes = np.array(clamped, np.float32).astype(ml_dtypes.float8_e4m3fn)
            same(found["d"].view(np.uint8)[part].view(ml_dtypes.float8_e4m3fn), codes)


def quantise(attributes: str, source: np.ndarray, *outs: Any) -> dict[str, np.ndarray]:
    names = ", ".join(f"%{o.name}" for o in outs)
    types = ", ".join(f"{{{o.name}}}" for o in outs)
    return run(
        f"pto.tquant.mx ins(%a : {{a}}) outs({names} : {types}) {{quant_type = #pto<quant_type MXFP8>{attributes}}}",
        tile("a", "f32", source), *outs,
    )  # fmt: skip


def outputs(rows: int, cols: int) -> list[Any]:
    flat = rows * cols // 32
    wide = -(-flat // 32) * 32
    return [
        tile("d", "i8", np.zeros((rows, cols))), tile("e", "ui8", np.zeros((1, wide)), (1, flat)),
        tile("m", "f32", np.zeros((1, wide)), (1, flat)), tile("s", "f32", np.zeros((1, 2 * wide)), (1, flat)),
    ]  # fmt: skip


def test_flat_exponents_and_scale_order() -> None:
    """One row of exponents, row after row; exp_zz holds them in boxes of 16 x 2, dst in blocks of 32 columns."""
    rows, cols = 32, 128
    source = blocks("f32", (rows, cols))
    plain = quantise("", source, *outputs(rows, cols))
    codes = [
        exponent_code(float(np.abs(source[r, g * 32 : g * 32 + 32]).max()), "ocp", False)
        for r in range(rows) for g in range(cols // 32)
    ]  # fmt: skip
    assert plain["e"][0, : len(codes)].tolist() == codes
    zz = tile("z", "ui8", np.zeros((1, 128)))
    boxed = quantise(", storeMode = #pto<vec_store_mode nz>", source, *outputs(rows, cols), zz)
    groups = cols // 32
    for r in range(rows):
        for g in range(groups):
            place = ((r // 16) * (groups // 2) + g // 2) * 32 + (r % 16) * 2 + g % 2
            assert boxed["z"][0, place] == codes[r * groups + g]
    rows_first = quantise(", storeMode = #pto<vec_store_mode nd>", source, *outputs(rows, cols), zz)
    assert (rows_first["z"] == boxed["z"]).all()
    assert (rows_first["d"] == plain["d"]).all()
    stored, wanted = boxed["d"].reshape(-1), plain["d"]
    for r in range(rows):
        for c in range(cols):
            assert stored[(c // 32) * rows * 32 + r * 32 + c % 32] == wanted[r, c]


def test_interleaved_exponents() -> None:
    rows, cols = 128, 32
    source = random_values("f32", (rows, cols), np.random.default_rng(47))
    outs = [
        tile("d", "i8", np.zeros((rows, cols))), tile("e", "ui8", np.zeros((2, 64))),
        tile("m", "f32", np.zeros((4, 32))), tile("s", "f32", np.zeros((4, 32))),
    ]  # fmt: skip
    found = quantise(", grpAxis = #pto<mx_group_axis axis0>, interleave = true", source, *outs)
    for g, c in np.ndindex(4, cols):
        code = exponent_code(float(np.abs(source[g * 32 : g * 32 + 32, c]).max()), "ocp", False)
        assert found["e"][g // 2, 2 * c + g % 2] == code


@pytest.mark.parametrize("rows", range(1, 7))
def test_exponents_of_two_rows_of_groups_stand_side_by_side(rows: int) -> None:
    blocks: Any = QuantizeBlocks.__new__(QuantizeBlocks)
    codes = np.arange(rows * 5, dtype=np.uint8).reshape(rows, 5)
    if rows % 2:
        with pytest.raises(Fault, match=f"{rows} group rows cannot be interleaved"):
            blocks._pairs(codes)
    else:
        wanted = [[codes[2 * r + c % 2, c // 2] for c in range(10)] for r in range(rows // 2)]
        assert blocks._pairs(codes).tolist() == wanted
