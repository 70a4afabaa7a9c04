"""The tables of `docs/seed-coverage.md` name rules and test files that exist and belong together."""

import re
from pathlib import Path
from typing import NamedTuple

from groups import each

from pto_dialect.verify.engine.rule import RULES, load_all_rules

ROOT = Path(__file__).parents[2]
PAGES = ("pto.mad", "pto.mte_l0c_l1", "TMATMUL", "pto.tmatmul_acc", "pto.tgemv")
QUOTED = re.compile(r"`([^`]+)`")

load_all_rules()


class Line(NamedTuple):
    """One constraint of a page with its rules and test files."""

    page: str
    text: str
    rules: tuple[str, ...]
    tests: tuple[str, ...]


def read_tables() -> list[Line]:
    """The rows of the page tables."""
    lines: list[Line] = []
    page = ""
    for text in (ROOT / "docs" / "seed-coverage.md").read_text(encoding="utf-8").splitlines():
        if text.startswith("## "):
            page = text[3:]
        elif text.startswith("|") and page in PAGES and not text.startswith(("| line of", "| ---")):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            assert len(cells) == 3, text
            rules, tests = (tuple(QUOTED.findall(cell)) for cell in cells[1:])
            lines.append(Line(page, cells[0], rules, tests))
    return lines


LINES = read_tables()


def test_every_page_has_a_table():
    for page, least in zip(PAGES, (20, 30, 15, 10, 20), strict=True):
        assert sum(line.page == page for line in LINES) >= least, page


@each("line", LINES, lambda line: line.page, lambda line: line.text)
def test_no_cell_is_empty(line: Line):
    assert line.text and line.rules and line.tests


@each("line", LINES, lambda line: line.page, lambda line: line.text)
def test_rules_exist(line: Line):
    assert [rule for rule in line.rules if rule not in RULES] == []


@each("line", LINES, lambda line: line.page, lambda line: line.text)
def test_files_mention_the_rules(line: Line):
    """Every file mentions one of the rules, and every rule is mentioned by one of the files."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in line.tests}
    assert [name for name, text in texts.items() if not any(mentions(text, r) for r in line.rules)] == []
    assert [rule for rule in line.rules if not any(mentions(text, rule) for text in texts.values())] == []


@each("line", LINES, lambda line: line.page, lambda line: line.text)
def test_lit_files_run_a_tool(line: Line):
    for name in line.tests:
        if name.startswith("lit-tests/"):
            assert "// RUN: pto-opt %s" in (ROOT / name).read_text(encoding="utf-8")


def mentions(text: str, rule: str) -> bool:
    """Whether ``rule`` is in ``text`` as a whole word."""
    return re.search(rf"(?<![\w-]){re.escape(rule)}(?![\w-])", text) is not None
