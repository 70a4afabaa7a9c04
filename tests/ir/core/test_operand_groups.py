"""Operands by declared name."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Block

from pto_dialect.ir.core.base import PtoOp, operand_groups, operand_name, segment_sizes, signature, sizes_of
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.types.parser import parse_type

VALUES = Block(arg_types=[parse_type("i64")] * 6).args


def made(name: str, count: int, sizes: tuple[int, ...] = ()) -> PtoOp:
    cls = op_class(name)
    assert cls is not None and issubclass(cls, PtoOp)
    attributes = {"operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)} if sizes else {}
    return cls.create(operands=VALUES[:count], attributes=attributes)


def test_groups_follow_the_declaration() -> None:
    groups = operand_groups(made("pto.mad", 6))
    assert [*groups] == [slot.name for slot in signature(type(made("pto.mad", 6))).operands]
    assert [*groups.values()] == [(value,) for value in VALUES]


def test_groups_follow_the_segments() -> None:
    cls = op_class("pto.tcolsum")
    assert cls is not None and signature(cls).segmented
    assert [*map(len, operand_groups(made("pto.tcolsum", 2, (1, 0, 1))).values())] == [1, 0, 1]
    assert operand_name(made("pto.tcolsum", 2, (1, 0, 1)), 1) == signature(cls).operands[2].name


def test_groups_are_plain_tuples() -> None:
    # Parts of the tuple that xDSL has for operands take ten times as long to make.
    assert {type(values) for values in operand_groups(made("pto.mad", 6)).values()} == {tuple}


def test_numbers_of_segments() -> None:
    assert sizes_of(segment_sizes((1, 2))) == (1, 2)
    assert sizes_of(DenseArrayBase.from_list(i32, (2, 1))) == [2, 1]
    assert sizes_of(None) is None and sizes_of(i32) is None
