"""The verify passes as xDSL passes, and the table that names them."""

from dataclasses import fields

import pytest
from groups import in_groups
from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from pto_dialect import parse
from pto_dialect.diagnostics import DiagnosticEngine
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.registry import (
    PASS_TABLE,
    VERIFY_PASSES,
    PassEntry,
    PassOptionError,
    UnknownPassError,
    make_pass,
    parse_pipeline,
    pass_class,
)
from pto_dialect.passes.run import run_passes

WRONG_LOCATION = """\
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.ptr<f16, l0b>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>) {
    %n = arith.constant 16 : i64
    pto.mad %a, %b, %c, %n, %n, %n : !pto.ptr<f16, l0b>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    return
  }
}
"""


@in_groups("name", PASS_TABLE)
def test_each_name_finds_its_pass(name: str) -> None:
    found = pass_class(name)
    assert issubclass(found, ModulePass) and issubclass(found, PtoPass)
    assert found.name == name
    assert PASS_TABLE[name].summary


def test_a_pass_raises_in_xdsl_what_its_rules_find() -> None:
    module = parse(WRONG_LOCATION, "kernel.pto")
    pass_class("verify-shapes")().apply(Context(), module)
    with pytest.raises(PassFailedException, match=r"verify-locations failed\nkernel\.pto:4"):
        pass_class("verify-locations")().apply(Context(), module)


def test_a_pass_takes_a_target() -> None:
    engine = DiagnosticEngine()
    pass_class("verify-structure")(target="a2a3").run(parse(WRONG_LOCATION), engine)
    assert "target-override" in [diag.rule for diag in engine.diagnostics]


NOT_SOUND = """\
func.func @f(%m: memref<16x16xf16>, %b: !pto.ptr<f16, l0b>, %c: !pto.ptr<f32, l0c>) {
  %n = arith.constant 16 : i64
  pto.mad %m, %b, %c, %n, %n, %n : memref<16x16xf16>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %s = pto.subview %t[] sizes [8, 16]
      : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 8x16xf32>
  %x = "arith.addi"(%n) : (i64) -> i64
  return
}
"""


@pytest.mark.parametrize("name", VERIFY_PASSES)
def test_a_pass_alone_says_nothing_of_operations_that_an_earlier_one_refuses(name: str) -> None:
    engine = DiagnosticEngine()
    module = parse(NOT_SOUND)
    pass_class(name)().run(module, engine)
    alone = {diagnostic.message for diagnostic in engine.diagnostics}
    whole = DiagnosticEngine()
    for each in VERIFY_PASSES:
        pass_class(each)().run(module, whole)
    assert alone <= {diagnostic.message for diagnostic in whole.diagnostics}
    assert bool(alone) == (name == "verify-structure")


def test_pipelines() -> None:
    assert parse_pipeline("") == parse_pipeline("  ") == ()
    assert parse_pipeline("verify-shapes, verify-structure") == ("verify-shapes", "verify-structure")
    assert parse_pipeline("builtin.module(unroll, insert-sync{})") == ("unroll", "insert-sync{}")


@pytest.mark.parametrize(
    ("text", "suggestions"),
    [("verify-type-triple", ["verify-type-triples"]), ("a", []), ("verify-shapes,,", [])],
)
def test_unknown_names(text: str, suggestions: list[str]) -> None:
    with pytest.raises(UnknownPassError) as caught:
        parse_pipeline(text)
    assert caught.value.suggestions[:1] == suggestions


def test_options_of_passes() -> None:
    assert parse_pipeline("assign-memory{reuse=none}, insert-sync") == ("assign-memory{reuse=none}", "insert-sync")
    assert parse_pipeline("assign-memory{ reuse=max }") == ("assign-memory{reuse=max}",)
    made = make_pass("assign-memory{reuse=none}", "a5")
    assert (made.target, getattr(made, "reuse", "")) == ("a5", "none")
    assert getattr(make_pass("assign-memory", None), "reuse", "") == "auto"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assign-memory{reus=none}", "assign-memory has no option 'reus'; it has reuse"),
        ("assign-memory{reuse=little}", "reuse of assign-memory is auto or max or safe or none, not 'little'"),
        ("assign-memory{reuse}", "reuse of assign-memory is auto or max or safe or none, not ''"),
        ("insert-sync{reuse=max}", "insert-sync has no option 'reuse'; it has style"),
        ("assign-memory{reuse=max", "options of a pass stand as name{option=value}, not as 'assign-memory{reuse=max'"),
    ],
)
def test_options_that_do_not_exist(text: str, message: str) -> None:
    with pytest.raises(PassOptionError) as caught:
        parse_pipeline(text)
    assert str(caught.value) == message


def test_the_table_has_the_options_of_the_classes() -> None:
    for name, entry in PASS_TABLE.items():
        defaults = {field.name: field.default for field in fields(pass_class(name)) if field.name != "target"}
        assert defaults == {option: words[0] if words else "" for option, words in entry.options.items()}


def test_further_passes_run_at_their_position(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    class Recording(PtoPass):
        name = "record"

        def run(self, module, engine: DiagnosticEngine) -> None:
            ran.append(f"{self.target} {engine.has_errors}")

    from pto_dialect.passes import run

    monkeypatch.setitem(PASS_TABLE, "record", PassEntry("", "", ""))
    monkeypatch.setattr(run, "make_pass", lambda name, target: Recording(target))
    engine = DiagnosticEngine()
    module = parse(WRONG_LOCATION)
    assert parse_pipeline("verify-structure,record") == ("verify-structure", "record")
    assert run_passes(module, ["record", *VERIFY_PASSES[:1], "record"], engine, "a5")
    assert ran == ["a5 False", "a5 False"]
    # After an error nothing more runs.
    assert not run_passes(module, [*VERIFY_PASSES, "record"], engine, "a5")
    assert len(ran) == 2
