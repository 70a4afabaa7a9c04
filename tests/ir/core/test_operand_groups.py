"""Operands by declared name."""

from __future__ import annotations

from itertools import product

import pytest
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Block

from pto_dialect.ir.core import base
from pto_dialect.ir.core.base import (
    PtoOp,
    operand_groups,
    operand_layout,
    operand_name,
    segment_sizes,
    signature,
    sizes_of,
)
from pto_dialect.ir.core.operands import find, first
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.types.parser import parse_type

ALLOWED = {"1": (1,), "?": (0, 1), "*": (0, 1, 2)}
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


@pytest.mark.parametrize("name", ["pto.tcolsum", "pto.alloc_tile"])
def test_the_first_operand_of_a_name_is_that_of_its_group(name: str) -> None:
    cls = op_class(name)
    assert cls is not None
    slots = signature(cls).operands
    declared = [slot.name for slot in slots]
    # Sizes that contradict the operands, or each other, are among them.
    for count, sizes in product(range(5), product((-1, 0, 1, 2), repeat=len(declared))):
        op = made(name, count, sizes)
        groups = operand_groups(op)
        assert [entry[0] for entry in operand_layout(op)] == declared
        for word in (*declared, "nothing"):
            expected = (*groups.get(word, ()), None)[0]
            assert find(op, word) is expected
            if sum(sizes) == count and all(
                size in ALLOWED[slot.arity] for slot, size in zip(slots, sizes, strict=True)
            ):
                assert first(op, word) is expected


@pytest.mark.parametrize("first_one", ["with", "without"])
def test_new_sizes_are_distinguished_from_no_sizes(first_one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations with as many operands, with sizes and without: each has its own layout, whichever is computed
    first."""
    monkeypatch.setattr(base, "_layouts", {})
    tells = {"with": made("pto.tcolsum", 2, (1, 0, 1)), "without": made("pto.tcolsum", 2)}
    for which in (first_one, "with", "without"):
        found = [len(group) for group in operand_groups(tells[which]).values()]
        assert found == {"with": [1, 0, 1], "without": [1, 1, 0]}[which]
