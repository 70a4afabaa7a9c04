"""Matrix products of tiles against the shape equation and the list of element types, written out independently."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tile_programs import errors, findings, tile

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.verify.engine.rule import RULES, load_all_rules

load_all_rules()

TARGETS = ("a2a3", "a5")
ELEMENTS = ("f16", "bf16", "f32", "i8", "ui8", "i16", "f8E4M3FN", "f8E5M2", "!pto.hif8", "!pto.f4E2M1x2")
FP8 = ("f8E4M3FN", "f8E5M2")


def product(lhs: str, rhs: str, dst: str, op: str = "tmatmul", rows: int = 16) -> str:
    left, right = tile("left", lhs, (rows, 64)), tile("right", rhs, (64, 16))
    acc = tile("acc", dst, (rows, 16))
    if op.endswith(".acc"):
        return f"pto.{op} ins(%c, %a, %b : {acc}, {left}, {right}) outs(%c : {acc})"
    return f"pto.{op} ins(%a, %b : {left}, {right}) outs(%c : {acc})"


def is_multiplied(target: str, lhs: str, rhs: str, dst: str) -> bool:
    """The combinations as the pages of tmatmul and tgemv list them, fp8 pairs and hif8 on a5."""
    if dst == "i32":
        return {lhs, rhs} <= {"i8", "ui8"}
    if dst != "f32":
        return False
    if lhs == rhs and lhs in ("f16", "bf16", "f32"):
        return True
    return target == "a5" and ((lhs in FP8 and rhs in FP8) or lhs == rhs == "!pto.hif8")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dst", ["f32", "i32", "f16", "bf16"])
@pytest.mark.parametrize("op", ["tmatmul", "tmatmul.acc", "tgemv"])
def test_element_types(target: str, dst: str, op: str) -> None:
    rule = "matmul-acc-types" if op.endswith(".acc") else "matmul-types"
    for lhs, rhs in itertools.product(ELEMENTS, repeat=2):
        found = errors(product(lhs, rhs, dst, op, rows=1 if op == "tgemv" else 16), target)
        assert found == (set() if is_multiplied(target, lhs, rhs, dst) else {rule}), (lhs, rhs)


@pytest.mark.parametrize("target", TARGETS)
def test_unsigned_operands_are_warned_about(target: str) -> None:
    for lhs, rhs in itertools.product(("i8", "si8", "ui8"), repeat=2):
        found = findings(product(lhs, rhs, "i32"), target)
        assert found == ({"matmul-unsigned-int8": Severity.WARNING} if "ui8" in (lhs, rhs) else {})


SIZES = st.integers(min_value=0, max_value=48)
OPEN_OR_SIZE = st.one_of(st.just("?"), SIZES)


@given(st.tuples(*[SIZES] * 6), st.sampled_from(TARGETS))
def test_valid_regions_of_tmatmul(sizes: tuple[int, ...], target: str) -> None:
    m, k, k2, n, m2, n2 = sizes
    left = tile("left", "f16", (48, 48), (m, k))
    right = tile("right", "f16", (48, 48), (k2, n))
    acc = tile("acc", "f32", (48, 48), (m2, n2))
    found = findings(f"pto.tmatmul ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
    assert (found.get("matmul-shape") is Severity.ERROR) == ((m, k, n) != (m2, k2, n2))
    assert ("matmul-empty" in found) == (0 in (m, k, n))
    assert set(found) <= {"matmul-shape", "matmul-empty"}


@given(st.tuples(*[OPEN_OR_SIZE] * 6), st.sampled_from(TARGETS))
def test_open_valid_sizes_count_as_physical_ones(sizes: tuple[int | str, ...], target: str) -> None:
    m, k, k2, n, m2, n2 = (48 if size == "?" else size for size in sizes)
    left = tile("left", "f16", (48, 48), (sizes[0], sizes[1]))
    right = tile("right", "f16", (48, 48), (sizes[2], sizes[3]))
    acc = tile("acc", "f32", (48, 48), (sizes[4], sizes[5]))
    found = errors(f"pto.tmatmul ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
    assert found == ({"matmul-shape"} if (m, k, n) != (m2, k2, n2) else set())


@given(st.tuples(*[st.integers(min_value=1, max_value=3)] * 6), st.sampled_from(TARGETS))
def test_physical_sizes_are_advice(blocks: tuple[int, ...], target: str) -> None:
    m, k, k2, n, m2, n2 = (16 * count for count in blocks)
    left = tile("left", "f16", (m, k), (16, 16))
    right = tile("right", "f16", (k2, n), (16, 16))
    acc = tile("acc", "f32", (m2, n2), (16, 16))
    found = findings(f"pto.tmatmul ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
    differ = (m, k, n) != (m2, k2, n2)
    assert found == ({"matmul-static-shape": Severity.WARNING} if differ else {})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [1, 2, 4094, 4095, 4096, 8192])
def test_extents(target: str, size: int) -> None:
    left, right = tile("left", "i8", (16, 8192), (16, size)), tile("right", "i8", (8192, 16), (size, 16))
    acc = tile("acc", "i32", (16, 16))
    found = errors(f"pto.tmatmul ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
    assert found == ({"matmul-range"} if size > 4095 else set())
    left = tile("left", "i8", (16, 8192), (1, size))
    acc = tile("acc", "i32", (16, 16), (1, 16))
    reported = findings(f"pto.tgemv ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
    severity = Severity.ERROR if target == "a5" else Severity.WARNING
    assert reported == ({"gemv-range": severity} if size > 4095 else {})


@given(st.integers(min_value=1, max_value=4), st.integers(min_value=1, max_value=256), st.integers(1, 64))
def test_scales_of_mx_products(m: int, k: int, n: int) -> None:
    groups = (k + 31) // 32
    left = tile("left", "f8E4M3FN", (16, 256), (m, k))
    right = tile("right", "f8E5M2", (256, 64), (k, n))
    acc = tile("acc", "f32", (16, 64), (m, n))
    row, col = ("row_major", "row_major", 32), ("col_major", "col_major", 32)
    for extra in (0, 1) if groups < 8 else (0,):
        scale = tile("scaling", "!pto.f8E8M0", (16, 8), (m, groups + extra), row)
        other = tile("scaling", "!pto.f8E8M0", (8, 64), (groups, n), col)
        text = f"pto.tmatmul.mx ins(%a, %s, %b, %t : {left}, {scale}, {right}, {other}) outs(%c : {acc})"
        assert findings(text, "a5") == ({"mx-scale-shape": Severity.ERROR} if extra else {})


LOCATIONS = ("vec", "mat", "left", "right", "acc", "bias", "scaling")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["tmatmul", "tgemv"])
def test_every_other_location_is_refused(target: str, op: str) -> None:
    rows = 1 if op == "tgemv" else 16
    for role, right_place in (("lhs", "left"), ("rhs", "right"), ("dst", "acc")):
        for loc in LOCATIONS:
            places = {"lhs": "left", "rhs": "right", "dst": "acc", role: loc}
            left = tile(places["lhs"], "f16", (rows, 64), layout=("col_major", "row_major", 512))
            right = tile(places["rhs"], "f16", (64, 16), layout=("row_major", "col_major", 512))
            acc = tile(places["dst"], "f32", (rows, 16), layout=("col_major", "row_major", 1024))
            found = errors(f"pto.{op} ins(%a, %b : {left}, {right}) outs(%c : {acc})", target)
            broken = "matmul-dst-loc" if role == "dst" else "matmul-loc"
            assert found == (set() if loc == right_place else {broken}), (role, loc)


def test_rules_of_sections_4_and_5_exist() -> None:
    names = """
        matmul-loc matmul-dst-loc matmul-shape matmul-static-shape matmul-range matmul-empty matmul-types
        matmul-unsigned-int8 matmul-left-layout matmul-right-layout matmul-acc-layout matmul-acc-fractal
        matmul-acc-in-loc matmul-acc-types matmul-bias-loc matmul-bias-row matmul-bias-elem matmul-bias-layout
        matmul-native-layout matmul-bias-cols matmul-mx-needs-a5 matmul-mx-types matmul-mx-dst-f32
        matmul-mx-k64 matmul-mx-scale-loc mx-scale-shape mx-scale-dtype mx-scale-layout matmul-mx-bias-f32
        matmul-phase matmul-operand-alias gemv-m1 gemv-k gemv-n gemv-range gemv-bias-elem gemv-mx-needs-a5
    """
    assert [name for name in names.split() if name not in RULES] == []
