"""The tables of this room are as ``tables.txt`` has them; `tests/helpers/write_tables.py` writes it again."""

from __future__ import annotations

import pytest
from kept_tables import differences, kept


@pytest.mark.parametrize("module", kept("targets"))
def test_tables_of_a_module_stay(module: str) -> None:
    assert differences("targets", module) == []
