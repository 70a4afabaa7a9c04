"""Vector scopes in instrumented runs: each micro-operation has its location, the scope is one instruction of V.

Source: docs/reference/execution.md, "Synchronisation"; docs/reference/instrumentation.md, "Order of events".
"""

import numpy as np
import pytest
from groups import in_groups
from sanitize_programs import diagnostics, program, set_flag, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
BUFFERS = [ub("x", 0), ub("y", 256), ub("z", 512), "%c256 = arith.constant 256 : i64", "%n = arith.constant 64 : i32"]
LOAD = (
    "pto.mte_gm_ub %a, %x, %c0, %c256 nburst(%c1, %c256, %c256) "
    ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
LOADED = [LOAD, set_flag("MTE2", "V"), wait_flag("MTE2", "V")]
MASK = f"%m, %rest = pto.plt_b32 %n : i32 -> {M}, i32"


def vlds(name: str, source: str, at: str = "%i0") -> str:
    return f"%{name} = pto.vlds {source}[{at}] : {P} -> {V}"


def vadd(name: str, a: str, b: str) -> str:
    return f"%{name} = pto.vadd {a}, {b}, %m : {V}, {V}, {M} -> {V}"


def vsts(value: str, target: str) -> str:
    return f"pto.vsts {value}, {target}[%i0], %m : {V}, {P}, {M}"


def stored(source: str) -> list[str]:
    store = f"pto.mte_ub_gm {source}, %b, %c256 nburst(%c1, %c256, %c256) : {P}, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    return [set_flag("V", "MTE3"), wait_flag("V", "MTE3"), store]


def scope(*lines: str) -> list[str]:
    return ["pto.vecscope {", MASK, *lines, "}"]


def test_a_scope_that_is_right():
    body = scope(vlds("v", "%x"), vadd("w", "%v", "%v"), vsts("%w", "%y"))
    assert not diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%y")))


def test_a_scope_that_does_not_wait():
    body = scope(vlds("v", "%x"), vadd("w", "%v", "%v"), vsts("%w", "%y"))
    (found,) = diagnostics(program(*BUFFERS, LOAD, *body, *stored("%y")))
    assert found.rule == "race-raw" and found.span is not None and "pto.vlds" in found.span.text


def test_unwritten_lanes_through_registers():
    """The sum of a written and an unwritten register is stored: reported where it leaves the chip."""
    body = scope(vlds("v", "%x"), vlds("u", "%z"), vadd("w", "%v", "%u"), vsts("%w", "%y"))
    (found,) = diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%y")))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.ERROR)
    assert "bytes [0, 256) of gm 'b'" in found.message


def test_unwritten_lanes_that_a_mask_leaves_out():
    """16 lanes were loaded and 16 lanes are used."""
    lines = [line.replace("%c256", "%c64") for line in LOADED]
    few = ["%few = arith.constant 16 : i32"]
    body = [line.replace("%n :", "%few :") for line in scope(vlds("v", "%x"), vadd("w", "%v", "%v"), vsts("%w", "%y"))]
    out = [line.replace("%c256", "%c64") for line in stored("%y")]
    assert not diagnostics(program(*BUFFERS, *few, *lines, *body, *out))


@pytest.mark.parametrize(("bar", "warned"), [(None, True), ("VST_VLD", False), ("VV_ALL", False), ("VLD_VST", True)])
def test_a_load_after_a_store(bar: str | None, warned: bool):
    bars = [f'pto.mem_bar "{bar}"'] if bar is not None else []
    body = scope(vlds("v", "%x"), vsts("%v", "%y"), *bars, vlds("w", "%y"), vsts("%w", "%z"))
    found = diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%z")))
    assert [d.rule for d in found] == ["sync-membar-missing"] * warned
    assert all(d.severity is Severity.WARNING and "vlds" in d.message for d in found)


def test_a_store_of_what_was_loaded_from_there():
    body = scope(vlds("v", "%x"), vadd("w", "%v", "%v"), vsts("%w", "%x"))
    assert not diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%x")))


def test_two_scopes_need_no_barrier():
    first, second = scope(vlds("v", "%x"), vsts("%v", "%y")), scope(vlds("w", "%y"), vsts("%w", "%z"))
    assert not diagnostics(program(*BUFFERS, *LOADED, *first, *second, *stored("%z")))


def test_an_access_outside_is_at_its_operation():
    far = "%far = arith.constant 99992 : index"
    body = scope(vlds("v", "%x", "%far"), vsts("%v", "%y"))
    (found,) = diagnostics(program(*BUFFERS, far, *LOADED, *body), [np.zeros(64, np.float32)] * 2)
    assert found.rule == "mem-oob" and found.span is not None and "pto.vlds" in found.span.text


ORDERS = {
    "raw": ("VV_ALL", "VST_VLD", "SV_ALL", "ST_VLD", "VS_ALL", "VST_LD"),
    "war": ("VV_ALL", "VLD_VST", "SV_ALL", "LD_VST", "VS_ALL", "VLD_ST"),
    "waw": ("VV_ALL", "VST_VST", "SV_ALL", "ST_VST", "VS_ALL", "VST_ST"),
}
"""Barriers that order a store before a load, a load before a store, a store before a store."""
KINDS = sorted({kind for kinds in ORDERS.values() for kind in kinds})
PAIRS = {
    "raw": (vsts("%v", "%y"), vlds("w", "%y")),
    "war": (vlds("w", "%y"), vsts("%v", "%y")),
    "waw": (vsts("%v", "%y"), vsts("%v", "%y")),
}


@pytest.mark.parametrize("kind", KINDS)
@in_groups("order", ORDERS)
def test_which_barriers_order_which_accesses(order: str, kind: str):
    first, second = PAIRS[order]
    fill = scope(vlds("u", "%x"), vsts("%u", "%y"))
    body = scope(vlds("v", "%x"), first, f'pto.mem_bar "{kind}"', second)
    found = diagnostics(program(*BUFFERS, *LOADED, *fill, *body))
    expected = [] if kind in ORDERS[order] else ["sync-membar-missing"]
    assert [one.rule for one in found] == expected


def test_a_store_that_is_made_again_in_a_scope_is_in_order_with_itself():
    """One statement after the other may store to one location without a barrier only if it is the same one."""
    body = scope(vlds("v", "%x"), "scf.for %k = %i0 to %i3 step %i1 {", vsts("%v", "%y"), "}")
    assert not diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%y")))
    twice = scope(vlds("v", "%x"), vsts("%v", "%y"), vsts("%v", "%y"))
    (found,) = diagnostics(program(*BUFFERS, *LOADED, *twice, *stored("%y")))
    assert found.rule == "sync-membar-missing" and found.help is not None and '"VST_VST"' in found.help


def test_scopes_need_no_barrier_between_them():
    """What one scope has stored the next one loads: instructions of one pipe, one after the other."""
    first, second = scope(vlds("v", "%x"), vsts("%v", "%y")), scope(vlds("w", "%y"), vsts("%w", "%z"))
    second = [line.replace("%m", "%m2").replace("%rest", "%rest2") for line in second]
    assert not diagnostics(program(*BUFFERS, *LOADED, *first, *second, *stored("%z")))
