# pyright: reportMissingImports=false
"""Code for both kinds of cores, with flags and barriers in all their forms."""

from ptoas.mlir.dialects import func, pto
from ptoas.mlir.dialects.pto import EVENT_ID0, TLOAD, TVEC
from ptoas.mlir.ir import Context, IndexType, InsertionPoint, Location, Module, StringAttr

with Context() as context, Location.unknown():
    pto.register_dialect(context, load=True)
    module = Module.create()
    module.operation.attributes["pto.target_arch"] = StringAttr.get("a5")
    with InsertionPoint(module.body):
        kernel = func.FuncOp("wait", ([IndexType.get()], []))
    with InsertionPoint(kernel.add_entry_block()):
        event = kernel.arguments[0]
        vector = pto.SectionVectorOp()
        with InsertionPoint(vector.body.blocks.append()):
            pto.set_flag(pto.PIPE.PIPE_MTE2, "PIPE_V", 0)
            pto.wait_flag("PIPE_MTE2", pto.PipeAttr.get(pto.PIPE.PIPE_V), "EVENT_ID0")
            pto.set_flag(pto.PIPE.PIPE_V, pto.PIPE.PIPE_MTE3, event)
            pto.wait_flag_dyn(pto.PIPE.PIPE_V, pto.PIPE.PIPE_MTE3, event)
            pto.record_event(TLOAD, TVEC, EVENT_ID0)
            pto.wait_event("TLOAD", "TVEC", 0)
            pto.barrier(pto.PIPE.PIPE_ALL)
            pto.barrier(TVEC)
        func.ReturnOp([])
    module.operation.verify()
    print(module, end="")
