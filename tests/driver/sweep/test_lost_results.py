"""Results whose worker has died before they were fetched are waited for again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect import __version__
from pto_dialect.driver.launch.session import Settings
from pto_dialect.driver.sweep.cluster import ClusterError, run_jobs
from pto_dialect.driver.sweep.jobs import Job


class Ended(list):
    """In place of ``as_completed``: futures as they were added, which are done at once."""

    def __init__(self, **_: Any) -> None:
        super().__init__()

    def add(self, future: Any) -> None:
        self.append(future)

    def __iter__(self) -> Any:
        while self:
            yield self.pop(0)


class Future:
    """Has one status after the other at each query; the last stays."""

    def __init__(self, key: str, batch: list[Job], statuses: list[str]) -> None:
        self.key, self.batch, self.statuses = key, batch, list(statuses)

    @property
    def status(self) -> str:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def result(self) -> list[Any]:
        result = SimpleNamespace(seconds=1.0)
        return [SimpleNamespace(key=job.key, result=result, version=__version__, worker="") for job in self.batch]

    def release(self) -> None: ...


def client(statuses: list[str]) -> Any:
    return SimpleNamespace(
        nthreads=lambda: {"a": 1},
        loop=None,
        submit=lambda _, batch, *rest, key: Future(key, batch, statuses),
        cancel=lambda keys, force: None,
    )


def ran(monkeypatch: pytest.MonkeyPatch, statuses: list[str]) -> list[str]:
    distributed = pytest.importorskip("distributed", reason="needs the extra [cluster]")
    monkeypatch.setattr(distributed, "as_completed", Ended)
    jobs = [Job(f"{number}.toml", "", {}, Settings(), {}, {}, str(number)) for number in range(5)]
    return [job.key for job, _ in run_jobs(client(statuses), jobs, {})]


@pytest.mark.parametrize("statuses", [["finished"], ["lost", "finished"], ["lost", "pending", "lost", "finished"]])
def test_each_job_is_reported_once(monkeypatch: pytest.MonkeyPatch, statuses: list[str]) -> None:
    assert sorted(ran(monkeypatch, statuses)) == ["0", "1", "2", "3", "4"]


def test_a_scheduler_that_is_lost_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClusterError, match="scheduler is lost"):
        ran(monkeypatch, ["cancelled"])
