"""Edits in answers make one text of another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_edits import applied

from pto_dialect.integrations.agents.answers import diagnostics, document_in, edit, replacements

LINES = st.lists(st.sampled_from(["a", "b", "", "c\r", "d\x0ce\u2028f"]), max_size=8).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES)
def test_replacements_make_the_other_text(old: str, new: str) -> None:
    assert applied(old, replacements(old, new)) == new


def test_lines_that_stay_are_in_no_edit() -> None:
    assert replacements("a\nb\nc\n", "a\nd\nc\n") == [edit(2, 1, 3, 1, "d\n")]
    assert replacements("a\n", "a\n") == []
    assert replacements("a\nb", "a\nc") == [edit(2, 1, 2, 2, "c")]


@pytest.mark.parametrize(
    ("text", "document", "before"),
    [
        ("", {}, []),
        ("error: no\n", {}, ["error: no"]),
        ('note\n{"a": 1}\nafter\n', {"a": 1}, ["note"]),
        ('{"a": 1}', {"a": 1}, []),
        ("{ broken\n", {}, ["{ broken"]),
    ],
)
def test_documents_are_found_after_text(text: str, document: object, before: list[str]) -> None:
    assert document_in(text) == (document, before)


def test_what_is_left_out_is_counted() -> None:
    place = {"file": "program.pto", "start": {"line": 1, "column": 2}, "end": {"line": 1, "column": 3}}
    one = {"rule": "r", "severity": "error", "message": "m", "location": place, "help": "h", "notes": []}
    told = diagnostics({"counts": {"errors": 30, "warnings": 1}, "diagnostics": [one] * 30}, "sub/k.pto")
    assert (told["errors"], told["left_out"], len(told["diagnostics"])) == (30, 11, 20)
    assert told["diagnostics"][0] == {
        "rule": "r", "severity": "error", "file": "sub/k.pto", "line": 1, "column": 2, "message": "m", "help": "h",
    }  # fmt: skip
