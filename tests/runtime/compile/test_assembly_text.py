"""Assembly text computes what its suffixes, keys, numbers and indices say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pto_dialect

T = "!pto.tile<16x16xf32>"
A = np.arange(256, dtype=np.float32).reshape(16, 16)
TABLE = np.linspace(-8, 8, 64 * 16, dtype=np.float32).reshape(64, 16)


def run(text: str, *arguments: Any, target: str = "a5") -> Any:
    return pto_dialect.compile(pto_dialect.parse(text), target=target)(*arguments)


@pytest.mark.parametrize(("number", "value"), [("3", 3.0), ("-2.5", -2.5), ("0x3F800000", 1.0)])
def test_numbers_are_elements_of_the_tile(number: str, value: float) -> None:
    result = run(f".arg %a : {T}\n%d = tadds %a, {number} : {T}\n", A.copy())
    np.testing.assert_array_equal(result, A + np.float32(value))


def test_indices_of_a_tile_are_its_first_element() -> None:
    result = run(f".arg %a : {T}\n%d = textract %a[8, 4] : {T} -> !pto.tile<8x8xf32>\n", A.copy())
    np.testing.assert_array_equal(result, A[8:, 4:12])


def test_suffixes_of_a_gather_say_what_is_gathered() -> None:
    rows = np.array([[63, 0, 7, 7, 12, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13]], dtype=np.int32)
    text = (
        ".arg %m : !pto.memref<64x16xf32>\n.arg %i : !pto.tile<1x16xi32>\n"
        f"mgather.row %d, %m, %i : ({T}, !pto.memref<64x16xf32>, !pto.tile<1x16xi32>)\n"
    )
    np.testing.assert_array_equal(run(text, TABLE.copy(), rows), TABLE[rows[0]])


def test_suffixes_of_a_scatter_say_how_memory_is_combined() -> None:
    rows = np.array([[5, 5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 63]], dtype=np.int32)
    memory, expected = TABLE.copy(), TABLE.copy()
    for row, source in zip(rows[0], A, strict=True):
        expected[row] += source
    text = (
        f".arg %m : !pto.memref<64x16xf32>\n.arg %a : {T}\n.arg %i : !pto.tile<1x16xi32>\n"
        f"mscatter.row.atomic_add %m, %a, %i : (!pto.memref<64x16xf32>, {T}, !pto.tile<1x16xi32>)\n"
    )
    run(text, memory, A.copy(), rows)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("key", ["", "#atomic=add"])
def test_a_key_of_a_store_adds(key: str) -> None:
    memory, expected = TABLE.copy(), TABLE.copy()
    expected[16:32] = A + expected[16:32] if key else A
    run(f".arg %a : {T}\n.arg %m : !pto.memref<64x16xf32>\ntstore %a, %m[16, 0] {key}\n", A.copy(), memory)
    np.testing.assert_array_equal(memory, expected)


def test_memory_without_indices_is_loaded_whole() -> None:
    tile = "!pto.tile<64x16xf32>"
    text = (
        f".arg %m : !pto.memref<64x16xf32>\n%a = tload %m : !pto.memref<64x16xf32> -> {tile}\n%d = tneg %a : {tile}\n"
    )
    np.testing.assert_array_equal(run(text, TABLE.copy()), -TABLE)


@pytest.mark.parametrize(
    ("key", "compare"), [("gt", np.greater), ("le", np.less_equal), ("eq", np.equal), ("ne", np.not_equal)]
)
def test_a_key_of_a_comparison_is_its_mode(key: str, compare: Any) -> None:
    bits = "!pto.tile<16x32xi8>"
    wanted = compare(A, np.float32(100))
    text = f".arg %a : {T}\n%d = tcmps %a, 100 #cmp={key} : ({T}, f32) -> {bits}\n"
    spelled = run(text, A.copy(), target="a2a3")  # There every row has its own bits.
    packed = np.packbits(wanted, axis=1, bitorder="little").view(np.int8)
    np.testing.assert_array_equal(spelled[:, : packed.shape[1]], packed)
