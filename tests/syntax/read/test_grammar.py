"""The grammar files: free of conflicts, and complete with respect to builder and operations."""

from __future__ import annotations

import lark
import pytest

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES, core_class
from pto_dialect.syntax.read.grammar import grammar_text
from pto_dialect.syntax.read.lark_tables import OPTIONS, NoLexer
from pto_dialect.syntax.read.lexer import OPERATION_TERMINALS
from pto_dialect.syntax.read.parser import ProgramBuilder
from pto_dialect.syntax.types.parser import _TypeBuilder


def strict(name: str) -> lark.Lark:
    return lark.Lark(grammar_text(name), lexer=NoLexer, strict=True, **OPTIONS)


@pytest.mark.parametrize("name", ["pto.lark", "types.lark"])
def test_grammar_has_no_conflicts(name):
    assert strict(name).rules


@pytest.mark.parametrize(("name", "builder"), [("pto.lark", ProgramBuilder), ("types.lark", _TypeBuilder)])
def test_every_rule_has_a_builder_method(name, builder):
    missing = set()
    for rule in strict(name).rules:
        method = rule.alias or str(rule.origin.name)
        passes_through = rule.options.expand1 and len(rule.expansion) == 1 and not rule.alias
        if not passes_through and not method.startswith("_") and not hasattr(builder, method):
            missing.add(method)
    assert not missing


def test_every_operation_has_a_terminal_that_the_grammar_reads():
    used = {symbol.name for rule in strict("pto.lark").rules for symbol in rule.expansion}
    for name in (*OPS, *CORE_SHAPES):
        terminal = OPERATION_TERMINALS[name]
        assert terminal in used or terminal == "OP_GENERIC_ONLY", (name, terminal)


def test_grammar_names_no_operation():
    text = grammar_text("pto.lark")
    assert "pto.t" not in text
    assert "arith." not in text


def test_core_operations_have_classes():
    without = [name for name in CORE_SHAPES if "." in name and core_class(name) is None]
    assert without == []
