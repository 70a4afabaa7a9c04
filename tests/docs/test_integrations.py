"""The examples of the page on integrations."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


def test_examples() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0


def test_options_of_the_plugin_are_complete() -> None:
    from pto_dialect.integrations import pytest_plugin

    options: list[str] = []

    class Parser:
        def getgroup(self, *_: str) -> "Parser":
            return self

        def addoption(self, name: str, **_: object) -> None:
            options.append(name)

    pytest_plugin.pytest_addoption(Parser())  # pyright: ignore[reportArgumentType]
    assert len(options) >= 4
    assert [name for name in options if f"| `{name}" not in PAGE.read_text(encoding="utf-8")] == []
