"""Operations of the core dialects: every line of the table of constraints on both sides."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from groups import each

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.core.table import CORE_NAMES, constraints_of
from pto_dialect.verify.verifier import verify_module

ELSEWHERE = re.compile(
    r"func\.|scf\.|cf\.(?!assert)|memref\.(?:get_global|alloca_scope|generic_atomic_rmw|atomic_yield)"
    r"|affine\.(?:for|if|parallel|yield)"
)
"""Operations that need regions, blocks or symbols around them."""


class Case(NamedTuple):
    """One line: an operation with properties and signature, and the rule that it breaks."""

    name: str
    properties: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rule: str | None

    def __str__(self) -> str:
        arrow = f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"
        return f"{self.name} {self.properties}{arrow}"

    @property
    def program(self) -> str:
        """A function with the operation in generic form."""
        arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(self.inputs))
        operands = ", ".join(f"%a{number}" for number in range(len(self.inputs)))
        results = f"%r:{len(self.outputs)} = " if self.outputs else ""
        properties = f" <{self.properties}>" if self.properties else ""
        signature = f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"
        statement = f'{results}"{self.name}"({operands}){properties} : {signature}'
        return f"func.func @f({arguments}) {{\n  {statement}\n  return\n}}\n"


def _types(text: str) -> tuple[str, ...]:
    text = text.strip()
    if text.startswith("("):
        text = text[1:-1]
    parts: list[str] = []
    depth = 0
    for part in text.split(", "):
        if depth:
            parts[-1] += ", " + part
        elif part:
            parts.append(part)
        depth += part.count("<") + part.count("[") - part.count(">") - part.count("]")
    return tuple(parts)


def _cases() -> list[Case]:
    cases: list[Case] = []
    names: list[str] = []
    for line in (Path(__file__).parent / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            names = line.split()
            continue
        found = re.fullmatch(r"  (?:\+|- (?P<rule>\S+)) (?P<properties>\{.*?\} )?(?P<in>\(.*\)) -> (?P<out>.*)", line)
        assert found, line
        properties = (found["properties"] or "").strip()
        cases += [Case(name, properties, _types(found["in"]), _types(found["out"]), found["rule"]) for name in names]
    return cases


CASES = _cases()


def errors(text: str) -> list[tuple[str, str, bool]]:
    """Rule and message of every error, and whether it has a location."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("t.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    return [(d.rule, d.message, d.span is not None) for d in engine.diagnostics if d.severity.label == "error"]


@each("case", [case for case in CASES if case.rule is None], lambda case: case.name)
def test_right_operation(case: Case) -> None:
    assert errors(case.program) == []


@each("case", [case for case in CASES if case.rule is not None], lambda case: case.name)
def test_wrong_operation(case: Case) -> None:
    """Exactly one error, with a location and nothing of the library underneath in its text."""
    found = errors(case.program)
    assert [(rule, place) for rule, _, place in found] == [(case.rule, True)], found
    assert not re.search(r"Attr\b|xdsl|Unexpected|expected from|base attribute", found[0][1]), found


def test_every_line_is_tested_on_both_sides() -> None:
    """Each operation has right and wrong programs; each kind of operand, attribute and relation is broken."""
    broken: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        if case.rule is not None:
            broken[case.name].append(case)
    right = {case.name for case in CASES if case.rule is None}
    lacking: list[str] = []
    for name in sorted(CORE_NAMES):
        if ELSEWHERE.match(name):
            continue
        row = constraints_of(name)
        messages = [errors(case.program)[0] for case in broken[name]]
        if name not in right:
            lacking.append(f"{name}: right")
        for slot in (*row.operands, *row.results):
            if slot.kind.label != "a value" and not any(f"{slot.name} of {name}" in text for _, text, _ in messages):
                lacking.append(f"{name}: {slot.name}")
        for slot in row.attributes:
            known = slot.kind.label == "an attribute"
            if not known and not any(f"attribute {slot.name} of" in text for _, text, _ in messages):
                lacking.append(f"{name}: attribute {slot.name}")
        rules = {rule for rule, _, _ in messages}
        if row.relations and not rules - {"core-operand", "attr-kind", "attr-missing", "operand-count", "result-kind"}:
            lacking.append(f"{name}: {row.relations}")
    assert lacking == []
