"""The tables of this room are as ``tables.txt`` has them; `tests/helpers/write_tables.py` writes it again."""

from __future__ import annotations

import pytest
from kept_tables import FOLDER, differences, kept, operations


@pytest.mark.parametrize("module", kept("ir"))
def test_tables_of_a_module_stay(module: str) -> None:
    assert differences("ir", module) == []


def test_declarations_of_operations_stay() -> None:
    wanted = (FOLDER / "ir" / "operations.txt").read_text(encoding="utf-8").splitlines()
    assert set(wanted) - set(operations()) == set()
