"""How runs of programs end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshot_runs import run
from snapshots import files, renewed


@pytest.mark.parametrize("file", files("runtime", "snapshots"), ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_runs_end_as_in_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, run))
