"""Strides, offsets and parts of types, and names of symbols; the numbers are those of MLIR's own bindings."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from pto_dialect.integrations.builders import ir
from pto_dialect.integrations.builders.declare import GeneratedOp
from pto_dialect.integrations.builders.dialects import arith, func, llvm, math, memref
from pto_dialect.integrations.builders.ir import (
    Attribute,
    Context,
    F32Type,
    IndexType,
    InsertionPoint,
    Location,
    MemRefType,
    MLIRError,
    Module,
    RankedTensorType,
    ShapedType,
    StridedLayoutAttr,
    StringAttr,
    SymbolTable,
    TupleType,
    Type,
)
from pto_dialect.verify.core.table import CORE_NAMES, constraints_of

DIALECTS = (arith, func, llvm, math, memref)
DYNAMIC = ShapedType.get_dynamic_stride_or_offset()


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with Context(), Location.unknown():
        yield


@pytest.mark.parametrize(
    ("memref", "strides", "offset"),
    [
        ("memref<f32>", [], 0),
        ("memref<4xf32>", [1], 0),
        ("memref<2x3x4xf32>", [12, 4, 1], 0),
        ("memref<?x4xf32>", [4, 1], 0),
        ("memref<4x?xf32>", [DYNAMIC, 1], 0),
        ("memref<3x?x4xf32>", [DYNAMIC, 4, 1], 0),
        ("memref<4x8xf32, strided<[16, 2], offset: 3>>", [16, 2], 3),
        ("memref<4x8xf32, strided<[?, 1], offset: ?>>", [DYNAMIC, 1], DYNAMIC),
        ("memref<4x8xf32, affine_map<(i, j) -> (i * 16 + j)>>", [16, 1], 0),
        ("memref<4x8xf32, affine_map<(i, j) -> (2 * (i * 8 + j) + 3)>>", [16, 2], 3),
        ("memref<4x8xf32, affine_map<(i, j)[s, t] -> (i * s + j + t)>>", [DYNAMIC, 1], DYNAMIC),
        ("memref<4x8xf32, affine_map<(i, j) -> (j)>>", [0, 1], 0),
        ("memref<4x?xf32, affine_map<(i, j) -> (i, j)>>", [DYNAMIC, 1], 0),
    ],
)
def test_strides_and_offset_of_a_memref(memref: str, strides: list[int], offset: int) -> None:
    assert Type.parse(memref).get_strides_and_offset() == (strides, offset)


@pytest.mark.parametrize("results", ["j, i", "i floordiv 2 + j", "i mod 2 + j", "i floordiv 2, j"])
def test_memref_with_another_map_has_no_strides(results: str) -> None:
    memref = Type.parse(f"memref<4x8xf32, affine_map<(i, j) -> ({results})>>")
    with pytest.raises(RuntimeError, match="its layout is no sum of multiples"):
        memref.get_strides_and_offset()


def test_a_layout_has_strides_or_is_a_map() -> None:
    with pytest.raises(TypeError, match="the layout of a memref has strides or is an affine map, found 3 : i32"):
        MemRefType.get([4, 8], F32Type.get(), Attribute.parse("3 : i32"))


def test_an_identity_is_no_layout() -> None:
    assert str(Type.parse("memref<4x?xf32, affine_map<(i, j) -> (i, j)>, 3>")) == "memref<4x?xf32, 3>"


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("strided<[8]>", "the layout has 1 strides for a shape of 2 dimensions"),
        ("strided<[8, 1, 1]>", "the layout has 3 strides for a shape of 2 dimensions"),
        ("affine_map<(i) -> (i)>", "the affine map of the layout has 1 dimensions, the shape 2"),
    ],
)
def test_a_layout_has_the_rank_of_the_shape(layout: str, message: str) -> None:
    with pytest.raises(MLIRError, match=message):
        Type.parse(f"memref<4x8xf32, {layout}>")
    with pytest.raises(MLIRError, match=message):
        MemRefType.get([4, 8], F32Type.get(), Attribute.parse(layout))


def test_numbers_of_a_layout() -> None:
    layout = StridedLayoutAttr.get(2, [8, DYNAMIC])
    assert (layout.offset, layout.strides) == (2, [8, DYNAMIC])
    assert str(StridedLayoutAttr.get_fully_dynamic(2)) == "strided<[?, ?], offset: ?>"
    assert Type.parse("memref<4xf32>").is_dynamic_stride_or_offset(layout.strides[1])


def test_elements_of_a_tuple() -> None:
    made = TupleType.get_tuple([Type.parse("f32"), Type.parse("index")])
    assert made.num_types == 2 and str(made.get_type(1)) == "index"


def test_encoding_of_a_tensor() -> None:
    plain, encoded = (RankedTensorType.get([4], Type.parse("f32"), one) for one in (None, StringAttr.get("rows")))
    assert plain.encoding is None and encoded.encoding.value == "rows"
    assert str(encoded) == 'tensor<4xf32, "rows">'


def test_names_and_visibilities_of_symbols() -> None:
    module = Module.create()
    with InsertionPoint(module.body):
        made = func.FuncOp("f", ir.FunctionType.get([], []))
    assert (SymbolTable.get_symbol_name(made).value, SymbolTable.get_visibility(made).value) == ("f", "public")
    SymbolTable.set_symbol_name(made, "g")
    SymbolTable.set_visibility(made, "private")
    assert "func.func private @g" in str(module)
    with pytest.raises(ValueError, match="public, private or nested, not 'open'"):
        SymbolTable.set_visibility(made, "open")
    table = SymbolTable(module.operation)
    table.erase(table["g"])
    assert "g" not in table


def test_operations_without_a_name_are_no_symbols() -> None:
    module = Module.create()
    with InsertionPoint(module.body):
        made = func.FuncOp("f", ir.FunctionType.get([], []))
        with InsertionPoint(made.add_entry_block()):
            end = func.ReturnOp([])
    with pytest.raises(ValueError, match=r"func\.return is no symbol: it has no sym_name"):
        SymbolTable.set_symbol_name(end, "g")
    for other in (end, module.operation):
        with pytest.raises(ValueError, match="is no symbol of this table"):
            SymbolTable(module.operation).erase(other)


def test_parts_of_memory_state_how_many_operands_they_have() -> None:
    """One offset is a value, the others are numbers: the operands are a memory, one offset, no size and no stride."""
    whole, part = MemRefType.get([16, 64], F32Type.get()), Type.parse("memref<64xf32, strided<[1], offset: ?>>")
    module = Module.create()
    with InsertionPoint(module.body):
        function = func.FuncOp("f", ([whole], []))
    with InsertionPoint(function.add_entry_block()):
        row = arith.ConstantOp(IndexType.get(), 3).result
        vars(memref)["SubViewOp"](part, function.arguments[0], [row], [], [], [DYNAMIC, 0], [1, 64], [1, 1])
        vars(memref)["ReinterpretCastOp"](part, function.arguments[0], [row], [], [], [DYNAMIC], [64], [1])
        func.ReturnOp([])
    assert module.operation.verify()
    assert "memref.subview %0[%1, 0] [1, 64] [1, 1] : memref<16x64xf32> to memref<64xf32" in str(module)
    assert "memref.reinterpret_cast %0 to offset: [%1], sizes: [64], strides: [1]" in str(module)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.__name__)
def test_operations_state_groups_of_operands_where_the_verifier_needs_them(dialect: ModuleType) -> None:
    classes = [one for one in vars(dialect).values() if isinstance(one, type) and issubclass(one, GeneratedOp)]
    forms = [one.FORM for one in classes if one is not GeneratedOp]
    assert forms
    known = [form for form in forms if form.mnemonic in CORE_NAMES]
    assert {form.mnemonic: form.segments for form in known} == {
        form.mnemonic: constraints_of(form.mnemonic).segmented for form in known
    }
