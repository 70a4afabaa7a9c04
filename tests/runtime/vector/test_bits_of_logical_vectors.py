"""Functions of bits on logical vectors of floats, and sums of products that keep or clear lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups
from vmi_programs import mask, pattern, run, vreg

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "ui8": np.uint8, "i32": np.int32, "f8E5M2": np.uint8}


@pytest.mark.parametrize("element", DTYPES)
@in_groups("name", ["vand", "vor", "vxor", "vnot"])
def test_bits_of_any_lanes(name: str, element: str) -> None:
    dtype = np.dtype(DTYPES[element])
    raw = np.random.default_rng(3).integers(0, 256, (2, 64 * dtype.itemsize), np.uint8)
    a, b = (row.view(f"u{dtype.itemsize}") for row in raw)
    v, m, active = vreg(element, 64), mask(64), pattern(64)
    operands, types = ("%a", v) if name == "vnot" else ("%a, %b", f"{v}, {v}")
    (got,) = run(
        f"%r = pto.vmi.{name} {operands}, %m : {types}, {m} -> {v}",
        {"a": (v, a.view(dtype)), "b": (v, b.view(dtype)), "m": (m, active)},
        {"r": v},
    )
    formula = {
        "vand": lambda x, y: x & y,
        "vor": lambda x, y: x | y,
        "vxor": lambda x, y: x ^ y,
        "vnot": lambda x, y: ~x,
    }
    limit = 2 ** (8 * dtype.itemsize)
    wanted = [formula[name](int(x), int(y)) % limit if on else 0 for x, y, on in zip(a, b, active, strict=True)]
    assert np.asarray(got).view(f"u{dtype.itemsize}").tolist() == wanted


@pytest.mark.parametrize("mode", ["merge", "zero", ""])
@pytest.mark.parametrize("name", ["vaxpy", "vmula"])
def test_lanes_that_are_left_out(name: str, mode: str) -> None:
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(-9, 9, 64).astype(np.float32) for _ in range(3))
    v, m, active = vreg("f32", 64), mask(64), pattern(64)
    stated = f' {{pmode = "{mode}"}}' if mode else ""
    if name == "vaxpy":
        text, kept, sums = f'"pto.vmi.vaxpy"(%a, %c, %s, %m){stated} : ({v}, {v}, f32, {m})', c, 3 * a + c
    else:
        text, kept, sums = f"pto.vmi.vmula %c, %a, %b, %m{stated} : {v}, {v}, {v}, {m}", c, a * b + c
    arguments = {"a": (v, a), "b": (v, b), "c": (v, c), "s": ("f32", 3.0), "m": (m, active)}
    (got,) = run(f"%r = {text} -> {v}", arguments, {"r": v})
    idle = np.zeros(64, np.float32) if mode == "zero" else kept if mode == "merge" else None
    if idle is None:
        assert (np.asarray(got)[active] == sums[active]).all()
    else:
        assert (np.asarray(got) == np.where(active, sums, idle)).all()
