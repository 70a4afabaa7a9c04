"""Buffer ids, events and event ids between pipes; arrays and structs of the scalar unit."""

from __future__ import annotations

import numpy as np
import pytest
from parse_helpers import parsed
from transfer_programs import program

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.run import QueueCore, run_queued
from pto_dialect.runtime.run.arguments import bind_argument
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import Block, RunOptions


def kernel(text: str) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, None, None, RunOptions())


POINTERS = ("!pto.ptr<f32, gm>", "!pto.ptr<f32, ub>")
LOAD = "pto.mte_gm_ub %p, %ub, %z, %len nburst(%one, %z, %z) : {}, {}, i64, i64, i64, i64, i64".format(*POINTERS)
STORE = "pto.mte_ub_gm %ub, %q, %len nburst(%one, %z, %z) : {1}, {0}, i64, i64, i64, i64".format(*POINTERS)


class StoreFirst(QueueCore):
    """A core whose store pipe runs whenever it can, and otherwise the load pipe: the worst order for the data."""

    def step(self) -> bool:
        every = self.queues
        try:
            for pipe in sorted(every, reverse=True):
                self.queues = {pipe: every[pipe]}
                if super().step():
                    return True
            return False
        finally:
            self.queues = every


def run_store_first(body: str) -> tuple[np.ndarray, np.ndarray]:
    """Source and target after a run in that order; all instructions are issued before any pipe runs."""
    k = kernel(program(body))
    source, target = np.arange(16, dtype=np.float32) + 1, np.zeros(16, np.float32)
    bound = [bind_argument(n, t, v) for (n, t), v in zip(k.arguments, [source, target], strict=True)]
    core = Block(0, 1, k.profile, k.options, False, k.kinds, core_class=StoreFirst).cores[0]
    assert isinstance(core, QueueCore)
    run_queued([(core, k.prepare_queues().functions["k"](core, *bound))])
    return source, target


def stored_first(body: str) -> bool:
    """Whether the store may run before the load."""
    source, target = run_store_first(body)
    assert (target == 0).all() or (target == source).all()
    return bool((target == 0).all())


def test_without_order_the_store_overtakes() -> None:
    assert stored_first(f"{LOAD}\n{STORE}")


GET = 'pto.get_buf "{pipe}", {n}, {mode}\n'
RELEASE = '\npto.rls_buf "{pipe}", {n}, {mode}'


def bracket(pipe: str, body: str, n: int = 5, mode: int = 0) -> str:
    return GET.format(pipe=pipe, n=n, mode=mode) + body + RELEASE.format(pipe=pipe, n=n, mode=mode)


def test_a_buffer_id_orders_two_pipes() -> None:
    assert not stored_first(bracket("PIPE_MTE2", LOAD) + "\n" + bracket("PIPE_MTE3", STORE))


def test_another_number_does_not() -> None:
    assert stored_first(bracket("PIPE_MTE2", LOAD) + "\n" + bracket("PIPE_MTE3", STORE, n=6))


def test_operation_classes_name_pipes() -> None:
    text = ""
    for body, name in ((LOAD, "TLOAD"), (STORE, "TSTORE_VEC")):
        held = f"_buf[#pto.pipe_event_type<{name}>, 0]\n"
        text += f"pto.get{held}{body}\npto.rls{held}"
    assert not stored_first(text)


def test_mode_one_does_not_block_at_the_start() -> None:
    """The store does not wait; the release of the store pipe waits for the load, so a later user of the number does."""
    first = bracket("PIPE_MTE2", LOAD, mode=1)
    assert stored_first(first + "\n" + bracket("PIPE_MTE3", STORE, mode=1))
    assert not stored_first(first + "\n" + bracket("PIPE_MTE1", "", mode=1) + "\n" + bracket("PIPE_MTE3", STORE))


def test_mode_one_waits_for_brackets_that_are_still_open() -> None:
    """The load is in a bracket of its pipe that is released only later; the release on MTE1 waits for it anyway."""
    text = GET.format(pipe="PIPE_MTE2", n=5, mode=1) + LOAD + "\n" + bracket("PIPE_MTE1", "", mode=1)
    flag = "".join(f"\npto.{half}_flag[<PIPE_MTE1>, <PIPE_MTE3>, <EVENT_ID0>]\n" for half in ("set", "wait"))
    assert not stored_first(text + flag + STORE + RELEASE.format(pipe="PIPE_MTE2", n=5, mode=1))


def test_numbers_known_at_run_time() -> None:
    five, six = ("%n = arith.constant 5 : index\n", "%n = arith.constant 6 : index\n")
    for number, overtakes in ((five, False), (six, True)):
        held = "_buf_dyn [#pto.pipe<PIPE_MTE3>, %n]\n"
        store = f"{number}pto.get{held}{STORE}\npto.rls{held}"
        assert stored_first(bracket("PIPE_MTE2", LOAD) + "\n" + store) is overtakes


@pytest.mark.parametrize("number", [-1, 32])
def test_a_number_out_of_range(number: int) -> None:
    body = f"%n = arith.constant {number} : index\npto.get_buf_dyn [#pto.pipe<PIPE_MTE3>, %n]"
    with pytest.raises(ProgramError) as caught:
        kernel(program(body)).run([np.zeros(16, np.float32)] * 2)
    assert caught.value.rule == "sync-buf-range"


def test_the_scalar_unit_waits_for_a_buffer() -> None:
    scalar = """%c3 = arith.constant 3 : index
    %v = pto.load %ub[%c3] : !pto.ptr<f32, ub> -> f32
    pto.store %v, %q[%c3] : !pto.ptr<f32, gm>, f32"""
    source, target = run_store_first(bracket("PIPE_MTE2", LOAD) + "\n" + bracket("PIPE_S", scalar))
    assert target[3] == source[3]


# ------------------------------------------------------------ events

EVENT = "pto.{}[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, #pto.event<EVENT_ID2>]"


def test_events_order_the_pipes_of_two_classes() -> None:
    assert not stored_first(f"{LOAD}\n{EVENT.format('record_event')}\n{EVENT.format('wait_event')}\n{STORE}")


def test_an_event_nobody_records_is_a_deadlock() -> None:
    with pytest.raises(ProgramError) as caught:
        kernel(program(f"{LOAD}\n{EVENT.format('wait_event')}\n{STORE}")).run([np.zeros(16, np.float32)] * 2)
    assert caught.value.rule == "sync-deadlock"
    assert caught.value.notes == ("core: PIPE_MTE3 waits for a flag from PIPE_MTE2, EVENT_ID2",)


def test_tsync_joins_the_pipes() -> None:
    tile = "!pto.tile_buf<vec, 8x16xf32>"
    body = f"%t = pto.alloc_tile : {tile}\n{LOAD}\npto.tsync ins(%t : {tile})\n{STORE}"
    assert not stored_first(body)


def test_barriers_on_one_pipe_order_nothing_else() -> None:
    assert stored_first(f"{LOAD}\npto.barrier_sync[#pto.sync_op_type<TLOAD>]\n{STORE}")


def test_flags_by_numbers_from_an_array() -> None:
    body = f"""%ids = pto.declare_eventid_array -> !pto.eventid_array<4>
    %i = arith.constant 2 : index
    %id = arith.constant 3 : index
    pto.eventid_array_set %ids[%i], %id : !pto.eventid_array<4>
    {LOAD}
    %e = pto.eventid_array_get %ids[%i] : !pto.eventid_array<4>
    pto.set_flag_dyn [<PIPE_MTE2>, <PIPE_MTE3>, %e]
    pto.wait_flag [<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID3>]
    {STORE}"""
    assert not stored_first(body)


# ------------------------------------------------------------ arrays and structs


def scalars(body: str, *, size: int = 8) -> list[int]:
    text = f"""func.func @k(%out: !pto.ptr<i32>) {{
    {"".join(f"%c{i} = arith.constant {i} : index{chr(10)}" for i in range(8))}
    {"".join(f"%v{i} = arith.constant {i} : i32{chr(10)}" for i in range(8))}
    {body}
    return
    }}"""
    out = np.full(size, -1, np.int32)
    kernel(text).run([out])
    return out.tolist()


def test_local_arrays_are_row_major_and_keep_their_values() -> None:
    body = """%m = pto.declare_local_array -> !pto.local_array<2x3xi32>
    pto.local_array_set %m[%c1, %c2], %v5 : !pto.local_array<2x3xi32>, i32
    pto.local_array_set %m[%c0, %c1], %v4 : !pto.local_array<2x3xi32>, i32
    %a = pto.local_array_get %m[%c1, %c2] : !pto.local_array<2x3xi32> -> i32
    pto.local_array_set %m[%c1, %c2], %v7 : !pto.local_array<2x3xi32>, i32
    %b = pto.local_array_get %m[%c1, %c2] : !pto.local_array<2x3xi32> -> i32
    %c = pto.local_array_get %m[%c0, %c1] : !pto.local_array<2x3xi32> -> i32
    pto.store_scalar %a, %out[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %b, %out[%c1] : !pto.ptr<i32>, i32
    pto.store_scalar %c, %out[%c2] : !pto.ptr<i32>, i32"""
    assert scalars(body)[:3] == [5, 7, 4]


def test_outside_a_local_array() -> None:
    body = """%m = pto.declare_local_array -> !pto.local_array<2x3xi32>
    pto.local_array_set %m[%c1, %c3], %v5 : !pto.local_array<2x3xi32>, i32"""
    with pytest.raises(ProgramError) as caught:
        scalars(body)
    assert caught.value.rule == "mem-oob"
    assert caught.value.message == "element [1, 3] of a local array of shape 2x3"


def test_struct_fields() -> None:
    type_ = "!pto.struct<i32, !pto.struct<i32, f32>>"
    body = f"""%s = pto.declare_struct -> {type_}
    pto.struct_set %s[0], %v3 : {type_}, i32
    pto.struct_set %s[1, 0], %v6 : {type_}, i32
    %a = pto.struct_get %s[0] : {type_} -> i32
    %b = pto.struct_get %s[1, 0] : {type_} -> i32
    pto.store_scalar %a, %out[%c0] : !pto.ptr<i32>, i32
    pto.store_scalar %b, %out[%c1] : !pto.ptr<i32>, i32"""
    assert scalars(body)[:2] == [3, 6]


def test_each_declaration_is_a_struct_of_its_own() -> None:
    type_ = "!pto.struct<i32>"
    body = f"""%s = pto.declare_struct -> {type_}
    %t = pto.declare_struct -> {type_}
    pto.struct_set %s[0], %v3 : {type_}, i32
    pto.struct_set %t[0], %v4 : {type_}, i32
    %a = pto.struct_get %s[0] : {type_} -> i32
    pto.store_scalar %a, %out[%c0] : !pto.ptr<i32>, i32"""
    assert scalars(body)[0] == 3


def test_print_and_trap(capsys: pytest.CaptureFixture[str]) -> None:
    body = """pto.print ins("v = %+05d|", %v7 : i32)
    pto.print ins("%lld|", %v6 : i32)
    pto.trap"""
    with pytest.raises(ProgramError) as caught:
        scalars(body)
    assert caught.value.rule == "trap"
    assert caught.value.span is not None and caught.value.span.text == "pto.trap"
    assert capsys.readouterr().out == "v = +0007|6|"
