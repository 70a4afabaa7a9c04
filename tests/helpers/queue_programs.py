"""Texts of programs with a cube kernel, a vector kernel and a queue between them, for tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

ACC = "!pto.tile_buf<acc, {r}x{c}xf32, {valid}blayout=col_major, slayout=row_major, fractal=1024>"
MAT = "!pto.tile_buf<mat, {r}x{c}x{e}, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, {r}x{c}xf32, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, {r}x{c}xf32, slayout=col_major>"


def product(rows: int, cols: int, acc_valid: str = "") -> str:
    """Cube code: acc = a x b_i with a of rows x 16 and b_i of 16 x cols from %gm_a and row 16 i of %gm_b."""
    mat_a, mat_b = MAT.format(r=rows, c=16, e="f32"), MAT.format(r=16, c=cols, e="f32")
    left, right = LEFT.format(r=rows, c=16), RIGHT.format(r=16, c=cols)
    acc = ACC.format(r=rows, c=cols, valid=acc_valid)
    a_part, b_part = f"!pto.partition_tensor_view<{rows}x16xf32>", f"!pto.partition_tensor_view<16x{cols}xf32>"
    view = "!pto.tensor_view<?x?xf32>"
    return f"""
      %b_row = arith.muli %i, %c16 : index
      %b_part = pto.partition_view %b_view, offsets = [%b_row, %c0], sizes = [%c16, %cols] : {view} -> {b_part}
      pto.tload ins(%a_part : {a_part}) outs(%mat_a : {mat_a})
      pto.tload ins(%b_part : {b_part}) outs(%mat_b : {mat_b})
      pto.tmov ins(%mat_a : {mat_a}) outs(%left : {left})
      pto.tmov ins(%mat_b : {mat_b}) outs(%right : {right})
      pto.tmatmul ins(%left, %right : {left}, {right}) outs(%acc : {acc})
"""


def product_setup(rows: int, cols: int, acc_valid: str = "") -> str:
    """Tiles and views that ``product`` uses."""
    view, part = "!pto.tensor_view<?x?xf32>", f"!pto.partition_tensor_view<{rows}x16xf32>"
    return f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %rows = arith.constant {rows} : index
    %cols = arith.constant {cols} : index
    %many = arith.constant 4096 : index
    %zero = arith.constant 0 : i32
    %a_view = pto.make_tensor_view %gm_a, shape = [%rows, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %b_view = pto.make_tensor_view %gm_b, shape = [%many, %cols], strides = [%cols, %c1] : !pto.tensor_view<?x?xf32>
    %a_part = pto.partition_view %a_view, offsets = [%c0, %c0], sizes = [%rows, %c16] : {view} -> {part}
    %mat_a = pto.alloc_tile : {MAT.format(r=rows, c=16, e="f32")}
    %mat_b = pto.alloc_tile : {MAT.format(r=16, c=cols, e="f32")}
    %left = pto.alloc_tile : {LEFT.format(r=rows, c=16)}
    %right = pto.alloc_tile : {RIGHT.format(r=16, c=cols)}
    %acc = pto.alloc_tile : {ACC.format(r=rows, c=cols, valid=acc_valid)}
"""


@dataclass
class CubeToVector:
    """A cube kernel that pushes ``count`` products and a vector kernel that stores what it pops.

    Entry i is stored from row i x ``step`` of %gm_out on: the first core's part at row 0 and column 0 of it, the second
    core's below (``split`` 1) or beside (2).
    """

    arch: str = "a5"
    split: int = 1
    rows: int = 16
    cols: int = 32
    count: int = 3
    element: str = "f32"
    slots: int = 8
    slot_size: int = 2048
    reserve: int = 0
    epilogue: str = ""
    before_push: str = ""
    pops: int | None = None
    frees: bool = True

    @property
    def part(self) -> tuple[int, int]:
        """Rows and columns that a vector core pops."""
        rows = self.rows // 2 if self.split == 1 else self.rows
        cols = self.cols // 2 if self.split == 2 else self.cols
        return rows, cols

    def text(self) -> str:
        """The module."""
        gm = "gm_slot_buffer = %gm_slots : !pto.ptr<f32>, " if self.arch == "a2a3" else ""
        rows, cols = self.part
        vec = f"!pto.tile_buf<vec, {rows}x{cols}x{self.element}>"
        view = f"!pto.tensor_view<?x?x{self.element}>"
        part = f"!pto.partition_tensor_view<{rows}x{cols}x{self.element}>"
        acc = ACC.format(r=self.rows, c=self.cols, valid="")
        fields = f"id = 0, dir_mask = 1, slot_size = {self.slot_size}, slot_num = {self.slots}{self.epilogue}"
        row, col = ("%who", "%c0") if self.split == 1 else ("%c0", "%who" if self.split == 2 else "%c0")
        size = self.reserve or self.slots * self.slot_size
        place = f"size = {size}, location = #pto.address_space<vec>, auto = true"
        free = f"pto.tfree_from_aic {{id = 0, split = {self.split}}}" if self.frees else ""
        return f"""module attributes {{pto.target_arch = "{self.arch}"}} {{
  func.func @cube(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    {product_setup(self.rows, self.cols)}
    %n = arith.constant {self.count} : index
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @vector}} -> i32
    pto.aic_initialize_pipe {{{fields}}} ({gm}c2v_consumer_buf = %fifo : i32, v2c_consumer_buf = %zero : i32)
    scf.for %i = %c0 to %n step %c1 {{
      {product(self.rows, self.cols)}
      {self.before_push}
      pto.tpush_to_aiv(%acc : {acc}) {{id = 0, split = {self.split}}}
    }}
    return
  }}
  func.func @vector(%gm_out: !pto.ptr<{self.element}>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %n = arith.constant {self.count if self.pops is None else self.pops} : index
    %rows = arith.constant {rows} : index
    %cols = arith.constant {cols} : index
    %step = arith.constant {self.rows} : index
    %width = arith.constant {2 * self.cols} : index
    %many = arith.constant 4096 : index
    %who_i = pto.get_subblock_idx
    %who = arith.index_cast %who_i : i64 to index
    %fifo = pto.reserve_buffer {{name = "fifo", {place}}} -> i32
    pto.aiv_initialize_pipe {{{fields}}} ({gm}c2v_consumer_buf = %fifo : i32, v2c_consumer_buf = %zero : i32)
    %view = pto.make_tensor_view %gm_out, shape = [%many, %width], strides = [%width, %c1] : {view}
    %down = arith.muli {row}, %rows : index
    %right = arith.muli {col}, %cols : index
    scf.for %i = %c0 to %n step %c1 {{
      %top = arith.muli %i, %step : index
      %y = arith.addi %top, %down : index
      %part = pto.partition_view %view, offsets = [%y, %right], sizes = [%rows, %cols] : {view} -> {part}
      %tile = pto.tpop_from_aic {{id = 0, split = {self.split}}} -> {vec}
      pto.tstore ins(%tile : {vec}) outs(%part : {part})
      {free}
    }}
    return
  }}
}}
"""


@dataclass
class VectorToCube:
    """A vector kernel that pushes parts of %gm_in and a cube kernel that stores what it pops, times one, in %gm_out.

    ``rows`` x ``cols`` is the whole entry; each vector core pushes its half of it, or all of it.
    """

    arch: str = "a5"
    split: int = 1
    rows: int = 32
    cols: int = 16
    count: int = 2
    slots: int = 4
    source_layout: str = ""

    def text(self) -> str:
        """The module."""
        rows = self.rows // 2 if self.split == 1 else self.rows
        cols = self.cols // 2 if self.split == 2 else self.cols
        gm = "gm_slot_buffer = %gm_slots : !pto.ptr<f32>, " if self.arch == "a2a3" else ""
        size = self.rows * self.cols * 4
        fields = f"id = 3, dir_mask = 2, slot_size = {size}, slot_num = {self.slots}"
        down, right = ("%who" if self.split == 1 else "%c0"), ("%who" if self.split == 2 else "%c0")
        nd, part = f"!pto.tile_buf<vec, {rows}x{cols}xf32>", f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
        pushed = f"!pto.tile_buf<vec, {rows}x{cols}xf32{self.source_layout}>"
        whole = f"!pto.partition_tensor_view<{self.rows}x{self.cols}xf32>"
        mat, unit = MAT.format(r=self.rows, c=self.cols, e="f32"), MAT.format(r=self.cols, c=self.cols, e="f32")
        left, right_tile = LEFT.format(r=self.rows, c=self.cols), RIGHT.format(r=self.cols, c=self.cols)
        acc = ACC.format(r=self.rows, c=self.cols, valid="")
        return f"""module attributes {{pto.target_arch = "{self.arch}"}} {{
  func.func @vector(%gm_in: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %n = arith.constant {self.count} : index
    %rows = arith.constant {rows} : index
    %cols = arith.constant {cols} : index
    %height = arith.constant {self.rows} : index
    %width = arith.constant {self.cols} : index
    %all = arith.constant {self.rows * self.count} : index
    %who_i = pto.get_subblock_idx
    %who = arith.index_cast %who_i : i64 to index
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @cube}} -> i32
    pto.aiv_initialize_pipe {{{fields}}} ({gm}c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %fifo : i32)
    %view = pto.make_tensor_view %gm_in, shape = [%all, %width], strides = [%width, %c1] : !pto.tensor_view<?x?xf32>
    %nd = pto.alloc_tile : {nd}
    %tile = pto.alloc_tile : {pushed}
    %down = arith.muli {down}, %rows : index
    %right = arith.muli {right}, %cols : index
    scf.for %i = %c0 to %n step %c1 {{
      %top = arith.muli %i, %height : index
      %y = arith.addi %top, %down : index
      %part = pto.partition_view %view, offsets = [%y, %right], sizes = [%rows, %cols]
        : !pto.tensor_view<?x?xf32> -> {part}
      pto.tload ins(%part : {part}) outs(%nd : {nd})
      pto.tmov ins(%nd : {nd}) outs(%tile : {pushed})
      pto.tpush_to_aic(%tile : {pushed}) {{id = 3, split = {self.split}}}
    }}
    return
  }}
  func.func @cube(%gm_unit: !pto.ptr<f32>, %gm_out: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %n = arith.constant {self.count} : index
    %height = arith.constant {self.rows} : index
    %width = arith.constant {self.cols} : index
    %all = arith.constant {self.rows * self.count} : index
    %fifo = pto.reserve_buffer {{name = "fifo", size = {self.slots * size},
      location = #pto.address_space<mat>, auto = true}} -> i32
    pto.aic_initialize_pipe {{{fields}}} ({gm}c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %fifo : i32)
    %unit_view = pto.make_tensor_view %gm_unit, shape = [%width, %width], strides = [%width, %c1]
      : !pto.tensor_view<?x?xf32>
    %unit_part = pto.partition_view %unit_view, offsets = [%c0, %c0], sizes = [%width, %width]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{self.cols}x{self.cols}xf32>
    %unit = pto.alloc_tile : {unit}
    %left = pto.alloc_tile : {left}
    %right = pto.alloc_tile : {right_tile}
    %acc = pto.alloc_tile : {acc}
    pto.tload ins(%unit_part : !pto.partition_tensor_view<{self.cols}x{self.cols}xf32>) outs(%unit : {unit})
    pto.tmov ins(%unit : {unit}) outs(%right : {right_tile})
    %out_view = pto.make_tensor_view %gm_out, shape = [%all, %width], strides = [%width, %c1]
      : !pto.tensor_view<?x?xf32>
    scf.for %i = %c0 to %n step %c1 {{
      %top = arith.muli %i, %height : index
      %out = pto.partition_view %out_view, offsets = [%top, %c0], sizes = [%height, %width]
        : !pto.tensor_view<?x?xf32> -> {whole}
      %entry = pto.tpop_from_aiv {{id = 3, split = {self.split}}} -> {mat}
      pto.tmov ins(%entry : {mat}) outs(%left : {left})
      pto.tfree_from_aiv {{id = 3, split = {self.split}}}
      pto.tmatmul ins(%left, %right : {left}, {right_tile}) outs(%acc : {acc})
      pto.tstore ins(%acc : {acc}) outs(%out : {whole})
    }}
    return
  }}
}}
"""


def entry_views(split: int) -> str:
    """a2a3: the cube core fills a slot of 2 x 16 x 16 elements itself, both vector cores read it through views.

    A split entry has 2 x 8 x 16 (1) elements for each of them; whole entries are read from row 8 x core on.
    """
    rows = 8 if split else 16
    acc, vec = ACC.format(r=16, c=16, valid=""), "!pto.tile_buf<vec, 16x16xf32>"
    start = "%c0" if split else "%down"
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @cube(%gm_a: !pto.ptr<f32>, %gm_b: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    {product_setup(16, 16)}
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c256 = arith.constant 256 : index
    %slots = pto.make_tensor_view %gm_slots, shape = [%c2, %c16, %c16], strides = [%c256, %c16, %c1]
      : !pto.tensor_view<2x16x16xf32>
    pto.aic_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 2048, slot_num = 2}} (gm_slot_tensor = %slots
      : !pto.tensor_view<2x16x16xf32>)
    scf.for %entry_number = %c0 to %c3 step %c1 {{
      %entry = pto.talloc_to_aiv {{id = 1, split = {split}}} -> !pto.tensor_view<2x16x16xf32>
      scf.for %half = %c0 to %c2 step %c1 {{
        %first = arith.muli %entry_number, %c2 : index
        %i = arith.addi %first, %half : index
        {product(16, 16)}
        %place = pto.partition_view %entry, offsets = [%half, %c0, %c0], sizes = [%c1, %c16, %c16]
          : !pto.tensor_view<2x16x16xf32> -> !pto.partition_tensor_view<1x16x16xf32>
        pto.tstore ins(%acc : {acc}) outs(%place : !pto.partition_tensor_view<1x16x16xf32>)
      }}
      pto.tpush_to_aiv(%entry : !pto.tensor_view<2x16x16xf32>) {{id = 1, split = {split}}}
    }}
    return
  }}
  func.func @vector(%gm_out: !pto.ptr<f32>, %gm_slots: !pto.ptr<f32>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %c6 = arith.constant 6 : index
    %who_i = pto.get_subblock_idx
    %who = arith.index_cast %who_i : i64 to index
    %down = arith.muli %who, %c8 : index
    %rows = arith.constant {rows} : index
    %slots = pto.make_tensor_view %gm_slots, shape = [%c2, %rows, %c16], strides = [%c256, %c16, %c1]
      : !pto.tensor_view<2x{rows}x16xf32>
    pto.aiv_initialize_pipe {{id = 1, dir_mask = 1, slot_size = 2048, slot_num = 2}} (gm_slot_tensor = %slots
      : !pto.tensor_view<2x{rows}x16xf32>)
    %tile = pto.alloc_tile : {vec}
    %out = pto.make_tensor_view %gm_out, shape = [%c6, %c16, %c16], strides = [%c256, %c16, %c1]
      : !pto.tensor_view<6x16x16xf32>
    scf.for %n = %c0 to %c3 step %c1 {{
      %first = arith.muli %n, %c2 : index
      %entry = pto.tpop_from_aic {{id = 1, split = {split}}} -> !pto.tensor_view<2x{rows}x16xf32>
      %from = pto.partition_view %entry, offsets = [%c0, {start}, %c0], sizes = [%c2, %c8, %c16]
        : !pto.tensor_view<2x{rows}x16xf32> -> !pto.partition_tensor_view<2x8x16xf32>
      %to = pto.partition_view %out, offsets = [%first, %down, %c0], sizes = [%c2, %c8, %c16]
        : !pto.tensor_view<6x16x16xf32> -> !pto.partition_tensor_view<2x8x16xf32>
      pto.tload ins(%from : !pto.partition_tensor_view<2x8x16xf32>) outs(%tile : {vec})
      pto.tfree_from_aic(%entry : !pto.tensor_view<2x{rows}x16xf32>) {{id = 1, split = {split}}}
      pto.tstore ins(%tile : {vec}) outs(%to : !pto.partition_tensor_view<2x8x16xf32>)
    }}
    return
  }}
}}
"""


def with_handles(program: CubeToVector, flags: str) -> str:
    """The program with a queue handle instead of a number."""
    text = program.text()
    tail = f", {flags}" if flags else ""
    for side in ("aic", "aiv"):
        text = re.sub(
            rf"pto\.{side}_initialize_pipe {{id = 0, (dir_mask = 1, slot_size = \d+, slot_num = \d+)}} "
            r"\((?:gm_slot_buffer = (%\w+) : (!pto.ptr<f32>), )?c2v_consumer_buf = (%\w+) : i32.*?\)",
            lambda m: (
                f"%pipe = pto.initialize_l2g2l_pipe {{{m[1]}{tail}}}({m[2]} : {m[3]}, {m[4]} : i32) -> !pto.pipe"
                if m[2]
                else f"%pipe = pto.initialize_l2l_pipe {{{m[1]}{tail}}}({m[4]} : i32) -> !pto.pipe"
            ),
            text,
        )
    split = program.split
    text = re.sub(
        r"pto\.tpush_to_aiv\(%acc : (.*?)\) \{id = 0, .*?\}",
        lambda m: f"pto.tpush(%acc, %pipe : {m[1]}, !pto.pipe) {{split = {split}}}",
        text,
    )
    text = re.sub(
        r"%tile = pto\.tpop_from_aic \{.*?\} -> (.*)",
        lambda m: f"pto.tpop(%tile, %pipe : {m[1]}, !pto.pipe) {{split = {split}}}",
        text,
    )
    free = f"pto.tfree_from_aic {{id = 0, split = {split}}}"
    text = text.replace(free, f"pto.tfree(%pipe : !pto.pipe) {{split = {split}}}")
    rows, cols = program.part
    declared = f"%tile = pto.declare_tile -> !pto.tile_buf<vec, {rows}x{cols}x{program.element}>\n"
    marker = "%view = pto.make_tensor_view %gm_out"
    return text.replace(marker, declared + marker)
