"""Numbers that lowering computes. Source: docs/reference/core-operations.md, "arith"."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerAttr, i8, i16, i32, i64
from xdsl.ir import Attribute

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.instructions.writer import INDEX, Function


@pytest.mark.parametrize(
    ("number", "type_", "kept"),
    [
        (2**64, INDEX, 0),
        (2 * (2**64 - 1), INDEX, -2),
        (2**64 - 1, INDEX, 2**64 - 1),
        (-(2**63), i64, -(2**63)),
        (-(2**63) - 1, i64, 2**63 - 1),
        (2**31, i32, -(2**31)),
        (2**32 + 5, i32, 5),
        (-(2**15) - 2, i16, 2**15 - 2),
        (300, i8, 44),
    ],
)
def test_integers_beyond_their_type_wrap_as_in_a_run(number: int, type_: Attribute, kept: int) -> None:
    module = parse("func.func @f() {\n  return\n}\n")
    (function,) = (op for op in walk(module) if op.name == "func.func")
    value = Function(function).constant(number, type_)
    attribute = value.owner.value  # pyright: ignore
    assert isinstance(attribute, IntegerAttr)
    assert attribute.value.data == kept
    assert attribute.type == type_
