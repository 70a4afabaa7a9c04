"""Operations of the core dialects without a class in xDSL. Semantics are those of the MLIR dialects."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, IntegerType, SymbolRefAttr
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """Calls the function that ``callee`` holds."""

    name = "func.call_indirect"
    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()


@irdl_op_definition
class FunctionConstantOp(IRDLOperation):
    """A function as a value."""

    name = "func.constant"
    value = prop_def(SymbolRefAttr)
    res = result_def(FunctionType)


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Converts between ``index`` and an integer type, zero-extending."""

    name = "arith.index_castui"
    input = operand_def()
    result = result_def()


@irdl_op_definition
class RemfOp(IRDLOperation):
    """Floating-point remainder with the sign of the dividend."""

    name = "arith.remf"
    lhs = rhs = operand_def()
    fastmath = opt_prop_def(AnyAttr())
    result = result_def()


@irdl_op_definition
class AddrSpaceCastOp(IRDLOperation):
    """Converts a pointer to another address space."""

    name = "llvm.addrspacecast"
    arg = operand_def()
    res = result_def()


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """One element of a vector."""

    name = "llvm.extractelement"
    vector = operand_def()
    position = operand_def(IntegerType)
    res = result_def()
