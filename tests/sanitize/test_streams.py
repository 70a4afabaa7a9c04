"""Unaligned streams: what is never flushed, what is flushed or loaded elsewhere, and what a schedule holds back.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sanitize_programs import instrumented

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

A, P, R = "!pto.align", "!pto.ptr<f32, ub>", "!pto.vreg<64xf32>"
U = "!pto.ptr<ui32, ub>"
HEAD = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c512 = arith.constant 512 : i64
    %far = arith.constant 2048 : i64
    %high = arith.constant 2052 : i64
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i3 = arith.constant 3 : index
    %n0 = arith.constant 0 : i32
    %n3 = arith.constant 3 : i32
    %n5 = arith.constant 5 : i32
    %n8 = arith.constant 8 : i32
    %n13 = arith.constant 13 : i32
    %n18 = arith.constant 18 : i32
    %e5 = arith.constant 5 : index
    %e13 = arith.constant 13 : index
    %e64 = arith.constant 64 : index
    %x = pto.castptr %c0 : i64 -> {P}
    %y = pto.castptr %far : i64 -> {P}
    %z = pto.castptr %high : i64 -> {P}
    %m = pto.castptr %far : i64 -> {U}
    %y5 = pto.addptr %y, %e5 : {P} -> {P}
    %y13 = pto.addptr %y, %e13 : {P} -> {P}
    %y64 = pto.addptr %y, %e64 : {P} -> {P}
    %x1 = pto.addptr %x, %i1 : {P} -> {P}
    %x13 = pto.addptr %x, %e13 : {P} -> {P}
    pto.mte_gm_ub %a, %x, %c0, %c512 nburst(%c1, %c512, %c512) : !pto.ptr<f32, gm>, {P}, i64, i64, i64, i64, i64
    pto.mte_gm_ub %b, %y, %c0, %c512 nburst(%c1, %c512, %c512) : !pto.ptr<f32, gm>, {P}, i64, i64, i64, i64, i64
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
      %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
      %v = pto.vlds %x[%i0] : {P} -> {R}
      %s0 = pto.init_align : {A}
      %r0 = pto.init_align : {A}
"""
TAIL = f"""    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.mte_ub_gm %y, %b, %c512 nburst(%c1, %c512, %c512) : {P}, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }}
}}
"""


def text(*lines: str) -> str:
    return HEAD + "".join(f"      {line}\n" for line in lines) + TAIL


def put(state: str, to: str, count: str, base: str, updated: str = "") -> str:
    """A store to a stream."""
    results, more = (f"%{to}, %{updated}", f", {P}") if updated else (f"%{to}", "")
    return f"{results} = pto.vstus %{state}, %{count}, %v, %{base} : {A}, i32, {R}, {P} -> {A}{more}"


def end(state: str, base: str, offset: str, type_: str = P) -> str:
    """The flush of a stream."""
    return f"pto.vstas %{state}, %{base}, %{offset} : {A}, {type_}, i32"


SQUEEZE = f"%q = pto.vsqz %v, %all : {R}, !pto.mask<b32> -> {R}"
COUNTED = ('pto.sprclr "AR"', SQUEEZE, f'%s1 = pto.vstur %s0, %q, %z, "POST_UPDATE" : {A}, {R}, {P} -> {A}')
BITS = f"%s1, %m1 = pto.pstu %s0, %all, %m : {A}, !pto.mask<b32>, {U} -> {A}, {U}"


def loop(*after: str) -> tuple[str, ...]:
    """Three stores of 13 numbers that a loop appends."""
    return (
        f"%sl, %yl = scf.for %i = %i0 to %i3 step %i1 iter_args(%s = %s0, %p = %y) -> ({A}, {P}) {{",
        f"  {put('s', 's1', 'n13', 'p', 'p1')}", f"  scf.yield %s1, %p1 : {A}, {P}", "}", *after,
    )  # fmt: skip


def star(base: str) -> str:
    return f"pto.vstar %s1, %{base} : {A}, {P}"


def fetch(primed: str, loaded: str) -> tuple[str, ...]:
    """A load of a stream that another address may have begun."""
    return (
        f"%t0 = pto.vldas %{primed} : {P} -> {A}",
        f"%w, %t1 = pto.vldus %{loaded}, %t0 : {P}, {A} -> {R}, {A}",
        f"pto.vsts %w, %y[%i0], %all : {R}, {P}, !pto.mask<b32>",
    )


GOOD = {
    "one store": (put("s0", "s1", "n13", "y"), end("s1", "y", "n13")),
    "flush at a pointer behind it": (put("s0", "s1", "n13", "y"), end("s1", "y13", "n0")),
    "two stores": (put("s0", "s1", "n13", "y"), put("s1", "s2", "n5", "y13"), end("s2", "y", "n18")),
    "updated base": (put("s0", "s1", "n13", "y", "y1"), put("s1", "s2", "n5", "y1", "y2"), end("s2", "y2", "n0")),
    "stores from the middle of a block": (put("s0", "s1", "n3", "y5"), end("s1", "y5", "n3")),
    "stores that fill blocks": (put("s0", "s1", "n8", "y"), end("s1", "y", "n8")),
    "two streams by turns": (
        put("s0", "s1", "n13", "y"), put("r0", "r1", "n13", "y64"), put("s1", "s2", "n5", "y13"),
        end("r1", "y64", "n13"), end("s2", "y13", "n5"),
    ),
    "a flush of nothing": (put("s0", "s1", "n13", "y"), end("s1", "y", "n13"), end("r0", "y", "n0")),
    "a loop": loop(end("sl", "yl", "n0")),
    "compacted lanes": (*COUNTED, star("z")),
    "predicates": (BITS, end("s1", "m1", "n0", U)),
    "a load": fetch("x1", "x1"),
    "a load from the block that was begun": fetch("x", "x1"),
    "a loop of loads": (
        f"%t0 = pto.vldas %x1 : {P} -> {A}",
        f"%t2, %p2 = scf.for %i = %i0 to %i1 step %i1 iter_args(%t = %t0, %p = %x1) -> ({A}, {P}) {{",
        f"  %w, %t1, %p1 = pto.vldus %p, %t, %e13 : {P}, {A}, index -> {R}, {A}, {P}",
        f"  pto.vsts %w, %y[%i0], %all : {R}, {P}, !pto.mask<b32>", f"  scf.yield %t1, %p1 : {A}, {P}", "}",
    ),
}  # fmt: skip
BAD = {
    "not flushed": ("stream-flush", (put("s0", "s1", "n13", "y"),)),
    "the last of two not flushed": ("stream-flush", (put("s0", "s1", "n13", "y"), put("s1", "s2", "n5", "y13"))),
    "one of two streams not flushed": (
        "stream-flush", (put("s0", "s1", "n13", "y"), put("r0", "r1", "n13", "y64"), end("s1", "y", "n13")),
    ),
    "a loop without its flush": ("stream-flush", loop()),
    "compacted lanes without a flush": ("stream-flush", COUNTED),
    "predicates without a flush": ("stream-flush", (BITS,)),
    "flushed at another base": ("stream-address", (put("s0", "s1", "n13", "y"), end("s1", "y5", "n13"))),
    "flushed with another offset": ("stream-address", (put("s0", "s1", "n13", "y"), end("s1", "y", "n5"))),
    "flushed at the first base": (
        "stream-address", (put("s0", "s1", "n13", "y"), put("s1", "s2", "n5", "y13"), end("s2", "y", "n5")),
    ),
    "flushed behind the updated base": ("stream-address", (put("s0", "s1", "n13", "y", "y1"), end("s1", "y1", "n13"))),
    "continued at its own beginning": (
        "stream-address", (put("s0", "s1", "n13", "y"), put("s1", "s2", "n5", "y"), end("s2", "y", "n5")),
    ),
    "continued at another place": (
        "stream-address", (put("s0", "s1", "n13", "y"), put("s1", "s2", "n13", "y64"), end("s2", "y64", "n13")),
    ),
    "two streams with swapped states": (
        "stream-address",
        (put("s0", "s1", "n13", "y"), put("r0", "r1", "n13", "y64"), end("r1", "y", "n13"), end("s1", "y64", "n13")),
    ),
    "a loop that is flushed at its beginning": ("stream-address", loop(end("sl", "y", "n0"))),
    "compacted lanes flushed elsewhere": ("stream-address", (*COUNTED, star("y13"))),
    "predicates flushed at their beginning": ("stream-address", (BITS, end("s1", "m", "n0", U))),
    "a load behind another address": ("stream-address", fetch("x", "x13")),
    "a load behind an address in the block before": ("stream-address", fetch("x1", "x13")),
}  # fmt: skip
OPEN_TO_THE_TEXT = ("a loop", "compacted", "predicates flushed")
"""Faults of which the text does not say where the stream stands, or who flushes it."""


def buffers() -> list[Any]:
    return [np.arange(128, dtype=np.float32) + 1, np.zeros(128, np.float32)]


def found(program: str) -> list[tuple[str, Severity]]:
    kernel = instrumented(program, verify=False)
    kernel.run(buffers(), 1)
    return [(one.rule, one.severity) for one in (finding.diagnostic() for finding in kernel.observer.findings.all)]


def told(program: str) -> list[tuple[str, Severity]]:
    """What the text alone says about streams."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("k.pto", program), engine)
    assert module is not None
    verify_module(module, engine)
    return [(one.rule, one.severity) for one in engine.diagnostics if one.rule.startswith("stream-")]


def stored(program: str, schedule: str) -> np.ndarray:
    module = parse_program(SourceFile("k.pto", program), DiagnosticEngine())
    assert module is not None
    values = buffers()
    Kernel(module, None, None, RunOptions(schedule=Schedule.parse(schedule, strict=True))).run(values, 1)
    return values[1]


@pytest.mark.parametrize("name", GOOD)
def test_streams_that_are_flushed_where_they_end(name: str) -> None:
    program = text(*GOOD[name])
    assert found(program) == [] and told(program) == []
    wanted = stored(program, "text")
    for schedule in ("newest", "oldest", "random:3"):
        np.testing.assert_array_equal(stored(program, schedule), wanted)


@pytest.mark.parametrize("name", BAD)
def test_streams_that_lose_bytes(name: str) -> None:
    rule, lines = BAD[name]
    assert (rule, Severity.ERROR) in found(text(*lines))


@pytest.mark.parametrize("name", BAD)
def test_what_the_text_says_of_them(name: str) -> None:
    rule, lines = BAD[name]
    said = told(text(*lines))
    if (name.startswith(OPEN_TO_THE_TEXT) and rule == "stream-address") or name == "a loop without its flush":
        assert said == []
    else:
        assert [one for one, _ in said][:1] == [rule]
        certain = rule == "stream-flush" and "not flushed" in name
        assert (rule, Severity.ERROR if certain else Severity.WARNING) in said


@pytest.mark.parametrize("name", [name for name, (rule, _) in BAD.items() if rule == "stream-flush"])
def test_a_schedule_holds_back_what_is_not_flushed(name: str) -> None:
    program = text(*BAD[name][1])
    assert not np.array_equal(stored(program, "newest"), stored(program, "text"))


def test_full_blocks_are_stored_without_a_flush() -> None:
    """Eight numbers fill a block: nothing waits, and nothing is lost."""
    program = text(put("s0", "s1", "n8", "y"))
    assert found(program) == [] and told(program) == [("stream-flush", Severity.WARNING)]
    np.testing.assert_array_equal(stored(program, "newest")[:8], np.arange(8) + 1)


def test_a_held_stream_stores_its_full_blocks() -> None:
    got = stored(text(*BAD["not flushed"][1]), "newest")
    np.testing.assert_array_equal(got[:16], [*range(1, 9), *[0] * 8])


def test_terms_of_the_findings() -> None:
    kernel = instrumented(text(*BAD["flushed with another offset"][1]), verify=False)
    kernel.run(buffers(), 1)
    (finding,) = (one.diagnostic() for one in kernel.observer.findings.all)
    assert finding.message == "pto.vstas flushes a stream at byte 2068 of ub, but its position is 2100"
    assert [note.message for note in finding.notes] == [
        "pto.vstus has left it there", "pto.vstas on V of core, block 0",
    ]  # fmt: skip
    kernel = instrumented(text(*BAD["not flushed"][1]), verify=False)
    kernel.run(buffers(), 1)
    (finding,) = (one.diagnostic() for one in kernel.observer.findings.all)
    assert (
        finding.message
        == "pto.vstus leaves bytes [2080, 2100) of ub in the state of its stream, and nothing flushes them"
    )
    assert finding.help == "pto.vstas of the last state where the stream ends"
