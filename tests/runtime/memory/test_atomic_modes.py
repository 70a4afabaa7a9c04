"""The control register's word about stores: what it says, and which stores can be made under it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.atomic import mode_of, with_operation, with_type
from pto_dialect.runtime.numerics.format_table import FORMATS

ELEMENTS = ["f32", "f16", "s16", "s32", "s8", "bf16"]
"""In the order of their numbers in bits 6 to 8, from 1."""
DTYPES = {"f32": np.float32, "f16": np.float16, "s16": np.int16, "s32": np.int32, "s8": np.int8,
          "bf16": ml_dtypes.bfloat16}  # fmt: skip
STORED = {
    "f32": "f32", "f16": "f16", "bf16": "bf16", "s16": "i16 si16 ui16", "s32": "i32 si32 ui32", "s8": "i8 si8 ui8",
}  # fmt: skip
"""Elements of stores under each mode: its own, and integers of its width with any sign."""


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("number", "operation"), list(enumerate(["add", "max", "min"])))
def test_control_words(element: str, number: int, operation: str) -> None:
    word = (ELEMENTS.index(element) + 1) << 6 | number << 9
    assert with_operation(with_type(0, element), operation) == word
    other = 1 << 48 | 0b111111 | 1 << 11
    for ctrl in (word, word | other):
        mode = mode_of(ctrl)
        assert mode is not None
        assert (mode.element, mode.operation, mode.label) == (element, operation, f"atomic_{operation}")
        memory, values = (np.array(numbers, DTYPES[element]) for numbers in ([1, 5, 3], [4, 2, 3]))
        wanted = {"add": [5, 7, 6], "max": [4, 5, 3], "min": [1, 2, 3]}[operation]
        assert mode.combined(memory, values).tolist() == wanted
    assert with_operation(word | other, "max") == with_type(0, element) | 1 << 9 | other
    assert with_type(word | other, "none") & ~other == number << 9
    assert mode_of(with_type(word | other, "none")) is None


@pytest.mark.parametrize("number", range(8))
@in_groups("operation", range(4))
def test_keywords_without_a_meaning(number: int, operation: int) -> None:
    word = number << 6 | operation << 9
    if number == 7 or (operation == 3 and number):
        with pytest.raises(Fault) as caught:
            mode_of(word)
        assert caught.value.rule == "unmodelled"
    else:
        assert (mode_of(word) is None) == (number == 0)


@pytest.mark.parametrize("element", ELEMENTS)
def test_stores_under_a_mode(element: str) -> None:
    mode = mode_of(with_type(0, element))
    assert mode is not None
    for name, fmt in FORMATS.items():
        if name in STORED[element].split():
            mode.check(fmt)
        elif not fmt.compute_only:
            with pytest.raises(Fault, match="atomic mode") as caught:
                mode.check(fmt)
            assert caught.value.rule == "unmodelled", name


def test_unsigned_bytes_are_compared_with_a_sign() -> None:
    mode = mode_of(with_operation(with_type(0, "s8"), "max"))
    assert mode is not None
    found = mode.combined(np.array([200, 3], np.uint8), np.array([5, 250], np.uint8))
    assert found.tolist() == [5, 3] and found.dtype == np.uint8
