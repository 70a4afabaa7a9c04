"""A time limit in a thread that is not the main one, as workers of a cluster have it."""

from __future__ import annotations

import threading
from time import monotonic

from pto_dialect.deadline import TimedOut, deadline


def test_a_limit_in_a_thread_ends_its_work_and_nothing_else() -> None:
    ended: list[str] = []

    def busy() -> None:
        end = monotonic() + 1.5
        while monotonic() < end:
            pass

    def work(seconds: float | None) -> None:
        try:
            with deadline(seconds):
                busy()
            ended.append("done")
        except TimedOut:
            ended.append("over")

    for seconds in (0.2, None, 30.0):
        thread = threading.Thread(target=work, args=(seconds,))
        thread.start()
        thread.join()
    assert ended == ["over", "done", "done"]
