"""What a program says of its order, and who else may learn from it. Source: docs/reference/synchronisation.md,
"Judging a program".
"""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import PIPES, Leaf, Signal, UnsupportedError, innermost
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.signals import SignalReader, implicit_locations, signal_of, signals_others
from pto_dialect.targets.choice import get_profile

T = "!pto.tile_buf<vec, 16x32xf32>"
HEAD = (
    "%x = pto.alloc_tile : " + T, "%n = arith.constant 5 : index", "%none = arith.constant 0 : i32",
    "%one = arith.constant 1 : i32",
)  # fmt: skip


def operation(line: str) -> Operation:
    """The last operation of a function but for its end."""
    body = "\n".join((*HEAD, line))
    text = f"func.func @f(%s: !pto.ptr<i32, gm>, %m: index) {{\n{body}\nreturn\n}}"
    (function,) = (op for op in walk(parse(text)) if op.name == "func.func")
    *_, last, _ = function.regions[0].block.ops
    return last


QUEUE = "pto.tpush_to_aic(%x : " + T + ") {split = 1}"
SEEN = {
    # What is in a queue, what is printed, and signals in memory: others look at memory then.
    QUEUE: (True, True),
    'pto.print ins("%d", %none : i32)': (True, True),
    "pto.trap": (True, True),
    "pto.comm.tnotify(%s, %one : !pto.ptr<i32, gm>, i32) {notifyOp = #pto<notify_op set>}": (True, True),
    # Other cores learn from a signal, and all it is about is in its accesses.
    "pto.sync.set #pto.pipe<PIPE_MTE3>, 3": (False, True),
    "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>": (False, True),
    "%b = pto.get_block_num": (False, False),
    f"pto.tadd ins(%x, %x : {T}, {T}) outs(%x : {T})": (False, False),
}


@pytest.mark.parametrize("line", SEEN)
def test_who_else_learns_how_far_the_core_is(line: str) -> None:
    op = operation(line)
    assert (bool(implicit_locations(op)), signals_others(op)) == SEEN[line]  # pyright: ignore[reportArgumentType]
    assert {place.root for place in implicit_locations(op)} <= {None}  # pyright: ignore[reportArgumentType]


SIGNALS = {
    'pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID2"]': ("set", "PIPE_V", "PIPE_MTE3", 2),
    'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]': ("wait", "PIPE_V", "PIPE_MTE3", 0),
    'pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %n]': ("set", "PIPE_V", "PIPE_MTE3", 5),
    "pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID1>]":
        ("set", "PIPE_MTE2", "PIPE_V", 1),
    "pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID1>]":
        ("wait", "PIPE_MTE2", "PIPE_V", 1),
    "pto.barrier #pto.pipe<PIPE_V>": ("barrier", "PIPE_V", "PIPE_V", 0),
    "pto.barrier #pto.pipe<PIPE_ALL>": ("join", "PIPE_S", "PIPE_S", 0),
    'pto.get_buf "PIPE_V", 3, 0': ("get", "PIPE_V", "PIPE_V", 3),
    'pto.rls_buf "PIPE_MTE2", 0, 0': ("release", "PIPE_MTE2", "PIPE_MTE2", 0),
}  # fmt: skip


@pytest.mark.parametrize("line", SIGNALS)
def test_signals(line: str) -> None:
    found = signal_of(operation(line), (), "a5")
    assert (found.kind, PIPES[found.source].value, PIPES[found.target].value, found.number) == SIGNALS[line]


UNKNOWN = {
    'pto.set_flag["PIPE_ALL", "PIPE_V", "EVENT_ID0"]': "its pipes are not known",
    'pto.set_flag["PIPE_V", "PIPE_ALL", "EVENT_ID0"]': "its pipes are not known",
    'pto.set_flag_dyn["PIPE_V", "PIPE_MTE3", %m]': "only a run knows its number",
    'pto.get_buf "PIPE_ALL", 3, 0': "its pipe is not known",
    'pto.get_buf "PIPE_V", 3, 1': "locks of another mode than 0 are not followed",
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_signals_that_are_not_followed(line: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        signal_of(operation(line), (), "a5")
    assert refused.value.reason == UNKNOWN[line]


ADD = f"pto.tadd ins(%x, %x : {T}, {T}) outs(%x : {T})"


@pytest.mark.parametrize("register", [False, True])
def test_registers_are_memory_where_something_sets_them(register: bool) -> None:
    """Work looks at them when it runs; without an operation that sets one, nothing depends on them."""
    lines = ["%k = arith.constant 0 : i64", *(["pto.set_ctrl %k : i64"] if register else []), ADD]
    text = "func.func @f() {\n" + "\n".join((*HEAD, *lines)) + "\nreturn\n}"
    function = next(op for op in walk(parse(text)) if op.name == "func.func")
    leaves = [one for one in innermost(SignalReader(HandleLocations(get_profile("a5")), None).function(function))
              if isinstance(one, Leaf)]  # fmt: skip
    spaces = [[sorted({place.space for place in places}) for places in (one.reads, one.writes)] for one in leaves]
    work = [["registers", "ub"], ["ub"]] if register else [["ub"], ["ub"]]
    assert spaces == ([[["registers"], ["registers"]], work] if register else [work])


def test_signals_stand_among_the_work() -> None:
    flags = [f'pto.{word}_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID2"]' for word in ("set", "wait")]
    text = "func.func @f() {\n" + "\n".join((*HEAD, ADD, *flags)) + "\nreturn\n}"
    function = next(op for op in walk(parse(text)) if op.name == "func.func")
    items = SignalReader(HandleLocations(get_profile("a5")), None).function(function).items
    assert [type(item) for item in items] == [Leaf, Signal, Signal]
