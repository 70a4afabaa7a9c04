"""Expressions over the location of a core: their values, and that nothing else is one."""

from __future__ import annotations

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.run.core_expression import VARIABLES, CoreExpression, ExpressionError

PLACE = {"block": 3, "count": 8, "core": 10, "cores": 24, "subblock": 1, "subblocks": 2, "cube": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("block * 2 + subblock", 7),
        ("count - 1 - block", 4),
        (" (block + 5) // 3 ", 2),
        ("block % 2 == 1", 1),
        ("7 if block < 2 else -core", -10),
        ("min(block, 1, count)", 1),
        ("max(block, cores) >> 1", 12),
        ("1 << subblock | 0x10 & 0x1f", 18),
        ("1 << 65 - block", 1 << 62),
        ("1 << 64", 1 << 64),
        (f"{1 << 64} - 1", (1 << 64) - 1),
        ("core & 99", 2),
        ("-1 & cores | -8", -8),
        ("1" + "+1" * 99 + " ", 100),
        ("block ^ 1", 2),
        ("block / 2", 1.5),
        ("+subblocks", 2),
        ("True", 1),
    ],
)  # fmt: skip
def test_value(text: str, value: float) -> None:
    assert CoreExpression(text)(PLACE) == value


@in_groups("text", [
        "", "block +", "blocks", "__import__('os')", "block.real", "block[0]", "(lambda: 1)()", "[1]", "'a'",
        "block ** 9", "2 ** 2 ** 2", "x := 1", "min(block)", "min(*[1, 2])", "max(1, 2, key=3)", "1 < block < 3",
        "block and 1",
        "not block", "1j", f"{1 << 65}", f"{(1 << 64) + 1}",
        "1" + "+1" * 100, "+".join(["1"] * 200), "f'{block}'", "block; core", "~block", "\0",
    ])  # fmt: skip
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ExpressionError):
        CoreExpression(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 // subblock", "divides by zero"),
        ("1 % (block - 3)", "divides by zero"),
        ("1 << 99", "shifts by 99 bits"),
        ("1 << -block", "shifts by -3 bits"),
        ("(1 << 63) * (1 << 63)", "no number"),
        ("(1 << 64) + 1", "no number"),
        ("2 << 64", "no number"),
        ("1 << 65", "shifts by 65 bits"),
        ("block >> -1", "shifts by -1 bits"),
        ("block & 0.5", "bits of a number that is no integer"),
        ("0.5 & block", "bits of a number that is no integer"),
    ],
)
def test_what_has_no_value(text: str, reason: str) -> None:
    expression = CoreExpression(text)
    with pytest.raises(ExpressionError, match=reason):
        expression({**PLACE, "subblock": 0})


@given(st.text(alphabet="blocksubcrente0123456789+-*/%()<>=&|^ .[]'_", max_size=40))
def test_texts_have_a_number_or_a_reason(text: str) -> None:
    try:
        value = CoreExpression(text)(PLACE)
    except ExpressionError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(value, (int, float))


def test_fields_of_a_location_are_the_variables() -> None:
    assert set(PLACE) == set(VARIABLES)
