"""Generated programs for measurements."""

from __future__ import annotations

TILE = "!pto.tile_buf<vec, 16x64xf32>"
WHOLE = "!pto.tensor_view<64x64xf32>"
VIEW = "!pto.partition_tensor_view<16x64xf32>"


def level2_program(size: int) -> str:
    """A Level 2 program of about ``size`` bytes: functions of tile arithmetic with loads, stores and loops."""
    parts = ['module attributes {pto.target_arch = "a5"} {\n']
    total = 0
    number = 0
    while total < size:
        text = _function(number)
        parts.append(text)
        total += len(text)
        number += 1
    parts.append("}\n")
    return "".join(parts)


def _function(number: int) -> str:
    lines = [
        f"  func.func @kernel_{number}(%src: !pto.ptr<f32>, %dst: !pto.ptr<f32>) {{",
        "    %c0 = arith.constant 0 : index",
        "    %c1 = arith.constant 1 : index",
        "    %c4 = arith.constant 4 : index",
        "    %c16 = arith.constant 16 : index",
        "    %c64 = arith.constant 64 : index",
        f"    %in = pto.make_tensor_view %src, shape = [%c64, %c64], strides = [%c64, %c1] : {WHOLE}",
        f"    %out = pto.make_tensor_view %dst, shape = [%c64, %c64], strides = [%c64, %c1] : {WHOLE}",
        *(f"    %t{i} = pto.alloc_tile : {TILE}" for i in range(4)),
        "    scf.for %i = %c0 to %c4 step %c1 {",
        "      %row = arith.muli %i, %c16 : index",
        f"      %p = pto.partition_view %in, offsets = [%row, %c0], sizes = [%c16, %c64] : {WHOLE} -> {VIEW}",
        f"      pto.tload ins(%p : {VIEW}) outs(%t0 : {TILE})",
    ]
    for op in ("tadd", "tsub", "tmul", "tmax", "tmin") * 4:
        lines.append(f"      pto.{op} ins(%t0, %t1 : {TILE}, {TILE}) outs(%t2 : {TILE})")
        lines.append(f"      pto.{op} ins(%t2, %t1 : {TILE}, {TILE}) outs(%t3 : {TILE})")
    lines += [
        f"      %q = pto.partition_view %out, offsets = [%row, %c0], sizes = [%c16, %c64] : {WHOLE} -> {VIEW}",
        f"      pto.tstore ins(%t3 : {TILE}) outs(%q : {VIEW})",
        "    }",
        "    return",
        "  }",
    ]
    return "\n".join(lines) + "\n"
