"""Changes of a table are applied where they are meant, and both verdicts are compared."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from pto_dialect.verify.engine.rule import RULES, load_all_rules

T = "!pto.tile_buf<vec, 8x16xf32>"
PROGRAM = f"""// A comment that messages do not count.
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%a: {T}, %b: {T}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = pto.alloc_tile :
      {T}
    pto.tadd ins(%a, %b : {T}, {T}) outs(%d : {T})
    pto.tsetval ins(%c0, %x : index, f32) outs(%d : {T}) // pto.tadd
    return
  }}
}}
""".replace("    pto.tsetval", "    %x = arith.constant 2.0 : f32\n    pto.tsetval")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import change_rows

    return change_rows


def changed_lines(rows, operation: str, kind: str, change: str) -> list[list[str]]:
    """The lines of each changed program that are new."""
    known = set(PROGRAM.split("\n"))
    places = rows.places(PROGRAM, rows.Row(operation, kind, change))
    return [[line.strip() for line in place.text.split("\n") if line not in known] for place in places]


N = "!pto.tile_buf<vec, 8x16xf16>"


@pytest.mark.parametrize(
    ("operation", "kind", "change", "expected"),
    [
        (
            "pto.tadd",
            "T:elem",
            f"%b: {T} -> {N}",
            [[f"func.func @f(%a: {T}, %b: {N}) {{", f"pto.tadd ins(%a, %b : {T}, {N}) outs(%d : {T})"]],
        ),
        (
            "pto.tadd",
            "T:elem",
            f"%d: {T} -> {N}",
            [
                [
                    N,
                    f"pto.tadd ins(%a, %b : {T}, {T}) outs(%d : {N})",
                    f"pto.tsetval ins(%c0, %x : index, f32) outs(%d : {N}) // pto.tadd",
                ]
            ],
        ),
        ("pto.tsetval", "T:scalar-type", "%c1: index -> i32", [["%c1 = arith.constant 1 : i32"]]),
        ("arith.constant", "const", "int 1 -> -1", [["%c1 = arith.constant -1 : index"]]),
        ("pto.tadd", "rename", "pto.tadd->pto.tmul", [[f"pto.tmul ins(%a, %b : {T}, {T}) outs(%d : {T})"]]),
        ("pto.tadd", "dup-operand", "dup %b", [[f"pto.tadd ins(%a, %b, %b : {T}, {T}, {T}) outs(%d : {T})"]]),
        ("pto.tadd", "drop-operand", "drop %a", [[f"pto.tadd ins(%b : {T}) outs(%d : {T})"]]),
        ("pto.tadd", "swap", "swap %a %b", [[f"pto.tadd ins(%b, %a : {T}, {T}) outs(%d : {T})"]]),
        (
            "pto.tsetval",
            "other-operand",
            "%x -> %c1: index",
            [[f"pto.tsetval ins(%c0, %c1 : index, index) outs(%d : {T}) // pto.tadd"]],
        ),
        ("pto.tadd", "arch", "arch a5->a3", [['module attributes {pto.target_arch = "a3"} {']]),
        ("pto.tadd", "local-type", f"{T} -> {N} (here only)", 3),
    ],
)
def test_a_change_is_made_where_it_is_meant(rows, operation: str, kind: str, change: str, expected) -> None:
    found = changed_lines(rows, operation, kind, change)
    if isinstance(expected, int):
        assert len(found) == expected
    else:
        assert found == expected


def test_types_of_one_spelling_change_everywhere(rows) -> None:
    (place,) = rows.places(PROGRAM, rows.Row("pto.tadd", "W:elem", f"all {T} -> {N}"))
    assert place.text == PROGRAM.replace(T, N)


def test_attributes_are_dropped_with_what_separates_them(rows) -> None:
    for text, change in (
        ("  pto.set_quant_scalar %s {id = 0} : f32\n", "  pto.set_quant_scalar %s : f32\n"),
        ("  pto.talloc {id = 0, split = 1}\n", "  pto.talloc {split = 1}\n"),
    ):
        operation = text.split()[0]
        assert [place.text for place in rows.places(text, rows.Row(operation, "drop-attr", "drop attr id = 0"))] == [
            change
        ]


def test_clauses_are_exchanged(rows) -> None:
    text = "  pto.comm.tscatter(%s, recv(%p, %q), group(%a) : A, B, B, C)\n"
    (place,) = rows.places(text, rows.Row("pto.comm.tscatter", "reorder-clause", "reorder recv(%p, %q) group(%a)"))
    assert place.text == "  pto.comm.tscatter(%s, group(%a), recv(%p, %q) : A, B, B, C)\n"


def test_messages_count_lines_without_comments(rows) -> None:
    assert rows.told_line(PROGRAM, 4) == 3


def test_reasons_are_rules_of_the_catalogue(rows) -> None:
    load_all_rules()
    assert [rule for rule in rows.STRICTER if rule not in RULES] == []


def test_rows_are_judged(rows, tmp_path: Path) -> None:
    (tmp_path / "p.pto").write_text(PROGRAM)
    table = tmp_path / "rows.csv"
    columns = ("program", "target", "operation", "kind of change", "change", rows.MESSAGE)
    cases = [
        ("p.pto", "a5", "pto.tsetval", "other-operand", "%x -> %y", "9:3: undefined"),
        ("p.pto", "a5", "pto.tadd", "swap", "swap %a %b", ""),
        ("p.pto", "auto", "pto.tsetval", "T:scalar-type", "%x: f32 -> f16", ""),
        ("p.pto", "auto", "pto.tadd", "rename", "pto.tadd->pto.tmul", "7:5: refused there"),
    ]
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows([columns, *cases])
    found = CliRunner().invoke(rows.main, ["--rows", str(table), "--tree", str(tmp_path)])
    assert found.exit_code == 1
    assert "2 agrees, 1 on purpose, 1 differs" in found.output
    assert "5: differs: accept, there reject: p.pto (auto), pto.tadd, rename: pto.tadd->pto.tmul" in found.output
    assert rows.STRICTER["getset-val"] in found.output


def test_a_table_without_its_columns_is_refused(rows, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("program,change\n")
    found = CliRunner().invoke(rows.main, ["--rows", str(table), "--tree", str(tmp_path)])
    assert found.exit_code == 1
    assert "has no column" in found.output
