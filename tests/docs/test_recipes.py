"""The recipes of docs/contributing.md are true: their differences fit the files they name, the tests they name exist,
and a copy of the package to which they are applied does what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from markdown_pages import ROOT
from recipe_diffs import Change, apply, changes, named_tests, recipes

RECIPES = recipes()
WITH_CHANGES = [name for name in RECIPES if changes(RECIPES[name])]
FOLDERS_ASIDE = ("tests/", "lit-tests/", "docs/")
LIMITS = {"An operation": 3, "A kernel": 1, "A clause": 2, "A rule": 2, "A target's limit": 1}
LIMITS |= {"A sanitizer's check": 2, "A language server feature": 2, "A message": 1}
"""Files of the package that the example of a recipe writes in; an operation needs a kernel besides."""


def test_the_recipes_with_differences_are_these() -> None:
    assert set(WITH_CHANGES) == set(LIMITS)


@pytest.mark.parametrize("name", WITH_CHANGES)
def test_differences_fit_the_files(name: str) -> None:
    for change in changes(RECIPES[name]):
        if change.is_new:
            assert not (ROOT / change.path).exists(), change.path
            continue
        text = (ROOT / change.path).read_text(encoding="utf-8")
        changed = change.apply(text)
        assert change.apply(changed) == changed, change.path


@pytest.mark.parametrize("name", RECIPES)
def test_named_tests_are_there(name: str) -> None:
    found = named_tests(RECIPES[name])
    for path, functions in found.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        assert [function for function in functions if f"\ndef {function}(" not in text] == [], path


@pytest.mark.parametrize("name", LIMITS)
def test_number_of_files_that_a_person_writes_in(name: str) -> None:
    paths = {change.path for change in changes(RECIPES[name])}
    assert len([path for path in paths if not path.startswith(FOLDERS_ASIDE)]) == LIMITS[name]


def test_a_difference_that_does_not_fit_is_noticed() -> None:
    change = Change("x.py", (("a\n", "b\n"),))
    assert change.apply("c\na\n") == "c\nb\n"
    for text in ("c\n", "a\na\n"):
        with pytest.raises(ValueError, match=r"x\.py"):
            change.apply(text)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of the package says to which all recipes with differences were applied."""
    folder = tmp_path_factory.mktemp("followed")
    for room in ("pto_dialect", "grammar"):
        shutil.copytree(ROOT / room, folder / room)
    for name in WITH_CHANGES:
        apply(RECIPES[name], folder)
    for command in (["-m", "pto_dialect.ir.core.make_index"], [str(ROOT / "tests/helpers/recipe_results.py")]):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["package"] == str(folder / "pto_dialect")
    shutil.rmtree(folder, ignore_errors=True)
    return found


def test_the_operation_is_read_printed_and_checked(followed: dict[str, Any]) -> None:
    (line,), told = followed["operation"]
    assert line.startswith("pto.tsubrelu ins(") and told == []
    _, told = followed["refused type"]
    assert [message.partition(":")[0] for message in told] == ["tile-dtype"]


def test_the_operation_runs_and_has_an_example(followed: dict[str, Any]) -> None:
    assert followed["findings"] == []
    rows = {name: [float(x) for x in re.findall(r"-?[0-9.]+(?![0-9.])", text)[:6]] for _, name, text in followed["run"]}
    first, second, result = list(rows.values())
    assert result == [max(a - b, 0) for a, b in zip(first, second, strict=True)] and any(result)


def test_the_clause_is_read_printed_and_ordered(followed: dict[str, Any]) -> None:
    (line,), told = followed["clause"]
    assert " n_dir k_dir : " in line and told == []
    assert followed["clause out of order"][1] == ["mad-clause-order: n_dir is out of place: it comes before k_dir"]
    assert followed["clause means"] == "goes along k first"


def test_the_rule_is_reported(followed: dict[str, Any]) -> None:
    assert followed["rule"][1] == [
        "mad-partial-block: n of pto.mad is no multiple of 16, found 17: its last block is used in part"
    ]
    assert followed["rule kept"][1] == []


def test_the_limit_is_that_of_the_target(followed: dict[str, Any]) -> None:
    assert followed["limit"] == {"ub": 184 * 1024}


def test_the_check_reports_the_failing_program_alone(followed: dict[str, Any]) -> None:
    assert followed["check"] == [["zero-factor"], []]


def test_the_feature_answers(followed: dict[str, Any]) -> None:
    assert followed["feature"] == [["https://a.org/b", 7, 22]]


def test_the_message_names_the_pipe(followed: dict[str, Any]) -> None:
    (message,) = followed["message"]
    assert message.endswith("unknown pipe 'PIPE_LOAD'; did you mean PIPE_MTE2?")


def test_the_operation_has_the_cycles_of_the_one_that_it_names(followed: dict[str, Any]) -> None:
    assert followed["cycles"] == ["taddrelu", "taddrelu"]
