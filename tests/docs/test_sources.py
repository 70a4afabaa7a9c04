"""Citations lead to pages and headings that ship with the project, and nothing else is cited.

A citation is ``docs/reference/layouts.md, "Fractals"``: a page of the reference, or a guide for what is no fact of the
language, then one or more of its headings. Docstrings, comments,
grammars and rules say with it where their facts stand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from groups import each
from markdown_pages import ROOT, headings

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.verify.engine.rule import RULES, load_all_rules

TREES = ("pto_dialect", "grammar", "tools", "tests", "lit-tests", "examples", "benchmarks")
SUFFIXES = {".py", ".lark", ".pto", ".mlir"}

_CITATION = re.compile(r'docs/((?:reference/)?[\w-]+\.md)((?:, "[^"]+")*)')
_HEADING = re.compile(r'"([^"]+)"')
_SOURCE = re.compile(r"\bSources?:")
_PAGE = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*[\w-]+\.md)\b(?!\.)")
_ABSENT = (
    re.compile(r"pages?,? sections?\b"),
    re.compile(r"sections? \d"),
    re.compile(r"operations? catalogue\b"),
    re.compile(r"\b(?:spec|seeds|conformance)/"),
    re.compile(r"\b(?:numerics|execution|layouts|targets|verifier-rules|syntax-families|level1-and-assembly) pages?\b"),
)
"""How pages that do not ship would be cited. A literal at the beginning of a pattern makes its search fast."""


def files() -> list[Path]:
    """Every file that may cite a page, but this one."""
    found = [path for tree in TREES for path in (ROOT / tree).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path for path in [*found, ROOT / "setup.py"] if path != Path(__file__))


@cache
def words(path: Path) -> str:
    """A file as one line, without the marks of comments at the beginnings of its lines."""
    return " ".join(re.sub(r"^\s*(?:#|//)(?=\s|$)", " ", path.read_text(encoding="utf-8"), flags=re.MULTILINE).split())


def mistakes(text: str) -> Iterator[str]:
    """What is wrong with the citations of a text."""
    for match in _CITATION.finditer(text):
        page = ROOT / "docs" / match[1]
        if not page.is_file():
            yield f"{match[0]}: there is no such page"
            continue
        cited = _HEADING.findall(match[2])
        yield from (f"{match[1]} has no heading {name}" for name in cited if name not in headings(page))
    for match in _SOURCE.finditer(text):
        behind = _CITATION.match(text, match.end() + 1)
        if behind is None or not behind[2]:
            yield f"no page with a heading: {text[match.start() : match.end() + 60]}"
    for pattern in _ABSENT:
        yield from (f"does not ship: {text[max(m.start() - 40, 0) : m.end() + 20]}" for m in pattern.finditer(text))


SHIPPED = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.md") if ".venv" not in path.parts}


def unknown_pages(text: str) -> list[str]:
    """Names of pages that the project does not have."""
    named = {match[1] for part in text.split() if ".md" in part for match in _PAGE.finditer(part)}
    return sorted(name for name in named if not any(f"/{page}".endswith(f"/{name}") for page in SHIPPED))


def wrong(path: Path) -> list[str]:
    """All mistakes of a file. Programs and data of tests may say ``source:`` as a token of their own."""
    text = words(path)
    found = list(mistakes(text))
    if path.relative_to(ROOT).parts[0] in ("pto_dialect", "grammar", "tools"):
        found += unknown_pages(text)
    return found


def test_every_citation_resolves() -> None:
    found = {path.relative_to(ROOT).as_posix(): errors for path in files() if (errors := wrong(path))}
    assert found == {}


def test_pages_are_cited() -> None:
    cited = {match[1] for path in files() for match in _CITATION.finditer(words(path))}
    uncited = {"README.md", "target-tables.md", "core-operations.md"}
    pages = {page.name for page in (ROOT / "docs" / "reference").glob("*.md")} - uncited
    assert cited >= {f"reference/{name}" for name in pages}


@each("mnemonic", OPS, lambda name: OPS[name][0])
def test_an_operation_cites_a_page(mnemonic: str) -> None:
    cls = op_class(mnemonic)
    texts = [" ".join((text or "").split()) for text in (cls.__doc__, sys.modules[cls.__module__].__doc__)]
    assert any(_CITATION.search(text) for text in texts)


def test_a_rule_cites_a_page() -> None:
    load_all_rules()
    assert RULES
    for rule in RULES.values():
        assert re.fullmatch(r'(?:docs/[\w/-]+\.md(?:, "[^"]+")*(?:; )?)+', rule.source), (rule.id, rule.source)
        assert list(mistakes(rule.source)) == [], rule.id


@pytest.mark.parametrize(
    "text",
    [
        'docs/reference/no-such-page.md, "Fractals"',
        'docs/reference/layouts.md, "No such heading"',
        "A fact. Source: docs/reference/layouts.md.",
        "A fact. Source: layouts page.",
        "as the numerics page, section 5, says",
        "the operation catalogue",
        "see section 7.2",
    ],
)
def test_what_does_not_resolve_is_found(text: str) -> None:
    assert list(mistakes(text))


def test_pages_that_do_not_exist_are_found() -> None:
    assert unknown_pages("see layouts.md, docs/rules.md and spec/layouts-2.md") == ["spec/layouts-2.md"]
