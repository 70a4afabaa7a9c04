"""Purposes of micro-instructions, queues, work-item operations and rarer tile operations, as users search for them."""

from __future__ import annotations

from typing import Final

from .phrases import rows

INSTRUCTION_PURPOSES: Final = rows(
    """
absf: fabs; absolute value of a float in a thread
ceil: ceil of a float in a thread; round up
cos: cosine; cosf
sin: sine; sinf
exp: expf; exponential in a thread
log: logf; logarithm in a thread
pow: powf; power in a thread
sqrt: sqrtf; square root in a thread
rint: round to nearest integer in a thread; rintf
fmax: fmaxf; larger of two floats in a thread
fmin: fminf; smaller of two floats in a thread
convert: convert a number in a thread; static_cast in a thread
mulhi: __mulhi; high half of a product
mul_i32toi64: 64 bit product of two 32 bit integers; wide multiplication
prmt: __byte_perm; permute bytes
keep: hold a value in a register
resume: read a held value back
vote_uni: all lanes have the same value; __match_all_sync
redux_min: __reduce_min_sync; minimum over a warp
threadfence_block: __threadfence_block; fence inside a block of threads
get_lanemask_eq: lane mask of the own lane
get_lanemask_lt: mask of lanes before the own lane
get_tid_y: threadIdx.y
get_tid_z: threadIdx.z
get_block_dim_y: blockDim.y
get_grid_dim_x: gridDim.x of threads
get_block_idx_x: blockIdx.x of threads
get_clock32: clock(); 32 bit cycle counter
get_veccoreid: id of the vector core
ldg: __ldg; load of a thread from global memory; global load with a cache hint
stg: store of a thread to global memory
load: load of a thread; read memory through a pointer
store: store of a thread; write memory through a pointer
ld_dev: load past the cache; volatile read of global memory; poll a flag in global memory
st_dev: store past the cache; write a flag in global memory
atomic_and: atomicAnd
atomic_or: atomicOr
atomic_xor: atomicXor
atomic_sub: atomicSub
atomic_min: atomicMin
section.simt: code for work-items; SIMT body
store_vfsimt_info: launch parameters of work-items
get_ctrl: read the control register
set_ctrl: write the control register; CTRL bits
sbitset0: clear one bit of a number
sbitset1: set one bit of a number
set_fpc: address of quantisation parameters; FPC register
set_quant_pre: quantisation scale register; QUANT_PRE
set_relu_alpha: slope register of leaky relu in the fixpipe
set_fix_clip_relu: clip value of relu in the fixpipe; relu6
set_channel_para: split channels of the fixpipe
set_quant_scalar: one scale of the write-back; deq scalar
set_quant_vector: scales per channel of the write-back; deq vector
set_loop1_stride_outtoub: strides of the first hardware loop of a load to UB
set_loop2_stride_outtoub: strides of the second hardware loop of a load to UB
set_loop_size_outtoub: counts of the hardware loops of a load to UB; loop mode of DataCopyPad
set_loop1_stride_ubtoout: strides of the first hardware loop of a store from UB
set_loop_size_ubtoout: counts of the hardware loops of a store from UB
set_loop3_para: third loop of the fixpipe; NZ to ND parameters; nd para
set_mte2_nz_para: parameters of the ND to NZ transfer
set_mov_pad_val: padding value register of transfers
set_pad_val_outtol1: padding value of loads to L1
set_atomic_f32: atomic add of f32 stores
set_atomic_f16: atomic add of f16 stores
set_atomic_bf16: atomic add of bf16 stores
set_atomic_s32: atomic add of int32 stores
set_store_atomic_cfg: configure atomic stores
set_cross_block: signal another block
wait_cross_block: wait for another block
set_intra_block: signal the other core of a block; CrossCoreSetFlag on a5
wait_intra_block: wait for the other core of a block; CrossCoreWaitFlag on a5
set_flag_dyn: set_flag with an event id that is computed; event id in a variable
wait_flag_dyn: wait_flag with an event id that is computed
get_buf_dyn: lock a buffer whose id is computed
rls_buf_dyn: release a buffer whose id is computed
barrier_sync: barrier of an operation
tsync: wait for events of other operations; synchronise tile operations by events
declare_eventid_array: array of event ids; table of event ids
eventid_array_get: event id by index; rotating event id
eventid_array_set: change an event id of the array
declare_local_array: array of numbers on the stack; local scalar array
local_array_get: read an element of a local array
local_array_set: write an element of a local array
declare_struct: struct of scalars
struct_get: read a field of a struct
struct_set: write a field of a struct
declare_tile: tile variable without memory; tile handle that is set later
declare_global: global tensor variable without an address
materialize_tile: tile handle with other valid rows and columns
inttoptr: integer to pointer
ptrtoint: pointer to integer
pointer_cast: reinterpret a pointer
tensor_view_addr: pointer of a tensor view; base address of a view
tile_buf_addr: pointer of a tile; address of a tile in the unified buffer
tile_valid_rows: number of valid rows of a tile
tile_valid_cols: number of valid columns of a tile
get_tensor_view_dim: size of a dimension of a view; shape of a tensor at run time
get_tensor_view_stride: stride of a view at run time
yield: results of a region
fusion_region: operations that are fused; fused vector loop
strict_vecscope: vector function with explicit arguments
reserve_buffer: reserve memory for a queue between cores
import_reserved_buffer: memory that the other core has reserved
aic_initialize_pipe: create a queue on the cube core
aiv_initialize_pipe: create a queue on the vector core
initialize_l2g2l_pipe: queue between cores through global memory
initialize_l2l_pipe: queue between cores on the chip
talloc: slot of a queue to write to; acquire a queue entry
talloc_to_aic: queue slot for the cube core
talloc_to_aiv: queue slot for the vector core
tfree_from_aic: give a queue slot back to the cube core
tfree_from_aiv: give a queue slot back to the vector core
comm.tput_async: asynchronous write to another rank; non-blocking put
comm.tget_async: asynchronous read from another rank; non-blocking get
comm.build_async_session: session of asynchronous transfers between ranks
comm.wait_async_event: wait until an asynchronous transfer has ended
comm.test_async_event: has an asynchronous transfer ended
comm.ttest: test a signal of another rank without waiting
copy_gm_to_ubuf: low-level copy from global memory to UB; copy_gm_to_ubuf_align
copy_ubuf_to_gm: low-level copy from UB to global memory; copy_ubuf_to_gm_align
copy_ubuf_to_ubuf: low-level copy inside UB
copy_gm_to_cbuf: low-level copy from global memory to L1
copy_cbuf_to_ubuf: low-level copy from L1 to UB
copy_ubuf_to_cbuf: low-level copy from UB to L1
copy_gm_to_cbuf_multi_nd2nz: low-level ND to NZ copy into L1
copy_gm_to_cbuf_multi_dn2nz: low-level DN to NZ copy into L1
copy_cbuf_to_bt: low-level copy of the bias into the bias table
copy_cbuf_to_fbuf: low-level copy of quantisation parameters to the fixpipe buffer
copy_matrix_cc_to_gm: low-level fixpipe to global memory
copy_matrix_cc_to_cbuf: low-level fixpipe to L1
copy_matrix_cc_to_ub: low-level fixpipe to UB
load_cbuf_to_ca: low-level load of L0A; load2d; load_cbuf_to_ca
load_cbuf_to_cb: low-level load of L0B; load2d; load_cbuf_to_cb
load_cbuf_to_ca_mx: low-level load of L0A with MX scales
load_cbuf_to_ca_s4: low-level load of int4 into L0A
create_cbuf_matrix: zero fill L1; clear the L1 buffer; fill L1 with a constant; zero L1
raw_fill_l1: zero fill L1; fill L1 with a constant
mte_l1_fb: load quantisation parameters into the fixpipe buffer
mte_l1_ub: copy from L1 to the unified buffer
mte_ub_l1: copy from the unified buffer to L1
mte_ub_ub: copy inside the unified buffer; UB to UB
mte_l1_l0a_mx: load the left matrix with MX scales
mte_l1_l0b_mx: load the right matrix with MX scales
mad_mx_acc: accumulate an MX product on pointers
mad_mx_bias: MX product with bias on pointers
taddc: sum of three tiles
taddrelu: add and relu in one; fused add relu
taddsc: tile plus number plus tile
tsubc: difference with a third tile
tsubsc: tile minus number plus tile
tands: bitwise and with a number
tors: bitwise or with a number
txors: bitwise exclusive or with a number
tfmods: fmod with a number
trems: remainder with a number; modulo a constant
tcolexpandmax: maximum of each column and its own number
tcolexpandmin: minimum of each column and its own number
tcolexpandexpdif: exponential of the difference to a row
tconcatidx: concatenate valid parts by counts
textract_fp: take a window out of an accumulator with quantisation
tinsert_fp: put a quantised accumulator into a larger tile
tmov.fp: move an accumulator with a scale per channel; quantised move
tstore_fp: store an accumulator with a scale per channel; quantised store; dequantised store
tfillpad_inplace: pad a tile in its own memory
tfillpad_expand: pad a tile into a larger one
tgatherb: gather blocks by byte offsets
tgemv.mx: matrix-vector product of MX operands
tmatmul.mx.acc: accumulate an MX product
tmatmul.mx.bias: MX product with bias
tpartadd: add two tiles of different valid regions; add where both are valid
tpartmul: multiply two tiles of different valid regions
tpartmax: maximum of two tiles of different valid regions
tpartmin: minimum of two tiles of different valid regions
tpartargmax: combine two argmax results
tpartargmin: combine two argmin results
simd.tile_to_memref: tile as a memref
ub.vadd: vector add on UB memory with repeats; a2a3 vector instruction; repeat stride
ub.vmul: vector multiply on UB memory with repeats
ub.vsub: vector subtract on UB memory with repeats
ub.vmax: vector maximum on UB memory with repeats
ub.vexp: vector exponential on UB memory with repeats
ub.vadds: add a number on UB memory with repeats
ub.vmuls: multiply by a number on UB memory with repeats
ub.vdup: fill UB memory with a number; vector_dup
ub.set_mask: SetVectorMask; vector mask register; mask of 128 bits
ub.set_mask_count: mask in counter mode; SetMaskCount
ub.set_mask_norm: mask in normal mode; SetMaskNorm
vadds: add a number to a register
vmuls: multiply a register by a number
vmaxs: maximum of a register and a number; clamp a register from below
vmins: minimum of a register and a number; clamp a register from above
vmin: Min of registers; smaller lanes
vneg: negate a register
vnot: bitwise complement of a register
vand: bitwise and of registers
vor: bitwise or of registers
vxor: bitwise exclusive or of registers
vshl: shift lanes left by lanes
vshr: shift lanes right by lanes
vshls: shift lanes left by a number
vshrs: shift lanes right by a number
vcmps: compare a register with a number
vprelu: parametric relu of registers
vaddc: add registers with carry out; 64 bit addition
vaddcs: add registers with carry in and out
vsubc: subtract registers with borrow
vsubcs: subtract registers with borrow in and out
vmull: 64 bit product of registers; widening multiplication
vmulscvt: multiply by a number and convert
vmulconv: multiply and convert
vaddreluconv: add, relu and convert in one
vtrc: round lanes to integers; truncate the fraction of a register; floor of a register; ceil of a register
vsunpack: widen lanes with sign; sign extend lanes
vzunpack: widen lanes with zeros; zero extend lanes
vusqz: prefix count of a mask; running count of active lanes; cumulative sum of a mask
vcgmax: maximum of each 32 byte block; BlockReduceMax
vcgmin: minimum of each 32 byte block; BlockReduceMin
vcpadd: sum of neighbouring pairs of lanes; PairReduceSum
vcbmax: maximum of lanes with its mask
vbitsort: sort 32 elements by score; sort with indices
vgatherb: gather 32 byte blocks into a register
vgather2_bc: gather with broadcast into a register
vintlvv2: interleave, one of both results
vdintlvv2: deinterleave, one of both results
vselrv2: table lookup of lanes
vldas: start of an unaligned load; unaligned vector load
vldus: unaligned load of a register; load from an address without alignment
vstus: unaligned store of a register; store to an address without alignment
vstas: end of an unaligned store; flush an unaligned store
vstar: flush the rest of an unaligned store
vstur: unaligned store of active lanes; compact store
uvld: unaligned load of one register
init_align: start state of unaligned stores
sprclr: clear the address register of compact stores
chistv2: cumulative histogram in registers
dhistv2: histogram in registers; count bytes
pbitcast: mask for lanes of another width
pge_b32: mask of the first lanes by pattern
pset_b16: mask of all 16 bit lanes
pset_b8: mask of all 8 bit lanes
plt_b8: tail mask of 8 bit lanes
plds: load a mask from the unified buffer; load predicate
pldi: load a mask from a fixed offset
psts: store a mask to the unified buffer; store predicate
psti: store a mask to a fixed offset
pstu: unaligned store of a mask
psel: select between two masks
pxor: exclusive or of masks
ppack: narrow a mask; pack predicate
punpack: widen a mask; unpack predicate
pintlv_b32: interleave two masks
pdintlv_b32: deinterleave two masks
vmi.load: load of a logical vector
vmi.store: store of a logical vector
vmi.masked_load: masked load of a logical vector
vmi.masked_store: masked store of a logical vector
vmi.gather: gather of a logical vector
vmi.scatter: scatter of a logical vector
vmi.broadcast: number in all lanes of a logical vector; vector splat
vmi.iota: lane numbers of a logical vector
vmi.reduce_addf: sum of a logical vector; horizontal reduction
vmi.reduce_maxf: maximum of a logical vector
vmi.group_reduce_addf: sum of groups of lanes
vmi.create_mask: mask of the first lanes of a logical vector
vmi.select: select of logical vectors
vmi.fma: fused multiply add of logical vectors
vmi.compress: active lanes together; stream compaction of a logical vector
vmi.compress_store: store active lanes together
vmi.expand_load: load into active lanes
vmi.shuffle: permute a logical vector
vmi.extf: widen floats of a logical vector
vmi.truncf: narrow floats of a logical vector
vmi.sitofp: integers to floats in a logical vector
vmi.fptosi: floats to integers in a logical vector
""",
    "pto.",
)
"""Phrases by operation."""
