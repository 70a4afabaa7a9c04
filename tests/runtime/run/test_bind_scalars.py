"""Numbers as arguments: what a type takes and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import Float32Type, IndexType, IntegerType

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.run.arguments import bind_argument


@pytest.mark.parametrize(
    ("value", "bound"), [(True, True), (False, False), (1, True), (0, False), (np.array([True]), True)]
)
def test_booleans(value: Any, bound: bool) -> None:
    assert bind_argument("flag", IntegerType(1), value) is bound


@pytest.mark.parametrize("value", [2, -2, 1.0, "true"])
def test_no_booleans(value: Any) -> None:
    with pytest.raises(BindingError, match="flag"):
        bind_argument("flag", IntegerType(1), value)


@pytest.mark.parametrize("type_", [IntegerType(8), IntegerType(32), IndexType()])
def test_a_boolean_is_no_wider_integer(type_: IntegerType | IndexType) -> None:
    with pytest.raises(BindingError, match="needs an integer"):
        bind_argument("n", type_, True)
    assert bind_argument("n", type_, np.int64(-128)) == -128


def test_numbers() -> None:
    assert bind_argument("x", Float32Type(), 2) == 2.0
    assert bind_argument("n", IntegerType(8), -128) == -128
    with pytest.raises(BindingError, match="does not fit"):
        bind_argument("n", IntegerType(8), 256)
