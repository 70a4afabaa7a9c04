"""What the module `ir` promises: contexts, wrappers, casts, copies, walks, text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pto_dialect.integrations.builders import ir, pto
from pto_dialect.integrations.builders.declare import GeneratedOp
from pto_dialect.integrations.builders.dialects import arith, builtin, cf, func, index, llvm, math, memref, scf
from pto_dialect.integrations.builders.ir import (
    Context,
    F32Type,
    IndexType,
    InsertionPoint,
    IntegerType,
    Location,
    MLIRError,
    Module,
    Operation,
    StringAttr,
    Type,
    conventions,
)

FILE = Path(__file__).name
ANY: Any = ir
"""The module for calls with arguments that do not fit."""


@pytest.fixture
def module() -> Iterator[Module]:
    """An empty module, in a context."""
    with Context(), Location.unknown():
        yield Module.create()


def add_function(module: Module, name: str = "f") -> Any:
    with InsertionPoint(module.body):
        return func.FuncOp(name, ([IndexType.get()], []))


def test_nothing_is_current_outside_of_with() -> None:
    for cls in (Context, Location, InsertionPoint):
        with pytest.raises(ValueError, match=f"No current {cls.__name__}"):
            assert cls.current
    with pytest.raises(RuntimeError, match="requires a Context"):
        F32Type.get()
    with pytest.raises(ValueError, match="requires a Location"):
        Module.create()


def test_types_remain_after_the_end_of_a_context() -> None:
    with Context() as context:
        kept = F32Type.get()
    assert str(kept) == "f32" and kept == F32Type.get(context)
    with pytest.raises(RuntimeError, match="requires a Context"):
        IndexType.get()


def test_contexts_must_end_in_order() -> None:
    outer, inner = Context(), Context()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="unbalanced exit"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)


def test_insertion_point_keeps_the_location(module: Module) -> None:
    location = Location.current
    with InsertionPoint(module.body):
        assert Location.current is location
        assert InsertionPoint.current.block == module.body


def test_operation_has_one_wrapper_and_one_view(module: Module) -> None:
    made = add_function(module)
    assert module.body.operations[0] is made
    assert made.operation is module.body.operations[0].operation
    assert made.operation.opview is made
    assert made.parent is module.operation


def test_attributes_and_types_come_back_in_their_class(module: Module) -> None:
    made = add_function(module)
    made.attributes["pto.note"] = StringAttr.get("x")
    assert (made.name.value, made.attributes["pto.note"].value) == ("f", "x")
    types = [Type.parse(text) for text in ("f32", "index", "ui8", "memref<4xf32>", "!pto.ptr<f16, ub>", "() -> i1")]
    names = ["F32Type", "IndexType", "IntegerType", "MemRefType", "PtrType", "FunctionType"]
    assert [type(one).__name__ for one in types] == names
    assert types[2].is_unsigned and types[4].memory_space == pto.AddressSpaceAttr.get(pto.AddressSpace.VEC)


def test_casts_refuse_other_classes(module: Module) -> None:
    assert IntegerType.isinstance(Type.parse("i8")) and not IntegerType.isinstance(F32Type.get())
    with pytest.raises(ValueError, match="Cannot cast type to IntegerType"):
        IntegerType(F32Type.get())
    with pytest.raises(ValueError, match="Cannot cast attribute to IntegerAttr"):
        ir.IntegerAttr(StringAttr.get("x"))


def test_private_function_has_a_visibility(module: Module) -> None:
    made = add_function(module)
    assert made.sym_visibility is None
    made.sym_visibility = StringAttr.get("private")
    assert made.sym_visibility.value == "private" and "func.func private @f" in str(module)


def test_clone_is_equal_and_has_the_same_location(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        func.ReturnOp([])
    with InsertionPoint(module.body):
        copy = made.operation.clone()
    assert copy is not made and str(copy) == str(made)
    assert str(copy.location) == str(made.location)


def test_walk_visits_inside_before_outside_unless_stated(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        func.ReturnOp([])
    seen: list[str] = []
    module.operation.walk(lambda op: seen.append(op.name))
    assert seen == ["func.return", "func.func", "builtin.module"]
    seen.clear()

    def visit(op: Operation) -> ir.WalkResult:
        seen.append(op.name)
        return ir.WalkResult.SKIP if op.name == "func.func" else ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    assert seen == ["builtin.module", "func.func"]


def test_modules_are_nested(module: Module) -> None:
    with InsertionPoint(module.body):
        inner = builtin.ModuleOp()
        inner.attributes["sym_name"] = StringAttr.get("inner")
        with InsertionPoint(inner.body):
            func.FuncOp("g", ([], []), visibility="private")
    assert module.operation.verify()
    assert "module @inner {" in str(module) or 'sym_name = "inner"' in str(module)


def test_module_is_read_into_another_context(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        func.ReturnOp([])
    other = Context()
    read = Module.parse(str(module), other)
    assert read.context is other and str(read) == str(module)


def test_text_with_locations_names_the_python_line(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        func.ReturnOp([])
    text = module.operation.get_asm(enable_debug_info=True)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, one in enumerate(lines) if "return func.FuncOp(name" in one)
    assert f'{FILE}":{line}:16)' in text


def test_generic_form_is_printed_on_request(module: Module) -> None:
    assert module.operation.get_asm(print_generic_op_form=True).startswith('"builtin.module"() ({')


def test_stated_location_is_that_of_the_operation(module: Module) -> None:
    with InsertionPoint(module.body):
        made = func.FuncOp("f", ([], []), loc=Location.file("model.py", 12, 8), visibility="private")
    assert str(made.location) == 'loc("model.py":12:8)'
    assert 'loc("model.py":12:8)' in module.operation.get_asm(enable_debug_info=True)


def test_uses_and_owners(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        one = arith.ConstantOp(IndexType.get(), 1)
        total = arith.addi(one, one).owner.opview  # pyright: ignore[reportAttributeAccessIssue]
    assert one.result.owner is one.operation and made.arguments[0].owner == made.entry_block
    assert {use.operand_number: use.owner for use in one.result.uses} == {0: total, 1: total}
    assert total.operands[0] == one.result and total.lhs == one.result
    with pytest.raises(ValueError, match="still used"):
        one.operation.erase()
    total.operation.erase()
    one.operation.erase()
    assert len(made.entry_block.operations) == 0


def test_unregistered_operations_need_permission(module: Module) -> None:
    with pytest.raises(MLIRError, match=r"unknown operation 'my\.op'"):
        Operation.create("my.op")
    Context.current.allow_unregistered_dialects = True
    assert Operation.create("my.op").name == "my.op"


def test_verification_of_one_function_names_its_python_line(module: Module) -> None:
    made = add_function(module)
    with InsertionPoint(made.add_entry_block()):
        func.ReturnOp([made.arguments[0]])
    with pytest.raises(MLIRError, match=rf"{FILE}:\d+:9: error: @f returns"):
        made.verify()


def test_symbols_are_found_by_name(module: Module) -> None:
    made = add_function(module)
    table = ir.SymbolTable(module.operation)
    assert table["f"] is made and "g" not in table
    with pytest.raises(KeyError, match="no symbol 'g'"):
        table["g"]


def test_results_have_their_names(module: Module) -> None:
    made = add_function(module)
    tile = pto.TileBufType.get([16, 64], F32Type.get(), pto.AddressSpaceAttr.get(pto.AddressSpace.VEC), [None, None])
    with InsertionPoint(made.add_entry_block()):
        number = made.arguments[0]
        shape = pto.GetValidShapeOp(pto.AllocTileOp(tile, valid_row=number, valid_col=number))
    assert [shape.valid_row, shape.valid_col] == list(shape.results)
    with pytest.raises(AttributeError, match="GetValidShapeOp has no attribute 'valid_depth'"):
        assert shape.valid_depth


@pytest.mark.parametrize("dialect", [arith, cf, func, index, llvm, math, memref, scf], ids=lambda one: one.__name__)
def test_classes_of_a_dialect_are_of_known_operations(dialect: Any) -> None:
    classes = [one for one in vars(dialect).values() if isinstance(one, type) and issubclass(one, GeneratedOp)]
    names = [one.OPERATION_NAME for one in classes if one is not GeneratedOp]
    assert names and [name for name in names if not Context().is_registered_operation(name)] == []


@pytest.mark.parametrize(
    "call",
    [
        lambda op: op.move_before(None),
        lambda op: op.block.append("x"),
        lambda op: InsertionPoint(3),
        lambda op: InsertionPoint.current.insert(None),
        lambda op: op.attributes.__setitem__("a", object()),
        lambda op: ANY.DictAttr.get([1]),
        lambda op: ANY.IntegerAttr.get(IndexType.get(), "1"),
        lambda op: ANY.Block.create_at_start(op),
        lambda op: ANY.SymbolTable(None),
        lambda op: ANY.Location.file(3, 1, 1),
        lambda op: Operation.create("cf.br", successors=[3]),
        lambda op: ANY.Value(op),
        lambda op: pto.TileBufType.get([16, 64], "f32", 3),
    ],
)
def test_wrong_arguments_are_type_errors(module: Module, call: Any) -> None:
    made = add_function(module)
    with InsertionPoint(module.body), pytest.raises(TypeError, match=r"found|takes"):
        call(made)


def test_types_have_no_type(module: Module) -> None:
    assert not hasattr(F32Type.get(), "type")
    assert StringAttr.get("a").type is not None


def test_result_of_that_name_is_meant_where_there_are_several(module: Module) -> None:
    function = add_function(module)
    ub = pto.AddressSpaceAttr.get(pto.AddressSpace.VEC)
    pointer = pto.PtrType.get(F32Type.get(), ub)
    with InsertionPoint(function.add_entry_block()):
        zero = arith.ConstantOp(IntegerType.get_signless(64), 0)
        base = pto.castptr(pointer, zero)
        state = pto.vldas(pto.AlignType.get(), base)
        load = pto.VldusOp(pto.VRegType.get(64, F32Type.get()), pto.AlignType.get(), None, base, state)
    assert str(load.result.type) == "!pto.vreg<64xf32>"
    assert [str(one.type) for one in load.results] == ["!pto.vreg<64xf32>", "!pto.align"]


def test_packages_that_follow_the_bindings_see_mlirs_names_and_plain_types(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = add_function(module)
    with InsertionPoint(function.add_entry_block()):
        one = arith.ConstantOp(IndexType.get(), 1)
        total = arith.AddIOp(one, function.arguments[0])  # pyright: ignore[reportAttributeAccessIssue]
        pointer = pto.castptr(pto.PtrType.get(F32Type.get()), arith.ConstantOp(IntegerType.get_signless(64), 0))
        func.ReturnOp([])
    assert type(pointer.type) is pto.PtrType
    monkeypatch.setattr(conventions, "mlir_names", True)
    monkeypatch.setattr(conventions, "plain_types", True)
    assert "%0 = arith.addi %c1, %arg0 : index" in str(module)
    assert type(pointer.type) is Type
    assert pto.PtrType(pointer.type).element_type == F32Type.get()
    assert type(total.result.type) is IndexType
