"""How launches are cut into batches."""

from __future__ import annotations

from pto_dialect.driver.launch.session import Settings
from pto_dialect.driver.sweep.batches import LARGEST, SECONDS, Batch, Batches
from pto_dialect.driver.sweep.jobs import Job


def jobs(count: int) -> list[Job]:
    return [Job(f"{number}.toml", "", {}, Settings(), {}, {}, str(number)) for number in range(count)]


def played(count: int, threads: int, seconds: float) -> list[Batch]:
    """All batches of launches of ``seconds`` each, which end in the order in which they started."""
    batches = Batches(jobs(count), threads)
    running = batches.next()
    every = list(running)
    while running:
        assert len(running) <= 2 * threads
        batch = running.pop(0)
        batches.ended(batch, seconds * len(batch))
        started = batches.next()
        running += started
        every += started
    return every


def test_every_job_runs_once_and_in_order() -> None:
    for seconds in (0.0, 0.01, 0.3, 10.0):
        every = played(500, 2, seconds)
        assert [job.key for batch in every for job in batch] == [str(number) for number in range(500)]


def test_short_launches_go_together_and_long_ones_alone() -> None:
    sizes = [len(batch) for batch in played(2000, 2, SECONDS / 10)]
    assert sizes[:4] == [1, 1, 1, 1]
    assert set(sizes[6:-30]) <= {9, 10}
    # Towards the end, batches get smaller, and all workers end at about the same time.
    assert sizes[-3:] == [1, 1, 1]
    assert max(len(batch) for batch in played(5000, 2, 0.0)) == LARGEST
    assert {len(batch) for batch in played(50, 2, SECONDS)} == {1}


def test_a_batch_without_results_starts_again_in_single_jobs() -> None:
    batches = Batches(jobs(200), 1)
    first = batches.next()
    batches.ended(first[0], 0.001)
    (batch,) = batches.next()
    assert len(batch) > 3
    batches.ended(first[1], 0.001)
    batches.again(batch)
    alone = [one for _ in range(len(batch)) for one in (batches.next(), batches.ended(batch, 0.0))[0]]
    assert [[job.key for job in one] for one in alone[:2]] == [[batch[0].key], [batch[1].key]]
    assert {job.key for job in batch} <= {job.key for one in alone for job in one if len(one) == 1}
