"""What is computed for one statement holds for those like it, and for no others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr, f32
from xdsl.ir import Operation

from pto_dialect.accel.operations.template import template_of
from pto_dialect.accel.parsing.templates import TEMPLATES
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.verify.engine.checks import CHECKS
from pto_dialect.verify.engine.rule import PASSES, load_all_rules
from pto_dialect.verify.verifier import CheckTables, Verdict, verify_module


@pytest.fixture(autouse=True)
def no_plans() -> Iterator[None]:
    TEMPLATES.forget()
    yield
    TEMPLATES.forget()


def read(text: str) -> ModuleOp:
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("test.pto", text), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    return module


def rules(module: ModuleOp, target: str | None = None) -> list[str]:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    verify_module(module, engine, target=target)
    return [found.rule for found in engine.diagnostics]


def named(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


TILE = "!pto.tile_buf<vec, 16x16xf32>"
ADD = f"""func.func @f(%x: {TILE}, %y: {TILE}) {{
  pto.tadd ins(%x, %y : {TILE}, {TILE}) outs(%x : {TILE})
  pto.tadd ins(%y, %x : {TILE}, {TILE}) outs(%y : {TILE})
  return
}}
"""


def test_statements_of_one_template_share_computed_facts() -> None:
    first, second = read(ADD), read(ADD)
    adds = [op for module in (first, second) for op in module.walk() if op.name == "pto.tadd"]
    template = template_of(adds[0])
    # The first statement names one value twice, as the second does.
    assert template is not None and template_of(adds[2]) is template
    assert not template.verdicts
    assert rules(first) == rules(second) == []
    assert len(template.verdicts) == 1
    rules(first, "a5")
    assert len(template.verdicts) == 2


def test_a_changed_operation_is_checked_again() -> None:
    module = read(ADD)
    assert rules(module) == []
    op = named(module, "pto.tadd")
    op.attributes["nosuch"] = StringAttr("x")
    assert rules(module) == ["attr-unknown"]
    del op.attributes["nosuch"]
    assert rules(module) == []
    other = parse_type("!pto.tile_buf<vec, 16x16xi32>")
    value = op.operands[0]
    value._type = other
    assert rules(module)
    value._type = op.operands[1].type
    assert rules(module) == []
    op.operands = op.operands[:1]
    assert rules(module)


def test_verdicts_are_those_of_a_target() -> None:
    # 200 kB fit into the vector memory of a5 alone.
    tile = "!pto.tile_buf<vec, 400x128xf32>"
    body = f"  %a = pto.alloc_tile : {tile}\n  pto.tabs ins(%a : {tile}) outs(%a : {tile})\n"
    text = f"func.func @f() {{\n{body}  return\n}}\n"
    for _ in range(2):
        module = read(text)
        assert rules(module, "a5") == []
        assert "capacity-static" in rules(module, "a2a3")


def test_constants_of_operands_count() -> None:
    view, window = "!pto.tensor_view<64x64xf32>", "!pto.partition_tensor_view<32x32xf32>"

    def text(offset: int) -> str:
        return f"""func.func @f(%v: {view}) {{
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %at = arith.constant {offset} : index
  %p = pto.partition_view %v, offsets = [%at, %c0], sizes = [%c32, %c32] : {view} -> {window}
  return
}}
"""

    for offset, found in (
        (0, []),
        (32, []),
        (33, ["part-bounds"]),
        (0, []),
        (-1, ["part-bounds"]),
        (33, ["part-bounds"]),
    ):
        assert rules(read(text(offset))) == found
    module = read(text(0))
    assert rules(module) == []
    at = [op for op in module.walk() if op.name == "arith.constant"][2]
    at.properties["value"] = IntegerAttr(40, IndexType())
    assert rules(module) == ["part-bounds"]


def test_core_operations_are_checked_where_they_are() -> None:
    text = "func.func @f() -> i32 {\n  %a = arith.constant 1 : i32\n  return %a : i32\n}\n"
    module = read(text)
    assert rules(module) == []
    wrong = read(text.replace("-> i32", "-> f32"))
    assert rules(wrong) == ["return-types"]
    named(module, "arith.constant").properties["value"] = StringAttr("x")
    assert rules(module)
    named(module, "arith.constant").results[0]._type = f32
    assert rules(module)


def test_constants_share_results_because_no_check_reads_their_value() -> None:
    module = read("func.func @f() {\n  %a = arith.constant 1 : i32\n  %b = arith.constant 2 : i32\n  return\n}\n")
    first, second = (template_of(op) for op in module.walk() if op.name == "arith.constant")
    assert first is not None and second is not None and first is not second
    assert rules(module) == [] and len(first.verdicts) == 1 and second.verdicts is first.verdicts
    load_all_rules()
    assert not any("arith.constant" in CHECKS[stage] for stage in PASSES)
    two = [op for op in module.walk() if op.name == "arith.constant"]
    two[1].properties["value"] = IntegerAttr(2, 64)
    assert rules(module) == ["core-constant"]


def test_only_operands_that_may_be_integers_are_queried_for_one() -> None:
    tile = parse_type("!pto.tile_buf<vec, 16x16xf32>")
    assert list(Verdict(False, CheckTables([], [], [], False), [tile, IndexType(), tile]).may_be_integer) == [
        False,
        True,
        False,
    ]
