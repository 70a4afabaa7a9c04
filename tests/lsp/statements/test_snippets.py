"""Whole statements that completion offers: each is read by the parser, with as many results as the text has names."""

import pytest

pytest.importorskip("pygls", reason="the language server is an extra")

from xdsl.ir import Block

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import ALIASES
from pto_dialect.ir.core_dialects.forms import FORMS, result_count
from pto_dialect.lsp.statements.scope import Typed
from pto_dialect.lsp.statements.snippets import plain, statement
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.types.parser import parse_type

SHORT = {long: short for short, long in ALIASES.items()}
DIALECTS = sorted({name.partition(".")[0] for name in FORMS})


def errors(text: str) -> list[str]:
    """Errors of a program besides names that nothing defines."""
    engine = DiagnosticEngine(DiagnosticOptions())
    parse_program(SourceFile("typed.pto", text), engine)
    wrong = (one for one in engine.diagnostics if one.severity.name == "ERROR" and one.rule != "name-undefined")
    return [one.message for one in wrong]


def in_function(text: str, results: int) -> str:
    names = ", ".join(f"%result{number}" for number in range(results))
    return f"func.func @f() {{\n{names}{' = ' if results else ''}{text}\nreturn\n}}\n"


def unread(name: str, results: int) -> list[str]:
    """What is wrong with the statement of an operation; nothing where none is offered."""
    offered = statement(name, [], results)
    if offered is None:
        return []
    text = plain(offered)
    found = errors(text if name in ("func.func", "builtin.module") else in_function(text, results))
    return [f"{text}: {message}" for message in found]


@pytest.mark.parametrize("results", [0, 1, 2])
@pytest.mark.parametrize("part", range(4))
def test_statements_of_this_dialect_are_read(part: int, results: int) -> None:
    assert [wrong for name in sorted(OPS)[part::4] for wrong in unread(name, results)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_of_core_dialects_are_read(dialect: str) -> None:
    names = [name for name in FORMS if name.startswith(f"{dialect}.")]
    assert [wrong for name in names for results in (0, 1, 2) for wrong in unread(name, results)] == []


def test_all_operations_have_a_statement() -> None:
    assert [name for name in (*OPS, *FORMS) if statement(name, []) is None] == []


@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_result_that_is_named_already_is_kept(name: str) -> None:
    for results in {result_count(form) for form in FORMS[name]} - {0}:
        offered = statement(name, [], results)
        assert offered is not None and " = " not in plain(offered).splitlines()[0].partition("(")[0].replace(
            "%i = ", ""
        )


def test_names_in_scope_are_not_taken_again() -> None:
    index = parse_type("index")
    scope = [Typed(f"%{name}", index) for name in ("i", "n", "a")]
    assert plain(statement("scf.for", scope) or "").splitlines()[0] == "scf.for %b = %i to %n step %a {"


def test_an_operation_with_attributes_is_written_as_its_example() -> None:
    text = plain(statement("pto.reserve_buffer", [], 1) or "")
    assert text.startswith("pto.reserve_buffer {") and errors(in_function(text, 1)) == []


def test_values_of_a_type_in_the_example_are_taken_from_scope() -> None:
    kind = Block(arg_types=[parse_type("!pto.struct<i32, f32>")]).args[0].type
    assert "%mine[" in plain(statement("pto.struct_set", [Typed("%mine", kind)]) or "")
