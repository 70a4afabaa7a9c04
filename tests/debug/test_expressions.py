"""Expressions have the values of numpy, and nothing but expressions is possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.debug.expressions import Expression, ExpressionError

C = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
VALUES: dict[str, Any] = {"%c": C, "%i": 3, "%0": 7, "ref": C + 1, "%a.b": 2}


def value(text: str) -> Any:
    def lookup(name: str) -> Any:
        if name not in VALUES:
            raise ExpressionError(f"there is no {name}")
        return VALUES[name]

    return Expression(text).value(lookup)


@in_groups(
    ("text", "wanted"),
    [
        ("%c[0:2, :3]", C[:2, :3]),
        ("%c[-1, ::2]", C[-1, ::2]),
        ("max(abs(%c - ref))", 1),
        ("max(%i, 5)", 5),
        ("%c @ T(%c)", C @ C.T),
        ("sum(%c)", C.sum()),
        ("sum(int(%c))", int(C.sum())),
        ("mean(%c)", C.mean()),
        ("%i + %0 * 2", 17),
        ("%0 % 4", 3),
        ("%a.b", 2),
        ("-%i // 2", -2),
        ("%i == 3 and %0 > 6", True),
        ("%i == 2 or not %0", False),
        ("1 < %i <= 3", True),
        ("isnan(nan) and inf > 1", True),
        ("%i if %i > 2 else missing", 3),
        ("missing if %i > 3 else -%i", -3),
        ("5 < %i < missing", False),
        ("0 < %c <= 3", (C > 0) & (C <= 3)),
        ("any(isnan(%c / 0))", True),
        ("count(%c > 0)", 6),
        ("argmax(%c)", 11),
        ("shape(%c)", (3, 4)),
        ("%c[%i - 1, 0]", C[2, 0]),
        ("sqrt(float(%i))", np.sqrt(3.0)),
        ("~%i & 0xff | 1", 253),
    ],
)
def test_values(text: str, wanted: Any) -> None:
    assert np.array_equal(value(text), wanted)


@in_groups(
    "text",
    [
        "__import__('os')",
        "().__class__",
        "%c.tofile('x')",
        "(lambda: 1)()",
        "[x for x in %c]",
        "9**9**9",
        "1 << 1000000",
        "'x' * 10",
        "f'{1}'",
        "open('x')",
        "max(%c, key=abs)",
        "x := 1",
        "{1: 2}",
        "%c[0](1)",
        "abs",
        "",
        "1 +",
        "%c[",
        "\0",
        "(" * 400,
        "1" + "+1" * 600,
        "%nothing",
        "%c[5]",
        "%c @ %c",
        "%c['a']",
        "ref[1.5]",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


def test_values_that_do_not_fit_into_memory_are_refused() -> None:
    VALUES["%column"] = np.zeros((1 << 14, 1), np.uint8)
    VALUES["%row"] = np.zeros((1, 1 << 14), np.uint8)
    with pytest.raises(ExpressionError, match="the value would have 268435456 elements"):
        value("%column + %row")
