"""Types in the example programs of rules of several files."""

from __future__ import annotations

TILE = "!pto.tile_buf<vec, 16x16xf32>"
WIDE = "!pto.tile_buf<vec, 16x32xf32>"
SQUARE = "!pto.tile_buf<vec, 32x32xf32>"
INTS = "!pto.tile_buf<vec, 16x16xi16>"
ROW = "!pto.tile_buf<vec, 1x32xi32>"
COLUMN = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
MAT = "!pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major>"
VALUE = "!pto.tile<16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"
VREG = "!pto.vreg<64xf32>"
VMI = "!pto.vmi.vreg<64xf32>"
MASK = "!pto.mask<b32>"
