"""What relations between operands say of all types near those of the round-trip programs stays as it is."""

from __future__ import annotations

import pytest
from kept_relations import kept, row, tile_families, tried


@pytest.mark.parametrize("family", tile_families())
def test_relations_near_a_statement_stay(family: str) -> None:
    found = [row(statement) for statement in tried(family)]
    rows = kept()
    assert found == [rows.get(line.split(": ")[0], "missing") for line in found]
