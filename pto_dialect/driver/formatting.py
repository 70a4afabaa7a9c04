"""What ``pto-fmt`` does to the text of a file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.layout.program import WIDTH, laid_out
from pto_dialect.syntax.layout.tokens import tokens
from pto_dialect.syntax.read.lexer import is_assembly
from pto_dialect.syntax.read.parser import parse_program

_SEPARATOR = re.compile(r"^([ \t]*// -----[^\n]*(?:\n|\Z))", re.MULTILINE)


_EXPECTED = re.compile(r"//.*expected-error")

_UNREADABLE = ("parse-", "nesting-limit")
"""Errors after which the ends of statements are unknown; others do not affect the layout."""


class Formatted(NamedTuple):
    """The text of a file after formatting, and the errors that kept parts of it as they were."""

    text: str
    errors: tuple[Diagnostic, ...]


def formatted(text: str, name: str, only: Sequence[range] = (), columns: int | None = None) -> Formatted:
    """``text`` in the standard style; see ``laid_out``.

    A file that is not one program is split at its `// -----` lines. A program that cannot be read is not changed; its
    errors are reported, except for one with ``expected-error`` comments, which is incorrect on purpose. ``only`` names
    the lines, from 1, that may change. ``columns`` is the width of a line (``None``: the default). Line endings are
    retained, `\r\n` or `\n`.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n") if ends != "\n" else text
    errors = _errors(plain, name, 1)
    if not errors:
        return Formatted(_new(plain, 1, only, columns).replace("\n", ends), ())
    parts = _SEPARATOR.split(plain)
    if len(parts) == 1:
        return Formatted(text, () if _is_wrong_on_purpose(plain) else errors)
    line, new, found = 1, "", []
    for number, part in enumerate(parts):
        if number % 2:
            new += part
        else:
            errors = _errors(part, name, line) if part.strip() else ()
            new += part if errors or not part.strip() else _between(part, _new(part, line, only, columns))
            found += () if _is_wrong_on_purpose(part) else errors
        line += part.count("\n")
    return Formatted(new.replace("\n", ends), tuple(found))


def _is_wrong_on_purpose(text: str) -> bool:
    return _EXPECTED.search(text) is not None


def _errors(text: str, name: str, line: int) -> tuple[Diagnostic, ...]:
    engine = DiagnosticEngine(DiagnosticOptions())
    parse_program(SourceFile(name, text, first_line=line), engine)
    return tuple(found for found in engine.diagnostics if found.rule.startswith(_UNREADABLE))


def _new(text: str, line: int, only: Sequence[range], columns: int | None) -> str:
    own = [range(part.start - line + 1, part.stop - line + 1) for part in only]
    new = laid_out(text, columns or WIDTH, own)
    before, after = ([token.text for token in tokens(t, is_assembly(t))] for t in (text, new))
    if before != after:
        raise AssertionError("formatting has changed the tokens of a program")
    return new


def _between(old: str, new: str) -> str:
    """Returns ``new`` with the empty line at its ends that ``old`` has, between two separators."""
    return ("\n" if old.startswith("\n") else "") + new + ("\n" if old.endswith("\n\n") else "")


def difference(old: str, new: str, name: str) -> str:
    """Returns the change as `diff -u` writes it."""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name)
    )
