"""What is reported about a token in a wrong position, by what could be there and what is before it."""

from __future__ import annotations

import pytest
from groups import in_groups
from parse_helpers import parsed

from pto_dialect.ir.core_dialects.core_plain import PLAIN_NAMES
from pto_dialect.syntax.documentation.forms import FORMS
from pto_dialect.syntax.documentation.statement import Statement
from pto_dialect.syntax.errors.forms import _wrong_arrow
from pto_dialect.syntax.errors.separators import _missing_colon
from pto_dialect.syntax.errors.words import _operation, _type, unknown_operation
from pto_dialect.syntax.read.situation import Message, Situation
from pto_dialect.syntax.read.tokens import Tok


def situation(
    kind: str, text: str, expected: str, *before: str, following: str | None = None, behind: str = "i32"
) -> Situation:
    """The token ``text`` of a kind after tokens of the kinds ``before``, on one line."""
    line = "%x = " + " ".join(["word"] * len(before)) + " "
    statement = [Tok(one, "word", 5 + 5 * place) for place, one in enumerate(before)]
    token = Tok(kind, text, len(line))
    after = None if following is None else Tok(following, behind, len(line) + len(text) + 1)
    whole = f"{line}{text} {behind}\n"
    return Situation(token, frozenset(expected.split()), statement, after, (), whole)


def rule(found: Message | None) -> str | None:
    return found.rule if found is not None else None


@pytest.mark.parametrize("before", ["COLON", "ARROW", "LPAR", "EQUAL", "TYPE_ALIAS", "USES", "RPAR", "COMMA"])
@pytest.mark.parametrize("expected", ["TYPES", "ANGLE", "USES WORD"])
@pytest.mark.parametrize("text", ["float", "qqqqqq"])
def test_keywords_where_types_belong(before: str, expected: str, text: str) -> None:
    """Only where a type could stand, and only after a mark that types follow; after '=' only near names."""
    told = expected != "USES WORD" and before in ("COLON", "ARROW", "LPAR", "EQUAL", "TYPE_ALIAS")
    told &= not (before == "EQUAL" and text == "qqqqqq")
    found = _type(situation("WORD", text, expected, before))
    assert rule(found) == ("type-unknown" if told else None)
    assert found is None or found.help == ("did you mean f32?" if text == "float" else None)


@pytest.mark.parametrize(("text", "expected", "told"), [
    ("float", "TYPES", True), ("float", "WORD", True), ("qqqqqq", "TYPES", True),
                         ("qqqqqq", "WORD", False)])  # fmt: skip
def test_keywords_after_a_type_and_a_comma(text: str, expected: str, told: bool) -> None:
    assert (_type(situation("WORD", text, expected, "TYPES", "COMMA")) is not None) == told


@pytest.mark.parametrize(
    ("kind", "before", "told"),
    [("WORD", (), True), ("WORD", ("RESULTS",), True), ("WORD", ("OP_DPS",), False),
     ("WORD", ("RESULTS", "OP_DPS"), False),
     ("WORD", ("USES",), False), ("INTEGER", (), False), ("WORD", ("OP_DPS", "RESULTS"), False)],
)  # fmt: skip
def test_keywords_where_an_operation_belongs(kind: str, before: tuple[str, ...], told: bool) -> None:
    assert (rule(_operation(situation(kind, "pto.tad", "COLON", *before))) == "op-unknown") == told


def test_an_assignment_begins_no_statement_with_an_operation() -> None:
    assert _operation(situation("WORD", "x", "COLON", following="EQUAL")) is None
    assert rule(_operation(situation("WORD", "x", "COLON", "RESULTS", following="EQUAL"))) == "op-unknown"


@pytest.mark.parametrize(
    ("expected", "before", "following", "found"),
    [
        ("ARROW", ("OP_PAREN",), "TYPES", None),
        ("TO", ("OP_CAST", "USES"), "TYPES", ("parse-missing-token", "the result type follows 'to', not '->'", "to")),
        ("COLON", ("OP_PAREN", "USES"), "TYPES", ("parse-missing-token", "the type follows ':', not '->'", ":")),
        ("COLON", ("OP_PAREN", "USES"), "WORD", None),
        ("RBRACE", ("OP_DPS", "TYPES"), "TYPES", ("parse-syntax", None, "remove '-> i32'")),
        ("RBRACE", ("OP_DPS", "USES"), "TYPES", None),
    ],
)
def test_arrows(
    expected: str, before: tuple[str, ...], following: str, found: tuple[str, str | None, str] | None
) -> None:
    told = _wrong_arrow(situation("ARROW", "->", expected, *before, following=following))
    if found is None:
        assert told is None
    else:
        assert told is not None and (told.rule, told.help) == (found[0], found[2])
        assert found[1] is None or told.text == found[1]


@pytest.mark.parametrize("kind", ["TYPES", "ANGLE", "WORD"])
@pytest.mark.parametrize("expected", ["LBRACE", "LBRACE COLON", "COLON", "WORD"])
@in_groups("before", [("STRING", "LPAR"), ("STRING", "RPAR"), ("OP_PAREN", "LPAR"), ("OP_PAREN", "RPAR")])
def test_types_without_a_colon(kind: str, expected: str, before: tuple[str, ...]) -> None:
    """After the bracket of a generic form, where regions could stand, and wherever a colon could stand."""
    found = _missing_colon(situation(kind, "i32", expected, *before))
    generic = before == ("STRING", "LPAR") and "LBRACE" in expected
    if kind == "WORD" or not (generic or "COLON" in expected):
        assert found is None
    elif generic:
        assert found is not None and found.help == ": (types) -> types" and found.at is not None
    else:
        arrow = before == ("OP_PAREN", "RPAR")
        assert found is not None and found.help == (": i32" if not arrow or before[-1] == "LPAR" else found.help)


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        ("12 = arith.constant 1 : i32\n%r = arith.addi %12, %12 : i32", 1),
        ("x = arith.constant 1 : i32\n%r = arith.addi %x, %x : i32", 1),
        ("%x arith.constant 1 : i32\n%r = arith.addi %x, %x : i32", 1),
    ],
)
def test_names_of_broken_statements_are_not_missed_later(statement: str, first: int) -> None:
    _, found = parsed(f"func.func @f() {{\n{statement}\nreturn\n}}\n")
    assert len(found) == first


BOUNDS = {
    "%i, %i, %i": None,
    "%i, %i, %w": "but %w has type i32", "%w, %i, %i": "but %w has type i32", "%w, %w, %w": "found i32",
}  # fmt: skip


@pytest.mark.parametrize("values", BOUNDS)
def test_bounds_of_loops(values: str) -> None:
    low, high, step = values.split(", ")
    text = f"func.func @f(%i: index, %w: i32) {{\nscf.for %k = {low} to {high} step {step} {{\n}}\nreturn\n}}\n"
    _, found = parsed(text)
    assert len(found) == (BOUNDS[values] is not None)
    for one in found:
        assert f"bounds and step of scf.for have type index, {BOUNDS[values]}" in str(one)


@pytest.mark.parametrize("cases", [0, 1, 3])
@pytest.mark.parametrize("types", ["", "i32", "i32, f32"])
def test_results_of_switches(cases: int, types: str) -> None:
    given = types.split(", ") if types else []
    yields = (
        f"scf.yield {', '.join('%w' if one == 'i32' else '%x' for one in given)} : {types}" if types else "scf.yield"
    )
    names = f"{', '.join(f'%r{n}' for n in range(len(given)))} = " if given else ""
    arrow = f" -> {types}" if types else ""
    text = f"{names}scf.index_switch %i{arrow}\n" + "".join(f"case {n} {{\n{yields}\n}}\n" for n in range(cases))
    module, found = parsed(
        f"func.func @f(%i: index, %w: i32, %x: f32) {{\n{text}default {{\n{yields}\n}}\nreturn\n}}\n"
    )
    assert module is not None, found
    (op,) = (op for op in module.walk() if op.name == "scf.index_switch")
    assert [str(one.type) for one in op.results] == given and len(op.regions) == cases + 1


ELEMENT = Statement("pto.tgetval", ("%r",), ("%t", "%i"), types=("T", "index"), outputs=("f32",), outs=True)


def test_an_element_in_outs_is_a_result() -> None:
    reading = FORMS["pto.tgetval"]
    found = reading(ELEMENT, {})  # pyright: ignore
    assert found is not None and found.text == "%r = pto.tgetval ins(%t, %i : T, index) outs : f32"
    for change in ({"outs": False}, {"types": None}, {"types": ()}, {"outputs": None}):
        changed = Statement(**{**ELEMENT.__dict__, **change})
        assert reading(changed, {}) is None  # pyright: ignore


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("a5vm.vadd %a", "a5vm.vadd belongs to a5vm, the retired predecessor of this dialect"),
        ("moon.shine %a", "the dialect of 'moon.shine' is unknown, so its custom form cannot be read"),
        ("pto.moonlight %a", "unknown operation 'pto.moonlight'"),
        ("moonlight %a", "unknown operation 'moonlight'"),
    ],
)
def test_unknown_operations_break_one_rule(statement: str, message: str) -> None:
    _, told = parsed(f"func.func @f(%a: i32) {{\n  {statement}\n  return\n}}\n")
    assert told == [("op-unknown", 2, 3, message)]


def test_operations_without_a_custom_form_are_unknown_in_it() -> None:
    for name in sorted(PLAIN_NAMES):
        found = unknown_operation(name)
        assert (found.rule, found.help) == ("op-unknown", f'"{name}"(..) : (..) -> ..')
