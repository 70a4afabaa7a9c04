"""The table of clauses agrees with the classes that take them."""

import pytest

from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.clauses import Clause, Form
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.cube.clauses import ACC_STORE, MAD, UNSUPPORTED_WORDS

CLAUSES = {"OP_ACC_STORE": ACC_STORE, "OP_MAD": MAD}
ROWS = [(shape, row) for shape, table in CLAUSES.items() for row in table.rows]


def classes(shape: str) -> list[type[PtoOp]]:
    return [cls for cls in all_op_classes() if op_spec(cls).shape == shape]


def attributes(row: Clause, declared: set[str]) -> list[str]:
    return [name for name in (row.attribute, *(name for _, name in row.named)) if name and name in declared]


@pytest.mark.parametrize("shape", CLAUSES)
def test_every_attribute_outside_the_dictionary_belongs_to_one_clause(shape: str) -> None:
    for cls in classes(shape):
        declared = set(signature(cls).attributes)
        told = [name for row in CLAUSES[shape].rows for name in attributes(row, declared)]
        assert sorted(name for name in told if name in op_spec(cls).tokens) == sorted(op_spec(cls).tokens), cls.name


@pytest.mark.parametrize("shape", CLAUSES)
def test_every_optional_operand_belongs_to_one_clause(shape: str) -> None:
    for cls in classes(shape):
        optional = {slot.name for slot in signature(cls).operands if slot.arity == "?"}
        rows = CLAUSES[shape].rows
        told = [name for row in rows for name in (*row.operands, *(operand for _, operand in row.by_keyword))]
        told += [name for row in rows for _, name in row.named if name in optional]
        assert sorted(name for name in told if name in optional) == sorted(optional), cls.name


@pytest.mark.parametrize(("shape", "row"), ROWS, ids=lambda value: value.name if isinstance(value, Clause) else value)
def test_keywords_are_those_of_the_enumeration(shape: str, row: Clause) -> None:
    for cls in classes(shape):
        slots = signature(cls).attributes
        names = attributes(row, set(slots))
        if row.form is Form.FLAG or not names:
            continue
        known = {word for enum in slots[names[0]].kind.enums for word in ENUMS[enum].values}
        meant = {word for *_, word in row.options}
        stated = {row.single} if row.single else set[str]()
        if row.form is Form.KEYWORD:
            assert known == set(row.keywords) | meant, cls.name
        else:
            assert set(row.words) | stated <= known, cls.name
            # What a clause leaves out of its enumeration is the default, or read and refused.
            assert not row.words or known - set(row.words) - stated <= UNSUPPORTED_WORDS | {"off"}, cls.name


@pytest.mark.parametrize("shape", CLAUSES)
def test_keywords_tell_clauses_apart(shape: str) -> None:
    keywords = CLAUSES[shape].keywords
    assert len(set(keywords)) == len(keywords)
    assert all(CLAUSES[shape].find(keyword) in CLAUSES[shape].rows for keyword in keywords)
    assert [row.leads for row in CLAUSES[shape].rows] == sorted(
        (row.leads for row in CLAUSES[shape].rows), reverse=True
    )
