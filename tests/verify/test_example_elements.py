"""Which rules the correct examples of rules violate with other element types: the snapshot `example_elements.txt`.

A row names a rule and an element type of its example; after each type that replaces it everywhere come the rules that
are violated then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.example_programs import good_program
from pto_dialect.verify.engine.rule import RULES, RUN, WITHOUT_EXAMPLE, Rule, load_all_rules
from pto_dialect.verify.verifier import verify_module

FILE = Path(__file__).with_name("example_elements.txt")
OTHERS = ("bf16", "si32", "ui16", "f16", "i8", "f32", "ui64", "i16", "ui32")
PLACE = r"(?:(?<=x)|(?<=<)|(?<=dtype=))"
"""Where an element type is: after sizes, in a pointer, or after its key."""
ELEMENT = re.compile(PLACE + r"(?:b?f16|f32|[su]?i(?:8|16|32|64))\b")


def rules() -> list[Rule]:
    """Rules with an example that a check of the text accepts."""
    load_all_rules()
    wanted = [one for one in RULES.values() if one.commands is None and one.id not in WITHOUT_EXAMPLE]
    return sorted((one for one in wanted if one.stage != RUN), key=lambda rule: rule.id)


def violated(text: str) -> str:
    """The rules that a program violates, in order."""
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    module = parse_program(SourceFile("e.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    return "+".join(sorted({one.rule for one in engine.diagnostics})) or "-"


def rows(rule: Rule) -> Iterator[str]:
    """The rows of one rule."""
    text = good_program(rule)
    for element in sorted(set(ELEMENT.findall(text or ""))):
        pattern = re.compile(rf"{PLACE}{element}\b")
        answers = [f"{other} {violated(pattern.sub(other, text or ''))}" for other in OTHERS if other != element]
        yield f"{rule.id} {element}: {', '.join(answers)}"


def test_verdicts_are_those_of_the_snapshot(compare: Callable[[Path, str], None]) -> None:
    compare(FILE, "".join(f"{row}\n" for rule in rules() for row in rows(rule)))


def test_many_types_are_refused_and_many_accepted() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    answers = [answer.split(" ")[1] for line in lines for answer in line.partition(": ")[2].split(", ")]
    assert len(answers) > 1500
    assert 0.2 < answers.count("-") / len(answers) < 0.6
