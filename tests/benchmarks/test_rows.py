"""What the measurements count, and with which interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from rows import row

    return row


def test_time_that_passes_counts_unless_stated_otherwise(row, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(row.CLOCK, raising=False)
    assert row.clock() is perf_counter
    monkeypatch.setenv(row.CLOCK, "processor")
    assert row.clock() is row.processor_time


def test_time_of_the_processor_is_that_of_ended_children_too(row) -> None:
    sleeping, working = row.python("import time; time.sleep(0.3)"), row.python("sum(range(3_000_000))")
    asleep, busy = (row.seconds(call, row.processor_time) for call in (sleeping, working))
    assert 0 < asleep < 0.3 and busy > asleep


def test_commands_may_fail_where_the_page_states_it(row) -> None:
    row.command(sys.executable, "-c", "raise SystemExit(1)", succeeds=False)()
    with pytest.raises(Exception, match="exit status 1"):
        row.python("raise SystemExit(1)")()


def test_a_tree_is_measured_with_its_own_interpreter(row, tmp_path: Path) -> None:
    from run import interpreter

    assert interpreter(None) == interpreter(tmp_path) == sys.executable
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert interpreter(tmp_path) == str(own)


def test_rounds_make_a_launch_as_long_as_it_is_to_be(row) -> None:
    from rows import runs

    assert runs.rounds_for(0.1, 0.05) == 2 * runs.TRIED
    assert runs.rounds_for(0.05, 0.1) == runs.TRIED // 2
    assert runs.rounds_for(0.0001, 0.1) == 1
