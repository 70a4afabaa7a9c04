"""The script that measures a sweep on local workers: its launch file, and what it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import cluster_sweep  # noqa: E402


def test_every_launch_passes(tmp_path: Path) -> None:
    cluster_sweep.written(tmp_path, 2, 1)
    found = cluster_sweep.taken(tmp_path, [])
    assert len(found.passed) == 2
    assert all("c: f32 256x256" in one for one in found.passed)
    assert found.passed[0].partition("c:")[2] != found.passed[1].partition("c:")[2]
    assert found.wall > 0 and found.processor > 0


def test_what_fails_is_reported(tmp_path: Path) -> None:
    cluster_sweep.written(tmp_path, 1, 1)
    (tmp_path / "gemm.pto").write_text("func.func @f() { return }")
    with pytest.raises(subprocess.CalledProcessError):
        cluster_sweep.taken(tmp_path, [])
