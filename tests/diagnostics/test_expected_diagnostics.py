"""Expectations in comments against diagnostics."""

import copy
import itertools
import random

import pytest

from pto_dialect.diagnostics import Diagnostic, Note, Severity, SourceFile, Span
from pto_dialect.diagnostics.expected import parse_expectations, verify_diagnostics

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def on_line(
    source: SourceFile,
    line: int,
    message: str = "bad thing",
    severity: Severity = ERROR,
    rule: str = "rule-x",
) -> Diagnostic:
    lines = source.text.split("\n")
    start = sum(len(text) + 1 for text in lines[: line - source.first_line])
    return Diagnostic(rule, severity, message, Span(source, start, start + 1))


def mismatches(text: str, *found: tuple[int, str] | tuple[int, str, Severity], first_line: int = 1) -> list[str]:
    """Rule and line of each mismatch; ``found`` are (line, message[, severity])."""
    source = SourceFile("t.pto", text, first_line)
    diags = [on_line(source, item[0], item[1], item[2] if len(item) == 3 else ERROR) for item in found]
    result = verify_diagnostics(source, diags)
    assert all(diag.severity is ERROR for diag in result)
    return [f"{diag.rule}:{diag.span.line if diag.span else None}" for diag in result]


def test_nothing_expected_nothing_found() -> None:
    assert mismatches("") == []
    assert mismatches("pto.mad %a // a comment") == []


def test_same_line() -> None:
    text = "op\nop // expected-error {{bad}}\nop"
    assert mismatches(text, (2, "bad thing")) == []
    assert mismatches(text, (3, "bad thing")) == ["missing-diagnostic:2", "unexpected-diagnostic:3"]


@pytest.mark.parametrize(
    ("place", "line"),
    [("", 3), ("@+1", 4), ("@-1", 2), ("@+2", 5), ("@-2", 1), ("@+0", 3), ("@above", 2), ("@below", 4)],
)
def test_locations(place: str, line: int) -> None:
    for gap in ("", " "):
        text = f"one\ntwo\n// expected-error{gap}{place}{gap}{{{{bad}}}}\nfour\nfive"
        for candidate in range(1, 6):
            assert (mismatches(text, (candidate, "bad thing")) == []) == (candidate == line)


def test_above_and_below_skip_lines_that_only_expect() -> None:
    text = (
        "one\n"
        "// expected-error@above {{A}}\n"
        "  // expected-error@above {{B}}\n"
        "// expected-error@below {{C}}\n"
        "// expected-warning@+1 {{D}}\n"
        "six // expected-error {{E}}\n"
        "// expected-error@above {{F}}\n"
    )
    found = [(1, "A"), (1, "B"), (6, "C"), (6, "D", WARNING), (6, "E"), (6, "F")]
    assert mismatches(text, *found) == []


def test_above_and_below_at_the_ends_of_the_text() -> None:
    text = "// expected-error@above {{A}}\n// expected-error@below {{B}}"
    source = SourceFile("t.pto", text)
    assert [e.line for e in parse_expectations(source)[0]] == [0, 3]
    assert mismatches(text) == ["missing-diagnostic:1", "missing-diagnostic:2"]


def test_above_and_below_on_a_line_of_the_program() -> None:
    text = "one\ntwo // expected-error@above {{A}}\nthree // expected-error@below {{B}}\nfour"
    assert mismatches(text, (1, "A"), (4, "B")) == []


def test_unknown_location() -> None:
    source = SourceFile("t.pto", "// expected-warning@unknown {{a5 used}}\n")
    nowhere = Diagnostic("target-override", WARNING, "a5 used")
    assert verify_diagnostics(source, [nowhere]) == []
    (mismatch,) = verify_diagnostics(source, [])
    assert mismatch.message == 'expected warning "a5 used" was not produced without a source location'
    mismatch, missing = verify_diagnostics(source, [on_line(source, 1, "a5 used", WARNING)])
    assert {mismatch.rule, missing.rule} == {"unexpected-diagnostic", "missing-diagnostic"}
    (unexpected,) = verify_diagnostics(SourceFile("t.pto", ""), [nowhere])
    assert unexpected == Diagnostic("unexpected-diagnostic", ERROR, "unexpected warning: [target-override] a5 used")


def test_chunk_lines_count_from_the_first_line() -> None:
    text = "// expected-error@+1 {{bad}}\nop"
    assert mismatches(text, (41, "bad"), first_line=40) == []
    assert mismatches(text, first_line=40) == ["missing-diagnostic:40"]


def test_rule_id_can_be_explained() -> None:
    for wanted in ("[rule-x]", "rule-x", "[rule-x] bad", "bad thing", "thing", ""):
        assert mismatches(f"op // expected-error {{{{{wanted}}}}}", (1, "bad thing")) == []
    for wanted in ("[rule]", "[rule-y]", "rule-x bad", "Bad", "bad thing "):
        result = mismatches(f"op // expected-error {{{{{wanted}}}}}", (1, "bad thing"))
        assert result == ["missing-diagnostic:1", "unexpected-diagnostic:1"]


def test_several_on_one_line() -> None:
    text = "op // expected-error {{one}} expected-error {{two}} expected-warning@+1 {{three}}\nop"
    assert mismatches(text, (1, "two"), (1, "one"), (2, "three", WARNING)) == []
    assert mismatches(text, (1, "two"), (2, "three", WARNING)) == ["missing-diagnostic:1"]


def test_text_may_hold_braces() -> None:
    text = "op // expected-error {{found {a = {b}}}} expected-error {{}} here }}"
    assert mismatches(text, (1, "found {a = {b}}"), (1, "}} here ")) == []


def test_each_expectation_holds_for_one_diagnostic() -> None:
    text = "op // expected-error {{bad}}"
    assert mismatches(text, (1, "bad 1"), (1, "bad 2")) == ["unexpected-diagnostic:1"]
    assert mismatches(text + " expected-error {{bad}}", (1, "bad 1")) == ["missing-diagnostic:1"]


def test_pairing_does_not_depend_on_order() -> None:
    text = "op // expected-error {{a}} expected-error {{ab}} expected-error {{abc}}"
    for order in itertools.permutations(["a", "ab", "abc"]):
        assert mismatches(text, *((1, message) for message in order)) == []


SIZE = 5


def largest_pairing(related: list[list[bool]]) -> int:
    orders = itertools.permutations(range(SIZE))
    return max(sum(related[e][m] for e, m in enumerate(order)) for order in orders)


def test_pairing_is_as_large_as_possible() -> None:
    rng = random.Random(3)
    # Expectation e has the text "<e>"; message m contains the texts of all expectations related to it.
    wanted = " ".join(f"expected-error {{{{<{e}>}}}}" for e in range(SIZE))
    for _ in range(400):
        related = [[rng.random() < 0.4 for _ in range(SIZE)] for _ in range(SIZE)]
        messages = [f"{m}: " + "".join(f"<{e}>" for e in range(SIZE) if related[e][m]) for m in range(SIZE)]
        unpaired = SIZE - largest_pairing(related)
        result = mismatches(f"op // {wanted}", *((1, message) for message in messages))
        assert result == ["missing-diagnostic:1"] * unpaired + ["unexpected-diagnostic:1"] * unpaired


def test_kinds_must_agree() -> None:
    assert mismatches("op // expected-warning {{bad}}", (1, "bad")) == [
        "missing-diagnostic:1",
        "unexpected-diagnostic:1",
    ]


def test_missing_names_the_diagnostic_that_has_the_text() -> None:
    source = SourceFile("t.pto", "// expected-warning@+1 {{bad}}\nop")
    diag = on_line(source, 2)
    missing, unexpected = verify_diagnostics(source, [diag])
    assert missing == Diagnostic(
        "missing-diagnostic",
        ERROR,
        'expected warning "bad" was not produced at line 2',
        Span(source, 3, 19),
        (Note("this error has the text: [rule-x] bad thing", diag.span),),
    )
    assert missing.span is not None and missing.span.text == "expected-warning"
    assert unexpected == Diagnostic("unexpected-diagnostic", ERROR, "unexpected error: [rule-x] bad thing", diag.span)


def test_infos_notes_and_helps_need_not_be_expected_but_can_be() -> None:
    source = SourceFile("t.pto", "one\ntwo // expected-error {{bad}}\n")
    place = on_line(source, 1).span
    diag = on_line(source, 2)._replace(notes=(Note("defined here", place), Note("more")), help="do this")
    info = on_line(source, 1, "by the way", INFO)
    assert verify_diagnostics(source, [diag, info]) == []

    def check(text: str) -> list[str]:
        other = SourceFile("t.pto", text)
        moved = diag._replace(
            span=on_line(other, 2).span, notes=(Note("defined here", on_line(other, 1).span), Note("more"))
        )
        return [item.rule for item in verify_diagnostics(other, [moved, on_line(other, 1, "by the way", INFO)])]

    good = "one // expected-note {{defined}} expected-remark {{way}}\ntwo // expected-error {{bad}}"
    assert check(good + " expected-note {{more}} expected-note {{do this}}\n") == []
    assert check(good + " expected-note {{other}}\n") == ["missing-diagnostic"]
    assert check(good + " expected-remark {{way}}\n") == ["missing-diagnostic"]


def test_regular_expressions() -> None:
    text = "op // expected-error-re {{found i{{8|16}} (not {{[a-z]+}}).}}"
    assert mismatches(text, (1, "found i16 (not f).")) == []
    assert mismatches(text, (1, "found i8 (not abc). x")) == []
    for message in ("found i32 (not f).", "found i8 (not F).", "found i8 (not f)!"):
        assert len(mismatches(text, (1, message))) == 2
    # Without inner braces the text is literal.
    assert len(mismatches("op // expected-error-re {{b.d}}", (1, "bad"))) == 2
    # The alternative stays inside its braces; an expression at the end may touch the closing braces.
    assert len(mismatches("op // expected-error-re {{x{{a|b}}}}", (1, "b"))) == 2
    assert mismatches("op // expected-error-re@+1 {{x{{a|b}}}}\nop", (2, "xb")) == []


@pytest.mark.parametrize(
    "comment",
    [
        "expected-error bad@+1",
        "see expected-errors {{x}}",
        "expected-error-prone {{x}}",
        "the expected-note below",
    ],
)
def test_prose_is_not_an_expectation(comment: str) -> None:
    assert mismatches(f"op // {comment}") == []


def test_only_comments_are_read() -> None:
    assert mismatches('op {a = "expected-error {{bad}}"}') == []
    assert mismatches('op {a = "expected-error {{bad}}"} // expected-error {{worse}}', (1, "worse")) == []


@pytest.mark.parametrize(
    "directive",
    [
        "expected-error {bad}",
        "expected-error@1 {{bad}}",
        "expected-error@+ {{bad}}",
        "expected-error: bad",
        "expected-warning@over {{bad}}",
        "expected-error@+12345678901 {{bad}}",
        "expected-error {{bad",
        "expected-error-re {{a {{(}} b}}",
        "expected-error-re {{a {{b c}}",
        "expected-error-re {{a {{x{99999999999999999999}y}} b}}",
    ],
)
def test_malformed_expectations_are_errors(directive: str) -> None:
    source = SourceFile("t.pto", f"op\n// {directive}\n")
    (mismatch,) = verify_diagnostics(source, [])
    assert mismatch.rule == "malformed-expectation"
    assert mismatch.span is not None and mismatch.span.line == 2
    assert mismatch.span.text in ("expected-error", "expected-warning", "expected-error-re")


def test_crlf() -> None:
    text = "// expected-error@+1 {{bad}}\r\nop\r\nop // expected-error {{worse}}\r\n"
    assert mismatches(text, (2, "bad"), (3, "worse")) == []
    source = SourceFile("t.pto", text)
    assert [e.span.text for e in parse_expectations(source)[0]] == ["expected-error", "expected-error"]


def test_diagnostics_of_another_file_are_unexpected() -> None:
    source = SourceFile("t.pto", "op // expected-error {{bad}}")
    other = SourceFile("u.pto", source.text)
    result = verify_diagnostics(source, [on_line(other, 1)])
    assert {diag.rule for diag in result} == {"missing-diagnostic", "unexpected-diagnostic"}
    copied = copy.copy(source)
    assert verify_diagnostics(source, [on_line(copied, 1)]) == []


def test_mismatches_are_sorted_by_line() -> None:
    text = "// expected-error {{x}}\nop\n// expected-error {{y}}\n// expected-error {z}\nop"
    assert mismatches(text, (5, "b"), (2, "a")) == [
        "missing-diagnostic:1",
        "unexpected-diagnostic:2",
        "missing-diagnostic:3",
        "malformed-expectation:4",
        "unexpected-diagnostic:5",
    ]


def test_many_expectations_on_one_line_do_not_overflow_the_stack() -> None:
    text = "op // " + " ".join(["expected-error {{bad}}"] * 300)
    assert mismatches(text, *((1, f"bad {n}") for n in range(300))) == []
