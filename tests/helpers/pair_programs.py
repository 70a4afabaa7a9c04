"""Programs of a cube and a vector section that meet through queues, signals and global memory, for the sanitizers.

A cube section that pushes products, or whatever ``cube`` says, and a vector section with ``vector``. Lines of either
section may use the values that ``CUBE`` and ``VECTOR`` define.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sanitize_programs import instrumented

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity

A = "!pto.tile_buf<left, 16x16xf32, slayout=row_major>"
B = "!pto.tile_buf<right, 16x16xf32, slayout=col_major>"
C = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
M = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
V = "!pto.tile_buf<vec, 8x16xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
WHOLE, HALF = "!pto.partition_tensor_view<16x16xf32>", "!pto.partition_tensor_view<8x16xf32>"

HEAD = """module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @k(%x: !pto.ptr<f32>, %q: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %two = arith.constant 2.0 : f32
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 16384 : i64
    %at2 = arith.constant 20480 : i64
    %local = arith.constant 0 : i32
"""


def view(name: str, pointer: str) -> str:
    return f"%{name} = pto.make_tensor_view %{pointer}, shape = [%c64, %c16], strides = [%c16, %c1] : {VIEW}"


def part(name: str, of: str, row: str = "%c0", rows: int = 16) -> str:
    type_ = WHOLE if rows == 16 else HALF
    return f"%{name} = pto.partition_view %{of}, offsets = [{row}, %c0], sizes = [%c{rows}, %c16] : {VIEW} -> {type_}"


def flag(source: str, target: str, number: int = 0) -> tuple[str, str]:
    """A flag that is set and waited for at once."""
    pipes = f'"PIPE_{source}", "PIPE_{target}", "EVENT_ID{number}"'
    return f"pto.set_flag[{pipes}]", f"pto.wait_flag[{pipes}]"


CUBE = (
    view("xv", "x"), view("yv", "y"), view("zv", "z"), part("xp", "xv"), part("yp", "yv"), part("zp", "zv"),
    f"%mat = pto.alloc_tile addr = %at0 : {M}", f"%left = pto.alloc_tile addr = %at0 : {A}",
    f"%right = pto.alloc_tile addr = %at0 : {B}", f"%acc = pto.alloc_tile addr = %at0 : {C}",
)  # fmt: skip
VECTOR = (
    view("xv", "x"), view("yv", "y"), view("zv", "z"), "%who = pto.get_subblock_idx",
    "%whoi = arith.index_cast %who : i64 to index", "%row = arith.muli %whoi, %c8 : index",
    part("xp", "xv", "%row", 8), part("yp", "yv", "%row", 8), part("zp", "zv", "%row", 8),
    f"%t = pto.alloc_tile addr = %at1 : {V}", f"%u = pto.alloc_tile addr = %at2 : {V}",
)  # fmt: skip


def load(source: str, tile: str, type_: str = V, view_: str = HALF) -> str:
    return f"pto.tload ins(%{source} : {view_}) outs(%{tile} : {type_})"


def store(tile: str, target: str, type_: str = V, view_: str = HALF) -> str:
    return f"pto.tstore ins(%{tile} : {type_}) outs(%{target} : {view_})"


def double(source: str, target: str) -> str:
    return f"pto.tmuls ins(%{source}, %two : {V}, f32) outs(%{target} : {V})"


def product(*, by_hand: bool, source: str = "xp") -> tuple[str, ...]:
    """acc = m x m with the matrix at ``source``; ``by_hand`` with flags between the pipes."""
    steps = (
        load(source, "mat", M, WHOLE), flag("MTE2", "MTE1"),
        f"pto.tmov ins(%mat : {M}) outs(%left : {A})", f"pto.tmov ins(%mat : {M}) outs(%right : {B})",
        flag("MTE1", "M"), f"pto.tmatmul ins(%left, %right : {A}, {B}) outs(%acc : {C})", flag("M", "FIX"),
    )  # fmt: skip
    found: list[str] = []
    for step in steps:
        if isinstance(step, str):
            found.append(step)
        elif by_hand:
            found += step
    return tuple(found)


def again() -> tuple[str, ...]:
    """Flags that let the cube section reuse its tiles."""
    return (*flag("MTE1", "MTE2", 1), *flag("M", "MTE1", 1), *flag("FIX", "M", 1))


def queue(arch: str, *, slots: int = 4, local: int = 2, mask: int = 1) -> str:
    """The handle %p of a queue from cube to vector (``mask`` 1) or back (2)."""
    fields = f"dir_mask = {mask}, slot_size = 1024, slot_num = {slots}"
    if arch == "a5":
        return f"%p = pto.initialize_l2l_pipe {{{fields}, flag_base = 0}}(%local : i32) -> !pto.pipe"
    return (
        f"%p = pto.initialize_l2g2l_pipe {{{fields}, local_slot_num = {local}, flag_base = 0}}"
        "(%q : !pto.ptr<f32>, %local : i32) -> !pto.pipe"
    )


def push(tile: str = "acc", type_: str = C) -> str:
    return f"pto.tpush(%{tile}, %p : {type_}, !pto.pipe) {{split = 1}}"


def pop(tile: str, type_: str = V) -> str:
    return f"pto.tpop(%{tile}, %p : {type_}, !pto.pipe) {{split = 1}}"


FREE = "pto.tfree(%p : !pto.pipe) {split = 1}"


def declare(*tiles: str, type_: str = V) -> tuple[str, ...]:
    return tuple(f"%{tile} = pto.declare_tile -> {type_}" for tile in tiles)


def text(arch: str, cube: Sequence[str], vector: Sequence[str], before: Sequence[str] = ()) -> str:
    """The program; ``before`` is before both sections."""
    lines = [
        *before, "pto.section.cube {", *CUBE, *cube, "}", "pto.section.vector {", *VECTOR, *vector, "}", "return",
    ]  # fmt: skip
    return HEAD.format(arch=arch) + "\n".join(f"    {line}" for line in lines) + "\n  }\n}\n"


def errors_of(program: str, sync: str = "auto", blocks: int = 1) -> set[str]:
    """Rules of the errors that an instrumented run has found."""
    return {one.rule for one in diagnostics(program, sync, blocks) if one.severity is Severity.ERROR}


def diagnostics(program: str, sync: str = "auto", blocks: int = 1) -> list[Diagnostic]:
    """All that an instrumented run says."""
    kernel = instrumented(program, sync=sync)
    kernel.run(arguments(), blocks)
    return [finding.diagnostic() for finding in kernel.observer.findings.all]


def arguments() -> list[Any]:
    """Buffers for the program: small whole numbers, so that products are exact."""
    x = (np.arange(1024) % 7 - 3).astype(np.float32).reshape(64, 16)
    return [x, np.zeros((64, 16), np.float32), np.zeros((64, 16), np.float32), np.zeros((64, 16), np.float32)]
