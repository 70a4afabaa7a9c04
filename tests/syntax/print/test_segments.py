"""Sizes of operand and result segments that do not belong to an operation, or lie, leave it in the generic form."""

from __future__ import annotations

from groups import in_groups
from mutated_programs import Function, Statement, families, statements
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups, signature


def sizes(*numbers: int) -> Attribute:
    return DenseArrayBase.from_list(i32, numbers)


def printed(statement: Statement, **changed: Attribute | None) -> str:
    return Function(statement).text({}, changed, statement.target)


@in_groups("family", families())
def test_segments_that_do_not_belong_there_are_shown(family: str) -> None:
    seen: set[object] = set()
    for statement in statements(family):
        op = statement.op
        assert isinstance(op, PtoOp)
        custom, generic = f"{op.name}", f'"{op.name}"('
        kind = op_spec(type(op)).shape, signature(type(op)).segmented
        if kind in seen or generic in printed(statement):
            continue
        seen.add(kind)
        assert custom in printed(statement)
        assert generic in printed(statement, resultSegmentSizes=sizes(len(op.results))), op.name
        total = len(op.operands)
        if signature(type(op)).segmented:
            own = [len(group) for group in operand_groups(op).values()]
            assert generic in printed(statement, operandSegmentSizes=sizes(*own, 1)), op.name
            assert generic in printed(statement, operandSegmentSizes=sizes(*own[:-1], own[-1] + 1)), op.name
        else:
            assert generic in printed(statement, operandSegmentSizes=sizes(*[1] * total)), op.name
