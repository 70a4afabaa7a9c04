"""The measurement of small changes: what it changes, and the lists of exceptions it takes."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from code_changes import Change, changes, is_possible  # noqa: E402
from readers import Readers  # noqa: E402

SOURCE = '''"""A page of wording."""

LIMIT: int = 7
NAMES = {"first": 1, "second": 2}


def chosen(a: int, b: int) -> list[int]:
    """Wording that stays."""
    if a < b and a:
        NAMES.clear()
        return [a + b]
    raise ValueError("wording of a message")
'''


def made(kind: str) -> set[tuple[str, str]]:
    """Old and new text of the changes of a kind."""
    return {(change.old, change.new) for change in changes("m.py", SOURCE) if change.kind == kind}


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("comparison", {("a < b", "(a <= b)")}),
        ("and/or", {("a < b and a", "((a < b) or (a))")}),
        ("dropped condition", {("a < b and a", "((a))"), ("a < b and a", "((a < b))")}),
        ("negation", {("a < b and a", "not (a < b and a)")}),
        ("arithmetic", {("a + b", "(a - b)")}),
        ("constant", {("7", "8"), ("1", "2"), ("2", "3")}),
        ("dictionary entry", {('"first": 1, ', "")}),
        ("return None", {("return [a + b]", "return None")}),
        ("dropped statement", {("NAMES.clear()", "pass")}),
        ("word", {('"first"', "'first_x'"), ('"second"', "'second_x'")}),
    ],
)
def test_what_is_changed(kind: str, wanted: set[tuple[str, str]]) -> None:
    assert made(kind) == wanted


QUIET = """from kept import KEPT, LIMIT

class Answers:
    def yes(self, key: str) -> bool:
        if len(KEPT) >= LIMIT:
            KEPT.clear()
        if key in KEPT:
            return False
        return KEPT[key]

    def some(self, key: str) -> int | bool:
        if len(KEPT) >= 7:
            KEPT.clear()
        if len(self.others) > LIMIT:
            KEPT.clear()
        return False
"""


def test_undecidable_code_stays() -> None:
    """None for the False of an answer, and the bound of a cache; not what only looks like it."""
    found = {(change.kind, change.old) for change in changes("m.py", QUIET)}
    assert {old for kind, old in found if kind == "return None"} == {"return KEPT[key]", "return False"}
    assert sum(change.kind == "return None" for change in changes("m.py", QUIET)) == 2
    assert {old for kind, old in found if kind == "negation"} == {
        "key in KEPT", "len(KEPT) >= 7", "len(self.others) > LIMIT",
    }  # fmt: skip
    assert not any(old == "len(KEPT) >= LIMIT" for _, old in found)


def test_checks_of_lengths_stay() -> None:
    found = changes("m.py", "PAIRS = list(zip(A, B, strict=True))\nSOME = made(zip(A, B, strict=False), sure=True)\n")
    assert {(change.old, change.new) for change in found} == {("False", "True"), ("True", "False")}
    assert [change.line for change in found] == [2, 2]


def test_open_extents_and_letters_stay() -> None:
    text = "A = B.reshape(-1, 4)\nC = kind in 'iu'\nD = kind not in 'words'\nif __name__ == '__main__':\n    main(A)\n"
    assert {(change.kind, change.old) for change in changes("m.py", text)} == {
        ("constant", "4"),
        ("comparison", "kind in 'iu'"),
        ("comparison", "kind not in 'words'"),
    }


def test_files_that_are_looked_at(tmp_path: Path) -> None:
    """Those of a subpackage whose names in the package match, also in folders below."""
    pytest.importorskip("coverage")
    from mutate import looked_at, sample

    for name in ("runtime/run/a.py", "runtime/b.py", "syntax/c.py", "elsewhere/d.py"):
        (tmp_path / "pto_dialect" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pto_dialect" / name).write_text("LIMIT = 7\nOTHER = 8\n", encoding="utf-8")

    def names(pattern: str) -> list[str]:
        return [path.removeprefix("pto_dialect/") for path, _ in looked_at(tmp_path, pattern)]

    assert names("*") == ["runtime/b.py", "runtime/run/a.py", "syntax/c.py"]
    assert names("runtime/*") == ["runtime/b.py", "runtime/run/a.py"]
    assert names("runtime/run/*") == ["runtime/run/a.py"] and names("run/*") == []
    chosen = sample(tmp_path, 4, random.Random(1), "runtime/*")
    assert (
        sorted(change.path for change in chosen)
        == ["pto_dialect/runtime/b.py"] * 2 + ["pto_dialect/runtime/run/a.py"] * 2
    )
    assert len(sample(tmp_path, 4, random.Random(1))) == 4


def test_wording_stays() -> None:
    assert not any("ording" in change.old for change in changes("m.py", SOURCE))


def test_changed_files_can_be_read() -> None:
    for change in changes("m.py", SOURCE):
        assert is_possible(change, SOURCE)
        assert change.apply(SOURCE) != SOURCE
    nothing = Change("m.py", 3, "constant", SOURCE.index("7"), SOURCE.index("7") + 1, "7", "7")
    assert not is_possible(nothing, SOURCE)


FIRST = """from .other import thing

_ROWS = {"a": 1}
TABLE = {**_ROWS, "b": 2}


def read(name: str) -> int:
    return TABLE[name]


def count() -> int:
    return 3
"""
SECOND = """from .first import TABLE

COPY = dict(TABLE)


class Asked:
    size = len(COPY)


def unrelated() -> None:
    pass
"""


def test_who_reads_a_table(tmp_path: Path) -> None:
    """Functions and classes that use it, also through other tables and in other files; not those that do not."""
    (tmp_path / "pto_dialect").mkdir()
    for name, text in (("first", FIRST), ("second", SECOND)):
        (tmp_path / "pto_dialect" / f"{name}.py").write_text(text, encoding="utf-8")
    readers = Readers(tmp_path)
    assert readers.names_at("pto_dialect/first.py", 3) == {"_ROWS"}
    found = set(readers.reading("pto_dialect/first.py", 3))
    assert found == {("pto_dialect/first.py", 7, 8), ("pto_dialect/second.py", 6, 7)}
    assert set(readers.reading("pto_dialect/second.py", 3)) == {("pto_dialect/second.py", 6, 7)}
    lines = range(1, len(FIRST.splitlines()) + 1)
    assert [line for line in lines if not readers.runs_at_import("pto_dialect/first.py", line)] == [8, 12]


def test_types_are_no_values() -> None:
    found = changes("m.py", 'Kind = Literal["one", "two", "three"]\nKINDS = WORDS["one"]\n')
    assert {(change.kind, change.old) for change in found} == {("word", '"one"')}
