"""An error inside braces does not end the region around it, and one file's types do not leak into the next."""

from __future__ import annotations

import pytest

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program


def messages(text: str) -> list[str]:
    engine = DiagnosticEngine()
    parse_program(SourceFile("t.pto", text), engine)
    return [found.message for found in engine.diagnostics]


def rules(text: str, *, schematic: bool = False) -> list[str]:
    engine = DiagnosticEngine()
    parse_program(SourceFile("t.pto", text), engine, schematic=schematic)
    return [found.rule for found in engine.diagnostics if found.severity is Severity.ERROR]


def test_an_error_inside_an_attribute_dictionary_ends_with_the_statement() -> None:
    text = 'func.func @f() {\n  "pto.barrier"() {a = 18446744073709551616} : () -> ()\n  return\n}\n'
    assert rules(text) == ["literal-range"]


def test_an_error_in_a_nested_region_leaves_the_outer_one_open() -> None:
    text = (
        "func.func @f(%c: index) {\n  scf.for %i = %c to %c step %c {\n    pto.tadd ins(%%) outs(%c)\n  }\n"
        "  return\n}\nfunc.func @g() {\n  return\n}\n"
    )
    assert len(rules(text)) == 1


def test_types_of_a_documentation_snippet_are_not_remembered() -> None:
    text = "func.func @f(%a: !pto.tile<...>) {\n  return\n}\n"
    assert rules(text, schematic=True) == []
    assert rules(text) == ["type-schematic"]


def test_a_module_with_several_blocks_is_no_reason_to_stop() -> None:
    text = "module {\n  func.func @f() {\n    return\n  }\n^bb1:\n  func.func @f() {\n    return %x\n  }\n}\n"
    assert [found.rule for found in check(text).diagnostics][:1] != []


MISSING = "'{' is missing at the end of this line"


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("around", [False, True])
def test_the_closing_brace_of_a_body_without_an_opening_one_is_reported_once(count: int, around: bool) -> None:
    body = "".join(f"func.func @f{i}(%a: i32)\n  %b = arith.addi %a, %a : i32\n  return\n}}\n" for i in range(count))
    whole = f"module {{\n{body}}}\n" if around else body
    assert messages(whole) == [MISSING] * count
    # One more than that closes nothing.
    assert messages(f"{whole}}}\n") == [MISSING] * count + ["this '}' closes nothing"]
