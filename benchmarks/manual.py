"""Snippets of the instruction manual through the parser: ``python benchmarks/manual.py ISA_DIR [--csv FILE]``.

ISA_DIR is a checkout of the manual, or its folder ``docs/isa``. Every code block of its pages that holds a statement is
a snippet; equal blocks count once. A snippet is

- *concrete* when it could be in a program,
- *schematic* when it has placeholders (``...``, ``NxT``, ``dtype``, ``"PATTERN"``),
- *grammar* when it describes alternatives or options (``[x]*``, ``a | b``) or is a table or tree, no statement at all.

Snippets use values that they do not define, so all are read as ``pto-opt --allow-schematic`` does. What parses is
counted apart: snippets of operations of the dialect throughout, and those with *manual forms*, statements that the
dialect has no form for and that become operations of a dialect ``manual``. Of the former the table also says how many
the verifier accepts, and whether what is printed is read back as the same.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import UnregisteredOp

from pto_dialect.api import ParseError, parse, print_module
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS
from pto_dialect.syntax.documentation.tables import OTHER_NAMES, UNSUPPORTED

CONCRETE, SCHEMATIC, GRAMMAR = "concrete", "schematic", "grammar"

_BLOCK = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_OTHER_LANGUAGES = frozenset(("c", "cpp", "mermaid", "markdown", "python", "bash", "json"))
_STATEMENT = re.compile(
    r"^[ \t]*(?:%[\w$.:, %]+=\s*)?((?:pto\.)?[A-Za-z]\w*(?:\.\w+)*)[ \t]*(?:[%#@(\[\"{:]|$|ins\b|\d)", re.MULTILINE
)
_WORDS = {name.removeprefix("pto.") for name in (*OPS, *MNEMONIC_ALIASES)} | UNSUPPORTED | OTHER_NAMES
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
    """What is made of a snippet: rule and text of the first error (empty when it parses), the manual forms in it, the
    first rule that the verifier finds broken, and whether printing and reading give the same text again."""

    rule: str = ""
    message: str = ""
    foreign: tuple[str, ...] = ()
    broken: str = ""
    round_trip: bool = True

    @property
    def parses(self) -> bool:
        """There was no error."""
        return not self.rule

    @property
    def understood(self) -> bool:
        """All of it are operations of the dialect."""
        return self.parses and not self.foreign


def outcome(snippet: Snippet) -> Outcome:
    """Reads, verifies and prints one snippet."""
    try:
        module = parse(snippet.text, snippet.page, schematic=True)
    except ParseError as error:
        found = next(diag for diag in error.diagnostics if diag.severity.label == "error")
        return Outcome(found.rule, found.message)
    names = {op.op_name.data for op in module.walk() if isinstance(op, UnregisteredOp)}
    foreign = tuple(sorted(name.removeprefix("manual.") for name in names if name.startswith("manual.")))
    printed = print_module(module)
    try:
        again = print_module(parse(printed, snippet.page, schematic=True))
    except ParseError as error:
        again = str(error)
    result = process(snippet.text, snippet.page, Options(schematic=True, printing=False))
    broken = next((diag.rule for diag in result.diagnostics if diag.severity.label == "error"), "")
    return Outcome(foreign=foreign, broken=broken, round_trip=again == printed)


def _share(part: list[Outcome], whole: list[Outcome]) -> str:
    return f"{len(part):5} ({len(part) / max(1, len(whole)):.1%})"


def _cells(result: Outcome) -> tuple[object, ...]:
    return tuple(" ".join(cell) if isinstance(cell, tuple) else cell for cell in result)


def main(arguments: list[str]) -> int:
    """Prints figures and failures; writes all snippets to the file of ``--csv``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="ISA_DIR")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one row for each snippet")
    parser.add_argument("--failures", action="store_true", help="list what does not parse")
    parser.add_argument("--forms", action="store_true", help="list the manual forms with their pages")
    options = parser.parse_args(arguments)
    root = options.directory / "docs" / "isa"
    rows = [(each, outcome(each)) for each in snippets(root if root.is_dir() else options.directory)]
    for kind in (CONCRETE, SCHEMATIC, GRAMMAR):
        found = [result for each, result in rows if each.kind == kind]
        good = [result for result in found if result.understood]
        kept = sum(bool(result.foreign) for result in found)
        wrong = sum(not result.parses for result in found)
        verified = sum(not result.broken for result in good)
        back = sum(result.round_trip for result in found if result.parses)
        print(
            f"{kind:10} {len(found):5} snippets: {_share(good, found)} operations of the dialect ({verified} verify), "
            f"{kept} with manual forms, {wrong} do not parse; {back} of {len(found) - wrong} printed and read back"
        )
    if options.failures:
        for each, result in rows:
            if not result.parses and each.kind != GRAMMAR:
                print(f"{each.kind}: {each.page}:{each.line}: {result.message} [{result.rule}]")
    if options.forms:
        pages: dict[tuple[str, str], list[str]] = {}
        for each, result in rows:
            for name in result.foreign:
                pages.setdefault((each.kind, name), []).append(f"{each.page}:{each.line}")
        for (kind, name), places in sorted(pages.items()):
            print(f"{kind}: {name}: {len(places)}: {', '.join(places)}")
    if options.csv is not None:
        with options.csv.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("page", "line", "kind", "parses", *Outcome._fields))
            writer.writerows((each.page, each.line, each.kind, result.parses, *_cells(result)) for each, result in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
