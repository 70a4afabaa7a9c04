"""Scales of columns in tiles of floats, for results of the matrix unit. Source: docs/reference/numerics.md,
"Write-back".
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pto_dialect.runtime.kernels.cube.fixpipe_tile import AccumulatorOut, channel_table
from pto_dialect.runtime.kernels.tile.move import Move
from pto_dialect.runtime.memory.values import ValueTile
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.targets.choice import get_profile

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
SCALES = [0.5, 2.0, 0.25, 1.0]


def scales(element: str) -> ValueTile:
    return ValueTile(1, 4, format_of(element), np.array([SCALES], DTYPES[element]))


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize(("source", "target", "low", "high"), [
    ("f32", "i8", -128, 127), ("f32", "si8", -128, 127), ("f32", "ui8", 0, 255),
    ("i32", "i8", -128, 127), ("si32", "si8", -128, 127), ("si32", "ui8", 0, 255),
])  # fmt: skip
def test_eight_bits_in_both_signs(element: str, source: str, target: str, low: int, high: int) -> None:
    x = np.array([[-300, -8, 12, 40], [600, 90, -4, 127], [6, 3, 2, -128]], np.float32 if source == "f32" else np.int32)
    out = AccumulatorOut(source, target, "no_relu", get_profile("a5"), quantised=True)
    wanted = np.clip(np.rint(x * np.array(SCALES)), low, high)
    assert (out(x, None, scales(element)).astype(np.int64) == wanted).all()


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("target", ["f16", "bf16"])
def test_floats(element: str, target: str) -> None:
    x = np.array([[1.5, -8, 12, 40], [6, 90, -4, 127]], np.float32)
    out = AccumulatorOut("f32", target, "no_relu", get_profile("a5"), quantised=True)
    assert (out(x, None, scales(element)).astype(np.float32) == x * np.array(SCALES, np.float32)).all()


def test_keywords_are_entries_as_they_are() -> None:
    words = np.array([[1 << 46, 2, 3]], np.uint64)
    assert channel_table(ValueTile(1, 3, format_of("ui64"), words), 3, signed=False).tolist() == words[0].tolist()


def test_a_window_takes_the_scales_of_its_own_columns() -> None:
    x = np.array([[1, 2, 3, 4], [5, 3, 10, 9], [6, -4, 6, 7]], np.float32)
    out = AccumulatorOut("f32", "i8", "no_relu", get_profile("a5"), quantised=True)
    source = ValueTile(3, 4, format_of("f32"), x)
    window = ValueTile(2, 2, format_of("i8"))
    Move(out, "extract")(source, window, 1, 1, None, scales("f32"))
    wanted = [[6, 2], [-8, 2]]  # columns 1 and 2: 10 / 4 = 2.5 and 6 / 4 = 1.5 go to the nearest even number
    assert window.read().astype(np.int8).tolist() == wanted
