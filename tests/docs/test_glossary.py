"""Terms of docs/glossary.md: one sentence each, sorted, and defined where the page says; so are renamed ones."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_pages import ROOT

PACKAGE = ROOT / "pto_dialect"
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")

_ROW = re.compile(r"^\| (?!term \|)([^|]+?) \| ([^|]+?) \| `([\w/]+(?:\.py|/))`(?: `(\w+)`)? \|$", re.MULTILINE)
ROWS: list[tuple[str, str, str, str]] = _ROW.findall(PAGE)
BY_TERM = pytest.mark.parametrize(("meaning", "file", "name"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])


@cache
def names_of(path: Path) -> frozenset[str]:
    """Classes, functions and variables at the top level of a module."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return frozenset(names)


def test_every_row_of_a_table_is_a_term() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| term")]
    assert len(ROWS) == len(rows) > 80


def test_a_term_has_one_row() -> None:
    terms = [row[0] for row in ROWS]
    assert sorted(terms) == sorted(set(terms))


def test_the_terms_of_a_table_are_sorted() -> None:
    for section in PAGE.split("\n## ")[1:]:
        terms = [row[0].lower() for row in _ROW.findall(section)]
        assert terms
        assert [(one, other) for one, other in pairwise(terms) if one > other] == []


@BY_TERM
def test_a_term_has_one_sentence(meaning: str, file: str, name: str) -> None:
    assert meaning[0].isupper() and meaning.endswith(".")
    assert not re.search(r"\. [A-Z]", meaning)


@BY_TERM
def test_a_term_is_defined_where_the_page_says(meaning: str, file: str, name: str) -> None:
    paths = [path for path in (PACKAGE / file, ROOT / file) if path.exists()]
    assert paths, file
    if name and name not in names_of(paths[0]):
        moved = [path for path in PACKAGE.rglob("*.py") if name in names_of(path)]
        pytest.fail(f"{name} is not in {file}, but in {[path.relative_to(PACKAGE).as_posix() for path in moved]}")


def test_renamed_terms_are_sorted_and_listed_once() -> None:
    table = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").partition("\n| old | new | kind |\n")[2]
    old = [line.split(" | ")[0].removeprefix("| ").strip("`").lower() for line in table.splitlines()[1:]]
    assert old
    assert [(one, other) for one, other in pairwise(old) if one >= other] == []
