"""How many processes share work."""

import os

import pytest

from pto_dialect.driver.jobs import bounded, processors


@pytest.mark.parametrize(
    ("usable", "jobs", "expected", "note"),
    [
        (2, 2, 2, ""),
        (4, 1, 1, ""),
        (2, 3, 2, "note: -j 3: 2 processors are usable, so as many run\n"),
        (1, 500, 1, "note: -j 500: 1 processor is usable, so 1 process runs\n"),
    ],
)
def test_there_is_at_most_one_process_for_each_processor(
    monkeypatch: pytest.MonkeyPatch, usable: int, jobs: int, expected: int, note: str
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)), raising=False)
    assert processors() == usable
    assert bounded(jobs) == (expected, note)
