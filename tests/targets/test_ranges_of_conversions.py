"""Conversions in which no finite number is out of range, against the limits of numpy and ml_dtypes."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
from groups import in_groups

from pto_dialect.targets.tcvt_pairs import fits_always

FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
INTEGERS = {f"{sign}i{bits}": f"{kind}int{bits}" for sign, kind in (("", ""), ("u", "u")) for bits in (8, 16, 32, 64)}


def limits(element: str) -> tuple[float | int, float | int]:
    if element in FLOATS:
        info = ml_dtypes.finfo(FLOATS[element])
        return int(float(info.min)), int(float(info.max))
    integer = np.iinfo(INTEGERS[element])
    return int(integer.min), int(integer.max)


@in_groups(("source", "target"), list(product([*FLOATS, *INTEGERS], repeat=2)))
def test_ranges(source: str, target: str) -> None:
    (low, high), (least, most) = limits(source), limits(target)
    has_infinity = source in FLOATS and target in INTEGERS
    assert fits_always(source, target) == (least <= low and high <= most and not has_infinity)


def test_types_without_a_range_do_not_fit() -> None:
    assert not fits_always("f8E4M3FN", "f32") and not fits_always("f32", "f8E4M3FN")
