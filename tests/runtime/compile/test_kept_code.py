"""Code that is generated for the statements of the round-trip programs stays as it is."""

from __future__ import annotations

import pytest
from kept_code import families, kept, rows


@pytest.mark.parametrize("family", families())
def test_generated_code_stays(family: str) -> None:
    found, before = rows(family), kept()
    assert found == [before.get(line.split(": ")[0], "missing") for line in found]
