"""Regular expressions from cached code are those that Python compiles."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _compiler  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.accel.cache_table import CacheTable, table_file
from pto_dialect.accel.regex_code import MOST_BYTES, CachedExpressions, cached_regex_code
from pto_dialect.syntax.read import lexer

EXPRESSIONS = (
    *((r"a(b)|(?P<name>c+)(?P=name)?", 0), (r"(?i)STRASSE|ß", 0), (r"[^\w\s]*+(?<!x)$", re.M), ("", 0)),
    *((r"(?s:.)\Z  # no comment", re.X), (r"\d{2,5}?[à-ÿ]\N{BULLET}", re.I | re.A), ("(" * 20 + "x" + ")" * 20, 0)),
    (lexer._TOKEN.pattern, lexer._TOKEN.flags & ~re.U),
)


def cached_expressions(path: str) -> CachedExpressions:
    return CachedExpressions(CacheTable(path, MOST_BYTES), _compiler)


def both(pattern: str, flags: int, path: str) -> tuple[Any, Any, Any]:
    """An expression by Python, by the first process that keeps it, and by one that finds it."""
    first = cached_expressions(path)
    made = first(pattern, flags)
    first.table.save()
    second = cached_expressions(path)
    found = second(pattern, flags)
    assert not second.table.added
    return _compiler.compile(pattern, flags), made, found


def assert_alike(one: Any, other: Any) -> None:
    assert one == other and hash(one) == hash(other)
    assert (one.pattern, one.flags, one.groups, one.groupindex) == (
        *(other.pattern, other.flags, other.groups, other.groupindex),
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    file = table_file("regex")
    assert file is not None
    original = _compiler.compile
    yield file
    assert _compiler.compile is original


@pytest.mark.parametrize(("pattern", "flags"), EXPRESSIONS)
def test_expressions_are_the_same(path: str, pattern: str, flags: int) -> None:
    compiled, made, found = both(pattern, int(flags), path)
    assert_alike(made, compiled)
    assert_alike(found, compiled)
    for text in ("abc", "ccc", "STRASSE", "x", "  ", "12à•", "pto.mad %a, %b : i64", ""):
        for method in ("match", "search", "fullmatch"):
            results = [getattr(expression, method)(text) for expression in (compiled, found)]
            shown = [result and (result.span(), result.groups(), result.lastgroup) for result in results]
            assert shown[0] == shown[1]


@given(st.text(alphabet=r"ab[]()|*+?{},1\d^$.-", max_size=12), st.sampled_from([0, re.I, re.S | re.M]))
def test_any_pattern(tmp_path_factory: pytest.TempPathFactory, pattern: str, flags: int) -> None:
    path = str(tmp_path_factory.getbasetemp() / "expressions")
    try:
        compiled = _compiler.compile(pattern, int(flags))
    except (re.error, OverflowError) as error:
        with pytest.raises(type(error)) as caught:
            cached_expressions(path)(pattern, int(flags))
        assert str(caught.value) == str(error)
        return
    except Warning:
        return
    _, made, found = both(pattern, int(flags), path)
    assert_alike(made, compiled)
    assert_alike(found, compiled)


def test_patterns_of_bytes_and_text_do_not_mix(path: str) -> None:
    first = cached_expressions(path)
    assert first("a+").match("aa") and first(b"a+").match(b"aa")
    first.table.save()
    second = cached_expressions(path)
    assert_alike(second(b"a+"), _compiler.compile(b"a+"))
    assert_alike(second("a+"), _compiler.compile("a+"))
    assert not second.table.added


@pytest.mark.parametrize(
    "parts", [(0, [1, 2], 0, {}, (None,)), (0,), None, (0, ["x"], 0, {}, ()), (0, [-1], 0, {}, ())]
)
def test_parts_that_are_wrong_are_replaced(path: str, parts: Any) -> None:
    first = cached_expressions(path)
    first.table.add(("str", "a+", 0), parts)
    first.table.save()
    second = cached_expressions(path)
    assert_alike(second("a+"), _compiler.compile("a+"))
    second.table.save()
    third = cached_expressions(path)
    assert_alike(third("a+"), _compiler.compile("a+"))
    assert not third.table.added


def test_the_patch_goes_away(path: str) -> None:
    original = _compiler.compile
    with pytest.raises(RuntimeError), cached_regex_code():
        assert _compiler.compile is not original
        assert re.compile(r"an expression that nobody has compiled \d+").search("compiled 5") is None
        raise RuntimeError
    assert CacheTable(path, MOST_BYTES).get(("str", r"an expression that nobody has compiled \d+", 0)) is not None


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_an_unknown_python_is_left_alone(path: str, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]) -> None:
    original = _compiler.compile
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    with cached_regex_code():
        assert _compiler.compile is original


def test_inside_of_itself_it_does_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    with cached_regex_code():
        outer = _compiler.compile
        assert isinstance(outer, CachedExpressions)
        with cached_regex_code():
            assert _compiler.compile is outer
        assert _compiler.compile is outer


def test_without_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    original = _compiler.compile
    with cached_regex_code():
        assert _compiler.compile is original
