"""Positions against what an encoder of UTF-16 says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("lsprotocol", reason="the language server needs pygls")

from lsprotocol.types import Position, Range

from pto_dialect.lsp.program.document import Document
from pto_dialect.lsp.program.lines import Lines

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\u2029\x0b\x0c\x85é\U0001f600\U00010000"), max_size=30)


def plain(text: str) -> list[tuple[int, int, int]]:
    """Each offset with its line and column, found by walking through the text."""
    found, line, begin = [], 0, 0
    for offset in range(len(text) + 1):
        found.append((offset, line, len(text[begin:offset].encode("utf-16-le")) // 2))
        ended = text[offset : offset + 1] == "\n" or (
            text[offset : offset + 1] == "\r" and text[offset + 1 : offset + 2] != "\n"
        )
        if ended:
            line, begin = line + 1, offset + 1
    return found


@given(TEXTS)
def test_positions_are_those_of_utf16(text: str) -> None:
    lines = Lines(text)
    for offset, line, column in plain(text):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue  # Between the two there is no position.
        assert lines.position(offset) == Position(line, column)
        assert lines.offset(Position(line, column)) == offset


@given(TEXTS, TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_an_edit_replaces_the_text_between_two_positions(text: str, new: str, one: int, other: int) -> None:
    lines = Lines(text)
    start, end = sorted(min(place, len(text)) for place in (one, other))
    for place in (start, end):
        if text[place - 1 : place + 1] == "\r\n":
            return
    area = Range(lines.position(start), lines.position(end))
    document = Document("file:///t/p.pto", text)
    document.change(area, new)
    assert document.text == text[:start] + new + text[end:]


@given(TEXTS, st.integers(0, 8), st.integers(0, 50))
def test_a_column_after_the_end_is_that_end(text: str, line: int, column: int) -> None:
    visible = re.split(r"\r\n|\r|\n", text)
    found = Lines(text).offset(Position(line, column))
    if line >= len(visible):
        assert found == len(text)
    elif column >= len(visible[line].encode("utf-16-le")) // 2:
        assert Lines(text).position(found).line == line
        assert text[found : found + 1] in ("", "\r", "\n")


def test_a_location_inside_of_a_character_is_that_character() -> None:
    assert Lines("a\U0001f600b").offset(Position(0, 2)) == 1
    assert Lines("a\U0001f600b").offset(Position(0, 3)) == 2
