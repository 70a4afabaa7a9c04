"""Edits that make a module smaller: what they leave, and that the rest stays well-formed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pto_dialect import parse
from pto_dialect.api import print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.reduce.edits import (
    Edit,
    drop_arguments,
    drop_attribute,
    erase,
    is_erasable,
    set_constant,
    unwrap,
)
from pto_dialect.syntax.read.parser import parse_program

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").rglob("*.pto"))

PROGRAM = """\
module attributes {pto.target_arch = "a5"} {
  func.func @f(%n: index, %x: i64, %unused: f32) -> i64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 64 : index
    %a = arith.addi %x, %x : i64
    %b = arith.muli %a, %x : i64
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %b) -> (i64) {
      %next = arith.addi %sum, %a : i64
      scf.yield %next : i64
    }
    return %s : i64
  }
}
"""


def edited(edit: Edit, text: str = PROGRAM) -> str | None:
    module = parse(text)
    if not edit(list(module.walk())):
        return None
    printed = print_module(module)
    assert print_module(parse(printed)) == printed
    return printed


def number_of(name: str, which: int = 0) -> int:
    places = [number for number, op in enumerate(parse(PROGRAM).walk()) if op.name == name]
    return places[which]


def test_an_operation_goes_with_what_uses_it() -> None:
    # The return needs the result of the loop, which needs the product.
    assert edited(erase([number_of("arith.muli")], substitute=False)) is None


def test_users_get_another_value_of_the_type() -> None:
    printed = edited(erase([number_of("arith.muli")], substitute=True))
    assert printed is not None
    assert "muli" not in printed and "iter_args(%sum = %a)" in printed


def test_a_loop_is_replaced_by_its_body() -> None:
    printed = edited(unwrap(number_of("scf.for"), 0))
    assert printed is not None
    assert "scf." not in printed
    assert "%next = arith.addi %b, %a : i64" in printed and "return %next : i64" in printed


def test_an_operation_without_regions_has_no_body() -> None:
    assert edited(unwrap(number_of("arith.addi"), 0)) is None


def test_unused_arguments_go() -> None:
    printed = edited(drop_arguments(number_of("func.func"), [2]))
    assert printed is not None and "func.func @f(%n: index, %x: i64) -> i64 {" in printed
    assert edited(drop_arguments(number_of("func.func"), [1])) is None


def test_attributes_and_constants() -> None:
    printed = edited(drop_attribute(0, "pto.target_arch"))
    assert printed is not None and printed.startswith("module {")
    assert edited(drop_attribute(0, "absent")) is None
    printed = edited(set_constant(number_of("arith.constant", 1), 2))
    assert printed is not None and "arith.constant 2 : index" in printed
    assert edited(set_constant(number_of("arith.constant", 1), 64)) is None


@pytest.mark.parametrize("path", EXAMPLES[::3], ids=lambda path: path.stem)
@pytest.mark.parametrize("substitute", [False, True])
def test_values_stay_defined_whatever_is_left_out(path: Path, substitute: bool) -> None:
    text = path.read_text(encoding="utf-8")
    made = 0
    units = [number for number, op in enumerate(_read(text).walk()) if is_erasable(op)]
    for number in units[:: max(1, len(units) // 12)]:
        module = _read(text)
        if erase([number], substitute)(list(module.walk())):
            _read(print_module(module))
            made += 1
    assert made


def _read(text: str):
    engine = DiagnosticEngine(DiagnosticOptions())
    module = parse_program(SourceFile("p.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    return module
