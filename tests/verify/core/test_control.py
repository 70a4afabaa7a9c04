"""Control flow of the core dialects: regions, yields, branches, dominance, functions, on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from groups import in_groups
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

CASES = [
    (head.strip(), body)
    for head, _, body in (
        case.partition("\n")
        for case in (Path(__file__).parent / "control.txt").read_text(encoding="utf-8").split("\n== ")[1:]
    )
]


def errors(text: str) -> list[tuple[str, str]]:
    """Rule and message of every error, each of which has a location."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("t.pto", text), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    found = [d for d in engine.diagnostics if d.severity.label == "error"]
    assert all(d.span is not None for d in found)
    return [(d.rule, d.message) for d in found]


@in_groups(("head", "body"), CASES)
def test_statements(head: str, body: str) -> None:
    arguments = "%c: i1, %i: index, %a: i32, %b: i64, %x: f32"
    text = f"func.func private @g(i32) -> i32\nfunc.func @f({arguments}) {{\n{body}\nreturn\n}}\n"
    found = errors(text)
    if head == "right":
        assert found == []
        return
    rule, _, words = head.partition(": ")
    assert [entry[0] for entry in found] == [rule], found
    assert words in found[0][1]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("func.func private @f(i32)", None),
        ("func.func nested @f(i32)", None),
        ("func.func @f(i32)", "function-form"),
        ("func.func @f() {\n}", "block-terminator"),
        ("func.func @f(%a: i32) -> i32 {\nreturn %a : i32\n}", None),
        ("func.func @f(%a: i32) -> i64 {\nreturn %a : i32\n}", "return-types"),
        ("func.func @f(%a: i32) -> i32 {\nreturn\n}", "return-types"),
        ("func.func @f(%a: i32) {\nreturn %a : i32\n}", "return-types"),
        ("func.func @f() {\nreturn\nreturn\n}", "block-terminator"),
        ("func.func private @f()\nfunc.func private @f()", "symbol-unique"),
        ("func.func private @f()\nmodule {\n^bb0:\n  func.func private @g()\n^bb1:\n  func.call @f() : () -> ()\n}",
         "region-form"),
        ('"func.func"() <{sym_name = "f", function_type = (i32) -> ()}> ({\n^bb0(%a: i64):\nreturn\n}) : () -> ()',
         "function-form"),
        ('"func.func"() <{sym_name = "f", function_type = (i32) -> ()}> ({\nreturn\n}) : () -> ()', "function-form"),
        ('"func.func"() <{sym_name = "f", function_type = 1 : i32}> ({\nreturn\n}) : () -> ()', "function-form"),
        ('"func.func"() <{function_type = () -> ()}> ({\nreturn\n}) : () -> ()', "function-form"),
        ('"func.func"() <{sym_name = "f", function_type = () -> ()}> : () -> ()', "region-form"),
        ('"func.func"() <{sym_name = "f", function_type = () -> (), arg_attrs = [{}]}> ({\nreturn\n}) : () -> ()',
         "function-form"),
        ('"func.func"() <{sym_name = "f", function_type = () -> (), res_attrs = 3 : i32}> ({\nreturn\n}) : () -> ()',
         "function-form"),
    ],
)  # fmt: skip
def test_functions(text: str, rule: str | None) -> None:
    assert [found for found, _ in errors(text)] == ([rule] if rule else [])


def test_uses_in_programs_that_were_not_read() -> None:
    """Order of definitions and uses in a module built in Python; what reading a text settles is checked there too."""
    block = Block(arg_types=[i32])
    first = AddiOp(block.args[0], block.args[0])
    second = AddiOp(first.result, first.result)
    block.add_ops([first, second, ReturnOp()])
    function = FuncOp("f", ([i32], []), Region(block))
    module = ModuleOp([function])
    assert verify_module(module, DiagnosticEngine())
    first.detach()
    block.insert_op_after(first, second)
    engine = DiagnosticEngine()
    assert not verify_module(module, engine)
    assert [d.rule for d in engine.diagnostics] == ["dominance"]


def test_dominance_is_checked_once_for_long_chains_of_blocks() -> None:
    """Time grows with the number of blocks: 3,000 blocks that each use the value of the first."""
    count = 3000
    blocks = "\n".join(f"^b{n}:\n%v{n} = arith.addi %first, %a : i32\ncf.br ^b{n + 1}" for n in range(count))
    text = f"func.func @f(%a: i32) {{\n%first = arith.addi %a, %a : i32\ncf.br ^b0\n{blocks}\n^b{count}:\nreturn\n}}\n"
    assert errors(text) == []
