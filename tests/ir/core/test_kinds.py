"""What kinds of operands accept."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f32, i1, i32, i64

from pto_dialect.ir.core import kinds

SIGNED, UNSIGNED = (IntegerType(32, sign) for sign in (Signedness.SIGNED, Signedness.UNSIGNED))


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        (kinds.SIGNLESS, [i1, i32, i64], [SIGNED, UNSIGNED, f32]),
        (kinds.NUMBER, [i32, f32, bf16], [SIGNED, UNSIGNED]),
    ],
)  # fmt: skip
def test_signs(kind: kinds.Kind, accepted: list[object], refused: list[object]) -> None:
    assert [kind.accepts(each) for each in accepted] == [True] * len(accepted)  # type: ignore[arg-type]
    assert [kind.accepts(each) for each in refused] == [False] * len(refused)  # type: ignore[arg-type]


def test_a_kind_has_no_variables() -> None:
    assert kinds.TILE.mapping_type_vars({}) is kinds.TILE
