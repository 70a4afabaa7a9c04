"""Statements read from plans are what the grammar makes of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.accel.parsing import templates as plans
from pto_dialect.accel.parsing.statements import StatementReader
from pto_dialect.accel.parsing.templates import TEMPLATES
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.read.parser import parse_program

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_plans() -> None:
    """Each test begins without plans."""
    TEMPLATES.forget()


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The benchmarks, which are no package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the statements that are built from plans."""
    texts: list[str] = []
    build = StatementReader._build

    def watched(self: StatementReader, plan: Any, parts: list[str], start: int, end: int) -> bool:
        done = build(self, plan, parts, start, end)
        if done:
            texts.append("".join(parts))
        return done

    monkeypatch.setattr(StatementReader, "_build", watched)
    return texts


def read(text: str, *, plans: bool = True, schematic: bool = False) -> list[str]:
    """The diagnostics of a program."""
    engine = DiagnosticEngine()
    parse_program(SourceFile("test.pto", text), engine, plans=plans, schematic=schematic)
    return [found.message for found in engine.diagnostics]


def body(*statements: str) -> str:
    return "func.func @f(%p: i32, %q: i32, %x: f32) {\n" + "".join(f"  {s}\n" for s in statements) + "  return\n}\n"


def test_statements_like_earlier_ones_are_built_from_plans(built: list[str]) -> None:
    later = ("%b = arith.addi %q, %a : i32", "%c = arith.addi %p, %p : i32")
    assert read(body("%a = arith.addi %p, %q : i32", *later)) == []
    assert built == list(later)


def test_without_plans_every_statement_is_read_by_the_grammar(built: list[str]) -> None:
    assert read(body("%a = arith.addi %p, %q : i32", "%b = arith.addi %q, %a : i32"), plans=False) == []
    assert built == [] and not TEMPLATES.known


@pytest.mark.parametrize(("head", "schematic"), [("", True), (".arg %z : i32\n", False), (".arg %z : i32\n", True)])
def test_other_forms_of_text_are_read_by_the_grammar(built: list[str], head: str, schematic: bool) -> None:
    """Whatever was learnt from programs before."""
    lines = ("%a = arith.addi %p, %q : i32", "%b = arith.addi %q, %a : i32")
    read(body(*lines))
    known = dict(TEMPLATES.known)
    built.clear()
    read(head + body(*lines), schematic=schematic)
    assert built == [] and known.keys() == TEMPLATES.known.keys()


def test_one_name_twice_says_nothing_about_two_names(built: list[str]) -> None:
    text = body("%a = arith.subi %p, %p : i32", "%b = arith.subi %q, %q : i32", "%c = arith.subi %p, %q : i32")
    assert read(text) == []
    assert built == ["%b = arith.subi %q, %q : i32"]
    # The last statement determined which operand is which.
    assert read(body("%a = arith.subi %q, %p : i32")) == []
    assert built[1:] == ["%a = arith.subi %q, %p : i32", "return"]


@pytest.mark.parametrize(
    "statement",
    [
        "%b = arith.addi %p, %x : i32",
        "%b = arith.addi %p, %missing : i32",
        "%a = arith.addi %p, %q : i32",
        "%b, %c = arith.addi %p, %q : i32",
        "%b:2 = arith.addi %p, %q : i32",
        "%b#0 = arith.addi %p, %q : i32",
        "arith.addi %p, %q : i32",
        "%b = arith.addi %p %q : i32",
        "%b = arith.addi %p, %q : i32 {a = 1}",
        "%b = arith.addi %p, %q : i32 // note",
        "%b = arith.addi %p, %q : i32 loc(unknown)",
        "%b = arith.addi %p, %q : i32 ;",
        "%b = arith.addi %p, %q : i32, i32",
        "%b = arith.addi %p, %q : i32\n  , i32",
        "%b = arith.addi %p, %q : i32\n  x",
        "%b = arith.addi %p, %q : i32 %c = arith.addi %p, %q : i32",
        "%b = arith.addi %p, %q // note\n : i32",
    ],
)
def test_what_is_no_repetition_is_left_to_the_grammar(
    statement: str, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    assert read(body("%a = arith.addi %p, %q : i32")) == []
    text = body("%a = arith.addi %p, %q : i32", statement)
    describe = benchmarks("program_results").describe_program
    assert describe(text, [None], plans=True, printed=False) == describe(text, [None], plans=False, printed=False)
    assert not any("%b" in done and "%c" not in done for done in built)


_CALLED = 'callsite("k.cpp":14:5 at "k.cpp":30:9)'


@pytest.mark.parametrize(
    ("location", "is_built"),
    [
        *(('"k.cpp":14:5', True), (_CALLED, True), (f'"c"({_CALLED})', True), ('"a \\"b\\" loc(.cpp":1:2', False)),
        (f'callsite("k.cpp":1:2 at {_CALLED})', True),
        *((f"{_CALLED})", False), (f"callsite({_CALLED[9:-1]}", False), ('callsite("k.cpp":1:2)', False)),
        *(('"k.cpp":14', False), ('"k.cpp":14:5 x', False), ('"k.cpp:14:5', False), ("", False), ("#l", False)),
        *(('fused["a":1:2, "b":3:4]', False), ('callsite("callsite(":1:2 at "k":3:4))', False)),
    ],
)
def test_statements_with_locations_are_read_as_by_the_grammar(
    location: str, is_built: bool, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    """Their locations are read from the text, so that each has its own."""
    described = benchmarks("program_results").describe_program
    lines = [f"%a = arith.addi %p, %q : i32 loc({location})", f'cf.assert %c, "m" loc({location})']
    read(body('%z = arith.addi %p, %q : i32 loc("other.cpp":1:1)', 'cf.assert %c, "m" loc("other.cpp":2:1)'))
    built.clear()
    text = body("%c = arith.constant true", *lines)
    assert described(text, [None], plans=True, printed=True) == described(text, [None], plans=False, printed=True)
    assert ("%a = arith.addi %p, %q : i32" in built) == is_built


@pytest.mark.parametrize("name", ["%0", "%٣", "%a名", "%a-", "%a.b", "%x_1", "%a$", "%" + "n" * 300])
def test_names_are_kept_as_the_grammar_keeps_them(
    name: str, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    assert read(body("%a = arith.addi %p, %q : i32")) == []
    text = body(f"{name} = arith.addi %p, %q : i32", f"%z = arith.addi {name}, %q : i32")
    describe = benchmarks("program_results").describe_program
    assert describe(text, [None], plans=True, printed=True) == describe(text, [None], plans=False, printed=True)
    assert len(built) == 3


def test_names_in_strings_and_comments_are_no_operands(built: list[str]) -> None:
    text = 'cf.assert %c, "%c"'
    assert read("func.func @f(%c: i1) {\n  " + text + "\n  " + text + "\n  return\n}\n") == []
    assert built == []


def test_statements_that_depend_on_constants_have_no_plan(built: list[str]) -> None:
    view = "!pto.tensor_view<?x?xf32>"
    statement = f"pto.partition_view %v, offsets = [%0, %0], sizes = [%n, %n] : {view}"
    lines = f"  %1 = {statement}\n  %2 = {statement}\n"
    constants = "  %0 = arith.constant 0 : index\n  %n = arith.constant 8 : index\n"
    assert read(f"func.func @f(%v: {view}) {{\n{constants}{lines}  return\n}}\n") == []
    assert not any("partition_view" in text for text in built)


@pytest.mark.parametrize(
    ("number", "type_"),
    [
        *(("0", "i8"), ("-1", "i8"), ("255", "i8"), ("256", "i8"), ("-128", "i8"), ("-129", "i8"), ("007", "i8")),
        *(("0x1F", "i8"), ("1.0", "i8"), ("true", "i8"), ("-0", "i8"), ("99999999999999999", "i8"), ("1 ", "i8")),
        *(("9223372036854775807", "i64"), ("9223372036854775808", "i64"), ("18446744073709551616", "i64")),
        *(("9999999999999999", "index"), ("-9999999999999999", "index"), ("99999999999999999999", "index")),
        *(("0.0", "f16"), ("-0.0", "f16"), ("65504.0", "f16"), ("65520.0", "f16"), ("1.0e-9", "f16"), ("1", "f16")),
        *(("1e3", "f16"), ("0x3C00", "f16"), ("1.5e400", "f16"), ("1.", "f32"), ("0.1", "f32"), ("3.5e38", "f32")),
        *(("1", "i1"), ("0", "i1"), ("2", "i1"), ("-1", "i1"), ("1", "si8"), ("-1", "ui8"), ("1", "vector<4xi8>")),
    ],
)
def test_constants_are_distinguished_by_their_number(
    number: str, type_: str, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    usual = "1.5" if type_ in ("f16", "f32") else "1"
    read(body(f"%a = arith.constant {usual} : {type_}"))
    text = body(f"%b = arith.constant {number} : {type_}", f"%c = arith.constant {number} : {type_}")
    describe = benchmarks("program_results").describe_program
    assert describe(text, [None], plans=True, printed=True) == describe(text, [None], plans=False, printed=True)


def test_constants_of_any_number_are_built_from_plans(built: list[str]) -> None:
    constants = [f"%c{number} = arith.constant {number} : index" for number in range(50)]
    assert read(body(*constants)) == []
    assert built == constants[1:]


def test_what_a_wrong_program_leaves_open_teaches_nothing(benchmarks: Callable[[str], Any]) -> None:
    # Which of two optional operands a value is depends on its type, which a name without definition has not.
    acc, view = "!pto.tile_buf<acc, 16x16xf32>", "!pto.partition_tensor_view<16x16xi8>"
    statement = f"  pto.tstore ins(%s : {acc}, %q : i64) outs(%d : {view})\n  return\n}}\n"
    right = f"func.func @f(%s: {acc}, %d: {view}, %q: i64) {{\n{statement}"
    describe = benchmarks("program_results").describe_program
    expected = describe(right, ["a5"], plans=False, printed=True)
    TEMPLATES.forget()
    assert any("not defined" in found for found in read(right.replace(", %q: i64", "")))
    for plans_used in (False, True, True):
        assert describe(right, ["a5"], plans=plans_used, printed=True) == expected


def test_plans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "_MOST", 10)
    types = [f"vector<{size}xi32>" for size in range(1, 60)]
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    lines = "".join(f"  %{n} = arith.addi %a{n}, %a{n} : {type_}\n" for n, type_ in enumerate(types))
    assert read(f"func.func @f({arguments}) {{\n{lines}  return\n}}\n") == []
    assert 0 < len(TEMPLATES.known) <= 10
    monkeypatch.setattr(plans, "_MOST_CHARACTERS", 50)
    assert read(f"func.func @f({arguments}) {{\n{lines}  return\n}}\n") == []
    assert TEMPLATES.characters <= 50


def test_many_statements_in_one_line_cost_what_they_cost_in_lines() -> None:
    # Far beyond what a search through the rest of the line at each statement would allow.
    read(body("  ".join(f"%a{number} = arith.addi %p, %q : i32" for number in range(8_000))))


def test_programs_are_read_as_by_the_grammar(benchmarks: Callable[[str], Any]) -> None:
    compared = benchmarks("plans")
    texts = compared.programs([ROOT / "examples", ROOT / "tests" / "helpers"])
    assert len(texts) > 20
    for text in texts:
        assert list(compared.differences(text, printed=True, targets=[None])) == []


@pytest.mark.parametrize("part", range(4))
def test_edited_programs_are_read_as_by_the_grammar(part: int, benchmarks: Callable[[str], Any]) -> None:
    compared, edited = benchmarks("plans"), benchmarks("plan_edits").edited
    texts = [text for text in compared.programs([ROOT / "examples", ROOT / "tests"]) if len(text) < 2_500]
    for number in range(60):
        rng = random.Random(f"{part}/{number}")
        text = edited(rng, rng.choice(texts))
        assert list(compared.differences(text, printed=False, targets=[rng.choice([None, "a2a3", "a5"])])) == [], text


def test_a_table_that_is_full_starts_over(monkeypatch: pytest.MonkeyPatch) -> None:
    read(body("%a = arith.addi %p, %q : i32"))
    one, first = TEMPLATES.characters, len(TEMPLATES.known)
    assert one == sum(len(part) for skeleton in TEMPLATES.known for part in skeleton) > 0
    monkeypatch.setattr(plans, "_MOST_CHARACTERS", 2 * one)
    read(body("%a = arith.addi %p, %q : i32", "%b = arith.subi %p, %q : i32"))
    assert (len(TEMPLATES.known), TEMPLATES.characters > one) == (first + 1, True)
    for operation in ("muli", "andi", "ori", "xori", "maxsi", "minsi", "shli"):
        read(body(f"%a = arith.{operation} %p, %q : i32"))
        assert TEMPLATES.characters == sum(len(part) for skeleton in TEMPLATES.known for part in skeleton) <= 2 * one


def tiles(*statements: str) -> str:
    f32, f16 = "!pto.tile_buf<vec, 16x64xf32>", "!pto.tile_buf<vec, 32x32xf16>"
    arguments = f"%a: {f32}, %b: {f32}, %c: {f16}, %d: {f16}, %p: !pto.ptr<f32>, %q: !pto.ptr<f16>, %n: index"
    return f"func.func @f({arguments}) {{\n" + "".join(f"  {s}\n" for s in statements) + "  return\n}\n"


F32, F16 = "!pto.tile_buf<vec, 16x64xf32>", "!pto.tile_buf<vec, 32x32xf16>"
VIEW = "pto.make_tensor_view {},\n    shape = [%n, %n],\n    strides = [%n, %n]\n    : !pto.tensor_view<{}>"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            f"pto.tadd ins(%a, %b : {F32}, {F32}) outs(%a : {F32})",
            f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F16})",
        ),
        (f"%x = pto.alloc_tile : {F32}", f"%y = pto.alloc_tile : {F16}"),
        ("%x = " + VIEW.format("%p", "?x?xf32"), "%y = " + VIEW.format("%q", "64x?xf16")),
        (
            "%x = pto.addptr %p, %n : !pto.ptr<f32> -> !pto.ptr<f32>",
            "%y = pto.addptr %q, %n : !pto.ptr<f16> -> !pto.ptr<f16>",
        ),
    ],
)
def test_statements_with_other_types_are_built_from_plans(
    first: str, second: str, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    assert read(tiles(first)) == []
    describe = benchmarks("program_results").describe_program
    assert describe(tiles(second), ["a5"], plans=True, printed=True) == describe(
        tiles(second), ["a5"], plans=False, printed=True
    )
    assert built[0] == second


@pytest.mark.parametrize(
    "statement",
    [
        f"pto.tadd ins(%a, %c : {F32}, {F32}) outs(%a : {F32})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F32})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%x : {F16})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%p : !pto.ptr<f32>)",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F16.replace('32x32', '32x-1')})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F16.replace('vec', 'vec, // tile')})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F16.replace('f16', '!element')})",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c : {F16} x)",
        f"pto.tadd ins(%c, %d : {F16}, {F16}) outs(%c)",
    ],
)
def test_wrong_types_are_left_to_the_grammar(
    statement: str, built: list[str], benchmarks: Callable[[str], Any]
) -> None:
    assert read(tiles(f"pto.tadd ins(%a, %b : {F32}, {F32}) outs(%a : {F32})")) == []
    describe = benchmarks("program_results").describe_program
    expected = describe(tiles(statement), ["a5"], plans=False, printed=False)
    assert describe(tiles(statement), ["a5"], plans=True, printed=False) == expected
    assert not any("tadd" in text for text in built)


def test_types_with_aliases_are_left_to_the_grammar(built: list[str]) -> None:
    assert read(tiles(f"pto.tadd ins(%a, %b : {F32}, {F32}) outs(%a : {F32})")) == []
    statement = "pto.tadd ins(%c, %d : !t, !t) outs(%c : !t)"
    assert read(f"!t = {F16}\n" + tiles(statement, f"%x = pto.alloc_tile : {F16}")) == []
    assert built == ["return"]
