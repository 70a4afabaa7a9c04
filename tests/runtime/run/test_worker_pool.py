"""Processes that stay for further launches: same results and errors, for as long as launches are of one form."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.deadline import deadline
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.balance import Balance
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.sharing import Sharing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes stay on Linux only")

ADD = """func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %k: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %b = pto.get_block_idx
  %i = arith.index_cast %b : i64 to index
  %row = arith.muli %i, %c4 : index
  %skip = arith.index_cast %k : i32 to index
  %from = arith.addi %row, %skip : index
  %xv = pto.make_tensor_view %x, shape = [%c32, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %yv = pto.make_tensor_view %y, shape = [%c32, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%from, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x8xf32>
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c4, %c8]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x8xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  %o = pto.alloc_tile : !pto.tile_buf<vec, 4x8xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<4x8xf32>) outs(%a : !pto.tile_buf<vec, 4x8xf32>)
  pto.tload ins(%yp : !pto.partition_tensor_view<4x8xf32>) outs(%o : !pto.tile_buf<vec, 4x8xf32>)
  pto.tadd ins(%a, %o : !pto.tile_buf<vec, 4x8xf32>, !pto.tile_buf<vec, 4x8xf32>) outs(%o : !pto.tile_buf<vec, 4x8xf32>)
  pto.tstore ins(%o : !pto.tile_buf<vec, 4x8xf32>) outs(%yp : !pto.partition_tensor_view<4x8xf32>)
  return
}"""
"""y += x from row %k on, four rows in each of eight blocks."""


@pytest.fixture(autouse=True)
def always_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Balance, "pays", lambda *_: True)
    monkeypatch.setattr(Sharing, "each", 0.0)
    monkeypatch.setattr(Sharing, "timed", 2)


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    module, _ = parsed(ADD)
    made = Kernel(module, None, None, RunOptions())
    yield made
    if made.sharing.pool is not None:
        made.sharing.pool.close()


def values(seed: int = 1, rows: int = 32) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((rows, 8)).astype(np.float32), rng.standard_normal((32, 8)).astype(np.float32), 0]


def members(kernel: Kernel) -> list[int]:
    """Ids of the processes that stay."""
    return [member.pid for member in kernel.sharing.pool.members] if kernel.sharing.pool is not None else []


def check(kernel: Kernel, given: list[Any], jobs: int = 3, blocks: int = 8) -> None:
    x, old, _ = (np.copy(value) for value in given)
    kernel.run(given, blocks=blocks, jobs=jobs)
    np.testing.assert_array_equal(given[0], x)
    np.testing.assert_array_equal(given[1], x[:32] + old)


def test_processes_stay_from_the_second_launch_on(kernel: Kernel) -> None:
    check(kernel, values(1))
    assert members(kernel) == []
    check(kernel, values(2))
    found = members(kernel)
    assert len(found) == 2
    for seed in range(3, 20):
        check(kernel, values(seed))
        assert members(kernel) == found


def test_blocks_run_in_them(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    mine: list[int] = []
    run_block = Kernel.run_block

    def slowly(self: Kernel, bound: list[Any], index: int, count: int) -> list[Any]:
        mine.append(index)
        time.sleep(0.05)
        return run_block(self, bound, index, count)

    monkeypatch.setattr(Kernel, "run_block", slowly)
    for seed in range(4):
        mine.clear()
        check(kernel, values(seed))
        assert 0 < len(mine) < 8


def test_the_same_array_with_other_content(kernel: Kernel) -> None:
    given = values()
    for number in range(4):
        given[0][...] = number
        check(kernel, given)


def test_numbers_may_differ(kernel: Kernel) -> None:
    x, y, _ = values(rows=32)
    for skip in (0, 0, 0):
        check(kernel, [x, y, skip])
    found = members(kernel)
    with pytest.raises(ProgramError) as caught:
        kernel.run([x, y, 4], blocks=8, jobs=3)
    assert caught.value.rule == "mem-oob"
    assert members(kernel) == found


def test_an_error_leaves_the_buffers_and_the_processes(kernel: Kernel) -> None:
    for seed in range(3):
        check(kernel, values(seed))
    found = members(kernel)
    for skip in (4, 30):
        x, y, _ = values()
        old = y.copy()
        with pytest.raises(ProgramError) as caught:
            kernel.run([x, y, skip], blocks=8, jobs=3)
        assert caught.value.span is not None and caught.value.span.text.startswith("pto.tload ins(%xp")
        np.testing.assert_array_equal(y, old)
    check(kernel, values(9))
    assert members(kernel) == found


def test_other_arguments_or_numbers_of_processes_get_others(kernel: Kernel) -> None:
    for seed in range(2):
        check(kernel, values(seed))
    found = members(kernel)
    check(kernel, values(3, rows=40))
    assert not set(found) & set(members(kernel))
    found = members(kernel)
    check(kernel, values(4, rows=40), jobs=2)
    assert len(members(kernel)) == 1 and not set(found) & set(members(kernel))


def test_arguments_that_share_memory_have_no_worker_pool(kernel: Kernel) -> None:
    for seed in range(3):
        x, _, _ = values(seed)
        old = x.copy()
        kernel.run([x, x, 0], blocks=8, jobs=2)
        np.testing.assert_array_equal(x, old + old)
    assert members(kernel) == []


def test_under_a_time_limit_no_process_stays(kernel: Kernel) -> None:
    with deadline(60):
        for seed in range(3):
            check(kernel, values(seed))
    assert members(kernel) == []
    check(kernel, values(1))
    found = members(kernel)
    assert found
    with deadline(60):
        check(kernel, values(2))
    assert members(kernel) == found


def test_other_threads_have_no_worker_pool(kernel: Kernel) -> None:
    """A time limit of theirs could not end the wait for a process."""
    for seed in range(3):
        thread = Thread(target=check, args=(kernel, values(seed)))
        thread.start()
        thread.join()
    assert members(kernel) == []


def test_a_process_that_is_killed_between_launches(kernel: Kernel) -> None:
    for seed in range(2):
        check(kernel, values(seed))
    found = members(kernel)
    os.kill(found[0], signal.SIGKILL)
    # It ends once there is a status to be waited for, which the pool does.
    os.waitid(os.P_PID, found[0], os.WEXITED | os.WNOWAIT)
    check(kernel, values(3))
    check(kernel, values(4))
    assert members(kernel) and not set(found) & set(members(kernel))


def test_a_process_that_is_killed_during_a_launch(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = os.getpid()

    def dying(*_: Any) -> list[Any]:
        if os.getpid() != first and Path(marker).exists():
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return []

    marker = str(tmp_path / "marker")
    monkeypatch.setattr(Kernel, "run_block", dying)
    for seed in range(2):
        kernel.run(values(seed), blocks=8, jobs=3)
    Path(marker).touch()
    try:
        with pytest.raises(ProgramError) as caught:
            kernel.run(values(), blocks=8, jobs=3)
    finally:
        Path(marker).unlink()
    assert "ended early (-9)" in caught.value.message
    assert kernel.sharing.pool is not None and kernel.sharing.pool.closed
    kernel.run(values(), blocks=8, jobs=3)


def gone(pid: int) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_processes_end_with_their_kernel() -> None:
    module, _ = parsed(ADD)
    made = Kernel(module, None, None, RunOptions())
    for seed in range(2):
        check(made, values(seed))
    found = members(made)
    del made
    gc.collect()
    assert all(map(gone, found))


def test_another_kernel_dismisses_them(kernel: Kernel) -> None:
    for seed in range(2):
        check(kernel, values(seed))
    found = members(kernel)
    module, _ = parsed(ADD)
    other = Kernel(module, None, None, RunOptions())
    for seed in range(2):
        check(other, values(seed))
    assert members(other) and all(map(gone, found))
    check(kernel, values(5))
    other.sharing.pool.close()  # pyright: ignore[reportOptionalMemberAccess]


def test_a_copy_of_the_process_leaves_them_alone(kernel: Kernel) -> None:
    for seed in range(2):
        check(kernel, values(seed))
    found = members(kernel)
    child = os.fork()
    if not child:
        code = 1
        try:
            check(kernel, values(3), jobs=3)
            code = int(members(kernel) == found)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    check(kernel, values(4))
    assert members(kernel) == found


def test_they_hold_no_pipe_of_others(kernel: Kernel) -> None:
    source, sink = os.pipe()
    for seed in range(2):
        check(kernel, values(seed))
    assert members(kernel)
    os.close(sink)
    # With a copy of the other end somewhere, this would wait.
    assert os.read(source, 1) == b""
    os.close(source)


SCRIPT = f"""
import sys
import numpy as np
import pto_dialect
from pto_dialect.runtime.run.balance import Balance
from pto_dialect.runtime.run.sharing import Sharing
Balance.pays = lambda *_: True
Sharing.each, Sharing.timed = 0.0, 2
kernel = pto_dialect.compile(pto_dialect.parse({ADD!r}))
for _ in range(3):
    kernel(np.ones((32, 8), np.float32), np.ones((32, 8), np.float32), 0, blocks=8, jobs=2)
print(*[member.pid for member in kernel._kernel.sharing.pool.members], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("killed", [False, True])
def test_processes_end_with_the_one_they_stem_from(killed: bool) -> None:
    checkout = Path(__file__).parents[3]
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=checkout) as process:
        assert process.stdin is not None and process.stdout is not None
        found = [int(pid) for pid in process.stdout.readline().split()]
        assert len(found) == 1
        if killed:
            process.kill()
        process.stdin.close()
        assert process.wait(60) == (-signal.SIGKILL if killed else 0)
    assert all(map(gone, found))
