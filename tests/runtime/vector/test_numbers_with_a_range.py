"""Numbers that select a half, count lanes or count repeats: within their range they compute, beyond it a run ends with
their value, and constants are refused before. Source: docs/reference/vectors.md, "Loads and stores" and "Reductions and
rearrangement".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups
from register_programs import ZERO, numbers, ptr, vreg
from vmi_programs import run

from pto_dialect import check
from pto_dialect.runtime.errors import ProgramError

ALL = '%m = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>\n'
UNPACK = f"%r = pto.{{}} %a, %n : {vreg('ui16')} -> {vreg('ui32')}"
HISTOGRAM = f"{ALL}%r = pto.{{}} %a, %s, %m, %n : {vreg('ui16')}, {vreg('ui8')}, !pto.mask<b8>, i32 -> {vreg('ui16')}"
STREAM = f"""%s0 = pto.init_align : !pto.align
%s1, %q = pto.vstus %s0, %n, %v, %p : !pto.align, i32, {vreg("f32")}, {ptr("f32")} -> !pto.align, {ptr("f32")}
%none = arith.constant 0 : i32
pto.vstas %s1, %q, %none : !pto.align, {ptr("f32")}, i32"""
SORT = f"pto.vbitsort %p, %v, %i, %n : {ptr('f32')}, {ptr('f32')}, {ptr('ui32')}, index"

WIDE = {"a": (vreg("ui16"), numbers("ui16")), "s": (vreg("ui8"), numbers("ui8"))}
CASES: dict[str, tuple[str, str, int | None, dict[str, tuple[str, Any]]]] = {
    "vsunpack": (UNPACK.format("vsunpack"), "index", 1, WIDE),
    "vzunpack": (UNPACK.format("vzunpack"), "index", 1, WIDE),
    "chistv2": (HISTOGRAM.format("chistv2"), "i32", 1, WIDE),
    "dhistv2": (HISTOGRAM.format("dhistv2"), "i32", 1, WIDE),
    "vstus": (STREAM, "i32", 64, {"v": (vreg("f32"), numbers("f32")), "p": (ptr("f32"), np.zeros(64, np.float32))}),
    "vbitsort": (SORT, "index", None, {
        "v": (ptr("f32"), numbers("f32", 1, 96)), "i": (ptr("ui32"), np.arange(96, dtype=np.uint32)),
        "p": (ptr("f32"), np.zeros(192, np.float32)),
    }),
}  # fmt: skip
"""Statements with a number %n: its type, the largest one, and the other arguments."""


@pytest.mark.parametrize("name", CASES)
@in_groups("number", [-(2**31), -1, 0, 1, 2, 3, 64, 65])
def test_a_number_beyond_its_range_ends_the_run(name: str, number: int) -> None:
    text, type_, most, arguments = CASES[name]
    if most is None and number > 3:
        return
    if number >= 0 and (most is None or number <= most):
        run(ZERO + text, arguments | {"n": (type_, number)})
        return
    with pytest.raises(ProgramError, match=rf"found {number} \[vec-number\]"):
        run(ZERO + text, arguments | {"n": (type_, number)})


@pytest.mark.parametrize("name", CASES)
@in_groups("number", [-1, 0, 1, 2, 64, 65])
def test_a_constant_beyond_its_range_is_refused(name: str, number: int) -> None:
    text, type_, most, arguments = CASES[name]
    head = ", ".join(f"%{name}: {type_}" for name, (type_, _) in arguments.items())
    source = f"func.func @k({head}) {{\n%n = arith.constant {number} : {type_}\n{text}\nreturn\n}}"
    rules = [found.rule for found in check(source).diagnostics]
    allowed = number >= 0 and (most is None or number <= most)
    assert rules == ([] if allowed else ["vec-number"])
