"""Logical vectors in instrumented runs: what their loads and stores touch. Source: docs/reference/instrumentation.md,
"Order of events"."""

import numpy as np
import pytest
from sanitize_programs import diagnostics, instrumented, program, set_flag, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

V, M, P = "!pto.vmi.vreg<64xf32>", "!pto.vmi.mask<64xpred>", "!pto.ptr<f32, ub>"
BUFFERS = [
    ub("x", 0), ub("y", 256), ub("z", 512), "%c256 = arith.constant 256 : i64", "%n = arith.constant 16 : index",
]  # fmt: skip
LOAD = (
    "pto.mte_gm_ub %a, %x, %c0, %c256 nburst(%c1, %c256, %c256) "
    ": !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
)
LOADED = [LOAD, set_flag("MTE2", "V"), wait_flag("MTE2", "V")]
MASK = f"%m = pto.vmi.create_mask %n : index -> {M}"


def vload(name: str, source: str, at: str = "%i0", how: str = "") -> str:
    return f"%{name} = pto.vmi.vload {source}[{at}]{how} : {P} -> {V}"


def vadd(name: str, a: str, b: str) -> str:
    return f"%{name} = pto.vmi.vadd {a}, {b} : {V}, {V} -> {V}"


def vstore(value: str, target: str) -> str:
    return f"pto.vmi.vstore {value}, {target}[%i0] : {V}, {P}"


def masked(value: str, target: str) -> str:
    return f"pto.vmi.vstore {value}, {target}[%i0], %m : {V}, {P}, {M}"


def stored(source: str, size: str = "%c256") -> list[str]:
    store = (
        f"pto.mte_ub_gm {source}, %b, {size} nburst(%c1, {size}, {size}) : {P}, !pto.ptr<f32, gm>, i64, i64, i64, i64"
    )
    return [set_flag("V", "MTE3"), wait_flag("V", "MTE3"), store]


def scope(*lines: str) -> list[str]:
    return ["pto.vecscope {", MASK, *lines, "}"]


def test_a_scope_that_is_right():
    body = scope(vload("v", "%x"), vadd("w", "%v", "%v"), vstore("%w", "%y"))
    assert not diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%y")))


def test_a_scope_that_does_not_wait():
    body = scope(vload("v", "%x"), vstore("%v", "%y"))
    (found,) = diagnostics(program(*BUFFERS, LOAD, *body, *stored("%y")))
    assert found.rule == "race-raw" and found.span is not None and "pto.vmi.vload" in found.span.text


def test_unwritten_lanes_through_vectors():
    body = scope(vload("v", "%x"), vload("u", "%z"), vadd("w", "%v", "%u"), vstore("%w", "%y"))
    (found,) = diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%y")))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.ERROR)


def test_unwritten_lanes_that_a_mask_leaves_out():
    """16 lanes are loaded and stored, all others are unwritten."""
    lines = [line.replace("%c256", "%c64") for line in LOADED]
    body = scope(vload("v", "%x"), vadd("w", "%v", "%v"), masked("%w", "%y"))
    assert not diagnostics(program(*BUFFERS, *lines, *body, *stored("%y", "%c64")))
    (found,) = diagnostics(program(*BUFFERS, *lines, *body, *stored("%y")))
    assert found.rule == "mem-uninit"


@pytest.mark.parametrize(
    "statement",
    [
        f"%w = pto.vmi.masked_load %x[%i0], %m, %z0 : {P}, {M}, {V} -> {V}",
        f"%w = pto.vmi.vgather %x, %o, %m : {P}, !pto.vmi.vreg<64xi32>, {M} -> {V}",
        f"%w = pto.vmi.stride_load %x[%i0], %one, %one, %m : {P}, i16, i16, {M} -> {V}",
    ],
)
def test_loads_read_active_lanes_only(statement: str):
    """Of a buffer of 16 elements, the first 16 lanes; nothing after it was written."""
    lines = [line.replace("%c256", "%c64") for line in LOADED]
    more = [
        "%zero = arith.constant 0.0 : f32", f"%z0 = pto.vmi.vbrc %zero : f32 -> {V}", "%one = arith.constant 1 : i16",
        "%base = arith.constant 0 : i32", "%o = pto.vmi.vci %base : i32 -> !pto.vmi.vreg<64xi32>",
    ]  # fmt: skip
    body = scope(*more, statement, vstore("%w", "%y"))
    assert not diagnostics(program(*BUFFERS, *lines, *body, *stored("%y")))


@pytest.mark.parametrize(("bar", "warned"), [(None, True), ("VST_VLD", False), ("VLD_VST", True)])
def test_a_load_after_a_store(bar: str | None, warned: bool):
    bars = [f'pto.mem_bar "{bar}"'] if bar is not None else []
    body = scope(vload("v", "%x"), vstore("%v", "%y"), *bars, vload("w", "%y"), vstore("%w", "%z"))
    found = diagnostics(program(*BUFFERS, *LOADED, *body, *stored("%z")))
    assert [d.rule for d in found] == ["sync-membar-missing"] * warned


def test_accesses_beyond_the_memory():
    body = scope(vload("v", "%x", "%far"), vstore("%v", "%y"))
    (found,) = diagnostics(program(*BUFFERS, "%far = arith.constant 100000000 : index", *LOADED, *body))
    assert (found.rule, found.severity) == ("mem-oob", Severity.ERROR)


CALLED = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func private @double(%v: {V}, %to: {P}) {{
    %c0 = arith.constant 0 : index
    %w = pto.vmi.vadd %v, %v : {V}, {V} -> {V}
    pto.vmi.vstore %w, %to[%c0] : {V}, {P}
    return
  }}
"""


def called(*lines: str) -> str:
    """A program whose scope calls a function that stores."""
    head, _, tail = program(*lines).partition("\n")
    assert head.startswith("module")
    return CALLED + tail


def test_functions_that_scopes_call_are_instrumented_and_run():
    body = scope(vload("v", "%x"), f"func.call @double(%v, %y) : ({V}, {P}) -> ()")
    text = called(*BUFFERS, *LOADED, *body, *stored("%y"))
    kernel = instrumented(text, entry="k")
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel.run(values)
    assert not kernel.observer.findings.all
    assert values[1].tolist() == [2.0 * i for i in range(64)]
    (found,) = diagnostics(called(*BUFFERS, *LOADED, *body, stored("%y")[2]), entry="k")
    assert found.rule == "race-raw" and any("pto.vmi.vstore" in note.message for note in found.notes)


def test_functions_that_scopes_call_run_in_queues():
    """The flag that the scope waits for is set further down, so instructions must queue."""
    body = scope(vload("v", "%x"), f"func.call @double(%v, %y) : ({V}, {P}) -> ()")
    text = called(*BUFFERS, wait_flag("MTE2", "V"), *body, *LOADED[:2], *stored("%y"))
    kernel = Kernel(instrumented(text, entry="k").module, "k", None, RunOptions())
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel.run(values)
    assert values[1].tolist() == [2.0 * i for i in range(64)]


def test_vectors_outside_scopes_are_work_of_the_vector_unit():
    text = program(*BUFFERS, *LOADED, vload("v", "%x"), vstore("%v", "%y"), *stored("%y"))
    assert not diagnostics(text)
    early = program(*BUFFERS, LOADED[0], vload("v", "%x"), vstore("%v", "%y"), *stored("%y"))
    assert [found.rule for found in diagnostics(early)] == ["race-raw"]
    assert not diagnostics(program(*BUFFERS, LOAD, vload("v", "%x"), vstore("%v", "%y"), stored("%y")[2]))
