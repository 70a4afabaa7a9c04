"""A sample of what ``benchmarks/fuzz_names.py`` does with many names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pto_dialect.runtime.compile import names

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def fuzz_names(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("fuzz_names")


def test_names_change_nothing(fuzz_names: ModuleType) -> None:
    told: list[str] = []
    assert fuzz_names.fuzz(1200, 3, 8, tell=told.append) == 0, "\n".join(told)
    places = told[-1]
    assert all(f"{place} " in places for place in ("--arg", "launch-file key", "value", "label", "function", "queue"))


def test_names_that_go_through_as_they_are_are_found(fuzz_names: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "readable", lambda name: name.replace(" ", "_"))
    assert fuzz_names.fuzz(400, 3, 0, tell=lambda text: None) > 5
