"""Exact text output."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.diagnostics import Counts, Diagnostic, Note, Severity, SourceFile, Span
from pto_dialect.diagnostics.render import MAX_COLUMNS, excerpt, render_text, summary


def span_of(text: str, part: str, name: str = "k.pto") -> Span:
    start = text.index(part)
    return Span(SourceFile(name, text), start, start + len(part))


def rendered(text: str, start: int, end: int) -> str:
    span = Span(SourceFile("k.pto", text), start, end)
    return render_text([Diagnostic("r", Severity.ERROR, "m", span)])


def test_nothing() -> None:
    assert render_text([]) == ""


def test_full_form() -> None:
    text = "func.func @f(%a: !pto.ptr<f16, l0b>) {\n  %c16 = arith.constant 16 : i64\n  pto.mad %b, %b, %c, %c16\n}\n"
    source = SourceFile("kernel.pto", text)
    use = text.index("%b,")
    arg = text.index("%a")
    const = text.index("16 :")
    diag = Diagnostic(
        "mad-space",
        Severity.ERROR,
        "lhs of pto.mad must be in l0a, found l0b",
        Span(source, use, use + 2),
        (Note("defined here", Span(source, arg, arg + 2)), Note("l0a is the left operand buffer")),
        "load the left operand with pto.mte_l1_l0a",
    )
    other = Diagnostic("dead", Severity.WARNING, "never used", Span(source, const, const + 2))
    assert render_text([diag, other]) == (
        "kernel.pto:3:11: error: lhs of pto.mad must be in l0a, found l0b [mad-space]\n"
        "    pto.mad %b, %b, %c, %c16\n"
        "            ^~\n"
        "  help: load the left operand with pto.mte_l1_l0a\n"
        "  kernel.pto:1:14: note: defined here\n"
        "    func.func @f(%a: !pto.ptr<f16, l0b>) {\n"
        "                 ^~\n"
        "  note: l0a is the left operand buffer\n"
        "kernel.pto:2:25: warning: never used [dead]\n"
        "    %c16 = arith.constant 16 : i64\n"
        "                          ^~\n"
    )


def test_without_location_or_rule() -> None:
    diags = [
        Diagnostic("target-override", Severity.WARNING, "a5 is used", None, (Note("module says a2a3"),)),
        Diagnostic("", Severity.INFO, "plain"),
    ]
    assert render_text(diags) == ("warning: a5 is used [target-override]\n  note: module says a2a3\ninfo: plain\n")


def test_several_message_lines() -> None:
    diag = Diagnostic("r", Severity.ERROR, "one\ntwo", span_of("abc", "b"), (Note("x\ny"),))
    assert render_text([diag]) == ("k.pto:1:2: error: one\n  two [r]\n  abc\n   ^\n  note: x\n    y\n")


def test_tabs_are_expanded_in_line_and_caret_line() -> None:
    text = "\tab\t%x\t: i64"
    start = text.index("%x")
    assert rendered(text, start, start + 2) == (
        "k.pto:1:5: error: m [r]\n          ab      %x      : i64\n                  ^~\n"
    )
    # A tab inside the span is underlined over its whole width.
    assert rendered("a\tb c", 0, 3).splitlines()[1:] == ["  a       b c", "  ^~~~~~~~~"]


def test_wide_and_combining_characters() -> None:
    text = "/*漢字*/ e\u0301 %x // ende"
    start = text.index("%x")
    assert rendered(text, start, start + 2) == (
        f"k.pto:1:{start + 1}: error: m [r]\n  /*漢字*/ e\u0301 %x // ende\n             ^~\n"
    )
    assert rendered("漢字x", 0, 2).splitlines()[1:] == ["  漢字x", "  ^~~~"]
    # Full-width forms.
    assert rendered("ＡＢx", 1, 3).splitlines()[1:] == ["  ＡＢx", "    ^~~"]


def test_unprintable_characters_are_escaped() -> None:
    text = "a\x1b[31m\u202e\x00\udc80 b"
    start = text.index("b")
    assert rendered(text, start, start + 1).splitlines()[1:] == [
        "  a\\x1b[31m\\u202e\\x00\\udc80 b",
        "  " + " " * 26 + "^",
    ]
    diag = Diagnostic("r", Severity.ERROR, "found '\x1b[2J'", span_of("x", "x", "a\nb.pto"))
    assert render_text([diag]).splitlines()[0] == "a\\nb.pto:1:1: error: found '\\x1b[2J' [r]"


def test_crlf_leaves_no_trace() -> None:
    assert rendered("ab\r\ncd\r\n", 4, 6) == "k.pto:2:1: error: m [r]\n  cd\n  ^~\n"
    # A span over the line end is underlined to the end of the text.
    assert rendered("ab  \r\ncd\r\n", 1, 8) == "k.pto:1:2: error: m [r]\n  ab\n   ^\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "k.pto:1:1: error: m [r]\n\n  ^\n"),
        ("ab", "k.pto:1:3: error: m [r]\n  ab\n    ^\n"),
        ("ab\n", "k.pto:2:1: error: m [r]\n\n  ^\n"),
        ("ab\r\n", "k.pto:2:1: error: m [r]\n\n  ^\n"),
    ],
)
def test_end_of_text(text: str, expected: str) -> None:
    assert rendered(text, len(text), len(text)) == expected
    assert rendered(text, len(text), len(text) + 5) == expected


def test_empty_and_reversed_spans_have_one_caret() -> None:
    assert rendered("abcd", 2, 2).splitlines()[2] == "    ^"
    assert rendered("abcd", 2, 0).splitlines()[2] == "    ^"


def test_span_of_several_lines_marks_the_first() -> None:
    text = "x = {  \n  y\n} z"
    assert rendered(text, 4, text.index(" z")) == "k.pto:1:5: error: m [r]\n  x = {\n      ^\n"
    assert rendered("ab cd \nef", 3, 9).splitlines()[1:] == ["  ab cd", "     ^~"]
    # A span that starts in the blanks at a line's end.
    assert rendered("ab   \ncd", 4, 8).splitlines()[1:] == ["  ab", "      ^"]


def test_line_of_exactly_the_limit_is_shown_whole() -> None:
    line = "x" * (MAX_COLUMNS - 1) + "y"
    assert rendered(line, 159, 160).splitlines()[1:] == ["  " + line, "  " + " " * 159 + "^"]


def test_long_line_caret_near_the_start() -> None:
    line = "".join(chr(97 + n % 26) for n in range(300))
    assert rendered(line, 2, 5) == ("k.pto:1:3: error: m [r]\n" + "  " + line[:157] + "...\n" + "    ^~~\n")


def test_long_line_caret_in_the_middle() -> None:
    line = "".join(chr(97 + n % 26) for n in range(1000))
    assert rendered(line, 500, 503) == (f"k.pto:1:501: error: m [r]\n  ...{line[420:574]}...\n  {' ' * 83}^~~\n")


def test_long_line_caret_near_the_end() -> None:
    line = "".join(chr(97 + n % 26) for n in range(300))
    shown = f"  ...{line[143:]}\n"
    assert rendered(line, 298, 300) == f"k.pto:1:299: error: m [r]\n{shown}  {' ' * 158}^~\n"
    assert rendered(line, 300, 300) == f"k.pto:1:301: error: m [r]\n{shown}  {' ' * 160}^\n"


def test_long_underline_stops_at_the_window() -> None:
    line = "a" * 400
    assert rendered(line, 10, 390).splitlines()[1:] == [
        "  " + "a" * 157 + "...",
        "  " + " " * 10 + "^" + "~" * 146,
    ]


def test_long_line_of_tabs_and_wide_characters() -> None:
    text = "\t漢" * 200 + "%x" + "漢" * 200
    start = text.index("%x")
    shown, pad, mark = excerpt(Span(SourceFile("k.pto", text), start, start + 2))
    assert (shown[:3], shown[-3:], mark) == ("...", "...", "^~")
    before = shown[: shown.index("%x")]
    assert pad == sum(2 if char == "漢" else 1 for char in before)


def display_width(text: str) -> int:
    """Columns of already expanded text, counted by its own rule."""
    width = 0
    for char in text:
        if not unicodedata.category(char).startswith("M"):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


@given(
    before=st.text(alphabet="ab \t漢\u0301é\x07", max_size=400),
    after=st.text(alphabet="ab \t漢\u0301é\x07", max_size=400),
)
def test_caret_always_points_at_the_span(before: str, after: str) -> None:
    text = before + "%x" + after
    shown, pad, mark = excerpt(Span(SourceFile("k.pto", text), len(before), len(before) + 2))
    assert mark == "^~"
    assert display_width(shown[: shown.index("%x")]) == pad
    assert display_width(shown) <= MAX_COLUMNS


def test_megabyte_line_is_quick() -> None:
    text = "%a, " * 250_000
    source = SourceFile("k.pto", text)
    diags = [Diagnostic("r", Severity.ERROR, "m", Span(source, n * 40_000, n * 40_000 + 2)) for n in range(25)]
    begin = time.process_time()
    output = render_text(diags)
    assert time.process_time() - begin < 1.0
    assert max(map(len, output.splitlines())) <= MAX_COLUMNS + 2


def test_color() -> None:
    diag = Diagnostic("r", Severity.ERROR, "m", span_of("abc", "bc"), (Note("n"),), "h")
    assert render_text([diag], color=True) == (
        "\x1b[1mk.pto:1:2:\x1b[0m \x1b[1;31merror:\x1b[0m \x1b[1mm\x1b[0m [r]\n"
        "  abc\n"
        "   \x1b[1;32m^~\x1b[0m\n"
        "  \x1b[1;36mhelp:\x1b[0m h\n"
        "  \x1b[1;36mnote:\x1b[0m n\n"
    )


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(), ""),
        (Counts(errors=1), "1 error"),
        (Counts(warnings=2), "2 warnings"),
        (Counts(2, 1, 1), "2 errors, 1 warning, 1 info"),
        (Counts(21, 1, 0, 1), "21 errors, 1 warning; 1 more error not shown"),
        (Counts(25, 0, 3, 5), "25 errors, 3 infos; 5 more errors not shown"),
    ],
)
def test_summary(counts: Counts, expected: str) -> None:
    assert summary(counts) == expected


def test_very_long_names_are_shortened() -> None:
    name = "a" * 1_000_000
    found = Diagnostic("rule", Severity.ERROR, f"@{name} is there twice", help=f"rename @{name}, or remove it")
    short = f"@{'a' * 60}..."
    assert render_text([found]) == f"error: {short} is there twice [rule]\n  help: rename {short}, or remove it\n"
