"""Texts use the terms of the field: no page, docstring, comment, help text, message or name of a test has a retired
phrase.

Most patterns catch the home-made sense alone, so that ordinary English passes. Code in pages and docstrings (blocks and
spans) is not searched, nor are citations of pages and strings without a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from groups import in_groups
from markdown_pages import ROOT, pages, prose

from pto_dialect.verify.engine.rule import RULES, load_all_rules

CONVERTED = (
    *("benchmarks", "docs", "examples", "lit-tests", "tests", "tools"),
    *(f"pto_dialect/{path.name}" for path in sorted((ROOT / "pto_dialect").iterdir()) if any(path.rglob("*.py"))),
    *(f"pto_dialect/{path.name}" for path in sorted((ROOT / "pto_dialect").glob("*.py"))),
)
"""Folders and files of Python whose docstrings and comments are searched."""

CONVERTED_STRINGS = (
    "examples",
    "lit-tests",
    "pto_dialect/accel",
    "pto_dialect/analysis",
    "pto_dialect/cpp",
    "pto_dialect/debug",
    "pto_dialect/diagnostics",
    "pto_dialect/driver",
    "pto_dialect/integrations",
    "pto_dialect/ir",
    "pto_dialect/lsp",
    "pto_dialect/passes",
    "pto_dialect/plugin",
    "pto_dialect/recording",
    "pto_dialect/report",
    "pto_dialect/runtime",
    "pto_dialect/sanitize",
    "pto_dialect/syntax",
    "pto_dialect/targets",
    "pto_dialect/verify",
    "tests/helpers/markdown_pages.py",
    "tools",
)
"""Folders and files of Python whose messages and help texts are searched as well."""

_DETERMINER = (
    r"(?:a|an|the|its|their|one|each|every|same|this|that|which|another|no|two|three|what|other|all|many|some|both)"
)
_RUN = r"(?:access|block|code|core|flavou?r|function|kernel|launch|machine|memor|program|rank|run|session|window)"
_WHERE = r"(?:in|at|on|there|here|with|where|before|above|below|between|beside|under|around)"
_KEPT = r"(?:tables?|files?|runs?|verdicts?|outputs?|relations?|outcomes?|texts?|code|programs?|results?|values?|one)"
_PLAIN_WORDS = r"(?:quoted|bare|misspelt|unknown|known|near|required|frequent|closed|reserved) words?"
_ONE_WORD = r"(?:a|the|its|their|each|every|no|another|one|two|these|those) words?"

RETIRED = {
    # Locations.
    rf"\b{_DETERMINER} places?\b": "source location, memory location, address, position, index",
    r"\b(?:names|shows|with|without|and|of|in) places\b": "source locations, memory locations, addresses",
    r"\bin one place after another\b": "one location at a time",
    r"\bbehind\b": "after, following",
    r"\bin front of\b": "before",
    r"\b(?:that|which|what|it|who|they|and|where) (?:stands?|stood)\b(?! for\b)": "is, is located",
    rf"\b(?:stands?|stood|standing) {_WHERE}\b(?! (?:for|the order)\b)": "is, is located",
    r"\bone behind the other\b": "contiguous, consecutive",
    r"(?<![\w-])(?<!no )rooms?\b(?! (?:for|left|to)\b)": "subpackage, layer; scratch buffer",
    # Reports.
    r"\btold\b": "reported, stated",
    r"\btells?\b(?!.{1,60}\b(?:apart|from)\b)": "report, state; distinguish",
    r"\b(?<!as )said\b": "reported, stated, documented",
    r"\b(?:asked|asks)\b": "queried, queries; calls",
    r"\bthinks? (?:that|of)\b": "assumes",
    # What a tool computes or keeps.
    r"\bfound out\b": "computed, determined",
    r"\bwhat (?:was|is|are|were|has been) found\b": "result, match; finding",
    rf"\bkept {_KEPT}\b": "snapshot; cached",
    r"\b(?:neighbour|near) (?:programs?|texts?)\b": "mutated programs",
    r"\boutcomes\b": "results",
    r"\bmade up\b(?! (?:of|for)\b)": "generated, synthesized",
    r"\b(?:comes|come|came|coming) out\b": "result, output",
    r"\blikeness(?:es)?\b": "operation template",
    r"\bstatement plans?\b": "parse templates",
    r"\bskeletons?\b": "normalized token sequence",
    r"\balike\b": "structurally equal; in the same way",
    r"\bflavou?rs?\b": "code generation variant",
    r"\bcrews?\b": "worker pool",
    r"\bgone\b": "removed, absent",
    r"\banew\b": "again",
    r"\bfaulty\b": "incorrect",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    # Words of a language.
    r"\b(?:flag|buffer|pipe|event|signal) numbers?\b": "id",
    r"\bnumbers? of (?:a|the|its|their|each) (?:flags?|buffers?|pipes?|events?)\b": "id",
    rf"\b{_PLAIN_WORDS}\b": "keyword, token, enumerator",
    rf"\b{_ONE_WORD}\b(?! of \d)": "token, keyword, enumerator, term",
    r"\bin words\b": "as text",
    # Control flow, dataflow, concurrency.
    rf"\bwatch(?:ed|es|ing)? (?:(?:a|all|each|every|its|the|this) )?{_RUN}": "instrument, instrumented run",
    r"\b(?:are|be|been|is|never|not|was|were) watched\b|\bunder watch\b": "instrumented, sanitized",
    r"\bways? through\b": "control-flow path",
    r"\b(?:every|each|all|some|any|different|other|many|one of its) ways\b": "control-flow paths",
    r"\bon (?:every|each|some|one|another) way\b": "on every control-flow path",
    r"\bways meet\b": "control-flow join",
    r"\b(?:a|one|each|every|the|first|last|next|second|later|earlier) turn\b": "iteration",
    r"\bturns\b(?! (?:\w+ ){0,3}(?:into|out|off|on|to|it|them|every)\b)": "iterations; by turns: alternately",
    r"\bcertainly\b": "must- (must-alias, must-write)",
    r"\blives of\b": "live ranges of",
    r"\bmay share\b(?! (?:bytes|memory))": "may alias",
    r"\bnothing leads to\b": "unreachable",
    r"\bleads? nowhere\b": "does not resolve",
    r"\bdecides? nothing\b": "redundant",
    r"\b(?:goes|go|going|went|gone) on\b": "continue",
    r"\b(?:runs?|running|works?|working) side by side\b": "concurrently, in parallel",
}
"""Retired phrases, each with the term to use instead."""

_PATTERNS = {re.compile(pattern, re.IGNORECASE): instead for pattern, instead in RETIRED.items()}
_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
_TARGET = re.compile(r"\]\([^()\s]+\)")
_TOKEN = re.compile(r"""#[^\n]*|(\"{3}|'{3}|["'])(?:\\.|(?!\1).)*\1""", re.DOTALL)
"""A comment or a string of Python."""
_BETWEEN = re.compile(r"[\s\\]*[frbFRB]*")
_TEST = re.compile(r"^ *def test_(\w+)\(", re.MULTILINE)
_CITATION = re.compile(r'docs/[\w/-]+\.md(?:, "[^"]*")*')


def _normal(text: str) -> str:
    """A text in one line, without its code and citations."""
    return _CITATION.sub("page", " ".join(_SPAN.sub("`code`", _TARGET.sub("]", text)).split()))


def retired(text: str) -> Iterator[str]:
    """Retired phrases of a text, each with some context and what to write instead."""
    text = _normal(text)
    for pattern, instead in _PATTERNS.items():
        for match in pattern.finditer(text):
            context = text[max(match.start() - 40, 0) : match.end() + 30]
            yield f"{match[0]!r} in '…{context}…': write {instead}"


def retired_in(texts: list[str]) -> list[str]:
    """Retired phrases of many texts: one search of all of them together, as hardly any has one."""
    normal = "\n\n".join(map(_normal, texts))
    if not any(pattern.search(normal) for pattern in _PATTERNS):
        return []
    return [phrase for text in texts for phrase in retired(text)]


def comments_and_strings(source: str) -> Iterator[tuple[str, str]]:
    """The comments, docstrings and other strings of a source, each with what it is.

    Comments on lines that follow each other are one text, as are strings that follow each other. Values in f-strings
    count as code.
    """
    kind, block, end = "", "", 0
    for token in _TOKEN.finditer(source):
        between, text = source[end : token.start()], token[0]
        if text[0] == "#":
            new, text = "comment", text.lstrip("#: ")
        else:
            line = source[source.rfind("\n", 0, token.start()) + 1 : token.start()]
            new = "docstring" if text.startswith('"""') and not line.strip() else "string"
            text = re.sub(r"\{[^{}]*\}", "`x`", text.strip("\"'")).replace("\\n", "\n")
        if new == kind and _BETWEEN.fullmatch(between) and new != "docstring":
            block += " " * (new == "comment") + text
        else:
            if block:
                yield kind, block
            kind, block = new, text
        end = token.end()
    if block:
        yield kind, block


@cache
def sources(entries: tuple[str, ...]) -> list[Path]:
    """Python files of folders and files, which must exist."""
    paths = [ROOT / entry for entry in entries]
    assert [path for path in paths if not path.exists()] == []
    files = {file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])}
    return sorted(files)


@in_groups("page", pages(), lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_retired_phrase(page: Path) -> None:
    text = prose(page).partition("\n## Renamed terms\n")[0]
    assert list(retired(re.sub(r"^ {4}.*", "", text, flags=re.MULTILINE))) == []


@pytest.mark.parametrize("entry", CONVERTED)
def test_sources_have_no_retired_phrase(entry: str) -> None:
    with_strings = set(sources(CONVERTED_STRINGS))
    found: dict[str, list[str]] = {}
    for path in sources((entry,)):
        texts = comments_and_strings(path.read_text(encoding="utf-8"))
        searched = [text for kind, text in texts if kind != "string" or (path in with_strings and " " in text)]
        found[path.relative_to(ROOT).as_posix()] = retired_in(searched)
    assert {path: phrases for path, phrases in found.items() if phrases} == {}


def test_names_of_tests_have_no_retired_phrase() -> None:
    """A name is read as the sentence that it is."""
    names = [name for path in sources(("tests",)) for name in _TEST.findall(path.read_text(encoding="utf-8"))]
    assert names
    assert retired_in([name.replace("_", " ") for name in names]) == []


def test_comments_of_headers_have_no_retired_phrase() -> None:
    """The headers that C++ kernels include."""
    found: dict[str, list[str]] = {}
    for path in (ROOT / "pto_dialect" / "cpp").rglob("*.h*"):
        texts = re.findall(r"//.*|/\*.*?\*/", path.read_text(encoding="utf-8"))
        found[path.relative_to(ROOT).as_posix()] = retired_in(texts)
    assert found
    assert {path: phrases for path, phrases in found.items() if phrases} == {}


def test_texts_of_rules_have_no_retired_phrase() -> None:
    load_all_rules()
    found = {rule.id: list(retired(rule.text)) for rule in RULES.values()}
    assert {id: phrases for id, phrases in found.items() if phrases} == {}


@pytest.mark.parametrize(
    "text",
    [
        "a diagnostic with its place",
        "the barrier behind the load",
        "what stands in the table",
        "this is told as text",
        "the kept tables of a folder",
        "a watched run",
        "all ways through a function",
        "in each turn of the loop",
        "two loads alike",
        "the flag number 3",
        "blocks that nothing leads to",
        "reading goes on there",
    ],
)
def test_a_retired_phrase_is_reported(text: str) -> None:
    assert list(retired(text))


@pytest.mark.parametrize(
    "text",
    [
        "computed in place, in place of a copy",
        "the alias stands for a type",
        "a 32-bit word, in other words four bytes",
        "no room for a tile",
        "tells a tile from a view",
        "castptr turns integers into pointers",
        "`behind` and ```told``` are code",
        "[a link](behind.md) without a phrase",
    ],
)
def test_ordinary_english_passes(text: str) -> None:
    assert list(retired(text)) == []


def test_comments_docstrings_and_messages_are_separate() -> None:
    source = '"""One."""\n# two\n# three\nx = f"four {x} "\\\n"five"  # six\n"""Seven."""\ny = "eight nine"\n'
    assert list(comments_and_strings(source)) == [
        ("docstring", "One."),
        ("comment", "two three"),
        ("string", "four `x` five"),
        ("comment", "six"),
        ("docstring", "Seven."),
        ("string", "eight nine"),
    ]
