"""The module `mlir.dialects.cf`."""

from __future__ import annotations

from typing import Any

from ..declare import GeneratedOp
from ..ir.arrays import DenseI32ArrayAttr
from ..ir.operations import Operation, register_view
from ..ir.structure import value_of, values_of
from .tables import add_operations, read_form

add_operations(globals(), "cf", "AssertOp assert arg #msg")


@register_view
class BranchOp(GeneratedOp):
    """The operation `cf.br`: BranchOp(arguments of the block, block)."""

    FORM = read_form("cf", "BranchOp br destOperands*")
    OPERATION_NAME = "cf.br"

    def __init__(self, destOperands: Any, dest: Any, *, loc: Any = None, ip: Any = None) -> None:
        values_of(destOperands, "argument destOperands of BranchOp")
        made = Operation.create("cf.br", operands=destOperands, successors=[dest], loc=loc, ip=ip)
        self._x = made._x


@register_view
class CondBranchOp(GeneratedOp):
    """The operation `cf.cond_br`: CondBranchOp(condition, arguments of both blocks, both blocks)."""

    FORM = read_form("cf", "CondBranchOp cond_br condition trueDestOperands* falseDestOperands*")
    OPERATION_NAME = "cf.cond_br"

    def __init__(
        self,
        condition: Any,
        trueDestOperands: Any,
        falseDestOperands: Any,
        trueDest: Any,
        falseDest: Any,
        *,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        value_of(condition, "argument condition of CondBranchOp")
        made = Operation.create(
            "cf.cond_br",
            operands=[condition, *trueDestOperands, *falseDestOperands],
            attributes={
                "operandSegmentSizes": DenseI32ArrayAttr.get([1, len(trueDestOperands), len(falseDestOperands)])
            },
            successors=[trueDest, falseDest],
            loc=loc,
            ip=ip,
        )
        self._x = made._x
