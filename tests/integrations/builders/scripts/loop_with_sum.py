# pyright: reportMissingImports=false
"""A loop that carries a sum, a branch, and a call of another function."""

from mlir.dialects import arith, func, scf
from mlir.ir import Context, IndexType, InsertionPoint, Location, Module

with Context(), Location.unknown():
    module = Module.create()
    index = IndexType.get()
    with InsertionPoint(module.body):

        @func.FuncOp.from_py_func(index, index)
        def add(left, right):
            return arith.addi(left, right)

        @func.FuncOp.from_py_func(index)
        def total(limit):
            zero = arith.constant(index, 0)
            one = arith.constant(index, 1)
            loop = scf.ForOp(zero, limit, one, [zero])
            with InsertionPoint(loop.body):
                [carried] = loop.inner_iter_args
                is_small = arith.cmpi(arith.CmpIPredicate.slt, loop.induction_variable, limit)
                branch = scf.IfOp(is_small, [index], hasElse=True)
                with InsertionPoint(branch.then_block):
                    scf.YieldOp([add(carried, loop.induction_variable)])
                with InsertionPoint(branch.else_block):
                    scf.YieldOp([carried])
                scf.YieldOp(branch.results)
            return loop.results

    module.operation.verify()
    print(module, end="")
