"""Possessive groups match on every Python, also on those that lose the beginning of a failed attempt."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pto_dialect
from pto_dialect.patterns import portable, with_atomic_groups
from pto_dialect.syntax.read.lexer import SPACE

PACKAGE = Path(pto_dialect.__file__).parent
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\{?[\d,]+\}\}?)\+")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"(?:a|b)*+c", r"(?>(?:a|b)*)c"),
        (r"(?:a)?+(?:b)++", r"(?>(?:a)?)(?>(?:b)+)"),
        (r"x(?:a(?:b|c)*+)*+", r"x(?>(?:a(?>(?:b|c)*))*)"),
        (r"(?P<n>(?:,a)*+)(?P<e>=)?", r"(?P<n>(?>(?:,a)*))(?P<e>=)?"),
        (r"(?:a|bc){0,20}+(?:d){2}+", r"(?>(?:a|bc){0,20})(?>(?:d){2})"),
        # Neither an escape nor a set begins or ends a group; possessive repetitions of one character stay.
        (r"\((?:[()]|\))*+", r"\((?>(?:[()]|\))*)"),
        (r"[^])]*+\s++", r"[^])]*+\s++"),
        (r"(?:a)*(?:b)+", r"(?:a)*(?:b)+"),
    ],
)
def test_possessive_groups_become_atomic(pattern: str, expected: str) -> None:
    assert with_atomic_groups(pattern) == expected
    re.compile(expected)


def test_a_list_ends_before_the_space_that_no_comma_follows() -> None:
    pattern = rf"(?P<list>%\w+(?:{SPACE},{SPACE}%\w+)*+)(?P<equals>{SPACE}=)?"
    for form in (portable(pattern), with_atomic_groups(pattern)):
        match = re.match(form, "%a , %b : f32")
        assert match is not None and match.groupdict() == {"list": "%a , %b", "equals": None}


@given(st.text(alphabet='a,/= "\\\n', max_size=20))
def test_both_forms_match_the_same(text: str) -> None:
    for pattern in (r'"(?:[^"\\\n]++|\\.)*+"', r"(?:a(?:/a)*+ ?,)*+a", r"(?:\s++|//[^\n]*+)*+"):
        forms = (re.compile(portable(pattern)), re.compile(with_atomic_groups(pattern)))
        first, second = ([match.span() for match in form.finditer(text)] for form in forms)
        assert first == second


def test_every_possessive_group_of_the_package_is_portable() -> None:
    missing: list[str] = []
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if not _POSSESSIVE_GROUP.search(source) or path.name == "patterns.py":
            continue
        tree = ast.parse(source)
        allowed = {
            id(part)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "portable"
            for part in ast.walk(call)
        }
        missing += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str | bytes)
            and _POSSESSIVE_GROUP.search(node.value if isinstance(node.value, str) else node.value.decode("latin-1"))
            and id(node) not in allowed
        ]
    assert missing == []
