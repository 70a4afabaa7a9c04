# pyright: reportMissingImports=false
"""Vector registers, with predicates and pointers."""

from ptoas.mlir.dialects import arith, func, pto
from ptoas.mlir.ir import Context, F32Type, IndexType, InsertionPoint, IntegerType, Location, Module, StringAttr

with Context(), Location.unknown():
    module = Module.create()
    module.operation.attributes["pto.target_arch"] = StringAttr.get("a5")
    f32, i32, i64 = F32Type.get(), IntegerType.get_signless(32), IntegerType.get_signless(64)
    register, mask = pto.VRegType.get(64, f32), pto.MaskType.get("b32")
    pointer = pto.PtrType.get(f32, pto.AddressSpaceAttr.get(pto.AddressSpace.VEC))
    with InsertionPoint(module.body):
        kernel = func.FuncOp("absolute", ([i64], []))
    with InsertionPoint(kernel.add_entry_block()):
        zero = arith.ConstantOp(IndexType.get(), 0)
        lanes = arith.ConstantOp(i32, 64)
        memory = pto.castptr(pointer, kernel.arguments[0])
        predicate, _ = pto.plt_b32(mask, i32, lanes)
        loaded = pto.vlds(register, None, memory, zero)
        pto.vsts(None, pto.vabs(register, loaded, predicate), memory, zero, predicate)
        func.ReturnOp([])
    module.operation.verify()
    print(module, end="")
