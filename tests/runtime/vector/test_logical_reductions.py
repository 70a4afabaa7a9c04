"""Sums and extrema of logical vectors, whole and in groups, and what negates them, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from vmi_programs import DTYPES, mask, numbers, pattern, pointer, run, same, vreg

LANES, GROUPS = 64, 8


def sums(values: np.ndarray, active: np.ndarray) -> float:
    """In the order of the lanes, rounded after each step."""
    total = values.dtype.type(0)
    for value, chosen in zip(values, active, strict=True):
        if chosen:
            total = values.dtype.type(total + value)
    return float(total)


@pytest.mark.parametrize("reassoc", ["", "reassoc"])
def test_float_reductions(reassoc: str) -> None:
    """The permission to reorder sums is not used."""
    a, p = (np.random.default_rng(5).standard_normal(LANES) * 9).astype(np.float32), pattern(LANES)
    v, one, group = vreg("f32", LANES), vreg("f32", 1), vreg("f32", GROUPS)
    word, also = (f" {{{reassoc}}}", f", {reassoc}") if reassoc else ("", "")
    body = f"""%r = pto.vmi.reduce_addf %a, %p{word} : {v}, {mask(LANES)} -> {one}
    %s = pto.vmi.reduce_maxf %a, %p : {v}, {mask(LANES)} -> {one}
    %t = pto.vmi.reduce_minf %a, %p : {v}, {mask(LANES)} -> {one}
    %u = pto.vmi.group_reduce_addf %a, %p {{num_groups = 8 : i64{also}}} : {v}, {mask(LANES)} -> {group}"""
    results = {"r": one, "s": one, "t": one, "u": group}
    r, s, t, u = run(body, {"a": (v, a), "p": (mask(LANES), p)}, results)
    np.testing.assert_allclose(float(r[0]), sums(a, p), rtol=1e-6)
    assert (float(s[0]), float(t[0])) == (float(a[p].max()), float(a[p].min()))
    parts = [sums(a[8 * n : 8 * n + 8], p[8 * n : 8 * n + 8]) for n in range(GROUPS)]
    np.testing.assert_allclose(np.asarray(u, np.float64), parts, rtol=1e-6)


@pytest.mark.parametrize("element", ["i32", "ui32"])
def test_sums_of_integers_in_groups(element: str) -> None:
    a, p = numbers(element, LANES), pattern(LANES)
    v, group = vreg(element, LANES), vreg(element, GROUPS)
    body = f"%r = pto.vmi.group_reduce_addi %a, %p {{num_groups = 8 : i64}} : {v}, {mask(LANES)} -> {group}"
    (got,) = run(body, {"a": (v, a), "p": (mask(LANES), p)}, {"r": group})
    for n, total in enumerate(np.asarray(got)):
        wanted = sum(int(x) for x, m in zip(a[8 * n : 8 * n + 8], p[8 * n : 8 * n + 8], strict=True) if m)
        assert int(total) % 2**32 == wanted % 2**32


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "ui16", "i32", "ui32"])
def test_negated_and_inverted(element: str) -> None:
    a, v = numbers(element, 70), vreg(element, 70)
    body = f"%r = pto.vmi.negi %a : {v} -> {v}\n%s = pto.vmi.not %a : {v} -> {v}"
    bits = 8 * DTYPES[element].itemsize
    r, s = run(body, {"a": (v, a)}, {"r": v, "s": v})
    assert [int(x) % 2**bits for x in r] == [-int(x) % 2**bits for x in a]
    assert [int(x) % 2**bits for x in s] == [~int(x) % 2**bits for x in a]


def test_stored_blocks_lie_apart() -> None:
    """Blocks of 32 bytes, as many blocks apart as the operand says; lanes that are not chosen keep their bytes."""
    values, active, stride = numbers("f32", LANES), pattern(LANES), 3
    out = np.full(512, 7, np.float32)
    v, p = vreg("f32", LANES), pointer("f32")
    body = f"pto.vmi.stride_store %a, %p[%n], %s, %one, %m : {v}, {p}, i16, i16, {mask(LANES)}"
    run(body, {"a": (v, values), "p": (p, out), "n": ("index", 8), "s": ("i16", stride), "one": ("i16", 1),
               "m": (mask(LANES), active)})  # fmt: skip
    wanted = np.full(512, 7, np.float32)
    for lane, chosen in enumerate(active):
        if chosen:
            wanted[8 + lane // 8 * 8 * stride + lane % 8] = values[lane]
    same(out, wanted)
