"""Files of suppressions: what a line says, and which findings it takes away."""

from __future__ import annotations

import pytest

from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.sanitize.report.suppress import Suppression, SuppressionError, comments_of, read_suppressions


def read(text: str) -> list[tuple[str, str, int | None, str]]:
    return [(s.rule, s.file, s.line, s.reason) for s in read_suppressions(text, "known.txt")]


@pytest.mark.parametrize(
    ("place", "file", "line"),
    [
        ("k.pto:12", "k.pto", 12),
        ("k.pto", "k.pto", None),
        ("*", "*", None),
        ("dir/*.pto:3", "dir/*.pto", 3),
        ("12", "12", None),
        ("c:k.pto", "c:k.pto", None),
        ("a:b:7", "a:b", 7),
    ],
)
def test_locations(place: str, file: str, line: int | None) -> None:
    assert read(f"race-war {place} known since spring") == [("race-war", file, line, "known since spring")]


def test_comments_and_empty_lines() -> None:
    text = "# a page\n\nrace-war k.pto one # not part of it\n   \nmem-* a.pto:2 two words\n"
    assert read(text) == [("race-war", "k.pto", None, "one"), ("mem-*", "a.pto", 2, "two words")]


@pytest.mark.parametrize("line", ["race-war", "race-war k.pto", "race-war k.pto # no reason"])
@pytest.mark.parametrize("before", [0, 3])
def test_a_line_without_reason_is_named(line: str, before: int) -> None:
    with pytest.raises(
        SuppressionError, match=rf"^known\.txt:{before + 1}: a suppression is a rule, a source location and a reason"
    ):
        read("# page\n" * before + line)


def test_fields() -> None:
    assert Suppression("race-*", "k.pto", 3, "why").reason == "why"


@pytest.mark.parametrize(
    ("rule", "file", "line", "covered"),
    [
        ("race-war", "deep/dir/k.pto", None, True),
        ("race-war", "k.pto", None, True),  # as the end of a path
        ("race-war", "dir/k.pto", None, True),
        ("race-war", "other/k.pto", None, False),
        ("race-war", "*", None, True),
        ("race-war", "deep/*", None, True),  # `*` stands for folders, too
        ("race-war", "*/k.*", None, True),
        ("race-war", "K.pto", None, False),
        ("race-war", "k", None, False),
        ("race-*", "k.pto", 2, True),
        ("race-*", "k.pto", 3, False),
        ("race-raw", "k.pto", 2, False),
        ("*", "*", 2, True),
    ],
)
def test_what_a_suppression_covers(rule: str, file: str, line: int | None, covered: bool) -> None:
    source = SourceFile("deep/dir/k.pto", "one\ntwo\nthree\n")
    assert Suppression(rule, file, line, "why").covers("race-war", Span(source, 4, 7)) is covered


SANITIZE = "// pto-sanitize: allow"
ALLOW = "// pto: allow"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"a.b {SANITIZE} race-war so it is", [("race-war", 11, "so it is")]),
        (f"{SANITIZE} mem-* one\na.b", [("mem-*", 12, "one")]),
        (f"{SANITIZE} mem-* one\n  {SANITIZE} race-raw two\na.b", [("mem-*", 13, "one"), ("race-raw", 13, "two")]),
        (f"{SANITIZE} mem-* one\na.b {SANITIZE} race-raw two\na.c",
         [("mem-*", 12, "one"), ("race-raw", 12, "two")]),
        (f"{SANITIZE} mem-* nothing behind it", []),
        (f"a.b\na.c {ALLOW}(race-war) because so", [("race-war", 12, "so")]),
        (f"{ALLOW}(race-war, mem-oob) because so\n\na.b", [("race-war", 13, "so"), ("mem-oob", 13, "so")]),
        (f"a.b {ALLOW}(race-war) because so\n  : i32\n  -> i32\na.c", [("race-war", n, "so") for n in (11, 12, 13)]),
        (f"{SANITIZE} mem-* one\na.b {ALLOW}(race-war) because so", [("mem-*", 12, "one"), ("race-war", 12, "so")]),
        ("a.b // pto is what we allow\na.c", []),
    ],
)  # fmt: skip
def test_comments_in_programs(text: str, found: list[tuple[str, int, str]]) -> None:
    source = SourceFile("k.pto", text, first_line=11)
    assert [(one.rule, one.line, one.reason) for one in comments_of(source)] == found
    assert {one.file for one in comments_of(source)} <= {"k.pto"}


@pytest.mark.parametrize("rest", ["", " allow", " allow race-war", " allow race-war  ", " forbid race-war so"])
def test_comments_of_another_form(rest: str) -> None:
    with pytest.raises(SuppressionError, match=r"^k\.pto:12: the form is // pto-sanitize: allow RULE REASON$"):
        comments_of(SourceFile("k.pto", f"a.b\na.c // pto-sanitize:{rest}\n"[4:], first_line=12))
