# pyright: reportMissingImports=false
"""Loads a tile, multiplies it by a number and stores it."""

from ptoas.mlir.dialects import arith, func, pto
from ptoas.mlir.ir import Context, F32Type, IndexType, InsertionPoint, Location, Module, UnitAttr

with Context(), Location.unknown():
    module = Module.create()
    f32, index = F32Type.get(), IndexType.get()
    view = pto.TensorViewType.get(2, f32)
    part = pto.PartitionTensorViewType.get([16, 64], f32)
    vec = pto.AddressSpaceAttr.get(pto.AddressSpace.VEC)
    tile = pto.TileBufType.get([16, 64], f32, vec)
    pointer = pto.PtrType.get(f32)

    with InsertionPoint(module.body):
        kernel = func.FuncOp("scale", ([pointer, pointer, f32], []))
        kernel.attributes["pto.entry"] = UnitAttr.get()

    with InsertionPoint(kernel.add_entry_block()):
        source, target, factor = kernel.arguments
        zero, one, rows, columns = (arith.ConstantOp(index, number) for number in (0, 1, 16, 64))
        shape, strides = [rows, columns], [columns, one]
        views = [pto.MakeTensorViewOp(view, argument, shape, strides) for argument in (source, target)]
        inside, outside = (pto.PartitionViewOp(part, whole, [zero, zero], shape) for whole in views)
        loaded, scaled = pto.AllocTileOp(tile), pto.AllocTileOp(tile)
        pto.TLoadOp(None, inside, loaded)
        pto.TMulSOp(loaded, factor, scaled)
        pto.TStoreOp(None, scaled, outside)
        func.ReturnOp([])

    assert module.operation.verify()
    print(module, end="")
