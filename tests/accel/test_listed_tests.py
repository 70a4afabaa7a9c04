"""The tests that ``PTO_PLAIN=1`` skips are there under the names that the list gives them."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]


def listed() -> list[str]:
    """The list in the settings of the tests."""
    tree = ast.parse((TESTS / "conftest.py").read_text(encoding="utf-8"))
    value = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ABOUT_ACCELERATIONS"
    )
    return [node.value for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_listed_test_exists() -> None:
    names = listed()
    assert len(names) > 10
    for name in names:
        file, _, test = name.partition("::")
        path = TESTS / file
        assert path.exists(), name
        assert f"def {test}" in path.read_text(encoding="utf-8") if test else True, name
