"""The text of a file with the fixes of its diagnostics."""

from __future__ import annotations

import re
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic

from ..options import Options
from ..pipeline import process
from .offer import checker
from .trying import Made, fixed

_SEPARATOR = re.compile(r"^([ \t]*// -----[^\n]*(?:\n|\Z))", re.MULTILINE)
_EXPECTED = re.compile(r"//.*expected-(?:error|warning|remark|note)")


class FileFixed(NamedTuple):
    """A text after fixes: those made, and the diagnostics of the new text."""

    text: str
    applied: tuple[Made, ...]
    left: tuple[Diagnostic, ...]


def fixed_file(text: str, name: str, options: Options, *, unsafe: bool = False) -> FileFixed:
    """Returns ``text`` with the fixes of what checking it with ``options`` finds, those that are guesses where
    ``unsafe``.

    Comments and layout stay, and so do ends of lines. Programs with ``expected-error`` comments, which are wrong on
    purpose, stay as they are.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    parts = _SEPARATOR.split(plain) if options.split_input else [plain]
    applied: list[Made] = []
    new, line = "", 1
    for number, part in enumerate(parts):
        if number % 2 or not part.strip() or _EXPECTED.search(part):
            new += part
        else:
            result = fixed(part, checker(name, options), unsafe=unsafe)
            new += result.text
            applied += [made._replace(line=made.line + line - 1) for made in result.applied]
        line += part.count("\n")
    new = new.replace("\n", ends)
    left = process(new, name, options._replace(printing=False)).diagnostics
    return FileFixed(new if applied else text, tuple(applied), left)
