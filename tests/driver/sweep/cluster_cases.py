"""A real scheduler and real worker processes: the same table as in one process, also when a worker dies."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pto_dialect.driver.launch.session import Settings
from pto_dialect.driver.launch.suite import FileResult
from pto_dialect.driver.run.status import Streams
from pto_dialect.driver.sweep.cluster import ClusterAddress, ClusterError, connected, run_jobs
from pto_dialect.driver.sweep.jobs import jobs_of
from pto_dialect.driver.sweep.run import run_points
from pto_dialect.driver.sweep.store import read_records

distributed = pytest.importorskip("distributed", reason="clusters need the extra cluster")

PROGRAMS = Path(__file__).parents[2] / "tools" / "programs"
TEXT = """program = "add.pto"
[sweep]
seed = { from = 0, to = 39 }
[arguments]
x = "x.npy"
y = "random:f32:4x8:seed={seed}"
z = "zeros:f32:4x8"
[expect]
z = "x.npy"
[outputs]
z = "z{seed}.npy"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(PROGRAMS / "add.pto", tmp_path / "add.pto")
    np.save(tmp_path / "x.npy", np.ones((4, 8), np.float32))
    (tmp_path / "t.launch.toml").write_text(TEXT.replace('z = "x.npy"', "z = 1\n").replace("[expect]\nz = 1\n\n", ""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as found:
        yield found


class Bar:
    """Does something when some launches have ended."""

    def __init__(self, when: int, act: Any) -> None:
        self.count = 0
        self.when = when
        self.act = act

    def update(self, n_steps: int, current_item: str | None = None) -> None:
        assert n_steps == 1 and current_item is not None and current_item.endswith("/s")
        self.count += 1
        if self.count == self.when:
            self.act()


def run(cluster: str | None, results: str | None = None, bar: Bar | None = None, jobs: int = 1) -> list[FileResult]:
    said: list[str] = []

    @contextmanager
    def show(length: int) -> Iterator[Any]:
        yield bar or Bar(-1, None)

    return run_points(
        ["t.launch.toml"], Settings(), Streams(said.append, said.append), show, jobs=jobs,
        cluster=None if cluster is None else ClusterAddress(cluster, insecure=not cluster.startswith("local")),
        results=results,
    )  # fmt: skip


def plain(outcomes: list[FileResult]) -> list[tuple[object, ...]]:
    return [(one.path, one.code, one.out, one.err) for one in outcomes]


def test_a_worker_dies_and_nothing_is_lost_or_kept_twice(folder: Path, cluster: Any) -> None:
    want = plain(run(None))
    files = {path.name: np.load(path) for path in folder.glob("z*.npy")}
    assert len(files) == 40 and {one[1] for one in want} == {0}
    for path in folder.glob("z*.npy"):
        path.unlink()
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())

    def kill() -> None:
        os.kill(pids[0], signal.SIGKILL)

    bar = Bar(5, kill)
    got = run(cluster.scheduler_address, "r.jsonl", bar)
    assert plain(got) == want
    assert bar.count == 40
    records = read_records("r.jsonl")
    assert sorted(record["point"]["seed"] for record in records) == list(range(40))
    assert len({record["key"] for record in records}) == 40
    for name, array in files.items():
        np.testing.assert_array_equal(np.load(folder / name), array)


def test_what_is_missing_runs_and_nothing_else(folder: Path, cluster: Any) -> None:
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        run(cluster.scheduler_address, "r.jsonl", Bar(7, stop))
    before = read_records("r.jsonl")
    assert len(before) == 7
    bar = Bar(-1, None)
    want = run(cluster.scheduler_address, "r.jsonl", bar)
    assert (bar.count, len(want)) == (33, 40)
    assert read_records("r.jsonl")[:7] == before
    assert len({record["key"] for record in read_records("r.jsonl")}) == 40
    again = Bar(-1, None)
    # A finished sweep needs no cluster.
    assert plain(run("tcp://127.0.0.1:1", "r.jsonl", again)) == plain(want)
    assert again.count == 0


def test_processes_of_this_machine(folder: Path) -> None:
    assert plain(run("local:1")) == plain(run(None, jobs=2))


def test_a_large_file_travels_on_its_own(folder: Path, cluster: Any) -> None:
    np.save("x.npy", np.ones((4, 8), np.float32))
    np.savez("x.npz", x=np.ones((4, 8), np.float32), rest=np.random.default_rng(0).bytes(1 << 18))
    text = (folder / "t.launch.toml").read_text().replace('"x.npy"', '"x.npz:x"').replace("to = 39", "to = 4")
    (folder / "t.launch.toml").write_text(text)
    want = plain(run(None))
    assert [one[1] for one in want] == [0] * 5
    assert plain(run(cluster.scheduler_address)) == want


def test_faults_are_those_of_one_process(folder: Path, cluster: Any) -> None:
    text = (folder / "t.launch.toml").read_text().replace('z = "zeros:f32:4x8"', 'z = "zeros:f32:{seed}"')
    (folder / "t.launch.toml").write_text(text.replace("from = 0, to = 39", "from = 31, to = 32"))
    want = plain(run(None))
    assert [one[1] for one in want] == [1, 0]
    assert str(want[0][3]).startswith("add.pto:")
    assert plain(run(cluster.scheduler_address)) == want


def test_a_launch_that_cannot_run_takes_no_other_with_it(folder: Path, cluster: Any) -> None:
    jobs = jobs_of("t.launch.toml", Settings(), {})
    wrong: Any = dict.fromkeys(jobs[30].small, "no bytes")
    jobs[30] = replace(jobs[30], small=wrong)
    with connected(ClusterAddress(cluster.scheduler_address, True)) as client:
        found = {job.point["seed"]: done.result for job, done in run_jobs(client, jobs, {})}
    assert sorted(found) == list(range(40))
    assert [seed for seed, outcome in found.items() if outcome.code] == [30]
    assert found[30].err.startswith("error: TypeError: ")


@pytest.mark.parametrize("address", ["somewhere", "local:0", "local:x", "local"])
def test_what_is_no_cluster(folder: Path, address: str) -> None:
    with pytest.raises(ClusterError, match=f"'{address}' is no cluster, expected local:N"):
        run(address)


def test_nobody_answers(folder: Path) -> None:
    with pytest.raises(ClusterError, match="no scheduler answers at"):
        run("tcp://127.0.0.1:9", "r.jsonl")
    assert not Path("r.jsonl").exists()


def test_without_dask_one_line_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ClusterError, match=r"^--cluster needs the extra cluster: pip install 'pto-dialect\[cluster\]'$"
    ):
        run("local:2", "r.jsonl")
    assert not Path("r.jsonl").exists()


def test_a_worker_with_another_version(folder: Path) -> None:
    other = "import pto_dialect.version; pto_dialect.version.__version__ = '0.0.1'"
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50, preload=[other]
        ) as cluster,
        pytest.raises(ClusterError, match=r"has version 0\.0\.1 of pto_dialect, this is "),
    ):
        run(cluster.scheduler_address, "r.jsonl")


BLOCKS = """func.func @fill(%p: !pto.ptr<i64>, %q: !pto.ptr<i64>, %last: i64) attributes {pto.kernel} {
  %block = pto.get_block_idx
  %at = arith.index_cast %block : i64 to index
  %old = pto.load_scalar %p[%at] : !pto.ptr<i64> -> i64
  %new = arith.addi %old, %block : i64
  %off = arith.cmpi eq, %block, %last : i64
  %far = arith.constant 1000 : index
  %to = arith.select %off, %far, %at : index
  pto.store_scalar %new, %q[%to] : !pto.ptr<i64>, i64
  return
}
"""


@pytest.mark.parametrize("last", [-1, 11])
def test_blocks_of_one_launch_are_spread(folder: Path, cluster: Any, last: int) -> None:
    (folder / "add.pto").write_text(BLOCKS)
    np.save("p.npy", np.arange(20) * 100)
    arguments = f'[arguments]\np = "p.npy"\nq = "zeros:i64:20"\nlast = {last}\n'
    (folder / "t.launch.toml").write_text(f'program = "add.pto"\nblocks = 20\n{arguments}[outputs]\nq = "q.npy"\n')
    want = plain(run(None))
    whole = Path("q.npy").read_bytes() if last < 0 else b""
    Path("q.npy").unlink(missing_ok=True)
    assert plain(run(cluster.scheduler_address)) == want
    if last < 0:
        assert Path("q.npy").read_bytes() == whole
        assert np.load("q.npy").tolist() == [101 * number for number in range(20)]
    else:
        assert want[0][1] == 1 and "mem-oob" in str(want[0][3])
        assert not Path("q.npy").exists()
    assert spread(cluster) > 1


def spread(cluster: Any) -> int:
    """How many workers have compiled a kernel for blocks."""
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return sum(size > 0 for size in client.run(kernels).values())


def kernels() -> int:
    from pto_dialect.driver.sweep import blocks

    return blocks._kernel.cache_info().currsize


def test_blocks_that_depend_on_each_other_stay_together(folder: Path, cluster: Any) -> None:
    # The control register says how stores combine, so these may.
    (folder / "add.pto").write_text(BLOCKS.replace("  return", "  pto.set_ctrl %new : i64\n  return"))
    np.save("p.npy", np.zeros(4, np.int64))
    arguments = '[arguments]\np = "p.npy"\nq = "zeros:i64:4"\nlast = -1\n[outputs]\nq = "q.npy"\n'
    (folder / "t.launch.toml").write_text(f'program = "add.pto"\nblocks = 4\n{arguments}')
    assert plain(run(cluster.scheduler_address)) == plain(run(None))
    assert np.load("q.npy").tolist() == [0, 1, 2, 3]
