"""Offsets, lines and columns."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.diagnostics import SourceFile, Span


def positions(text: str, first_line: int = 1) -> list[tuple[int, int]]:
    source = SourceFile("t.pto", text, first_line)
    return [source.line_col(offset) for offset in range(len(text) + 1)]


def test_empty_text_has_one_empty_line() -> None:
    assert positions("") == [(1, 1)]
    assert SourceFile("t.pto", "").line_text(1) == ""


def test_end_of_text_with_and_without_final_newline() -> None:
    assert positions("ab") == [(1, 1), (1, 2), (1, 3)]
    assert positions("ab\n") == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert SourceFile("t.pto", "ab\n").line_text(2) == ""


def test_crlf_is_one_line_end() -> None:
    source = SourceFile("t.pto", "ab\r\n\r\nc\r\n")
    assert [source.line_text(line) for line in (1, 2, 3, 4)] == ["ab", "", "c", ""]
    # "\r" and "\n" of one line end are both shown after the last character.
    assert positions("ab\r\nc") == [(1, 1), (1, 2), (1, 3), (1, 3), (2, 1), (2, 2)]


def test_lone_carriage_return_is_no_line_end() -> None:
    source = SourceFile("t.pto", "a\rb\nc")
    assert source.line_text(1) == "a\rb"
    assert source.line_col(2) == (1, 3)
    # At the very end there is no "\n" for it to belong to.
    assert SourceFile("t.pto", "a\r").line_text(1) == "a\r"


def test_other_unicode_separators_do_not_end_lines() -> None:
    text = "a\x0b\x0c\x1c\x85\u2028\u2029b\nc"
    assert SourceFile("t.pto", text).line_col(len(text) - 1) == (2, 1)


def test_columns_count_characters_not_bytes_or_cells() -> None:
    text = "\t// ä漢🚀 x"
    assert SourceFile("t.pto", text).line_col(text.index("x")) == (1, 9)


def test_first_line_shifts_lines_only() -> None:
    source = SourceFile("t.pto", "ab\ncd", first_line=40)
    assert source.line_col(4) == (41, 2)
    assert source.line_text(40) == "ab"
    assert source.line_text(41) == "cd"
    assert source.line_text(39) == source.line_text(42) == ""


@pytest.mark.parametrize(("offset", "expected"), [(-5, (1, 1)), (5, (2, 2)), (99, (2, 2))])
def test_offsets_outside_are_moved_to_the_text(offset: int, expected: tuple[int, int]) -> None:
    assert SourceFile("t.pto", "abc\nd").line_col(offset) == expected


@given(st.text(alphabet="ab\t\n\r漢"))
def test_every_offset_leads_back_to_its_character(text: str) -> None:
    source = SourceFile("t.pto", text)
    expected_line, expected_col = 1, 1
    for offset, char in enumerate(text):
        line, col = source.line_col(offset)
        assert line == expected_line
        if char == "\n":
            expected_line, expected_col = expected_line + 1, 1
            continue
        if not text.startswith("\r\n", offset):
            assert col == expected_col
            assert source.line_text(line)[col - 1] == char
        expected_col += 1
    assert [source.line_text(n + 1) for n in range(text.count("\n") + 1)] == [
        line.removesuffix("\r") if n < text.count("\n") else line for n, line in enumerate(text.split("\n"))
    ]


def test_span_text_and_line() -> None:
    source = SourceFile("t.pto", "%a = pto.mad\n%b")
    span = Span(source, 5, 12)
    assert span.text == "pto.mad"
    assert span.line == 1
    assert Span(source, 13, 15).line == 2
    assert Span(source, 15, 15).text == ""


def test_spans_of_distinct_sources_differ() -> None:
    one, two = SourceFile("t.pto", "x"), SourceFile("t.pto", "x")
    assert Span(one, 0, 1) == Span(one, 0, 1)
    assert Span(one, 0, 1) != Span(two, 0, 1)


def test_pickle_keeps_positions() -> None:
    span = pickle.loads(pickle.dumps(Span(SourceFile("t.pto", "a\nbc", 7), 3, 4)))
    assert span.text == "c"
    assert span.source.line_col(span.start) == (8, 2)
