"""Phrases for types, memories, pipes, layouts and clauses: what they are called elsewhere."""

from __future__ import annotations

from typing import Final

from .phrases import rows

TERM_PURPOSES: Final = rows("""
pipe: pipe; which pipes are there; instruction queue; PIPE_V; PIPE_MTE2
event: event id; EVENT_ID0 to EVENT_ID7; id of a flag; how many events
nz: NZ layout; fractal layout; what does NZ mean; zN layout; blocks by columns; zigzag layout; what is a fractal
zn: ZN layout; fractal layout of the right operand; nZ layout
zz: ZZ layout; layout of scales
nn: NN layout
nd: ND layout; row major; plain rows
dn: DN layout; column major
gm: global memory; HBM; DDR; device memory; where tensors are
ub: how big is the unified buffer; how large is UB; unified buffer; UB size; memory of the vector core; shared memory;
    on-chip memory of the vector unit; memory of UB
    in bytes; UB capacity; 192 KB; 256 KB
l1: L1 buffer; size of L1; cbuf; staging memory of the cube core; how big is L1; A1 B1; L1 capacity; 512 KB; cbuf size
l0a: L0A buffer; left operand memory; A2
l0b: L0B buffer; right operand memory; B2
l0c: L0C buffer; accumulator memory; size of L0C; CO1; how large is L0C; L0C capacity; 128 KB
bt: bias table; bias table buffer; C2
fb: fixpipe buffer; memory of quantisation parameters
vec: tile in the unified buffer; vec location
mat: tile in L1; mat location
left: tile of the left operand; left location
right: tile of the right operand; right location
acc: tile of the accumulator; acc location
bias: tile of the bias; bias location
scaling: tile of scales; scaling location
pipe_s: scalar pipe; scalar unit
pipe_v: vector pipe; vector unit
pipe_m: matrix pipe; cube unit
pipe_mte1: MTE1 pipe; transfers from L1 to L0
pipe_mte2: MTE2 pipe; transfers from global memory; loads
pipe_mte3: MTE3 pipe; transfers to global memory; stores
pipe_fix: fixpipe; pipe that writes accumulators back; FIX pipe
pto.ptr: pointer type; address in a memory
pto.tensor_view: tensor view type; GlobalTensor; type of a tensor in global memory
pto.partition_tensor_view: type of a part of a tensor
pto.tile_buf: tile buffer type; LocalTensor; type of a tile; Tile type
pto.multi_tile_buf: several slots of a tile; type of double buffered tiles
pto.vreg: vector register type; RegTensor; register
pto.mask: predicate type; MaskReg; mask register
pto.hif8: hif8 format; HiFloat8; 8 bit float of Ascend
pto.f4E2M1x2: fp4; mxfp4 element type; two 4 bit floats
pto.f4E1M2x2: fp4 with two mantissa bits
pto.f8E8M0: E8M0; type of MX scales; power of two scale
a2a3: Ascend 910B; Ascend 910C; 910b; 910b3; A2; A3; dav-c220
a5: Ascend 950; 950; A5; dav-c310; 910_95
pre_quant: quantised writeback; quantise accumulators on the way out; requantise; dequantise in the fixpipe
pre_relu: relu after matmul; relu on the way out of the accumulator
sat: saturate; saturation
unit_flag: unit flag; overlap of product and write-back
nd2nz: nd to nz conversion; load that changes the layout to NZ; row major to fractal
dn2nz: dn to nz conversion; column major to fractal
nz2nd: nz to nd conversion; write rows out of an accumulator
nz2dn: nz to dn conversion
round_mode: rounding mode of casts; round to nearest even; CAST_RINT; truncate when converting; round to nearest;
    floor of a float; ceil; trunc; rounding in tcvt
saturation_mode: saturation when converting; clamp or wrap of casts
tf32_mode: tf32; TensorFloat-32
cmp: comparison mode; less than, equal, greater
padmode: padding value of DataCopyPad; padding mode of a load
pad_value: padding value; pad with zeros, minimum or maximum
blayout: layout of blocks; BLayout
slayout: layout inside of blocks; SLayout; boxes of a tile
loc: location of a tile; TileType; memory of a tile in its type
dtype: element type of a tile; DType
rows: rows of a tile in memory; physical rows
cols: columns of a tile in memory; physical columns
v_row: valid rows of a tile; ValidRow; RowValid
v_col: valid columns of a tile; ValidCol; ColValid
valid: valid region of a tile; valid shape in the type; part of a tile with content
fractal: bytes of a block; fractal size; SFractalSize; 512 or 1024
pad: padding of a tile; PadVal; pad value in the type
compact: CompactMode; packed blocks; RowPlusOne; row_plus_one
quant_pre_mode: modes of quantisation of the write-back; quantised writeback
acc_to_vec_mode: accumulator to vector mode; dual destination
atomic_type: kind of atomic store; atomic add to global memory
""")
