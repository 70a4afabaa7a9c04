"""Names of functions that are taken statement by statement, and pieces after edits."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol", reason="the language server needs pygls")

from lsprotocol.types import Position, Range
from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.lsp.program import names as names_module
from pto_dialect.lsp.program.document import Document
from pto_dialect.lsp.program.lookup import location_of, value_of
from pto_dialect.lsp.program.names import Names
from pto_dialect.lsp.program.parts import Part, starts_of_parts
from pto_dialect.lsp.program.tokens import tokens
from pto_dialect.syntax.read.pieces import split

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*ROOT.glob("examples/*/*.pto"), *ROOT.glob("examples/faulty/**/*.pto")])
TEXT = """\
func.func @f(%a: i32,
             %b: index) -> i32 attributes {note = "}"} {
  %c = arith.addi %a, %a : i32
  %d, %e = scf.for %i = %b to %b step %b
      iter_args(%x = %c, %y = %c) -> (i32, i32) {
    %c = arith.addi %x, %y : i32  // %d }
    scf.yield %c, %c : i32, i32
  }
  cf.br ^later(%d : i32)
^later(%p: i32):
  %q = arith.addi %p,
    %e : i32
  return %q : i32
}"""


def bound(text: str, marked: str) -> int | None:
    """The line, from 1, where the name whose place ``marked`` points at is defined."""
    found = Names(text).at(text.index(marked) + len(marked) - 1)
    assert found is not None
    return None if found.binding is None else text.count("\n", 0, found.binding) + 1


def test_each_name_is_the_one_of_its_region() -> None:
    assert [bound(TEXT, place) for place in ("addi %x", "%x, %y", "yield %c")] == [5, 5, 6]
    assert [bound(TEXT, place) for place in ("= %c", "br ^l", "later(%d", "%p,", "    %e", "return %q", "= %b")] == [
        *(3, 10, 4, 10, 4, 11, 2),
    ]
    assert bound(TEXT.replace("%e : i32", "%z : i32"), "    %z") is None


def test_values_in_scope_come_from_near_to_far() -> None:
    def seen(place: str) -> list[str]:
        return [name.text for name in Names(TEXT).visible(TEXT.index(place))]

    assert seen("scf.yield") == ["%c", "%y", "%x", "%i", "%e", "%d", "%b", "%a"]
    assert seen("cf.br") == ["%e", "%d", "%c", "%b", "%a"]
    assert seen("%b: index") == []


@pytest.mark.parametrize("path", PROGRAMS[::5], ids=lambda path: path.name)
def test_the_tokens_of_statements_are_those_of_the_function(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pieces = split(text)
    for start, end in pieces.functions if pieces is not None else ():
        whole = [(token.type, token.text, token.start) for token in tokens(text[start:end], False)]
        assert [(token.type, token.text, token.start) for token in Names(text[start:end]).tokens] == whole


@pytest.mark.parametrize("open_one", ["pto.tadd ins(%a", "pto.tadd ins(%a, %a : !pto.tile_buf<vec", '%s = "', "(((("])
def test_what_is_open_in_a_statement_concerns_only_that(open_one: str) -> None:
    text = TEXT.replace("  cf.br", f"  {open_one}\n  cf.br")
    for place in ("later(%d", "return %q", "%p,"):
        assert bound(text, place) == (bound(TEXT, place) or 0) + (place != "later(%d")


def test_an_edit_looks_at_its_own_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"  %x{number} = arith.addi %n, %n : index\n" for number in range(400))
    document = Document("file:///t/p.pto", f"func.func @f(%n: index) {{\n{body}  return\n}}\n")
    assert document.names_at(40)[1].names
    made: list[str] = []

    class Counted(Part):
        def __init__(self, text: str, assembly: bool) -> None:
            made.append(text)
            super().__init__(text, assembly)

    monkeypatch.setattr(names_module, "Part", Counted)
    document.change(Range(Position(200, 7), Position(200, 7)), "9")
    start = document.offset(Position(200, 3))
    name = document.names_at(start)[1].at(start)
    assert name is not None and name.text == "%x1999"
    assert len(document.names_at(start)[1].names) == 2 + 400 * 3
    assert len(made) <= 2


@pytest.mark.parametrize("seed", range(6))
def test_pieces_after_edits_are_those_of_the_text(seed: int) -> None:
    chosen = random.Random(seed)
    parts = (
        "",
        "",
        "x",
        "%a, ",
        "{",
        "}",
        "\n",
        '"',
        "//",
        "/",
        "tadd %a",
        "\n  tadd %a",
        "func.func @g() {\n}\n",
        "\r",
    )
    for path in PROGRAMS[seed::12]:
        document = Document("file:///t/p.pto", path.read_text(encoding="utf-8"))
        for _ in range(25):
            _ = document.pieces
            start = chosen.randrange(len(document.text) + 1)
            end = min(len(document.text), start + chosen.choice((0, 0, 1, 4, 60)))
            document.change(document.range(start, end), chosen.choice(parts))
            assert document.pieces == split(document.text)


@pytest.mark.parametrize("seed", range(6))
def test_names_after_edits_are_those_of_the_text(seed: int) -> None:
    chosen = random.Random(seed)
    parts = ("", "", "x", "%a, ", "{", "}", "\n", ",", "=", "/", "pto.tadd ins(%a", "\n  pto.tadd %a", "%q = ", "func.")
    for path in PROGRAMS[seed::12]:
        text = path.read_text(encoding="utf-8")
        names = Names(text)
        for _ in range(25):
            start = chosen.randrange(len(text) + 1)
            end = min(len(text), start + chosen.choice((0, 0, 1, 4, 60)))
            text = text[:start] + chosen.choice(parts) + text[end:]
            names = Names(text, before=names)
            assert names._starts == starts_of_parts(text)
        assert names.names == Names(text).names


def test_questions_are_answered_from_what_was_seen_before() -> None:
    body = "".join(f"  %x{number} = arith.constant {number} : index\n" for number in range(40))
    document = Document("file:///t/p.pto", f"func.func @f() {{\n{body}  return\n}}\n")
    before = document.checked
    document._took = 1.0
    document.change(Range(Position(20, 0), Position(20, 0)), "  %new = arith.constant 7 : index\n")
    assert document.seen.checked is before
    for line, number in ((5, "4"), (20, None), (30, "28")):
        base, names = document.names_at(document.offset(Position(line, 3)))
        name = names.at(document.offset(Position(line, 3)) - base)
        assert name is not None
        value = value_of(document, base, name)
        assert (None if value is None else str(constant_of(value))) == number
        if value is not None and isinstance(value.owner, Operation):
            place = location_of(document, value.owner)
            assert place is not None and document.text[place.start :].startswith(f"%x{number} =")
    assert document.checked is not before
    assert document.seen.checked is document.checked


def test_findings_of_a_worker_about_an_earlier_text_are_used() -> None:
    document = Document("file:///t/p.pto", "func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n")
    with ThreadPoolExecutor(1) as worker:
        running = document.check(worker)
        assert running is not None and document.check(worker) is None
        document.change(Range(Position(4, 2), Position(4, 8)), "rturn")
        document.finish(running)
        assert not document.is_checked
        assert any("rturn" in found.message for found in document.checked.diagnostics())
        assert document.checked.functions[0] is running.result().functions[0]
