"""Vectors and predicates as arguments and results of an entry function. Source: docs/reference/execution.md,
"Launches".
"""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed
from vmi_programs import kernel, mask, vreg

import pto_dialect
from pto_dialect.runtime.errors import BindingError

ADD = f"""%r = pto.vmi.vadd %a, %a, %m : {vreg("f32", 5)}, {vreg("f32", 5)}, {mask(5)} -> {vreg("f32", 5)}
%n = pto.vmi.mask_not %m : {mask(5)} -> {mask(5)}"""
TYPES = {"a": vreg("f32", 5), "m": mask(5)}


def test_arrays_of_any_layout_are_values() -> None:
    run = kernel(ADD, TYPES, {"r": vreg("f32", 5), "n": mask(5)}).run
    a, m = np.arange(10, dtype=np.float32)[::-2], np.array([1, 1, 0, 1, 0], np.bool_)
    r, n = run([a, m])
    assert r.tolist() == [18, 14, 0, 6, 0]
    assert n.tolist() == [False, False, True, False, True]
    assert a.tolist() == [9, 7, 5, 3, 1]


def test_nothing_is_written_to_them() -> None:
    assert not kernel(ADD, TYPES, {"r": vreg("f32", 5)}).usage.written


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ((np.zeros(4, np.float32), np.ones(5, np.bool_)), "argument a needs an array of 5 lanes, found 4"),
        ((np.zeros(5, np.float32), np.ones(6, np.bool_)), "argument m needs an array of 5 lanes, found 6"),
        ((np.zeros(5, np.float64), np.ones(5, np.bool_)), "argument a needs elements of f32"),
        ((1.0, np.ones(5, np.bool_)), "needs an array, found 1.0"),
    ],
)
def test_what_does_not_fit_is_refused(values, why: str) -> None:
    with pytest.raises(BindingError, match=why):
        kernel(ADD, TYPES).run(list(values))


def test_registers() -> None:
    text = """func.func @k(%a: !pto.vreg<64xf32>, %b: !pto.vreg<64xf32>)
        -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>> {
      %r = "pto.vmi.pack"(%a, %b) : (!pto.vreg<64xf32>, !pto.vreg<64xf32>)
        -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
      %s = pto.vmi.ensure_layout %r : !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
        -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
      return %s : !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
    }"""
    a, b = np.arange(0, 128, 2, dtype=np.float32), np.arange(1, 128, 2, dtype=np.float32)
    assert pto_dialect.compile(parsed(text)[0], target="a5")(a, b).tolist() == list(range(128))
