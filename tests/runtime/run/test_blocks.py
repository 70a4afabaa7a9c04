"""Blocks one after the other and in parallel processes: same results, located errors, nothing left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from parse_helpers import parsed
from queue_programs import CubeToVector

from pto_dialect.interrupts import can_fork
from pto_dialect.runtime import api
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.balance import Balance
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog
from pto_dialect.runtime.run.sharing import Sharing

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes cannot be copied here")


@pytest.fixture(autouse=True)
def always_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs here are too small for processes to pay."""
    monkeypatch.setattr(Balance, "pays", lambda *_: True)
    monkeypatch.setattr(Sharing, "each", 0.0)
    monkeypatch.setattr(Sharing, "timed", 2)


def kernel(text: str, log: ProfileLog | None = None) -> Kernel:
    module, found = parsed(text)
    assert found == []
    return Kernel(module, None, None, RunOptions(), log)


TILE = "!pto.tile_buf<vec, 8x16xf32>"
PART = "!pto.partition_tensor_view<8x16xf32>"

ROWS = f"""func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %last: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %many = arith.constant 192 : index
  %b = pto.get_block_idx
  %i = arith.index_cast %b : i64 to index
  %row = arith.muli %i, %c8 : index
  %bound = arith.index_cast %last : i32 to index
  %over = arith.cmpi sgt, %i, %bound : index
  %far = arith.constant 99999 : index
  %start = arith.select %over, %far, %row : index
  %xv = pto.make_tensor_view %x, shape = [%many, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %yv = pto.make_tensor_view %y, shape = [%many, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%start, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %a = pto.alloc_tile : {TILE}
  %o = pto.alloc_tile : {TILE}
  pto.tload ins(%xp : {PART}) outs(%a : {TILE})
  pto.tload ins(%yp : {PART}) outs(%o : {TILE})
  pto.tadd ins(%a, %o : {TILE}, {TILE}) outs(%o : {TILE})
  pto.tstore ins(%o : {TILE}) outs(%yp : {PART})
  return
}}"""
"""y += x, eight rows in each block; a block above %last reads outside x."""


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.standard_normal((192, 16)).astype(np.float32), rng.standard_normal((192, 16)).astype(np.float32)


@pytest.mark.parametrize("jobs", [1, 2, 3, 24, 99])
def test_results_do_not_depend_on_the_number_of_processes(jobs: int) -> None:
    x, y = rows()
    old = y.copy()
    kernel(ROWS).run([x, y, 24], blocks=24, jobs=jobs)
    np.testing.assert_array_equal(y, x + old)


def test_python_interface() -> None:
    module, _ = parsed(ROWS)
    x, y = rows()
    expected = x + y
    api.compile(module)(x, y, 24, blocks=24, jobs=2)
    np.testing.assert_array_equal(y, expected)
    x, y = rows()
    assert np.array_equal(api.run(module, {"x": x, "y": y, "last": 24}, blocks=24, jobs=2)["y"], expected)


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_error_is_that_of_the_first_block_that_fails(jobs: int) -> None:
    """All blocks from 10 on fail; what is reported is the access of block 10, at its operation."""
    x, y = rows()
    old = y.copy()
    with pytest.raises(ProgramError) as caught:
        kernel(ROWS).run([x, y, 9], blocks=24, jobs=jobs)
    assert caught.value.rule == "mem-oob"
    assert caught.value.span is not None and caught.value.span.text.startswith("pto.tload ins(%xp")
    if jobs > 1:
        np.testing.assert_array_equal(y, old)


def test_the_block_index_of_the_error() -> None:
    text = """func.func @k(%x: !pto.ptr<i32>) {
      %c5 = arith.constant 5 : index
      %b = pto.get_block_idx
      %i = arith.index_cast %b : i64 to index
      %o = arith.muli %i, %c5 : index
      %v = pto.load_scalar %x[%o] : !pto.ptr<i32> -> i32
      pto.store_scalar %v, %x[%i] : !pto.ptr<i32>, i32
      return
    }"""
    for jobs in (1, 2, 4):
        with pytest.raises(ProgramError) as caught:
            kernel(text).run([np.zeros(12, np.int32)], blocks=16, jobs=jobs)
        assert "bytes [60, 64)" in caught.value.message


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_block_returns(jobs: int) -> None:
    text = """func.func @k(%a: !pto.tile<2x3xf32>) -> (!pto.tile<2x3xf32>, i64) {
      %b = pto.get_block_idx
      %r = pto.tadd %a, %a : (!pto.tile<2x3xf32>, !pto.tile<2x3xf32>) -> !pto.tile<2x3xf32>
      return %r, %b : !pto.tile<2x3xf32>, i64
    }"""
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    total, block = kernel(text).run([a], blocks=4, jobs=jobs)
    np.testing.assert_array_equal(total, 2 * a)
    assert block == 0


def test_cores_that_cooperate_inside_a_block() -> None:
    program = CubeToVector(count=4, slots=2)
    a, b = np.ones((16, 16), np.float32), np.arange(4096 * 32, dtype=np.float32).reshape(4096, 32)
    outs = []
    for jobs in (1, 2):
        out = np.zeros((4096, 64), np.float32)
        kernel(program.text()).run([a, b, np.zeros(1, np.float32), out], blocks=4, jobs=jobs)
        outs.append(out)
    assert outs[0].any()
    np.testing.assert_array_equal(*outs)


# ------------------------------------------------------------ blocks that are not independent


ADD = f"""func.func @k(%x: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %xv = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %one = arith.constant 1.0 : f32
  %a = pto.alloc_tile : {TILE}
  pto.texpands ins(%one : f32) outs(%a : {TILE})
  pto.tstore ins(%a : {TILE}) outs(%xp : {PART}) {{atomicType = #pto<atomic_type atomic_add>}}
  return
}}"""


def test_blocks_that_add_at_one_address_do_not_lose_a_sum() -> None:
    k = kernel(ADD)
    assert k.usage.combines
    x = np.zeros((8, 16), np.float32)
    k.run([x], blocks=40, jobs=4)
    assert (x == 40).all()


def test_blocks_that_communicate_run_concurrently() -> None:
    text = """func.func @k(%p: !pto.ptr<i32>, %q: !pto.ptr<i32>) {
      %b = pto.get_block_idx
      %i = arith.index_cast %b : i64 to index
      %v = arith.trunci %b : i64 to i32
      pto.store_scalar %v, %p[%i] : !pto.ptr<i32>, i32
      pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
      %c2 = arith.constant 2 : index
      %o = arith.subi %c2, %i : index
      %r = pto.load_scalar %p[%o] : !pto.ptr<i32> -> i32
      pto.store_scalar %r, %q[%i] : !pto.ptr<i32>, i32
      return
    }"""
    read = np.zeros(3, np.int32)
    kernel(text).run([np.full(3, 9, np.int32), read], blocks=3, jobs=3)
    assert read.tolist() == [2, 1, 0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_arguments_that_share_memory(jobs: int) -> None:
    """y += y through two arguments; and through two that overlap in part, which one process at a time must see."""
    y = rows()[1]
    old = y.copy()
    kernel(ROWS).run([y, y, 24], blocks=24, jobs=jobs)
    np.testing.assert_array_equal(y, 2 * old)
    both = np.arange(200 * 16, dtype=np.float32).reshape(200, 16)
    expected = both.copy()
    for block in range(24):
        place = slice(8 * block, 8 * block + 8)
        expected[:192][place] += expected[8:][place]
    kernel(ROWS).run([both[8:], both[:192], 24], blocks=24, jobs=jobs)
    np.testing.assert_array_equal(both, expected)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("%v = pto.load_scalar %x[%c1] : !pto.ptr<f32> -> f32\n STORE %v, %y[%c1] : !pto.ptr<f32>, f32", {1}),
        ("%p = pto.addptr %x, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>\n STORE %f, %p[%c1] : !pto.ptr<f32>, f32", {0}),
        ("func.call @reads(%x) : (!pto.ptr<f32>) -> ()", set()),
        ("func.call @writes(%x) : (!pto.ptr<f32>) -> ()", {0}),
        ("%a = pto.castptr %x : !pto.ptr<f32> -> i64\n %b = arith.addi %a, %a : i64", {0}),
        ("%s = arith.select %t, %x, %y : !pto.ptr<f32>\n STORE %f, %s[%c1] : !pto.ptr<f32>, f32", {0, 1}),
    ],
)
def test_buffers_that_may_be_written(body: str, written: set[int]) -> None:
    text = f"""module {{
    func.func private @reads(%p: !pto.ptr<f32>) {{
      %c1 = arith.constant 1 : index
      %v = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32
      return
    }}
    func.func private @writes(%p: !pto.ptr<f32>) {{
      %c1 = arith.constant 1 : index
      %v = arith.constant 1.0 : f32
      pto.store_scalar %v, %p[%c1] : !pto.ptr<f32>, f32
      return
    }}
    func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel}} {{
      %c1 = arith.constant 1 : index
      %f = arith.constant 2.0 : f32
      %t = arith.constant true
      {body}
      return
    }}
    }}"""
    assert kernel(text.replace("STORE", "pto.store_scalar")).usage.written == written


# ------------------------------------------------------------ processes


def test_times_of_all_processes_are_counted() -> None:
    counts = []
    for jobs in (1, 3):
        log = ProfileLog()
        x, y = rows()
        kernel(ROWS, log).run([x, y, 24], blocks=24, jobs=jobs)
        counts.append({name: calls for name, calls, _ in log.by_operation() if calls})
        assert sum(seconds for _, _, seconds in log.by_operation()) > 0
    assert counts[0] == counts[1] == {"pto.tload": 48, "pto.tadd": 24, "pto.tstore": 24}


def test_an_unforeseen_exception_names_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Kernel, bound: list[object], index: int, count: int) -> list[object]:
        raise TypeError("no such thing")

    monkeypatch.setattr(Kernel, "run_block", broken)
    with pytest.raises(ProgramError) as caught:
        kernel(ROWS).run([*rows(), 24], blocks=4, jobs=2)
    assert caught.value.rule == "internal"
    assert caught.value.message == "@k cannot be executed: TypeError: no such thing"


def test_a_process_that_is_killed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    first = os.getpid()

    def dying(self: Kernel, bound: list[object], index: int, count: int) -> list[object]:
        if os.getpid() != first:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
        return []

    monkeypatch.setattr(Kernel, "run_block", dying)
    with pytest.raises(ProgramError) as caught:
        kernel(ROWS).run([*rows(), 24], blocks=8, jobs=2)
    assert caught.value.rule == "internal"
    assert "ended early (-9)" in caught.value.message


def test_this_process_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    mine: list[int] = []
    monkeypatch.setattr(Kernel, "run_block", lambda *given: mine.append(given[2]) or time.sleep(0.02) or [])
    kernel(ROWS).run([*rows(), 24], blocks=24, jobs=3)
    assert 0 < len(mine) < 24


ENDLESS = """
import sys
sys.path[:0] = [{paths}]
import numpy as np
import pto_dialect
from pto_dialect.runtime.run.balance import Balance
from pto_dialect.runtime.run.sharing import Sharing
module = pto_dialect.parse('''func.func @k(%x: !pto.ptr<i32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %far = arith.constant 1000000000000 : index
  scf.for %i = %c0 to %far step %c1 {{
    %v = pto.load_scalar %x[%c0] : !pto.ptr<i32> -> i32
  }}
  return
}}''')
kernel = pto_dialect.compile(module)
Balance.pays = lambda *_: True
Sharing.each, Sharing.timed = 0.0, 2
print("ready", flush=True)
try:
    kernel(np.zeros(1, np.int32), blocks=2, jobs=2)
except KeyboardInterrupt:
    sys.exit(130)
"""


@contextmanager
def endless() -> Iterator[subprocess.Popen[str]]:
    """A session of two processes whose blocks never end; killed afterwards."""
    script = ENDLESS.format(paths=repr(str(Path(__file__).parents[3])))
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_an_interrupt_ends_all_processes() -> None:
    with endless() as process:
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (130, "")
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)


def test_no_process_outlives_the_first_one() -> None:
    with endless() as process:
        process.kill()
        # The other process has the pipes too, so they end with it.
        process.communicate(timeout=30)


# ------------------------------------------------------------ starting over


EARLY_WAIT = """func.func @k(%x: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %v = pto.load_scalar %x[%c0] : !pto.ptr<i32> -> i32
  %w = arith.addi %v, %c1 : i32
  pto.store_scalar %w, %x[%c0] : !pto.ptr<i32>, i32
  pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  return
}"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_block_that_starts_over_keeps_what_earlier_blocks_did(jobs: int) -> None:
    """Each block counts itself once, although the first attempt of one has counted when it meets the early wait."""
    x = np.zeros(1, np.int32)
    k = kernel(EARLY_WAIT)
    k.run([x], blocks=5)
    assert x[0] == 5
    k.run([x], blocks=1, jobs=jobs)
    assert x[0] == 6


def test_tiles_given_as_arguments_are_as_before_when_the_run_starts_over() -> None:
    text = """func.func @k(%t: !pto.tile_buf<vec, 1x8xf32>) {
      pto.tadd ins(%t, %t : !pto.tile_buf<vec, 1x8xf32>, !pto.tile_buf<vec, 1x8xf32>) outs(%t
        : !pto.tile_buf<vec, 1x8xf32>)
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
      return
    }"""
    tile = np.ones((1, 8), np.float32)
    kernel(text).run([tile])
    assert (tile == 2).all()


STALE = f"""func.func @k(%y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %b = pto.get_block_idx
  %i = arith.index_cast %b : i64 to index
  %row = arith.muli %i, %c8 : index
  %many = arith.constant 24 : index
  %yv = pto.make_tensor_view %y, shape = [%many, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %t = pto.alloc_tile : {TILE}
  pto.tadds ins(%t, %one : {TILE}, f32) outs(%t : {TILE})
  pto.tstore ins(%t : {TILE}) outs(%yp : {PART})
  return
}}
"""


def test_every_block_of_every_launch_starts_with_zeros() -> None:
    """A tile that is never loaded holds zeros, whatever ran before in the same memory."""
    ready = kernel(STALE)
    for _ in range(3):
        y = np.zeros((24, 16), np.float32)
        ready.run([y], blocks=3)
        assert (y == 1).all()


def test_a_fault_does_not_show_in_the_next_launch() -> None:
    ready = kernel(STALE)
    for _ in range(2):
        with pytest.raises(ProgramError, match="y"):
            ready.run([np.zeros((8, 16), np.float32)], blocks=2)
        y = np.zeros((24, 16), np.float32)
        ready.run([y], blocks=3)
        assert (y == 1).all()
