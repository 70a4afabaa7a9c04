"""Chunks of a file with several programs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.diagnostics import SourceFile
from pto_dialect.diagnostics.split import split_input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "")]),
        ("a\nb", [(1, "a\nb")]),
        ("a\n// -----\nb\n", [(1, "a\n"), (3, "b\n")]),
        ("// -----\nb", [(1, ""), (2, "b")]),
        ("a\n// -----\n", [(1, "a\n"), (3, "")]),
        ("a\n// -----", [(1, "a\n"), (2, "")]),
        ("a\n// -----\n// -----\n\nb", [(1, "a\n"), (3, ""), (4, "\nb")]),
        ("a\r\n// -----\r\nb\r\n", [(1, "a\r\n"), (3, "b\r\n")]),
        ("a\n// ------------ next: mad\nb", [(1, "a\n"), (3, "b")]),
        ("a\n  \t// -----\nb", [(1, "a\n"), (3, "b")]),
        ("a // -----\nb", [(1, "a // -----\nb")]),
        ("a\n// ----\n//-----\nb", [(1, "a\n// ----\n//-----\nb")]),
    ],
)
def test_chunks(text: str, expected: list[tuple[int, str]]) -> None:
    assert split_input(text) == expected


@given(st.lists(st.sampled_from(["// -----", "a", "", "\tb", "// x"])), st.sampled_from(["\n", "\r\n"]))
def test_lines_keep_their_numbers(lines: list[str], line_end: str) -> None:
    text = line_end.join(lines)
    kept: dict[int, str] = {}
    for first_line, chunk in split_input(text):
        source = SourceFile("t.pto", chunk, first_line)
        for line in range(first_line, first_line + len(chunk.splitlines())):
            kept[line] = source.line_text(line)
    expected = {number: line for number, line in enumerate(text.split(line_end), 1) if line != "// -----"}
    # The empty rest after a final line end is a line for an editor, not for splitlines.
    assert {n: line for n, line in kept.items() if line} == {n: line for n, line in expected.items() if line}
    assert len(split_input(text)) == lines.count("// -----") + 1
