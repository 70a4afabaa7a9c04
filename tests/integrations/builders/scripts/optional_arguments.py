# pyright: reportMissingImports=false
"""Attributes from enumerators, strings and numbers, and arguments at the positions of older releases."""

from ptoas.mlir.dialects import func, pto
from ptoas.mlir.ir import Context, F16Type, F32Type, InsertionPoint, Location, Module

with Context(), Location.unknown():
    module = Module.create()
    vec = pto.AddressSpaceAttr.get(pto.AddressSpace.VEC)
    wide = pto.TileBufType.get([16, 64], F32Type.get(), vec)
    narrow = pto.TileBufType.get([16, 64], F16Type.get(), vec)
    with InsertionPoint(module.body):
        kernel = func.FuncOp("convert", ([], []))
    with InsertionPoint(kernel.add_entry_block()):
        a, b, c, d = (pto.AllocTileOp(wide) for _ in range(4))
        half = pto.AllocTileOp(narrow)
        pto.TCvtOp(a, half, rmode=pto.RoundModeAttr.get(pto.RoundMode.RINT))
        pto.tcvt(a, half, rmode=pto.RoundMode.TRUNC, sat_mode="ON")
        pto.tdiv(a, b, c, precision_type=pto.DivPrecision.HighPrecision)
        pto.TDivOp(a, b, c, precisionType=pto.DivPrecision.Default)
        pto.TRemOp(a, b, c)
        pto.TRemOp(a, b, d, c)
        func.ReturnOp([])
    module.operation.verify()
    print(module, end="")
