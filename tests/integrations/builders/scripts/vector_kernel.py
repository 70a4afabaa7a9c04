# pyright: reportMissingImports=false, reportInvalidTypeForm=false, reportFunctionMemberAccess=false
"""A kernel that is a Python function, with carried values, a branch and a structure as argument."""

import ptoas.mlir.dialects.pto as pto


@pto.vkernel(target="a5", name="absolute")
def absolute(tile: pto.Tile, many: pto.i32):
    step = 256 // tile.ub_ptr.elem_bytes
    total = tile.shape[0] * tile.shape[1]
    if many > 0:
        pto.set_flag("PIPE_MTE2", "PIPE_V", "EVENT_ID0")
    with pto.vecscope():
        remaining: pto.i32 = total
        for offset in range(0, total, step):
            mask, remaining = pto.plt_b32(remaining)
            loaded = pto.vlds(tile.ub_ptr, offset)
            pto.vsts(pto.vabs(loaded, mask), tile.ub_ptr, offset, mask)
    pto.barrier("PIPE_ALL")


print(absolute.jit(tile=pto.Tile(ub_ptr=pto.ptr(pto.f32, "ub"), shape=pto.const([16, 32]))).mlir_text(), end="")
