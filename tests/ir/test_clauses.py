"""The tables of clauses agree with the classes that take them."""

import pytest
from groups import in_groups

from pto_dialect.ir.clauses import CLAUSES, clause_keywords, clauses_of
from pto_dialect.ir.core.base import PtoOp, Shape, Slot, op_spec, signature, sizes_by_order
from pto_dialect.ir.core.clauses import Form
from pto_dialect.ir.core.kinds import ANY
from pto_dialect.ir.core.registry import all_op_classes, op_class

WITH_CLAUSES = [cls for cls in all_op_classes() if op_spec(cls).shape in CLAUSES]
GROUPS = (Shape.DMA_BURST, Shape.FRAC_LOAD, Shape.L0_LOAD, Shape.COMM_GROUP)
"""Shapes whose clauses take operands in parentheses."""


@in_groups("cls", WITH_CLAUSES, lambda cls: cls.name)
def test_an_operand_belongs_to_one_clause_at_the_most(cls: type[PtoOp]) -> None:
    names = [name for _, names, _ in clauses_of(cls) for name in names]
    assert len(names) == len(set(names))
    assert set(names) <= {slot.name for slot in signature(cls).operands}


@pytest.mark.parametrize("cls", [c for c in WITH_CLAUSES if op_spec(c).shape in GROUPS], ids=lambda cls: cls.name)
def test_what_may_be_left_out_or_repeated_has_a_clause(cls: type[PtoOp]) -> None:
    names = {name for _, names, _ in clauses_of(cls) for name in names}
    assert {slot.name for slot in signature(cls).operands if slot.arity != "1"} <= names


@in_groups("cls", WITH_CLAUSES, lambda cls: cls.name)
def test_numbers_of_operands_are_those_that_the_class_allows(cls: type[PtoOp]) -> None:
    arity = {slot.name: slot.arity for slot in signature(cls).operands}
    for row, names, _ in clauses_of(cls):
        arities = [arity[name] for name in names]
        if row.form in (Form.LIST, Form.REPEATED):
            assert arities == ["*"] * len(names)
        elif row.form is Form.OPERANDS:
            required = arities.count("1")
            assert all(required <= number <= len(names) for number in row.numbers or (len(names),)), row.name
            assert row.needed is (required > 0), row.name


@pytest.mark.parametrize("shape", CLAUSES)
def test_a_keyword_finds_its_clause(shape: str) -> None:
    table = CLAUSES[shape]
    for row in table.rows:
        for keyword in row.keywords:
            assert table.find(keyword) is row
            assert table.find(f"{keyword}2") is (row if row.numbered else None)
        if row.attribute:
            assert table.sets(row.attribute) is row
    assert table.find("nothing") is None


def test_a_clause_is_read_apart_from_the_other_operands() -> None:
    taken = {name: [row.name for row, *_ in clauses_of(op_class(name))] for name in ("pto.mte_gm_ub", "pto.mte_ub_gm")}
    assert taken == {
        "pto.mte_gm_ub": ["nburst", "loop", "pad"],
        "pto.mte_ub_gm": ["nburst", "l2_cache_ctl", "loop"],
    }


def test_operands_of_a_clause_have_the_names_of_the_class() -> None:
    names = {
        name: next(names for row, names, _ in clauses_of(op_class(name)) if row.name == "nburst")
        for name in ("pto.mte_l1_bt", "pto.mte_ub_l1")
    }
    assert names == {
        "pto.mte_l1_bt": ("n_burst", "nburst_src_gap", "nburst_dst_gap"),
        "pto.mte_ub_l1": ("n_burst", "src_stride", "dst_stride"),
    }


def test_editors_get_all_keywords() -> None:
    assert {"nburst", "src_layout", "start_row", "recv", "pre_quant", "pad_mode", "l2cache", "n_dir"} <= {
        *clause_keywords()
    }


@pytest.mark.parametrize(
    ("arities", "number", "sizes"),
    [
        ("11", 2, [1, 1]),
        ("1?1", 2, [1, 0, 1]),
        ("1??", 2, [1, 1, 0]),
        ("1*1", 5, [1, 3, 1]),
        ("?*1", 4, [1, 2, 1]),
        ("*?", 2, [2, 0]),
    ],
)
def test_values_go_to_operands_in_order(arities: str, number: int, sizes: list[int]) -> None:
    assert sizes_by_order([Slot("x", arity, ANY) for arity in arities], number) == sizes
