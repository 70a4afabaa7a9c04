"""Every operation, built from its declaration with and without what is optional, survives both forms."""

import random

import pytest
from sampling import sampled
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core import kinds
from pto_dialect.ir.core.attributes import ENUMS, enum_attr
from pto_dialect.ir.core.base import PtoOp, Shape, op_spec, segment_sizes, signature
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.types.parser import parse_type

TYPES = [
    parse_type(text)
    for text in (
        "!pto.tile_buf<vec, 16x64xf32>",
        "!pto.tile_buf<acc, 16x16xf32, valid=?x?>",
        "!pto.ptr<f32, gm>",
        "!pto.ptr<f32, ub>",
        "!pto.ptr<ui64, fb>",
        "!pto.tensor_view<16x?xf32>",
        "!pto.partition_tensor_view<16x16xf32>",
        "memref<16x16xf32, #pto.address_space<vec>>",
        "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>",
        "!pto.vreg<64xf32>",
        "!pto.mask<b8>",
        "!pto.mask<b16>",
        "!pto.mask<b32>",
        "!pto.align",
        "!pto.pipe",
        "!pto.async_session",
        "!pto.async_event",
        "!pto.prefetch_async_context",
        "!pto.eventid_array<4>",
        "!pto.local_array<4xi32>",
        "!pto.struct<i32, f32>",
        "!pto.vmi.vreg<128xf32>",
        "!pto.vmi.mask<128xpred>",
        "!pto.tile<16x16xf32>",
        "index",
        "i1",
        "i8",
        "i16",
        "i32",
        "i64",
        "f16",
        "f32",
        "bf16",
        "vector<2xf16>",
        "!pto.event",
    )
]


class Maker:
    """Builds operations with random choices; the same seed gives the same operations."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def type_of(self, kind: kinds.Kind) -> Attribute:
        return self.random.choice([type_ for type_ in TYPES if kind.accepts(type_)])

    def attribute(self, name: str, kind: kinds.Kind) -> Attribute:
        choose = self.random.choice
        if kind.enums:
            enumeration = choose(kind.enums)
            return enum_attr(enumeration, choose(ENUMS[enumeration].values))
        if kind.words:
            return StringAttr(choose(kind.words))
        if kind.integer is not None:
            return IntegerAttr(choose([0, 1, 7]), kind.integer)
        if kind is kinds.ARRAY:
            sizes = ArrayAttr([IntegerAttr(8, 64), IntegerAttr(4, 64)])
            return sizes if name == "sizes" else DenseArrayBase.from_list(i64, [1, 0])
        simple = {
            kinds.UNIT: UnitAttr(),
            kinds.BOOL: IntegerAttr(choose([0, 1]), 1),
            kinds.STRING: StringAttr(choose(["x", 'a"b\n'])),
            kinds.SYMBOL: SymbolRefAttr("callee"),
        }
        return simple[kind] if kind in simple else choose([IntegerAttr(3, 32), StringAttr("q"), parse_type("f32")])

    def count(self, arity: str) -> int:
        return {"1": 1, "?": self.random.choice([0, 1]), "*": self.random.choice([0, 1, 2])}[arity]

    def operation(self, cls: type[PtoOp]) -> tuple[Block, Operation]:
        """An operation on the arguments of a block."""
        declared, spec = signature(cls), op_spec(cls)
        style = spec.shape.value.startswith("OP_DPS")
        value_form = style and self.random.random() < 0.3
        sizes: list[int] = []
        types: list[Attribute] = []
        for slot in declared.operands:
            size = self.count(slot.arity)
            if style and slot.name in spec.outs and slot.arity != "1":
                size = 0 if value_form else 1 if slot.name == spec.outs[0] else size
            sizes.append(size)
            types += [self.type_of(slot.kind) for _ in range(size)]
        results: list[Attribute] = [parse_type(text) for text in spec.fixed_results]
        if not results:
            for number, slot in enumerate(declared.results):
                size = self.count(slot.arity) if not style else int(slot.arity == "1" or (value_form and number == 0))
                results += [self.type_of(slot.kind) for _ in range(size)]
        attributes = {
            slot.name: self.attribute(slot.name, slot.kind)
            for slot in declared.attributes.values()
            if slot.arity == "1" or self.random.random() < 0.5
        }
        if self.random.random() < 0.3:
            attributes["note"] = self.random.choice([UnitAttr(), StringAttr("v"), FloatAttr(1.5, 32)])
        if declared.segmented:
            attributes["operandSegmentSizes"] = segment_sizes(tuple(sizes))
        block = Block(arg_types=types)
        regions = [Region(Block()) for _ in cls.get_irdl_definition().regions]
        op = cls.create(operands=block.args, result_types=results, attributes=attributes, regions=regions)
        block.add_op(op)
        return block, op


def module_around(block: Block) -> ModuleOp:
    function, end = core_class("func.func"), core_class("func.return")
    assert function is not None and end is not None
    block.add_op(end.create())
    types = FunctionType.from_lists([arg.type for arg in block.args], [])
    properties = {"sym_name": StringAttr("f"), "function_type": types}
    return ModuleOp([function.create(properties=properties, regions=[Region(block)])])


@pytest.mark.parametrize("shape", list(Shape))
def test_every_operation_survives_both_forms(shape: Shape) -> None:
    for cls in all_op_classes():
        if op_spec(cls).shape is not shape:
            continue
        maker = Maker(cls.name)
        for _ in sampled(range(4), 2):
            block, _ = maker.operation(cls)
            module = module_around(block)
            for generic in (False, True):
                text = print_module(module, generic=generic)
                engine = DiagnosticEngine()
                again = parse_program(SourceFile("t.pto", text), engine)
                assert again is not None and not engine.has_errors, text
                assert same_module(again, module) is None, text
                assert print_module(again, generic=generic) == text


def test_operations_with_everything_required_have_a_custom_form() -> None:
    """Whatever has no optional parts can be stated in custom form, except where there is none."""
    for cls in all_op_classes():
        declared = signature(cls)
        plain = all(slot.arity == "1" for slot in (*declared.operands, *declared.results))
        if not plain or op_spec(cls).shape is Shape.GENERIC:
            continue
        block, op = Maker(cls.name).operation(cls)
        text = print_module(module_around(block))
        assert f"    {op.name}" in text or f" = {op.name}" in text, text
