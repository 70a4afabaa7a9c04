"""Which candidates are on the front. Source: docs/tune.md, "What is done with each candidate"."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.analysis.cycles.static import Total
from pto_dialect.driver.launch.document import Document
from pto_dialect.driver.tune.measure import Measured, mark_front
from pto_dialect.driver.tune.show import fastest, table_text
from pto_dialect.driver.tune.space import Candidate


def measured(number: int, cycles: float, size: int, reason: str = "") -> Measured:
    candidate = Candidate({"n": number}, Document("k.launch.toml", ""), ())
    return Measured(candidate, reason, Total(cycles, cycles, cycles), 1000.0, {"ub": size})


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.booleans()), max_size=8))
def test_nothing_on_the_front_is_beaten_and_everything_else_is(numbers: list[tuple[int, int, bool]]) -> None:
    found = [measured(n, cycles, size, "" if right else "wrong") for n, (cycles, size, right) in enumerate(numbers)]
    mark_front(found)
    for one, other in itertools.product(found, repeat=2):
        if one.front and not other.reason:
            better = other.whole.cycles <= one.whole.cycles and other.bytes <= one.bytes
            assert not better or (other.whole.cycles, other.bytes) == (one.whole.cycles, one.bytes)
    good = [one for one in found if not one.reason]
    assert all(not one.front for one in found if one.reason)
    assert not good or fastest(good).front
    for one in good:
        if not one.front:
            assert any(each.whole.cycles <= one.whole.cycles and each.bytes <= one.bytes for each in good if each.front)


def test_the_table_states_reasons_and_omissions() -> None:
    found = [measured(8, 100, 64), measured(16, 0, 0, "line 3: too large [assign-memory-full]")]
    mark_front(found)
    text = table_text(found, "the program without passes", 3)
    assert text.splitlines()[1].split() == ["8", "100", "100", "100", "0.10", "64", "front"]
    assert text.splitlines()[2].endswith("line 3: too large [assign-memory-full]")
    assert text.splitlines()[3] == (
        "2 candidates, 3 left out: 1 right, compared with the program without passes; the fastest is n=8"
    )
    assert table_text(found[1:], "", 0).splitlines()[-1] == "1 candidates: none is right"
