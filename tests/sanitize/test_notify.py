"""Signals in memory: a notify waits for all earlier work of its core, and what follows a wait is after it.

Two blocks exchange rows: each stores its own, changes a signal, waits until both have done so, and reads the other's.
Source: docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

import numpy as np
import pytest
from lowering_programs import lowered
from sanitize_programs import found, instrumented

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.walk import walk

VIEW, ROWS, TILE = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x16xf32>", "!pto.tile_buf<vec, 8x16xf32>"
CELL = "!pto.partition_tensor_view<1xi32>"
HEAD = f"""module attributes {{pto.target_arch = "ARCH"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>, %s: !pto.ptr<i32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %all = arith.constant 2 : i32
    %two = arith.constant 2.0 : f32
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 4096 : i64
    %block = pto.get_block_idx
    %blocki = arith.index_cast %block : i64 to index
    %other = arith.subi %c1, %blocki : index
    %mine = arith.muli %blocki, %c8 : index
    %theirs = arith.muli %other, %c8 : index
    %t = pto.alloc_tile addr = %at0 : {TILE}
    %u = pto.alloc_tile addr = %at1 : {TILE}
    %sv = pto.make_tensor_view %s, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
    %sp = pto.partition_view %sv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> {CELL}
"""


def rows(name: str, pointer: str, row: str) -> list[str]:
    return [
        f"%{name}v = pto.make_tensor_view %{pointer}, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}",
        f"%{name} = pto.partition_view %{name}v, offsets = [{row}, %c0], sizes = [%c8, %c16] : {VIEW} -> {ROWS}",
    ]


def load(view: str, tile: str) -> str:
    return f"pto.tload ins(%{view} : {ROWS}) outs(%{tile} : {TILE})"


def store(tile: str, view: str) -> str:
    return f"pto.tstore ins(%{tile} : {TILE}) outs(%{view} : {ROWS})"


def flag(source: str, target: str, number: int = 0) -> list[str]:
    pipes = f'"PIPE_{source}", "PIPE_{target}", "EVENT_ID{number}"'
    return [f"pto.set_flag[{pipes}]", f"pto.wait_flag[{pipes}]"]


NOTIFY = f"pto.comm.tnotify(%sp, %one : {CELL}, i32) {{notifyOp = #pto<notify_op atomic_add>}}"
WAIT = f"pto.comm.twait(%sp, %all : {CELL}, i32) {{cmp = #pto<wait_cmp ge>}}"
SEND = [load("xp", "t"), *flag("MTE2", "MTE3"), store("t", "yp")]
TAKE = [load("yo", "u"), *flag("MTE2", "MTE3", 1), store("u", "zp")]
VIEWS = [*rows("xp", "x", "%mine"), *rows("yp", "y", "%mine"), *rows("yo", "y", "%theirs"), *rows("zp", "z", "%mine")]


def text(lines: list[str], arch: str = "a2a3") -> str:
    return HEAD.replace("ARCH", arch) + "\n".join(f"    {line}" for line in [*VIEWS, *lines, "return"]) + "\n  }\n}\n"


def errors(program: str, sync: str = "auto") -> set[str]:
    kernel = instrumented(program, sync=sync)
    kernel.run(values(), 2)
    found = (finding.diagnostic() for finding in kernel.observer.findings.all)
    return {one.rule for one in found if one.severity is Severity.ERROR}


def values() -> list[np.ndarray]:
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    return [x, np.zeros_like(x), np.zeros_like(x), np.zeros(1, np.int32)]


def unordered(lines: list[str]) -> list[str]:
    return [line for line in lines if "_flag" not in line]


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("hand", [True, False])
def test_a_notify_after_the_stores(arch: str, hand: bool) -> None:
    lines = [*SEND, NOTIFY, WAIT, *TAKE]
    program = text(lines if hand else unordered(lines), arch)
    assert errors(program) == set()
    kernel, given = instrumented(program), values()
    kernel.run(given, 2)
    np.testing.assert_array_equal(given[2], np.concatenate([given[0][8:], given[0][:8]]))
    assert not [one for one in found(program) if one.severity is Severity.ERROR]


WRONG = {
    "the signal before the store": [NOTIFY, *SEND, WAIT, *TAKE],
    "the signal before the store of a later row": [*SEND[:3], NOTIFY, SEND[3], WAIT, *TAKE],
    "no wait": [*SEND, NOTIFY, *TAKE],
    "the wait behind the load": [*SEND, NOTIFY, TAKE[0], WAIT, *TAKE[1:]],
    "a wait for one of two": [*SEND, NOTIFY, WAIT.replace("%all", "%one"), *TAKE],
    "no notify before the wait": [*SEND, WAIT, NOTIFY, *TAKE],
}


@pytest.mark.parametrize("hand", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_a_signal_that_says_too_little(name: str, hand: bool) -> None:
    lines = WRONG[name]
    wanted = {"sync-deadlock"} if name == "no notify before the wait" else {"race-cross-block"}
    assert errors(text(lines if hand else unordered(lines))) == wanted


@pytest.mark.parametrize("pipe", ["MTE2", "MTE3", "V"])
def test_a_notify_is_a_barrier_for_its_core(pipe: str) -> None:
    """What one pipe has done before it, another may use after it without a flag."""
    steps = {
        "MTE2": ([load("xp", "t")], [store("t", "yp")]),
        "MTE3": ([load("xp", "t"), *flag("MTE2", "MTE3"), store("t", "yp")], [load("xp", "t")]),
        "V": (
            [load("xp", "t"), *flag("MTE2", "V"), f"pto.tmuls ins(%t, %two : {TILE}, f32) outs(%u : {TILE})"],
            [store("u", "yp")],
        ),
    }
    before, behind = steps[pipe]
    with_flag = [*flag("MTE3", "V", 5)]
    assert errors(text([*before, NOTIFY, *behind, *with_flag]), "strict") == set()
    bare = errors(text([*before, *behind, *with_flag]), "strict")
    assert bare == {"race-war" if pipe == "MTE3" else "race-raw"}
    notified = text([*before, NOTIFY, *behind, *with_flag])
    assert not [one for one in found(notified) if one.severity is Severity.ERROR]
    assert [one.rule for one in found(text([*before, *behind, *with_flag])) if one.severity is Severity.ERROR]


def test_insert_sync_leaves_that_order_to_the_notify() -> None:
    sets = {
        tuple(op.attributes[name].value for name in ("src_pipe", "dst_pipe"))  # pyright: ignore[reportAttributeAccessIssue]
        for op in walk(lowered(text(unordered([*SEND, NOTIFY, WAIT, *TAKE])), "insert-sync")[0])
        if op.name == "pto.set_flag"
    }
    assert sets == {("PIPE_MTE2", "PIPE_MTE3")}
