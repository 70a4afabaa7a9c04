"""``--record`` and ``--html`` with ranks: one recording, one page, with what all of them have done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pto_dialect.recording import Recording
from pto_dialect.recording import open as open_recording

RING = """!cell = !pto.partition_tensor_view<1xi32>
!row = !pto.partition_tensor_view<1x8xi32>
!tile = !pto.tile_buf<vec, 1x8xi32>
func.func @ring(%x: !pto.ptr<i32>, %next: !pto.ptr<i32>, %told: !pto.ptr<i32>, %next_told: !pto.ptr<i32>,
                %mine: !pto.ptr<i32>, %y: !pto.ptr<i32>, %rank: i32) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %tv = pto.make_tensor_view %told, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %sv = pto.make_tensor_view %next_told, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
  %tp = pto.partition_view %tv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> !cell
  %sp = pto.partition_view %sv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> !cell
  %xv = pto.make_tensor_view %x, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xi32>
  %nv = pto.make_tensor_view %next, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xi32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<1x8xi32> -> !row
  %np = pto.partition_view %nv, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<1x8xi32> -> !row
  %t = pto.alloc_tile : !tile
  pto.tload ins(%xp : !row) outs(%t : !tile)
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%t : !tile) outs(%np : !row)
  pto.barrier <PIPE_ALL>
  pto.comm.tnotify(%sp, %one : !cell, i32) {notifyOp = #pto<notify_op set>}
  pto.comm.twait(%tp, %one : !cell, i32) {cmp = #pto<wait_cmp eq>}
  %got = pto.load_scalar %mine[%c0] : !pto.ptr<i32> -> i32
  pto.store_scalar %got, %y[%c0] : !pto.ptr<i32>, i32
  return
}
"""
LAUNCH = """program = "ring.pto"
ranks = 3
[windows]
w = "zeros:i32:1x8"
told = "zeros:i32:1"
[arguments]
x = "split:x.npy"
next = "w@+1"
told = "told"
next_told = "{told}"
mine = "w"
y = "zeros:i32:1"
rank = "rank"
"""
ROWS = np.arange(24, dtype=np.int32).reshape(3, 8) * 3 + 5


@pytest.fixture(autouse=True)
def files(pto_run) -> None:
    Path("ring.pto").write_text(RING)
    np.save("x.npy", ROWS)
    Path("t.launch.toml").write_text(LAUNCH.format(told="told@+1"))


def steps_of(found: Recording, rank: int) -> list[tuple[str, str]]:
    """Operations of a rank in the order of the text, with their pipes."""
    steps = [found.step(number) for number in range(len(found))]
    mine = [one for one in steps if one.thread.core == f"core of rank {rank}"]
    return [(one.statement.name, one.thread.pipe) for one in sorted(mine, key=lambda one: one.order)]


OPERATIONS = [
    ("pto.alloc_tile", "S"), ("pto.tload", "MTE2"), ("pto.barrier", "S"), ("pto.tstore", "MTE3"), ("pto.barrier", "S"),
    ("pto.comm.tnotify", "S"), ("pto.comm.twait", "S"), ("pto.load_scalar", "S"), ("pto.store_scalar", "S"),
]  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--sanitize",), ("-j", "2"), ("--record-limit", "0")])
def test_a_recording_has_all_ranks(pto_run, options: tuple[str, ...]) -> None:
    outcome = pto_run.raw("t.launch.toml", "--quiet", "--record", "run.pto-rec", *options)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    with open_recording("run.pto-rec") as found:
        assert found.outcome.kind == "ended" and found.waiting == []
        for rank in range(3):
            assert steps_of(found, rank) == OPERATIONS
            own, before = ROWS[rank], ROWS[(rank - 1) % 3]
            assert np.array_equal(np.asarray(found.begin(f"rank{rank}.x")).reshape(-1), own)
            assert np.asarray(found.end(f"rank{rank}.mine")).reshape(-1).tolist() == before.tolist()
            assert int(np.asarray(found.end(f"rank{rank}.y"))[0]) == before[0]
            ub = found.memory_at(found.last, "ub", block=0, core=f"core of rank {rank}")
            assert np.frombuffer(ub, np.int32)[:8].tolist() == own.tolist()
            assert found.memory(f"rank{rank}.block0.aiv0.ub").block == 0
            (number,) = [one.value for one in found.arguments if one.name == f"rank{rank}.rank"]
            assert number == rank
        waits = [number for number in range(len(found)) if found.step(number).statement.name == "pto.comm.twait"]
        tells = {found.step(number).thread.core: number for number in range(len(found))
                 if found.step(number).statement.name == "pto.comm.tnotify"}  # fmt: skip
        for number in waits:
            rank = int(found.step(number).thread.core[-1])
            assert tells[f"core of rank {(rank - 1) % 3}"] < number


def test_a_barrier_belongs_to_the_core_that_reaches_it(pto_run) -> None:
    assert pto_run.raw("t.launch.toml", "--quiet", "--record", "run.pto-rec").code == 0
    with open_recording("run.pto-rec") as found:
        bars = [found.step(number).thread.core for number in range(len(found))
                if found.step(number).statement.name == "pto.barrier"]  # fmt: skip
    assert sorted(bars) == [f"core of rank {rank}" for rank in range(3) for _ in range(2)]


def test_findings_are_shown_at_their_steps(pto_run) -> None:
    lines = RING.splitlines(keepends=True)
    Path("ring.pto").write_text("".join(line for line in lines if "tnotify" not in line and "twait" not in line))
    outcome = pto_run.raw("t.launch.toml", "--quiet", "--sanitize", "--record", "run.pto-rec")
    assert outcome.code == 3
    with open_recording("run.pto-rec") as found:
        races = [one for one in found.findings if one.rule == "race-cross-rank"]
        assert races
        for one in races:
            assert {found.step(step).statement.name for step in one.steps} <= {"pto.tstore", "pto.load_scalar"}


@pytest.mark.parametrize(("options", "code"), [((), 1), (("--sanitize",), 3)])
def test_ranks_that_cannot_continue_leave_where_they_are(pto_run, options: tuple[str, ...], code: int) -> None:
    Path("t.launch.toml").write_text(LAUNCH.format(told="told@0"))
    outcome = pto_run.raw("t.launch.toml", "--quiet", "--record", "run.pto-rec", "--html", "run.html", *options)
    assert outcome.code == code
    with open_recording("run.pto-rec") as found:
        assert (found.outcome.kind, found.outcome.rule) == ("failed", "sync-deadlock")
        waiting = {found.threads[one.thread].core: (found.statements[one.statement].name, one.signals)
                   for one in found.waiting}  # fmt: skip
        assert sorted(waiting) == ["core of rank 1", "core of rank 2"]
        for core, (name, signals) in waiting.items():
            assert name == "pto.comm.twait"
            assert f"gm 'told' of rank {core[-1]}" in signals[0]
        assert steps_of(found, 0) == OPERATIONS
    assert "sync-deadlock" in Path("run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("--sanitize",)])
def test_a_page_has_all_ranks(pto_run, options: tuple[str, ...]) -> None:
    names = ("x=split:x.npy", "next=w@+1", "told=told", "next_told=told@+1", "mine=w", "y=zeros:i32:1", "rank=rank")
    given = [f"--arg={one}" for one in names]
    windows = ["--window=w=zeros:i32:1x8", "--window=told=zeros:i32:1"]
    outcome = pto_run.raw("ring.pto", "--ranks", "3", *windows, *given, "--quiet", "--html", "run.html", *options)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    text = Path("run.html").read_text(encoding="utf-8")
    assert all(f"core of rank {rank}" in text for rank in range(3))
    assert not list(Path().glob("*.pto-rec"))


def test_each_launch_has_its_own(pto_run) -> None:
    head, _, arguments = LAUNCH.format(told="told@+1").partition("[arguments]")
    again = 'again = "zeros:i32:1"\n'
    first = f"[[launch]]\n[launch.arguments]{arguments}"
    second = first.replace('"told', '"again')
    Path("t.launch.toml").write_text(head + again + first + second)
    assert pto_run.raw("t.launch.toml", "--quiet", "--record", "run.pto-rec").code == 0
    for number in (1, 2):
        with open_recording(f"run-{number}.pto-rec") as found:
            assert steps_of(found, 2) == OPERATIONS
            assert np.asarray(found.begin("rank1.mine")).any() == (number == 2)


def test_wrong_requests_leave_nothing(pto_run) -> None:
    Path("other.pto").write_text(RING)
    Path("t.launch.toml").write_text(LAUNCH.format(told="told@+1") + '[rank.1]\nprogram = "other.pto"\n')
    outcome = pto_run.raw("t.launch.toml", "--quiet", "--record", "run.pto-rec")
    said = "error: --record keeps ranks that run one function: rank 1 runs other.pto, rank 0 ring.pto\n"
    assert (outcome.code, outcome.err) == (2, said)
    Path("t.launch.toml").write_text(LAUNCH.format(told="told@+1") + '[outputs]\ny = "y{rank}.npy"\n')
    for option in ("--record", "--html"):
        outcome = pto_run.raw("t.launch.toml", "--quiet", option, "no/such/folder")
        assert outcome.code == 2 and "error: cannot write 'no/such/folder'" in outcome.err
    assert not list(Path().glob("run*"))
