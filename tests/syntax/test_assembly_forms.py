"""Assembly and Level 1 forms of tile operations, read as programs: no documentation reading is involved."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

import pto_dialect
from pto_dialect.api import ParseError
from pto_dialect.ir.core.suffixes import SUFFIXED

T = "!pto.tile<16x16xf32>"
INDICES = "!pto.tile<16x16xi32>"
M = "!pto.memref<64x32xf32>"
ARGUMENTS = f""".arg %s : {T}
.arg %b : {T}
.arg %idx : {INDICES}
.arg %m : {M}
.arg %r : index
.arg %c : index
.arg %x : f32
"""


def operations(statement: str) -> list[Operation]:
    module = pto_dialect.parse(ARGUMENTS + statement + "\n")
    text = pto_dialect.print_module(module)
    assert pto_dialect.print_module(pto_dialect.parse(text)) == text
    return list(next(iter(module.body.ops)).regions[0].block.ops)


def operation(statement: str) -> Operation:
    return next(op for op in operations(statement) if op.name.startswith(("pto.t", "pto.m")))


def attributes(op: Operation) -> dict[str, str]:
    given = {**op.attributes, **op.properties}
    return {name: str(value) for name, value in given.items() if name != "operandSegmentSizes"}


@pytest.mark.parametrize(
    ("statement", "name", "operands"),
    [
        (f"%d = textract %s[%r, %c] : {T} -> !pto.tile<8x8xf32>", "pto.textract", 3),
        (f"%d = textract %s[0, 8] : {T} -> !pto.tile<8x8xf32>", "pto.textract", 3),
        (f"%d = textract %s[%r, %c] : ({T}, index, index) -> !pto.tile<8x8xf32>", "pto.textract", 3),
        (f"%d = pto.textract %s, %r, %c : ({T}, index, index) -> !pto.tile<8x8xf32>", "pto.textract", 3),
        (f"%d = tinsert %s[%r, %c] : {T} -> {T}", "pto.tinsert", 3),
        (f"%d = pto.tinsert %s[%r, %c] : {T} -> {T}", "pto.tinsert", 3),
        (f"%d = tinsert %s[%r, %c], %b : {T}, {T} -> {T}", "pto.tinsert", 4),
        (f"%d = tmov.m2l %s : {T} -> {T}", "pto.tmov", 1),
        (f"%d = pto.tmov.s2d %s : {T} -> {T}", "pto.tmov", 1),
        (f"tprint %s : {T}", "pto.tprint", 1),
        (f"%d = treshape %s : {T}", "pto.treshape", 1),
        (f"%d = treshape %s : {T} -> !pto.tile<8x32xf32>", "pto.treshape", 1),
        (f"%d = tcmps %s, %x {{cmpMode = #pto.cmp<GT>}} : {T} -> {T}", "pto.tcmps", 2),
        (f"%d = pto.taxpy %s, %x, %b : ({T}, f32, {T}) -> {T}", "pto.taxpy", 3),
        (f"%d = pto.tsetval %r, %x, %b : (index, f32, {T}) -> {T}", "pto.tsetval", 3),
        (f"%d = pto.tinsert %s, %r, %c, %b : ({T}, index, index, {T}) -> {T}", "pto.tinsert", 4),
    ],
)
def test_forms_of_the_manual_are_operations(statement: str, name: str, operands: int) -> None:
    op = operation(statement)
    assert (op.name, len(op.operands)) == (name, operands)


def test_indices_are_numbers_or_values_of_type_index() -> None:
    op = operation(f"%d = textract %s[0, %c] : {T} -> !pto.tile<8x8xf32>")
    assert [str(value.type) for value in op.operands] == [T, "index", "index"]
    assert str(op.results[0].type) == "!pto.tile<8x8xf32>"


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("row", {"coalesce": "#pto<coalesce row>"}),
        ("elem", {"coalesce": "#pto<coalesce elem>"}),
        ("row.clamp", {"coalesce": "#pto<coalesce row>", "gatherOob": "#pto<gather_oob clamp>"}),
        ("elem.zero", {"coalesce": "#pto<coalesce elem>", "gatherOob": "#pto<gather_oob zero>"}),
    ],
)
def test_suffixes_of_gathers(suffix: str, expected: dict[str, str]) -> None:
    op = operation(f"mgather.{suffix} %d, %m, %idx : ({T}, {M}, {INDICES})")
    assert attributes(op) == expected
    memory, index = op.operands
    assert str(memory.type) == "!pto.partition_tensor_view<64x32xf32>"
    assert str(index.type) == INDICES
    assert str(op.results[0].type) == T


def test_suffixes_of_scatters_which_name_the_memory_first() -> None:
    op = operation(f"mscatter.row.clamp.atomic_add %m, %s, %idx : ({M}, {T}, {INDICES})")
    assert attributes(op) == {
        "coalesce": "#pto<coalesce row>",
        "scatterOob": "#pto<scatter_oob clamp>",
        "scatterAtomicOp": "#pto<scatter_atomic_op add>",
    }
    assert [str(value.type) for value in op.operands] == [T, INDICES, "!pto.partition_tensor_view<64x32xf32>"]


def test_suffixes_have_an_order() -> None:
    assert "pto.mscatter.row.clamp.atomic_add" in SUFFIXED
    with pytest.raises(ParseError, match="unknown operation"):
        operations(f"mscatter.atomic_add.row %m, %s, %idx : ({M}, {T}, {INDICES})")


@pytest.mark.parametrize(
    ("statement", "name", "value"),
    [
        ("tstore %s, %m[0, 0] #atomic=add", "atomicType", "#pto<atomic_type atomic_add>"),
        ("tcmps %d, %s, %x #cmp=gt", "cmpMode", "#pto<cmp gt>"),
        ("tstore %s, %m[0, 0] #phase=relu", "reluPreMode", "#pto<relu_pre_mode normal_relu>"),
    ],
)
def test_keys_set_attributes(statement: str, name: str, value: str) -> None:
    assert attributes(operation(statement))[name] == value


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("tmatmul %d, %s, %b #phase=relu", "tmatmul takes no #phase="),
        ("tcmps %d, %s, %x #cmp=gt #cmp=lt", "cmpMode is given twice"),
        ("tcmps %d, %s, %x #cmp=above", "unknown cmp 'above'"),
        (f"tadd %d, %s, %b #order=1 : {T}", "unexpected"),
    ],
)
def test_wrong_keys(statement: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        operations(statement)


def test_memory_without_indices_is_all_of_it() -> None:
    (view, load) = operations(f"%d = tload %m : {M} -> !pto.tile<64x32xf32>")[-3:-1]
    assert view.name == "pto.partition_view"
    assert load.operands[0] is view.results[0]
    assert str(view.results[0].type) == "!pto.partition_tensor_view<64x32xf32>"


def test_a_window_has_the_shape_of_the_tile_that_is_stored() -> None:
    view = next(op for op in operations("tstore %s, %m[%r, %c]") if op.name == "pto.partition_view")
    assert str(view.results[0].type) == "!pto.partition_tensor_view<16x16xf32>"


@pytest.mark.parametrize(
    ("statement", "type_"),
    [(f"%d = tadds %s, 3 : {T}", "f32"), ("tadds %d, %s, 3", "f32"), ("tadds %d, %idx, 3", "i32")],
)
def test_numbers_have_the_element_type_of_the_tile(statement: str, type_: str) -> None:
    value = operation(statement).operands[1]
    assert str(value.type) == type_
    constant = value.owner
    assert isinstance(constant, Operation)
    number = constant.properties["value"]
    assert isinstance(number, IntegerAttr | FloatAttr)
    assert number.value.data == 3


@pytest.mark.parametrize(
    ("value", "type_", "bits"),
    [
        ("0x7FC00000", "f32", 0x7FC00000),
        ("0xFF800000", "f32", 0xFF800000),
        ("-0.0", "f32", 0x80000000),
        ("1.5", "f32", 0x3FC00000),
        ("0x7C00", "f16", 0x7C00),
    ],
)
def test_constants_may_be_written_by_their_bits(value: str, type_: str, bits: int) -> None:
    op = next(op for op in operations(f".const %k = {value} : {type_}") if op.name == "arith.constant")
    number = op.properties["value"]
    assert isinstance(number, FloatAttr)
    stored = np.array(number.value.data, {"f32": np.float32, "f16": np.float16}[type_])
    assert int(stored.view({"f32": np.uint32, "f16": np.uint16}[type_])) == bits


@pytest.mark.parametrize(
    ("value", "type_", "number"), [("true", "i1", -1), ("false", "i1", 0), ("-3", "i64", -3), ("0x10", "index", 16)]
)
def test_integer_constants(value: str, type_: str, number: int) -> None:
    op = next(op for op in operations(f".const %k = {value} : {type_}") if op.name == "arith.constant")
    found = op.properties["value"]
    assert isinstance(found, IntegerAttr)
    assert (found.value.data, str(found.type)) == (number, type_)
