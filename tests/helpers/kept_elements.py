"""What is said about the correct examples of rules with other element types, as kept in
``tests/verify/example_elements.txt``.

A row names a rule and an element type of its example; behind each type that takes its place everywhere stand the rules
that are broken then.

Usage: python tests/helpers/kept_elements.py writes the rows again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "lit-tests"), str(Path(__file__).parent)]

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import good_program
from pto_dialect.verify.engine.rule import RULES, RUN, WITHOUT_EXAMPLE, Rule
from pto_dialect.verify.verifier import load_all_rules, verify_module

FILE = Path(__file__).parents[1] / "verify" / "example_elements.txt"
OTHERS = ("bf16", "si32", "ui16", "f16", "i8", "f32", "ui64", "i16", "ui32")
_PLACE = r"(?:(?<=x)|(?<=<)|(?<=dtype=))"
"""Where an element type stands: behind sizes, in a pointer, or behind its key."""
_ELEMENT = re.compile(_PLACE + r"(?:b?f16|f32|[su]?i(?:8|16|32|64))\b")


def rules() -> list[Rule]:
    """Rules with an example that a check of the text accepts."""
    load_all_rules()
    wanted = [one for one in RULES.values() if one.commands is None and one.id not in WITHOUT_EXAMPLE]
    return sorted((one for one in wanted if one.stage != RUN), key=lambda rule: rule.id)


def broken(text: str) -> str:
    """The rules that a program breaks, in order."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("e.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    return "+".join(sorted({one.rule for one in engine.diagnostics})) or "-"


def rows(rule: Rule) -> Iterator[str]:
    """The rows of one rule."""
    text = good_program(rule)
    for element in sorted(set(_ELEMENT.findall(text or ""))):
        pattern = re.compile(rf"{_PLACE}{element}\b")
        answers = [f"{other} {broken(pattern.sub(other, text or ''))}" for other in OTHERS if other != element]
        yield f"{rule.id} {element}: {', '.join(answers)}"


def main() -> None:
    """Writes the file."""
    FILE.write_text("".join(f"{row}\n" for rule in rules() for row in rows(rule)), encoding="utf-8")


if __name__ == "__main__":
    main()
