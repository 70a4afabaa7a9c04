"""Ranks from Python: the examples, and arguments that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rank_programs import module_of, text_of

from pto_dialect.ranks import CONTEXT, RANK, RANKS, Window, run_ranks
from pto_dialect.runtime.errors import BindingError, ProgramError

LAST: dict[str, Any] = {"signal": Window("signal"), "context": CONTEXT, "rank": RANK, "ranks": RANKS}


@pytest.mark.parametrize(("count", "processes"), [(2, 1), (4, 1), (8, 1), (4, 2), (8, 4)])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_product_whose_inner_dimension_is_shared(count: int, processes: int, target: str) -> None:
    # Small integers, so that every order of additions gives the same sums.
    random = np.random.default_rng(count)
    x = random.integers(-4, 5, (64, 512)).astype(np.float16)
    w = random.integers(-4, 5, (512, 64)).astype(np.float16)
    windows = {"part": np.zeros((count, 64, 64), np.float32), "signal": np.zeros((count, 1), np.int32)}
    share = 512 // count
    arguments = {
        "x": x,
        "w": [np.ascontiguousarray(w[rank * share : (rank + 1) * share]) for rank in range(count)],
        "part": Window("part"),
        "y": np.zeros((64, 64), np.float32),
        **LAST,
    }
    module = module_of(text_of("tp_gemm"))
    results = run_ranks(module, arguments, count, windows, target=target, processes=processes)
    wanted = x.astype(np.float32) @ w.astype(np.float32)
    for rank, result in enumerate(results):
        np.testing.assert_array_equal(result["y"], wanted)
        mine = x[:, rank * share : (rank + 1) * share].astype(np.float32) @ arguments["w"][rank].astype(np.float32)
        np.testing.assert_array_equal(windows["part"][rank], mine)
    assert (windows["signal"] == count).all()
    assert not arguments["y"].any()


RING = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%next: !pto.ptr<i32>, %mine: !pto.ptr<i32>, %value: i32) {
    %c0 = arith.constant 0 : index
    pto.store_scalar %value, %next[%c0] : !pto.ptr<i32>, i32
    return
  }
}"""


def test_a_window_of_a_neighbour() -> None:
    windows = {"w": np.zeros((3, 1), np.int32)}
    arguments = {"next": Window("w", shift=1), "mine": Window("w"), "value": [10, 11, 12]}
    results = run_ranks(module_of(RING), arguments, 3, windows)
    assert windows["w"].ravel().tolist() == [12, 10, 11]
    assert [result["mine"].tolist() for result in results] == [[12], [10], [11]]
    run_ranks(module_of(RING), {**arguments, "next": Window("w", rank=2), "value": 5}, 3, windows)
    assert windows["w"].ravel().tolist() == [12, 10, 5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"next": Window("v")}, "argument next: there is no window v of rank 0"),
        ({"next": Window("w", rank=3)}, "there is no window w of rank 3"),
        ({"value": [1, 2]}, "argument value has 2 values for 3 ranks"),
        ({"other": 1}, "unknown arguments: other"),
    ],
)
def test_arguments_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    arguments = {"next": Window("w"), "mine": Window("w"), "value": 1}
    with pytest.raises(BindingError, match=message):
        run_ranks(module_of(RING), {**arguments, **change}, 3, {"w": np.zeros((3, 1), np.int32)})


def test_what_is_missing_and_windows_of_other_ranks() -> None:
    with pytest.raises(BindingError, match=r"no value for argument mine; @\w+ takes next : "):
        run_ranks(module_of(RING), {"next": Window("w"), "value": 1}, 3, {"w": np.zeros((3, 1), np.int32)})
    with pytest.raises(BindingError, match="window w has the shape"):
        run_ranks(module_of(RING), {"next": 1, "mine": 1, "value": 1}, 2, {"w": np.zeros((3, 1), np.int32)})
    with pytest.raises(BindingError, match="1 to 64 ranks"):
        run_ranks(module_of(RING), {"next": Window("w"), "mine": Window("w"), "value": 1}, 65,
                  {"w": np.zeros((65, 1), np.int32)})  # fmt: skip


def test_a_rank_that_never_arrives_is_a_deadlock() -> None:
    silent = "func.func private @silent(%s: !pto.ptr<i32>, %c: !pto.ptr<i64>, %n: index) {\n    return\n  }\n  "
    text = text_of("tp_gemm").replace("call @tell", "call @silent")
    text = text.replace("func.func private @tell", f"{silent}func.func private @tell")
    windows = {"part": np.zeros((2, 64, 64), np.float32), "signal": np.zeros((2, 1), np.int32)}
    arguments = {"x": np.zeros((64, 512), np.float16), "w": np.zeros((256, 64), np.float16), "part": Window("part"),
                 "y": np.zeros((64, 64), np.float32), **LAST}  # fmt: skip
    with pytest.raises(ProgramError) as caught:
        run_ranks(module_of(text), arguments, 2, windows)
    assert caught.value.rule == "sync-deadlock"
    assert [note.partition(":")[0] for note in caught.value.notes] == ["AIV0 of rank 0", "AIV0 of rank 1"]


@pytest.mark.parametrize("processes", [1, 2])
def test_pipes_that_wait_for_ever_are_named_with_their_waits(processes: int) -> None:
    """Not with the barrier at which the scalar unit waits for them."""
    text = """module attributes {pto.target_arch = "a5"} {
  func.func @k(%x: !pto.ptr<f32>) attributes {pto.kernel} {
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.barrier <PIPE_ALL>
    return
  }
}"""
    with pytest.raises(ProgramError) as caught:
        run_ranks(module_of(text), {"x": np.zeros(4, np.float32)}, 2, {}, processes=processes)
    assert caught.value.span is not None and caught.value.span.line == 3
    assert list(caught.value.notes) == [
        f"core of rank {rank}: {wait}"
        for rank in (0, 1)
        for wait in (
            "PIPE_V waits for a flag from PIPE_MTE2, EVENT_ID0, in pto.wait_flag at line 3",
            "PIPE_MTE2 waits for a flag from PIPE_V, EVENT_ID1, in pto.wait_flag at line 5",
        )
    ]
