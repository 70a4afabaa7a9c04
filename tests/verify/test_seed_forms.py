"""Every constraint on the operands of matrix products holds in every form a program can have: assembly, Level 1,
Level 2, and with sizes that only a run knows. Each row has a wrong program and its nearest right one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from groups import in_groups

from pto_dialect import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module
from tests.helpers.tile_programs import tile

ROOT = Path(__file__).parents[2]
LOCS = {"lhs": "left", "rhs": "right", "c_in": "acc", "bias": "bias", "dst": "acc"}
Shape = tuple[str, int, int]


class Row(NamedTuple):
    """One constraint: the operation, its inputs by role and its destination; what is changed breaks ``rule``.

    ``wrong`` maps a role to another type, or to ``@OP`` for a tile that operation ``OP`` made.
    """

    text: str
    rule: str
    op: str
    roles: tuple[str, ...]
    wrong: dict[str, Shape | str]
    target: str = "a5"


GOOD: dict[str, Shape] = {
    "lhs": ("f16", 16, 64),
    "rhs": ("f16", 64, 32),
    "c_in": ("f32", 16, 32),
    "bias": ("f32", 1, 32),
    "dst": ("f32", 16, 32),
}
VECTOR = GOOD | {"lhs": ("f16", 1, 64), "c_in": ("f32", 1, 32), "dst": ("f32", 1, 32)}
PLAIN, ACC, BIAS = ("lhs", "rhs"), ("c_in", "lhs", "rhs"), ("lhs", "rhs", "bias")
ROWS = (
    Row("element types of tmatmul", "matmul-types", "tmatmul", PLAIN, {"rhs": ("bf16", 64, 32)}),
    Row("element types of tmatmul on a2a3", "matmul-types", "tmatmul", PLAIN, {"dst": ("i32", 16, 32)}, "a2a3"),
    Row("rows of lhs and dst", "matmul-shape", "tmatmul", PLAIN, {"dst": ("f32", 32, 32)}),
    Row("columns of lhs and rows of rhs", "matmul-shape", "tmatmul", PLAIN, {"rhs": ("f16", 32, 32)}),
    Row("columns of rhs and dst", "matmul-shape", "tmatmul", PLAIN, {"dst": ("f32", 16, 64)}),
    Row("lhs of tmatmul lies in left", "matmul-loc", "tmatmul", PLAIN, {"lhs": "@tmatmul"}),
    Row("rhs of tmatmul lies in right", "matmul-loc", "tmatmul", PLAIN, {"rhs": "@tmatmul"}),
    Row("lhs of tmatmul is no vector tile", "matmul-loc", "tmatmul", PLAIN, {"lhs": "@tadd"}),
    Row("k of tmatmul", "matmul-range", "tmatmul", PLAIN, {"lhs": ("f16", 16, 4096), "rhs": ("f16", 4096, 32)}),
    Row("accumulator of tmatmul.acc lies in acc", "matmul-acc-in-loc", "tmatmul.acc", ACC, {"c_in": "@tadd"}),
    Row("accumulator of tmatmul.acc", "matmul-acc-types", "tmatmul.acc", ACC, {"c_in": ("i32", 16, 32)}),
    Row("lhs of tmatmul.acc lies in left", "matmul-loc", "tmatmul.acc", ACC, {"lhs": "@tmatmul"}),
    Row("rhs of tmatmul.acc lies in right", "matmul-loc", "tmatmul.acc", ACC, {"rhs": "@tmatmul"}),
    Row("shapes of tmatmul.acc", "matmul-shape", "tmatmul.acc", ACC, {"rhs": ("f16", 32, 32)}),
    Row("bias of tmatmul.bias lies in bias", "matmul-bias-loc", "tmatmul.bias", BIAS, {"bias": "@tgemv"}),
    Row("bias of tmatmul.bias has one row", "matmul-bias-row", "tmatmul.bias", BIAS, {"bias": ("f32", 2, 32)}),
    Row("bias of tmatmul.bias has the type of dst", "matmul-bias-elem", "tmatmul.bias", BIAS, {"bias": ("f16", 1, 32)}),
    Row("m of tgemv", "gemv-m1", "tgemv", PLAIN, {"lhs": ("f16", 2, 64), "dst": ("f32", 2, 32)}),
    Row("k of tgemv", "gemv-k", "tgemv", PLAIN, {"rhs": ("f16", 32, 32)}),
    Row("n of tgemv", "gemv-n", "tgemv", PLAIN, {"dst": ("f32", 1, 16)}),
    Row("range of tgemv", "gemv-range", "tgemv", PLAIN, {"lhs": ("f16", 1, 4096), "rhs": ("f16", 4096, 32)}),
    Row("element types of tgemv", "matmul-types", "tgemv", PLAIN, {"rhs": ("bf16", 64, 32)}),
    Row("lhs of tgemv lies in left", "matmul-loc", "tgemv", PLAIN, {"lhs": "@tgemv"}),
    Row("rhs of tgemv lies in right", "matmul-loc", "tgemv", PLAIN, {"rhs": "@tmatmul"}),
    Row("accumulator of tgemv.acc lies in acc", "matmul-acc-in-loc", "tgemv.acc", ACC, {"c_in": "@tadd"}),
    Row("accumulator of tgemv.acc", "matmul-acc-types", "tgemv.acc", ACC, {"c_in": ("i32", 1, 32)}),
    Row("bias of tgemv.bias lies in bias", "matmul-bias-loc", "tgemv.bias", BIAS, {"bias": "@tgemv"}),
    Row("bias of tgemv.bias has the type of dst", "gemv-bias-elem", "tgemv.bias", BIAS, {"bias": ("f16", 1, 32)}),
    Row("bias of tgemv.bias has one row", "matmul-bias-row", "tgemv.bias", BIAS, {"bias": ("f32", 2, 32)}),
)
FORMS = ("assembly", "Level 1", "Level 2")
MADE_IN = {"tmatmul": "acc", "tgemv": "acc", "tadd": "vec"}


def types_of(row: Row, wrong: bool) -> dict[str, Shape]:
    """Type of each role of the right or the wrong program."""
    types = dict(VECTOR if "gemv" in row.op else GOOD)
    if row.target == "a2a3" and row.wrong.get("dst", ("", 0, 0))[0] == "i32":
        types |= {"lhs": ("f16", 16, 64)}
    for role, other in row.wrong.items() if wrong else ():
        if not isinstance(other, str):
            types[role] = other
    for role, other in row.wrong.items():
        if isinstance(other, str) and role in ("lhs", "rhs"):
            # What a product yields is f32, so that such an operand has the type that the rule does not look at.
            types |= {name: ("f32", *types[name][1:]) for name in ("lhs", "rhs")}
    return {role: types[role] for role in (*row.roles, "dst")}


def bare(shape: Shape) -> str:
    """A tile without an address."""
    return f"!pto.tile<{shape[1]}x{shape[2]}x{shape[0]}>"


def value_program(row: Row, wrong: bool, assembly: bool) -> str:
    """The program in assembly or at Level 1; a tile made by another operation is that operation's result."""
    types = types_of(row, wrong)
    inputs: list[str] = []
    body: list[str] = []
    dot = "" if assembly else "pto."
    for role in row.roles:
        made = row.wrong.get(role)
        if wrong and isinstance(made, str):
            element, rows, cols = types[role]
            maker = made[1:]
            if maker == "tadd":
                sources = [("x", types[role]), ("y", types[role])]
            else:
                sources = [("x", (element, rows, 16)), ("y", (element, 16, cols))]
            inputs += [f"%{name} : {bare(kind)}" for name, kind in sources]
            kinds = ", ".join(bare(kind) for _, kind in sources)
            body.append(f"%{role} = {dot}{maker} %x, %y : ({kinds}) -> {bare(types[role])}")
        else:
            inputs.append(f"%{role} : {bare(types[role])}")
    kinds = ", ".join(bare(types[role]) for role in row.roles)
    values = ", ".join(f"%{role}" for role in row.roles)
    body.append(f"%dst = {dot}{row.op} {values} : ({kinds}) -> {bare(types['dst'])}")
    if assembly:
        return "\n".join([*(f".arg {text}" for text in inputs), *body]) + "\n"
    arguments = ", ".join(text.replace(" : ", ": ") for text in inputs)
    lines = "".join(f"  {text}\n" for text in body)
    return f"func.func @f({arguments}) {{\n{lines}  return\n}}\n"


def place_program(row: Row, wrong: bool) -> str:
    """The program at Level 2: places are stated in the types."""
    types = types_of(row, wrong)
    kinds: dict[str, str] = {}
    for role, (element, rows, cols) in types.items():
        made = row.wrong.get(role)
        loc = MADE_IN[made[1:]] if wrong and isinstance(made, str) else LOCS[role]
        rows_of_block = 16 if loc in ("left", "acc") and rows < 16 else rows
        kinds[role] = tile(loc, element, (rows_of_block, cols), (rows, cols))
    arguments = ", ".join(f"%{role}: {kind}" for role, kind in kinds.items())
    values, listed = (", ".join(text) for text in ((f"%{r}" for r in row.roles), (kinds[r] for r in row.roles)))
    statement = f"pto.{row.op} ins({values} : {listed}) outs(%dst : {kinds['dst']})"
    return f"func.func @f({arguments}) {{\n  {statement}\n  return\n}}\n"


def broken(text: str, target: str) -> set[str]:
    """Rules that the program breaks with an error."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("case.pto", text), engine)
    assert module is not None and not engine.has_errors, [d.message for d in engine.diagnostics]
    verify_module(module, engine, target=target)
    return {d.rule for d in engine.diagnostics if d.severity is Severity.ERROR}


def program(row: Row, form: str, wrong: bool) -> str:
    """The program of a row in one form."""
    return place_program(row, wrong) if form == "Level 2" else value_program(row, wrong, form == "assembly")


@pytest.mark.parametrize("form", FORMS)
@in_groups("row", ROWS)
def test_constraint_holds(row: Row, form: str):
    assert row.rule in broken(program(row, form, True), row.target)


@pytest.mark.parametrize("form", FORMS)
@in_groups("row", ROWS)
def test_nearest_right_program(row: Row, form: str):
    assert broken(program(row, form, False), row.target) == set()


# ------------------------------------------------------------ sizes that a run knows


class OpenRow(NamedTuple):
    """A statement whose sizes are arguments: those that break ``rule``, and the nearest that do not."""

    text: str
    rule: str
    statement: str
    wrong: tuple[int, int, int]
    right: tuple[int, int, int]


def _open(op: str, m: int, k: int, n: int) -> str:
    left, right = tile("left", "f16", (m, k), ("?", "?")), tile("right", "f16", (k, n), ("?", "?"))
    acc = tile("acc", "f32", (m, n), ("?", "?"))
    return (
        f"    %a = pto.alloc_tile valid_row = %x valid_col = %y : {left}\n"
        f"    %b = pto.alloc_tile valid_row = %y valid_col = %z : {right}\n"
        f"    %c = pto.alloc_tile valid_row = %x valid_col = %z : {acc}\n"
        f"    pto.{op} ins(%a, %b : {left}, {right}) outs(%c : {acc})\n"
    )


def _raw(statement: str, pointers: str) -> str:
    casts = "".join(f"    %{v} = arith.index_cast %{v}i : index to i64\n" for v in "mkn")
    return f"    %at = arith.constant 0 : i64\n{pointers}{casts}    {statement}\n"


def _pointer(name: str, kind: str) -> str:
    return f"    %{name} = pto.castptr %at : i64 -> {kind}\n"


MAD = _raw(
    "pto.mad %a, %b, %c, %m, %n, %k : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64",
    _pointer("a", "!pto.ptr<f16, l0a>") + _pointer("b", "!pto.ptr<f16, l0b>") + _pointer("c", "!pto.ptr<f32, l0c>"),
)
MAD4 = _raw(
    "pto.mad %a, %b, %c, %m, %n, %k : !pto.ptr<i4, l0a>, !pto.ptr<i4, l0b>, !pto.ptr<i32, l0c>, i64, i64, i64",
    _pointer("a", "!pto.ptr<i4, l0a>") + _pointer("b", "!pto.ptr<i4, l0b>") + _pointer("c", "!pto.ptr<i32, l0c>"),
)
STORE = _raw(
    "pto.mte_l0c_l1 %c, %d, %m, %n, %k, %k, nz2nd : !pto.ptr<f32, l0c>, !pto.ptr<f32, l1>, i64, i64, i64, i64",
    _pointer("c", "!pto.ptr<f32, l0c>") + _pointer("d", "!pto.ptr<f32, l1>"),
)
OPEN_ROWS = (
    OpenRow("m of tgemv", "gemv-m1", _open("tgemv", 16, 64, 16), (2, 64, 16), (1, 64, 16)),
    OpenRow("m of mad is positive", "mad-mnk-positive", MAD, (0, 16, 16), (1, 16, 16)),
    OpenRow("k of mad is positive", "mad-mnk-positive", MAD, (16, -1, 16), (16, 1, 16)),
    OpenRow("n of mad is in range", "mad-mnk-range", MAD, (1, 1, 4096), (1, 1, 16)),
    OpenRow("k of packed integers is even", "mad-4bit-even-k", MAD4, (16, 17, 16), (16, 64, 16)),
    OpenRow("m of a write-back is positive", "fixp-extent", STORE, (0, 16, 16), (1, 16, 16)),
)


def run(row: OpenRow, sizes: tuple[int, int, int]) -> None:
    """Runs the statement with these m, k and n."""
    names = ("x", "y", "z") if "alloc_tile" in row.statement else ("mi", "ki", "ni")
    arguments = ", ".join(f"%{name}: index" for name in names)
    body = f"  func.func @f({arguments}) {{\n{row.statement}    return\n  }}\n"
    source = f'module attributes {{pto.target_arch = "a5"}} {{\n{body}}}\n'
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("case.pto", source), engine)
    assert module is not None and verify_module(module, engine), [d.message for d in engine.diagnostics]
    compile_kernel(module)(*sizes)


@pytest.mark.parametrize("row", OPEN_ROWS, ids=[row.text for row in OPEN_ROWS])
def test_constraint_holds_in_a_run(row: OpenRow):
    with pytest.raises(ProgramError) as caught:
        run(row, row.wrong)
    assert caught.value.rule == row.rule and caught.value.span is not None
    run(row, row.right)


# ------------------------------------------------------------ the table


def test_table_of_the_documentation():
    """The table in docs/seed-coverage.md is the one above."""
    text = (ROOT / "docs" / "seed-coverage.md").read_text(encoding="utf-8")
    section = text.partition("## The same rules in every form\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| `(.+?)` \| (.+?) \|$", section, re.MULTILINE)
    every, runs = ", ".join(FORMS), "run time"
    assert found == [(r.text, r.rule, every) for r in ROWS] + [(r.text, r.rule, runs) for r in OPEN_ROWS]


@pytest.mark.parametrize("wrong", ["i8", "index", "!pto.ptr<f32>"])
@pytest.mark.parametrize(
    ("op", "operands", "types", "result"),
    [
        ("tadd", "%a, %b", "!T, !T", "!T"),
        ("tmatmul", "%a, %b", "!T, !T", "!S"),
        ("tmatmul.acc", "%c, %a, %b", "!S, !T, !T", "!S"),
        ("tabs", "%a", "!T", "!T"),
        ("tload", "%v", "!pto.partition_tensor_view<16x16xf16>", "!T"),
    ],
)
def test_a_result_that_stands_for_a_destination_is_a_tile(
    op: str, operands: str, types: str, result: str, wrong: str
) -> None:
    def said(kind: str) -> list[str]:
        text = f"""!T = !pto.tile<16x16xf16>
        !S = !pto.tile<16x16xf32>
        func.func @f(%a: !T, %b: !T, %c: !S, %v: !pto.partition_tensor_view<16x16xf16>) -> {kind} {{
          %r = pto.{op} {operands} : ({types}) -> {kind}
          return %r : {kind}
        }}"""
        return [found.rule for found in check(text).diagnostics if found.severity is Severity.ERROR]

    assert said(result) == []
    assert said(wrong) == ["result-kind"]
