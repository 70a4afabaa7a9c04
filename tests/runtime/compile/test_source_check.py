"""Generated code may do nothing but what generators write."""

from __future__ import annotations

import ast
import builtins
import keyword

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.compile import compiler, source_check
from pto_dialect.runtime.compile.emit import Emitter
from pto_dialect.runtime.compile.names import Kind
from pto_dialect.runtime.compile.source_check import (
    ATTRIBUTES,
    BUILTINS,
    PARAMETERS,
    ForeignCode,
    check_source,
    check_tree,
)

from .hostile_code import BLOCKS, HARMLESS, HOSTILE, IDENTIFIERS, TREES

ROWS = [(kind, line) for kind, lines in HOSTILE.items() for line in lines]


def in_function(code: str) -> str:
    return f"'f_main for a5'\ndef f_main(core, items, mask, v_x):\n {code}\n"


def test_there_are_enough_hostile_trees() -> None:
    codes = [line for _, line in ROWS] + list(BLOCKS.values())
    assert len(set(codes)) == len(codes)
    assert len(codes) + sum(len(trees) for trees in TREES.values()) >= 300


@pytest.mark.parametrize("line", HARMLESS)
def test_what_generators_write_passes(line: str) -> None:
    check_tree(ast.parse(in_function(line)), IDENTIFIERS)
    check_source(in_function(line), IDENTIFIERS)


def test_every_hostile_line_is_refused_by_both_readers() -> None:
    """As a tree and as text, whose lines may have been seen before; the message names the node."""
    for kind, code in [*ROWS, *BLOCKS.items()]:
        text = in_function(code)
        tree = ast.parse(text)
        for attempt in (
            lambda tree=tree: check_tree(tree, IDENTIFIERS),
            *[lambda text=text: check_source(text, IDENTIFIERS)] * 2,
        ):
            with pytest.raises(ForeignCode) as caught:
                attempt()
            assert caught.value.what.split()[0] == kind, (code, caught.value.what)
            assert caught.value.line > 2 or kind not in HOSTILE, code


def test_trees_that_no_text_has_are_refused() -> None:
    for kind, trees in TREES.items():
        for tree in trees:
            with pytest.raises(ForeignCode) as caught:
                check_tree(tree, IDENTIFIERS)
            assert caught.value.what.split()[0] == kind, ast.dump(tree)


@pytest.mark.parametrize("mark", ["\\\n", "\f", "\r", "\t", "\x1f", "\u2028", "\xa0"])
def test_lines_are_those_of_python(mark: str) -> None:
    """Whatever Python takes for a line, or for none, an import after it is found."""
    with pytest.raises((ForeignCode, SyntaxError)):
        check_source(in_function(f"v_x = 1;{mark}import os"), IDENTIFIERS)
    with pytest.raises((ForeignCode, SyntaxError)):
        check_source(in_function(f"v_x = 1 # {mark} \n import os"), IDENTIFIERS)


def test_an_open_text_hides_nothing() -> None:
    for quote in ("'''", '"""'):
        text = in_function(f"v_x = {quote}\n import os\n {quote}\n import os")
        with pytest.raises(ForeignCode, match="Import"):
            check_source(text, IDENTIFIERS)


def test_no_attribute_leads_out_of_the_run_time() -> None:
    assert not [name for name in ATTRIBUTES if name.startswith("_")]
    assert {"__builtins__", "exec", "getattr", "type"}.isdisjoint(BUILTINS)


def test_no_identifier_is_a_name_of_python_or_of_the_run_time() -> None:
    taken = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *PARAMETERS, *BUILTINS}
    assert not [word for word in taken if word.startswith(tuple(Kind))]
    # What is searched for are a letter and an underscore.
    assert all(len(kind.value) == 2 and kind.value[0].islower() and kind.value[1] == "_" for kind in Kind)


def module() -> pto_dialect.api.Module:
    return pto_dialect.parse("func.func @f(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}\n")


def test_code_is_checked_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """An emitter that writes something else is reported."""
    monkeypatch.setattr(Emitter, "source", lambda self: "import os\n" + "\n".join(self.lines) + "\n")
    with pytest.raises(ForeignCode, match="Import"):
        pto_dialect.compile(module())


def test_generated_code_has_no_builtins() -> None:
    kernel = pto_dialect.compile(module())
    (function,) = kernel._kernel.compiled.functions.values()
    assert function.__builtins__ == {} and "__import__" not in function.__globals__


def test_texts_of_the_program_do_not_slow_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shapes of the lines settle it; the whole tree is looked at for texts that look like identifiers alone."""
    whole: list[object] = []
    check = source_check.check_tree
    monkeypatch.setattr(source_check, "check_tree", lambda tree, names: (whole.append(names), check(tree, names)))
    text = """
func.func @"v_x"(%x: i32, %k_add: !pto.ptr<f32, gm>) -> i32 {
  %c = arith.constant 7 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}
"""
    assert pto_dialect.compile(pto_dialect.parse(text))(1, np.zeros(1, np.float32)) == 8
    assert all(names is source_check._KINDS for names in whole)


def test_source_and_code_have_the_same_lines() -> None:
    compiled = pto_dialect.compile(module())._kernel.compiled
    assert len(compiled.origin) == len(compiled.source.splitlines())
    assert compiler.check_source is check_source
