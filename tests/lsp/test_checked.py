"""Functions that are looked at one by one: the same findings as for the whole text, and after edits as at first."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol", reason="the language server needs pygls")

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.lsp.program.checked import Checked
from pto_dialect.syntax.read.pieces import split

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*ROOT.glob("examples/*/*.pto"), *ROOT.glob("examples/faulty/**/*.pto")])
CALLS = """\
#unused = 1 : i32
module attributes {pto.target_arch = "a5"} {
  func.func private @outside(i32)
  func.func @caller(%a: i32) {
    call @callee(%a) : (i32) -> ()
    return
  }
  // A remark { between two functions.
  func.func @callee(%a: i32) attributes {remark = "}"} {
    call @outside(%a) : (i32) -> ()
    return
  }
  module {
    func.func @inner() {
      return
    }
  }
}
"""


def seen(checked: Checked) -> list[tuple[object, ...]]:
    return sorted(
        (found.rule, found.severity, found.message, *(checked.place(found.span) if found.span else ()))
        for found in checked.diagnostics()
    )


def whole(text: str) -> list[tuple[object, ...]]:
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    build_module(SourceFile("p", text), engine, Options())
    return sorted((d.rule, d.severity, d.message, *(d.span[1:] if d.span else ())) for d in engine.diagnostics)


@pytest.mark.parametrize("path", PROGRAMS[::4], ids=lambda path: path.name)
def test_the_findings_are_those_of_the_whole_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert seen(Checked("p", text)) == whole(text)
    worse = text.replace("outs(", "outs(%nobody, ").replace("arith.constant 0 : index", "arith.constant 0 : i32")
    assert {found for found in whole(worse) if found[1] is Severity.ERROR} <= set(seen(Checked("p", worse)))


def test_functions_are_found_by_their_braces() -> None:
    pieces = split(CALLS)
    assert pieces is not None
    names = [CALLS[start:end].split("(")[0] for start, end in pieces.functions]
    assert names == ["func.func @caller", "func.func @callee", "func.func @inner"]
    assert all(CALLS[start:end].endswith("}") for start, end in pieces.functions)
    assert "private @outside" in pieces.frame
    assert "attributes {remark" not in pieces.frame


def test_a_brace_too_few_or_too_many_is_one_of_its_function() -> None:
    sound = split(CALLS)
    assert sound is not None
    for old, new in (
        ("-> ()\n    return\n  }\n  //", "-> ()\n    return\n  //"),
        ("(i32) -> ()\n", "(i32) -> ()\n }\n"),
    ):
        broken = split(CALLS.replace(old, new, 1))
        assert broken is not None
        assert broken.text[slice(*broken.functions[0])].startswith("func.func @caller")
        assert "func.func @callee" not in broken.text[slice(*broken.functions[0])]


def test_only_statements_that_an_edit_affects_are_checked_again() -> None:
    first = Checked("p", CALLS)
    second = Checked("p", CALLS.replace("call @outside", "call  @outside"), first)
    assert [a is b for a, b in zip(first.functions, second.functions, strict=True)] == [True, False, True]
    assert second.functions[2].rules is first.functions[2].rules


def test_callers_notice_what_becomes_of_the_function_that_they_call() -> None:
    first = Checked("p", CALLS)
    assert seen(first) == []
    text = CALLS.replace("@callee(%a: i32)", "@callee(%more: i64, %a: i32)")
    second = Checked("p", text, first)
    assert "callee" in [rule for rule, *_ in seen(second)]
    assert seen(second) == seen(Checked("p", text))
    third = Checked("p", CALLS, second)
    assert seen(third) == []


def test_a_statement_of_another_chip_changes_the_target_of_the_others() -> None:
    tile = "!t = !pto.tile_buf<vec, 16x16xf32>\n"
    tile += "func.func @f(%a: !t) {\n  pto.tabs ins(%a : !t) outs(%a : !t)\n  return\n}\n"
    first = Checked("p", tile + "func.func @g() {\n  return\n}\n")
    text = tile + 'func.func @g() {\n  %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>\n  return\n}\n'
    second = Checked("p", text, first)
    assert first.targets != second.targets
    assert second.functions[0].rules == Checked("p", text).functions[0].rules


PARTS = [
    "",
    "{",
    "}",
    "\n",
    "%x",
    '"',
    "// ",
    "\u2028",
    "\U0001f600",
    "@f",
    "(",
    "func.func @q() {\n  return\n}\n",
    "module {\n",
]


@pytest.mark.parametrize("seed", range(5))
def test_after_random_edits_everything_is_as_when_the_text_is_opened(seed: int) -> None:
    chosen = random.Random(seed)
    text = chosen.choice([CALLS, *(path.read_text(encoding="utf-8") for path in PROGRAMS)])
    now = Checked("p", text)
    for _ in range(25):
        start = chosen.randrange(len(text) + 1)
        new = chosen.choice([*PARTS, text[start : start + 30]])
        text = text[:start] + new + text[start + chosen.choice([0, 0, 1, 4, 25]) :]
        now = Checked("p", text, now)
        assert seen(now) == seen(Checked("p", text))


@pytest.mark.parametrize(
    "place", ["  func.func @caller", "    return\n  }\n  // A remark", "  module {", "      return"]
)
def test_a_label_anywhere_is_reported_as_for_the_whole_text(place: str) -> None:
    text = CALLS.replace(place, f"  ^label:\n{place}")
    before = Checked("p", CALLS)
    after = Checked("p", text, before)
    assert seen(after) == seen(Checked("p", text))
    assert {found for found in whole(text) if found[1] is Severity.ERROR} <= set(seen(after))
    assert seen(Checked("p", CALLS, after)) == seen(Checked("p", CALLS))
