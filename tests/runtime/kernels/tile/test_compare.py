"""Packed comparisons and selections, bit by bit (docs/reference/tiles.md, "Elementwise")."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import is_float, pairs, random_values, same

from pto_dialect.targets.backend import Backend

MODES: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
FULL = ("i8", "i16", "i32", "ui8", "ui32", "f16", "bf16", "f32")


def number(value: Any, element: str) -> Any:
    return float(value) if is_float(element) else int(value)


def truth(a: np.ndarray, b: np.ndarray, element: str, mode: str) -> np.ndarray:
    """The comparison of every pair as single numbers; NaN is unequal to everything."""
    out = np.zeros(a.shape, bool)
    for index in np.ndindex(*a.shape):
        out[index] = MODES[mode](number(a[index], element), number(b[index], element))
    return out


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("element", FULL)
@pytest.mark.parametrize("valid", [(16, 32), (9, 13)])
def test_two_tiles(element: str, mode: str, valid: tuple[int, int]) -> None:
    a, b = pairs(element)
    before = np.full((16, 32), 0x55)
    found = run(
        f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp {mode}>}} : {{a}}, {{b}}) outs(%d : {{d}})",
        tile("a", element, a, valid), tile("b", element, b, valid), tile("d", "i8", before, valid),
        target="a5", verify=False,
    )["d"]  # fmt: skip
    rows, cols = valid
    bits = truth(a[:rows, :cols], b[:rows, :cols], element, mode)
    wanted = before.astype(np.uint8)
    wanted[:rows] = 0
    for r, c in np.ndindex(rows, cols):
        wanted[r, c // 8] |= int(bits[r, c]) << (c % 8)
    same(found, wanted.view(np.int8))


def repeats_image(bits: np.ndarray, size: int) -> np.ndarray:
    """What the vector unit stores: 16 bytes for 128 lanes of 16-bit rows, 32 bytes for 256 lanes of 8-bit rows, and for
    32-bit elements 16 bytes for 128 elements of all rows one after the other."""
    rows, cols = bits.shape
    if size == 4:
        image = np.zeros(-(-rows * cols // 128) * 16, np.uint8)
        for k, bit in enumerate(bits.reshape(-1)):
            image[k // 128 * 16 + k % 128 // 8] |= int(bit) << (k % 8)
        return image
    lanes, width = (128, 16) if size == 2 else (256, 32)
    per_row = -(-cols // lanes)
    image = np.zeros(rows * per_row * width, np.uint8)
    for r, c in np.ndindex(rows, cols):
        image[(r * per_row + c // lanes) * width + c % lanes // 8] |= int(bits[r, c]) << (c % 8)
    return image


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "f32"])
@pytest.mark.parametrize(
    ("shape", "valid"), [((8, 256), (8, 256)), ((4, 512), (3, 300)), ((16, 64), (7, 33)), ((1, 64), (1, 64))]
)
def test_tile_and_number_in_repeats(element: str, shape: tuple[int, int], valid: tuple[int, int]) -> None:
    rng = np.random.default_rng(16)
    a = random_values(element, shape, rng)
    scalar = number(a[0, 0], element)
    before = np.full(shape, 0x55, np.uint8)
    found = run(
        f"pto.tcmps ins(%a, %s {{cmpMode = #pto<cmp le>}} : {{a}}, {element}) outs(%d : {{d}})",
        tile("a", element, a, valid), tile("d", "ui8", before), scalars={"s": (element, scalar)}, verify=False,
        backend="vpto",
    )["d"]  # fmt: skip
    part = a[: valid[0], : valid[1]]
    image = repeats_image(truth(part, np.full_like(part, scalar), element, "le"), a.dtype.itemsize)
    wanted = before.reshape(-1).copy()
    wanted[: image.size] = image[: wanted.size]
    same(found, wanted.reshape(shape))


def test_number_comparison_fills_the_valid_region_of_the_mask_with_vpto() -> None:
    """64 bits in each row of a mask tile with 8 valid bytes: what a selection reads row by row."""
    a = np.arange(256, dtype=np.float32).reshape(4, 64)
    found = run(
        "pto.tcmps ins(%a, %s {cmpMode = #pto<cmp gt>} : {a}, f32) outs(%d : {d})",
        tile("a", "f32", a), tile("d", "ui8", np.zeros((4, 32)), (4, 8)), scalars={"s": ("f32", 99.5)}, verify=False,
        backend="vpto",
    )["d"]  # fmt: skip
    bits = np.unpackbits(found[:, :8], axis=1, bitorder="little").astype(bool)
    assert (bits == (a > 99.5)).all()


@pytest.mark.parametrize(("target", "backend"), [("a2a3", None), ("a2a3", "vpto"), ("a5", None), ("a5", "emitc")])
@pytest.mark.parametrize(("element", "mode"), [(e, "eq") for e in ("i8", "i32", "f16")] + [("f32", m) for m in MODES])
def test_tile_and_number_by_rows_with_emitc(element: str, mode: str, target: str, backend: Backend | None) -> None:
    a, _ = pairs(element)
    scalar = number(a[2, 0], element)
    found = run(
        f"pto.tcmps ins(%a, %s {{cmpMode = #pto<cmp {mode}>}} : {{a}}, {element}) outs(%d : {{d}})",
        tile("a", element, a), tile("d", "ui8", np.full((16, 32), 9)), scalars={"s": (element, scalar)},
        target=target, backend=backend, verify=False,
    )["d"]  # fmt: skip
    bits = truth(a, np.full_like(a, scalar), element, mode)
    wanted = np.zeros((16, 32), np.uint8)
    for r, c in np.ndindex(16, 32):
        wanted[r, c // 8] |= int(bits[r, c]) << (c % 8)
    same(found, wanted)


@pytest.mark.parametrize("element", FULL)
@pytest.mark.parametrize("mask_element", ["i8", "ui16", "i32"])
def test_selection(element: str, mask_element: str) -> None:
    rng = np.random.default_rng(17)
    a, b = pairs(element)
    mask = random_values(mask_element, (16, 32), rng)
    before = random_values(element, (16, 32), rng)
    valid = (11, 27)
    raw = mask.view(np.uint8)
    wanted = before.copy()
    for r, c in np.ndindex(*valid):
        wanted[r, c] = a[r, c] if raw[r, c // 8] >> (c % 8) & 1 else b[r, c]
    found = run(
        "pto.tsel ins(%m, %a, %b, %t : {m}, {a}, {b}, {t}) outs(%d : {d})",
        tile("m", mask_element, mask), tile("a", element, a, valid), tile("b", element, b, valid),
        tile("t", "ui8", np.zeros((16, 32))), tile("d", element, before, valid), verify=False,
    )  # fmt: skip
    same(found["d"], wanted)


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "f32"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_selection_of_a_number(element: str, dynamic: bool) -> None:
    rng = np.random.default_rng(18)
    a, _ = pairs(element)
    mask = random_values("ui8", (16, 32), rng)
    scalar = number(a[7, 3], element) if not is_float(element) else -2.5
    valid = (16, 29)
    wanted = a.copy()
    for r, c in np.ndindex(*valid):
        wanted[r, c] = a[r, c] if mask[r, c // 8] >> (c % 8) & 1 else scalar
    for target in ("a5", "a2a3"):
        found = run(
            f"pto.tsels ins(%m, %a, %t, %s : {{m}}, {{a}}, {{t}}, {element}) outs(%a : {{a}})",
            tile("m", "ui8", mask), tile("a", element, a, valid, dynamic=dynamic), tile("t", "ui8", mask),
            scalars={"s": (element, scalar)}, verify=False, target=target,
        )  # fmt: skip
        same(found["a"], wanted)


def test_comparison_and_selection_agree() -> None:
    rng = np.random.default_rng(19)
    a, b = (random_values("f32", (16, 64), rng) for _ in range(2))
    found = run(
        "pto.tcmp ins(%a, %b {cmpMode = #pto<cmp gt>} : {a}, {b}) outs(%m : {m})\n"
        "pto.tsel ins(%m, %a, %b, %t : {m}, {a}, {b}, {t}) outs(%d : {d})",
        tile("a", "f32", a), tile("b", "f32", b), tile("m", "i8", np.zeros((16, 64))),
        tile("t", "ui8", np.zeros((16, 64))), tile("d", "f32", a),
    )  # fmt: skip
    same(found["d"], np.maximum(a, b))


def mask_of(bits: np.ndarray) -> np.ndarray:
    """Bit c mod 8 of byte c div 8 of each row, in rows of 32 bytes."""
    image = np.zeros((len(bits), 32), np.uint8)
    for r, c in np.ndindex(*bits.shape):
        image[r, c // 8] |= int(bits[r, c]) << (c % 8)
    return image


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number_of", [False, True], ids=["tiles", "number"])
def test_words_are_compared_for_equality_on_a2a3(mode: str, number_of: bool) -> None:
    """The instructions of a2a3 have no order of 32-bit integers; ``ne`` inverts the bits of ``eq``."""
    a, b = np.array([[3, 4, 5, -4]], np.int32), np.full((1, 4), 4, np.int32)
    other = ("pto.tcmps", "%s", "i32") if number_of else ("pto.tcmp", "%b", "{b}")
    found = run(
        f"{other[0]} ins(%a, {other[1]} {{cmpMode = #pto<cmp {mode}>}} : {{a}}, {other[2]}) outs(%d : {{d}})",
        tile("a", "i32", a), tile("b", "i32", b), tile("d", "i8", np.zeros((1, 32))), scalars={"s": ("i32", 4)},
        target="a2a3", verify=False,
    )["d"]  # fmt: skip
    same(found.view(np.uint8), mask_of(a != b if mode == "ne" else a == b))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("element", ["i16", "ui16"])
def test_a_number_and_words_of_16_bits_are_halves_on_a2a3(element: str, mode: str) -> None:
    """0x8000 is -0.0, 0xFFFF is NaN, 0x3C00 is 1.0 and 0xBC00 is -1.0."""
    bits = np.array([0x0000, 0x8000, 0xFFFF, 0x3C00, 0xBC00, 0x7C00], np.uint16)
    as_floats = [0.0, -0.0, float("nan"), 1.0, -1.0, float("inf")]
    a = bits.view(np.int16 if element == "i16" else np.uint16).reshape(1, -1)
    for k, scalar in enumerate(a[0].tolist()):
        found = run(
            f"pto.tcmps ins(%a, %s {{cmpMode = #pto<cmp {mode}>}} : {{a}}, {element}) outs(%d : {{d}})",
            tile("a", element, a), tile("d", "i8", np.zeros((1, 32))), scalars={"s": (element, scalar)},
            target="a2a3", verify=False,
        )["d"]  # fmt: skip
        same(found.view(np.uint8), mask_of(np.array([[MODES[mode](one, as_floats[k]) for one in as_floats]])))
