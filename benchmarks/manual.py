"""Snippets of the instruction manual through the parser: ``python benchmarks/manual.py ISA_DIR [--csv FILE]``.

ISA_DIR is a checkout of the manual, or its folder ``docs/isa``. Every code block of its pages that holds a statement is
a snippet; equal blocks count once. A snippet is

- *concrete* when it could stand in a program,
- *schematic* when it has placeholders (``...``, ``NxT``, ``dtype``, ``"PATTERN"``),
- *grammar* when it describes alternatives or options (``[x]*``, ``a | b``) or is a table or tree, no statement at all.

Snippets use values that they do not define, so all are read as ``pto-opt --allow-schematic`` does. Statements that the
dialect has no form for become operations of a dialect ``manual`` there; snippets with such are counted separately.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pto_dialect.api import ParseError, parse
from pto_dialect.ir.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.index import OPS
from pto_dialect.syntax.documentation import UNSUPPORTED, normalise

CONCRETE, SCHEMATIC, GRAMMAR = "concrete", "schematic", "grammar"

_BLOCK = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_OTHER_LANGUAGES = frozenset(("c", "cpp", "mermaid", "markdown", "python", "bash", "json"))
_STATEMENT = re.compile(
    r"^[ \t]*(?:%[\w$.:, %]+=\s*)?((?:pto\.)?[A-Za-z]\w*(?:\.\w+)*)[ \t]*(?:[%#@(\[\"{:]|$|ins\b|\d)", re.MULTILINE
)
_WORDS = {name.removeprefix("pto.") for name in (*OPS, *MNEMONIC_ALIASES)} | UNSUPPORTED
_COMMENT = re.compile(r"//[^\n]*|^[ \t]*#[ \t][^\n]*", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"\.\.\.|…|<[A-Z]\w?>|[<x]N?x?[A-Z]\b|\b[A-Z]x|[<\s,(|][TUG]\d?\s*(?=[,>)\n]|->|$)|\bdtype\b|<[^<>]*\brows\b"
    r"|\"(?:\w+_)?(?:PATTERN|PART|DIST|ORDER|POSITION|MODE|STRIDE|TYPE|PIPE|EVENT_ID|PIPE_\*)\"|src_op|<\w+ x+>|<G\d?>"
)
_METASYNTAX = re.compile(r"\]\s*[*?]|\)\?|\[,|\[\s*(?:loop|pad|unit_flag|sat|nosat)\b|[^|]\|[^|]|[├└┌│─▶▼→]|\bor\b")
_PROSE = re.compile(r"^[A-Z]\w+ [a-z]+ [a-z]+|^[ \t]*(?:Per |T[A-Z]+\()|[\u4e00-\u9fff]", re.MULTILINE)


class Snippet(NamedTuple):
    """A code block of a page; ``line`` is that of its first line."""

    page: str
    line: int
    text: str
    kind: str


def snippets(root: Path) -> Iterator[Snippet]:
    """All snippets below ``root``, by page."""
    seen: set[str] = set()
    for path in sorted(root.rglob("*.md")):
        page = path.read_text(encoding="utf-8-sig", errors="replace").replace("\r", "")
        for block in _BLOCK.finditer(page):
            text = "\n".join(line.rstrip() for line in block[2].strip("\n").split("\n")) + "\n"
            if block[1] in _OTHER_LANGUAGES or text in seen or not _has_statement(text):
                continue
            seen.add(text)
            yield Snippet(path.relative_to(root).as_posix(), page.count("\n", 0, block.start(2)) + 1, text, _kind(text))


def _has_statement(text: str) -> bool:
    words = (found[1] for found in _STATEMENT.finditer(text))
    if "%" not in text and "pto." not in text:
        return False  # a formula, a diagram, a list of names
    return any(word.lower().removeprefix("pto.") in _WORDS or word.startswith("pto.") for word in words)


def _kind(text: str) -> str:
    code = _COMMENT.sub("", text)
    if _METASYNTAX.search(code) or _PROSE.search(code):
        return GRAMMAR
    return SCHEMATIC if _PLACEHOLDER.search(code) else CONCRETE


class Outcome(NamedTuple):
    """What the parser says of a snippet: rule and text of the first error (empty when it parses), and the first
    statement that the dialect has no form for (empty when there is none)."""

    rule: str
    message: str
    foreign: str

    @property
    def parses(self) -> bool:
        """There was no error."""
        return not self.rule


def outcome(snippet: Snippet) -> Outcome:
    """Reads one snippet."""
    kept = re.search(r'"manual\.([\w.]+)"', normalise(snippet.text))
    foreign = kept[1] if kept is not None else ""
    try:
        parse(snippet.text, snippet.page, schematic=True)
    except ParseError as error:
        found = next(diag for diag in error.diagnostics if diag.severity.label == "error")
        return Outcome(found.rule, found.message, foreign)
    return Outcome("", "", foreign)


def main(arguments: list[str]) -> int:
    """Prints figures and failures; writes all snippets to the file of ``--csv``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="ISA_DIR")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row for each snippet")
    parser.add_argument("--failures", action="store_true", help="list what does not parse")
    options = parser.parse_args(arguments)
    root = options.directory / "docs" / "isa"
    rows = [(each, outcome(each)) for each in snippets(root if root.is_dir() else options.directory)]
    for kind in (CONCRETE, SCHEMATIC, GRAMMAR):
        found = [result for each, result in rows if each.kind == kind]
        good = [result for result in found if result.parses]
        kept = sum(bool(result.foreign) for result in good)
        share = len(good) / max(1, len(found))
        print(f"{kind:10} {len(found):5} snippets, {len(good):5} parse ({share:.1%}), {kept} of them with manual forms")
    if options.failures:
        for each, result in rows:
            if not result.parses and each.kind != GRAMMAR:
                print(f"{each.kind}: {each.page}:{each.line}: {result.message} [{result.rule}]")
    if options.csv is not None:
        with options.csv.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("page", "line", "kind", "parses", *Outcome._fields))
            writer.writerows((each.page, each.line, each.kind, result.parses, *result) for each, result in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
