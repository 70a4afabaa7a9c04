"""What is said of the round-trip programs with other constants, attributes and types stays as it is."""

from __future__ import annotations

import pytest
from kept_verdicts import families, kept, rows


@pytest.mark.parametrize("family", families())
def test_verdicts_stay(family: str) -> None:
    found, before = rows(family), kept()
    assert found == [before.get(line.split(": ")[0], "missing") for line in found]
