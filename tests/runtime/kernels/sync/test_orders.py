"""Each way to order a load, a computation and a store gives the numbers of the program, on each target that has it."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run

VIEW, TILE = "!pto.partition_tensor_view<16x32xf32>", "!pto.tile_buf<vec, 16x32xf32>"
LOAD = f"pto.tload ins(%v : {VIEW}) outs(%t : {TILE})"
ADD = f"pto.tadds ins(%t, %x : {TILE}, f32) outs(%u : {TILE})"
STORE = f"pto.tstore ins(%u : {TILE}) outs(%w : {VIEW})"


def flags(first: str, second: str, event: str) -> str:
    pair = f'"PIPE_{first}", "PIPE_{second}"'
    return f"pto.set_flag[{pair}, {event}]\npto.wait_flag[{pair}, {event}]"


def computed_flags(first: str, second: str) -> str:
    pair = f"<PIPE_{first}>, <PIPE_{second}>, %c2"
    return f"pto.set_flag_dyn[{pair}]\npto.wait_flag_dyn[{pair}]"


def events(first: str, second: str, kind: str, event: int) -> str:
    words = f"[#pto.{kind}<{first}>, #pto.{kind}<{second}>, <EVENT_ID{event}>]"
    return f"pto.record_event{words}\npto.wait_event{words}"


def held(pipe: str, inner: str, statement: str, number: str) -> str:
    """A statement while its pipe has a buffer."""
    gets, releases = (f'pto.{inner.format(word)} "PIPE_{pipe}", {number}, 0' for word in ("get", "rls"))
    return f"{gets}\n{statement}\n{releases}"


WAYS = {
    "flags": (LOAD, flags("MTE2", "V", '"EVENT_ID0"'), ADD, flags("V", "MTE3", '"EVENT_ID7"'), STORE),
    "computed flags": (LOAD, computed_flags("MTE2", "V"), ADD, computed_flags("V", "MTE3"), STORE),
    "barriers": (LOAD, "pto.barrier #pto.pipe<PIPE_ALL>", ADD, "pto.barrier #pto.pipe<PIPE_ALL>", STORE),
    "events": (
        LOAD, events("TLOAD", "TVEC", "pipe_event_type", 3), ADD, events("TVEC", "TSTORE_VEC", "sync_op_type", 1), STORE
    ),
    "events and a barrier": (
        LOAD, events("TLOAD", "TVEC", "pipe_event_type", 4), ADD, "pto.barrier_sync[<TVEC>]",
        events("TVEC", "TSTORE_VEC", "pipe_event_type", 5), STORE,
    ),
    "buffers": (held("MTE2", "{}_buf", LOAD, "3"), held("V", "{}_buf", ADD, "3"), held("MTE3", "{}_buf", STORE, "3")),
    "computed buffers": (
        held("MTE2", "{}_buf_dyn", LOAD, "%c3"), held("V", "{}_buf_dyn", ADD, "%c3"),
        held("MTE3", "{}_buf_dyn", STORE, "%c3"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_three_pipes(way: str, target: str) -> None:
    source = np.random.default_rng(1).standard_normal(512).astype(np.float32)
    found = np.zeros(512, np.float32)
    body = f"%t = pto.alloc_tile : {TILE}\n%u = pto.alloc_tile : {TILE}\n" + "\n".join(WAYS[way])
    run(body, {"v": (VIEW, source), "w": (VIEW, found), "x": ("f32", 2.0)}, target=target)
    assert (found == source + np.float32(2)).all()


TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "s32": "i32", "s16": "i16", "s8": "i8"}


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("operation", ["add", "max", "min"])
@pytest.mark.parametrize("element", TYPES)
def test_stores_combine_while_the_mode_is_set(element: str, operation: str, target: str) -> None:
    """The first store combines, the second, after the mode has ended, replaces."""
    from tile_run_helpers import DTYPES

    kind = TYPES[element]
    view, tile = f"!pto.partition_tensor_view<16x32x{kind}>", f"!pto.tile_buf<vec, 16x32x{kind}>"
    rng = np.random.default_rng(2)
    old, new = (rng.integers(-30, 30, (16, 32)).astype(DTYPES[kind]) for _ in range(2))
    first, second = old.copy().reshape(-1), old.copy().reshape(-1)
    body = f"""pto.set_atomic_{element}
    pto.set_atomic_{operation}
    pto.tstore ins(%t : {tile}) outs(%v : {view})
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.set_atomic_none
    pto.tstore ins(%t : {tile}) outs(%w : {view})"""
    run(body, {"t": (tile, new), "v": (view, first), "w": (view, second)}, target=target)
    function = {"add": np.add, "max": np.maximum, "min": np.minimum}[operation]
    assert (first.reshape(16, 32) == function(old, new)).all()
    assert (second.reshape(16, 32) == new).all()


def test_cores_that_wait_for_each_other_return_values() -> None:
    """Of several cores the first one answers."""
    body = """pto.section.cube {
      pto.set_intra_block #pto.pipe<PIPE_FIX>, 3
      pto.set_intra_block #pto.pipe<PIPE_FIX>, 19
    }
    pto.section.vector {
      pto.wait_intra_block #pto.pipe<PIPE_V>, 3
    }
    %r = arith.addi %x, %n7 : i64"""
    assert run(body, {"x": ("i64", 5)}, {"r": "i64"}) == [12]
