"""Operations made directly are those that xDSL's own functions make."""

import sys
from collections.abc import Sequence

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from pto_dialect.accel.operations.construct import (
    append_operation,
    has_defaults,
    new_integer,
    new_operation,
    operation_like,
)
from pto_dialect.accel.operations.template import OperationTemplate, sharing_keys
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.ir.core.base import PtoOp, operand_groups, segment_sizes
from pto_dialect.ir.core.location import SourceLoc
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.types.parser import parse_type

TILE = parse_type("!pto.tile_buf<vec, 16x64xf32>")
SOURCE = SourceFile("program", "a text")


def fields(op: Operation, names: dict[int, str]) -> dict[str, object]:
    """Everything an operation holds, other objects by role."""

    def role(value: object) -> object:
        if isinstance(value, (tuple, list)):
            return type(value).__name__, [role(v) for v in value]
        if isinstance(value, Use):
            return value.operation is op, value.index
        plain = isinstance(value, (Attribute, dict, int, type(None)))
        return names.get(id(value), value if plain else type(value).__name__)

    # What is not set reads as the default of the class.
    keys = sorted({*Operation.__dataclass_fields__} - {"location"})
    return {key: role(getattr(op, key)) for key in keys}


def uses(value: SSAValue, order: list[Operation]) -> list[tuple[int, int]]:
    return [(order.index(use.operation), use.index) for use in value.uses]


@pytest.mark.parametrize("operands", [(0, 1, 2), (1, 1, 0), (0, 1)])
@pytest.mark.parametrize("results", [(), (TILE,), (TILE, TILE)])
def test_same_operation(operands: Sequence[int], results: Sequence[Attribute]) -> None:
    made: list[tuple[dict[str, object], list[list[tuple[int, int]]], list[object]]] = []
    for way in ("new", "like", "create"):
        block = Block(arg_types=[TILE] * 3)
        values = [block.args[index] for index in operands]
        names = {id(value): f"arg{index}" for index, value in enumerate(block.args)}
        attributes: dict[str, Attribute] = {"kind": TILE}
        cls = op_class("pto.tadd")
        last: Operation | None = None
        for _ in range(3):
            if way == "new":
                last = new_operation(cls, values, results, dict(attributes), {})
                append_operation(block, last)
            elif way == "like":
                others = Block(arg_types=[TILE] * len(values)).args
                like = OperationTemplate(cls.create(operands=others, result_types=results, attributes=attributes))
                last = operation_like(like, values, results, (SOURCE, 2, 5), block)
            else:
                last = cls.create(operands=values, result_types=results, attributes=attributes)
                block.add_op(last)
        assert last is not None
        names |= {id(block): "block", id(last.prev_op): "previous"}
        order = list(block.ops)
        links: list[object] = [order.index(op.prev_op) if op.prev_op else None for op in order]
        links += [order.index(op.next_op) if op.next_op else None for op in order]
        assert block.last_op is order[-1] and len(order) == 3
        assert [(r.op, r.index, r.type) for r in last.results] == [(last, i, t) for i, t in enumerate(results)]
        made.append((fields(last, names), [uses(value, order) for value in block.args], links))
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("cls", [op_class("pto.tadd"), arith.AddfOp])
def test_operations_like_others_have_dictionaries_and_a_location_of_their_own(cls: type[Operation]) -> None:
    block = Block(arg_types=[TILE] * 2)
    like = OperationTemplate(cls.create(operands=block.args, attributes={"kind": TILE}, properties={"fastmath": TILE}))
    first, second = (operation_like(like, block.args, (), (SOURCE, start, 5), block) for start in (1, 2))
    assert like.fits(first) and first.attributes == {"kind": TILE} and first.properties == {"fastmath": TILE}
    for own, other in ((first.attributes, second.attributes), (first.properties, second.properties)):
        own["more"] = TILE
        assert "more" not in other and len(own) == 2
    assert not like.fits(first) and like.fits(second)
    second.attributes = {}
    assert not like.fits(second) and second.attributes == {}
    location: object = first.location
    assert isinstance(location, SourceLoc) and location.data == Span(SOURCE, 1, 5) and first.location is location
    assert first.clone().attributes == first.attributes


def test_no_operation_has_a_location_by_its_class() -> None:
    assert not hasattr(Operation, "location") and not hasattr(arith.AddfOp, "location")


def test_copies_of_dictionaries_with_shared_keys() -> None:
    entries: dict[str, Attribute] = {"b.c": TILE, "a": TILE}
    shared = sharing_keys(entries)
    copied = shared.copy()
    assert [*copied] == [*entries] and copied == entries and type(copied) is dict
    copied["z"] = TILE
    del copied["a"]
    assert shared == sharing_keys(entries) == entries
    assert sys.getsizeof(sharing_keys(entries).copy()) < sys.getsizeof(dict(entries))
    many = {f"k{number}": TILE for number in range(100)}
    assert sharing_keys(many).copy() == many and sharing_keys({}) == {}


def test_operations_made_directly_can_be_changed() -> None:
    block = Block(arg_types=[TILE] * 2)
    first, second = block.args
    op = new_operation(op_class("pto.tadd"), [first, first, second], (), {}, {})
    append_operation(block, op)
    op.operands = [second, second, second]
    assert first.first_use is None and second.uses.get_length() == 3
    op.detach()
    op.erase()
    assert block.is_empty and second.first_use is None


@pytest.mark.parametrize("type_", [i32, IndexType()])
def test_integers_made_directly(type_: IndexType) -> None:
    made, expected = new_integer(-7, type_), IntegerAttr(-7, type_)
    assert made == expected and hash(made) == hash(expected) and repr(made) == repr(expected)
    assert made.parameters == expected.parameters


def test_classes_with_defaults() -> None:
    assert has_defaults(arith.AddfOp)
    assert not has_defaults(op_class("pto.tadd"))
    assert has_defaults(Operation)


def test_groups_of_operands_are_found_without_a_dictionary_of_attributes() -> None:
    cls = op_class("pto.tadd")
    block = Block(arg_types=[TILE] * 3)
    like = OperationTemplate(
        cls.create(operands=block.args, attributes={"operandSegmentSizes": segment_sizes((1, 1, 1))})
    )
    op = operation_like(like, block.args, (), (SOURCE, 0, 1), block)
    assert isinstance(op, PtoOp)
    assert operand_groups(op) == {name: (value,) for name, value in zip(operand_groups(op), block.args, strict=True)}
    assert not hasattr(op, "_attributes") and op.seen_attributes() is like.attributes
    assert op.attributes is not like.attributes and op.seen_attributes() is op.attributes


def test_groups_of_operands_follow_their_number() -> None:
    cls = op_class("pto.alloc_tile")
    values = Block(arg_types=[TILE] * 3).args
    for sizes in ((1, 0, 0), (0, 1, 0), (1, 1, 1), (0, 0, 0)):
        for interned in (True, False):
            stated = segment_sizes(sizes) if interned else DenseArrayBase.from_list(i32, sizes)
            op = cls.create(operands=values[: sum(sizes)], attributes={"operandSegmentSizes": stated})
            assert isinstance(op, PtoOp)
            groups = operand_groups(op)
            assert tuple(map(len, groups.values())) == sizes and sum(groups.values(), ()) == values[: sum(sizes)]
    wrong = cls.create(operands=values, attributes={"operandSegmentSizes": segment_sizes((1, 1))})
    assert isinstance(wrong, PtoOp)
    for _ in range(2):
        with pytest.raises(ValueError, match="zip"):
            operand_groups(wrong)
