"""Edits of a text."""

import json

import pytest

from pto_dialect.diagnostics import Diagnostic, Edit, Fix, Severity, SourceFile, Span
from pto_dialect.diagnostics.fix import OverlapError, edited, separate
from pto_dialect.diagnostics.formats import to_json, to_sarif

TEXT = "// 漢\nab cd\n"
SOURCE = SourceFile("a b.pto", TEXT, first_line=10)
FIX = Fix("swap them", (Edit(5, 7, "CD"), Edit(8, 10, "A\nB"), Edit(11, 11, "end")), safe=False)
DIAGNOSTIC = Diagnostic("mad-space", Severity.ERROR, "bad", Span(SOURCE, 5, 7), fixes=(FIX,))


def test_edits_are_made_in_the_order_of_their_locations() -> None:
    assert edited("abcdef", [Edit(4, 5, "E"), Edit(0, 0, "x"), Edit(0, 1, "A"), Edit(6, 6, "y")]) == "xAbcdEfy"
    assert edited("abc", [Edit(1, 1, "1"), Edit(1, 1, "2")]) == "a12bc"
    assert edited("abc", []) == "abc"


def test_edits_do_not_overlap() -> None:
    with pytest.raises(OverlapError, match="offset 1 is changed twice"):
        edited("abc", [Edit(0, 2, ""), Edit(1, 3, "")])


def test_fixes_that_touch_each_other_are_not_made_together() -> None:
    first, second, third = (Fix(t, (Edit(a, b, ""),)) for t, a, b in (("1", 0, 2), ("2", 2, 3), ("3", 4, 5)))
    assert separate([first, second, third]) == [first, third]


def test_json_has_the_fixes_of_a_diagnostic() -> None:
    (found,) = json.loads(to_json([DIAGNOSTIC]))["diagnostics"]
    places = [((11, 1), (11, 3), "CD"), ((11, 4), (11, 6), "A\nB"), ((12, 1), (12, 1), "end")]
    edits = [
        {"start": {"line": a, "column": b}, "end": {"line": c, "column": d}, "text": text}
        for (a, b), (c, d), text in places
    ]
    assert found["fixes"] == [{"title": "swap them", "safe": False, "edits": edits}]


def test_sarif_has_the_fixes_of_a_result() -> None:
    (result,) = json.loads(to_sarif([DIAGNOSTIC]))["runs"][0]["results"]
    (fix,) = result["fixes"]
    assert fix["description"] == {"text": "swap them"}
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "a%20b.pto"}
    assert change["replacements"][1] == {
        "deletedRegion": {"startLine": 11, "startColumn": 4, "endLine": 11, "endColumn": 6},
        "insertedContent": {"text": "A\nB"},
    }
    assert len(change["replacements"]) == 3
