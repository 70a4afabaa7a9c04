"""Purposes of the usual operations, in the terms that users search for."""

from __future__ import annotations

from typing import Final

from .phrases import rows

PURPOSES: Final = rows(
    """
tfree: free the slot of a queue after a pop; release a queue entry
tload: load a tile from global memory; read data from GM; copy a view into a tile
tstore: store a tile to global memory; write data back to GM; save a result; write an accumulator
tprefetch: prefetch data into the cache
tprint: print a tile for debugging; debug print of a tile; print a tile; show the elements of a tile
print: print a number; debug output of a scalar
tgetval: read one element of a tile
tsetval: write one element of a tile
mgather: gather rows of global memory by index; embedding lookup; indirect load
mscatter: scatter rows to global memory by index; indirect store;
    write rows to computed positions
tgather: gather elements of a tile by index; choose lanes by a pattern; take elements at positions
tscatter: scatter elements inside a tile by index
tadd: add two tiles; elementwise sum; residual
tsub: subtract two tiles; elementwise difference
tmul: multiply two tiles; elementwise product
tdiv: divide two tiles; elementwise quotient
tmax: maximum of two tiles; larger of two elements; elementwise max
tmin: minimum of two tiles; smaller of two elements; elementwise min
trem: remainder of a division; modulo
tfmod: remainder with the sign of the dividend; fmod
tadds: add a number to every element of a tile; add a scalar or constant
tsubs: subtract a number from every element of a tile
tmuls: multiply a tile by a number; scale a tile
tdivs: divide a tile by a number
tmaxs: clamp a tile from below; maximum with a number
tmins: clamp a tile from above; minimum with a number; clip
taxpy: scaled sum; y += a * x
texp: exponential of a tile
tlog: natural logarithm of a tile
tsqrt: square root of a tile
trsqrt: reciprocal square root; one over the square root; normalisation
trecip: reciprocal; one over a tile; inverse
tabs: absolute value of a tile
tneg: negate a tile; change the sign
trelu: relu; rectified linear unit; activation
tlrelu: leaky relu with one slope
tprelu: parametric relu with a tile of slopes
tpow: power of two tiles; raise to a power
tand: bitwise and of two tiles
tor: bitwise or of two tiles
txor: bitwise exclusive or of two tiles
tnot: bitwise complement; bitwise not; invert the bits
tshl: shift left by a tile of counts
tshr: shift right by a tile of counts
tshls: shift left by a number
tshrs: shift right by a number
tcmp: compare two tiles; equal, less, greater
tcmps: compare a tile with a number
tsel: select by a mask; choose between two tiles; where
tsels: select by a mask between a tile and a number
tcvt: cast; convert float to int; convert int to float; change the element type; round to f16
texpands: fill a tile with a constant; set all elements to a number; clear a tile; zero a tile; initialise
trowexpand: broadcast a column to all columns; repeat the first element of each row
tcolexpand: broadcast one row to all rows; repeat the first row
trowexpandadd: add to each row its own number; add a column to every column
trowexpandsub: subtract the row max from every row; subtract a value per row; subtract from each row its own number;
    subtract the row maximum
trowexpandmul: multiply each row by its own factor; scale rows
trowexpanddiv: divide each row by its own number; normalise rows
trowexpandmax: maximum of each row and its own number
trowexpandmin: minimum of each row and its own number
trowexpandexpdif: exponential of the difference to the row maximum; softmax numerator; exp of x minus max
tcolexpandadd: add a row to every row; add a bias to every row
tcolexpandsub: subtract a row from every row
tcolexpandmul: multiply every column by its own factor; scale columns;
    multiply a row vector with every row of a matrix
tcolexpanddiv: divide every column by its own number
trowsum: sum of each row; row sum; reduce along columns by addition
trowmax: maximum of each row; row maximum; softmax
trowmin: minimum of each row
trowprod: product of each row
trowargmax: index of the largest element of each row; argmax
trowargmin: index of the smallest element of each row; argmin
tcolsum: sum of each column; column sum; reduce along rows
tcolmax: maximum of each column
tcolmin: minimum of each column
tcolprod: product of each column
tcolargmax: index of the largest element of each column
tcolargmin: index of the smallest element of each column
tmov: move a tile to another location; copy a tile; change the layout; L1 to L0; accumulator to unified buffer
ttrans: transpose a tile; swap rows and columns;
    exchange the dimensions of a tile
textract: take a window out of a tile; sub-tile with a copy
tinsert: put a tile into a larger one
tfillpad: pad a tile; fill what is outside of the valid region; padding with zeros
tconcat: concatenate two tiles; append columns
treshape: reshape a tile; other shape of the same bytes
bitcast: the bytes of a tile as another type
subview: window of a tile without a copy; slice of a tile
tci: arange into a tile; sequence of numbers; consecutive integers; arange; iota
ttri: triangular mask; lower triangle; causal mask
trandom: random numbers; dropout
thistogram: histogram; count values; radix sort digits
tsort32: sort; order scores; top k
tmrgsort: merge sorted lists of a tile
tquant: quantize to int8; quantise with a scale for each row
tquant.mx: quantize to MX; shared exponents; block scales
tdequant: dequantize; int8 to float with scales
tmatmul: matrix multiplication of tiles; matrix product; gemm
tmatmul.acc: accumulate a matrix product; add a product to the accumulator; loop over k;
    keep partial sums in the accumulator; sum products over the inner dimension
tmatmul.bias: matrix product with bias; linear layer
tmatmul.mx: matrix product of MX operands; microscaling; fp8 with scales
tgemv: matrix times vector; vector times matrix; product of one row
tgemv.acc: accumulate a matrix-vector product
tgemv.bias: matrix-vector product with bias
mad: matrix multiplication on pointers; cube instruction
mad_acc: accumulate a matrix product on pointers
mad_bias: matrix product with bias on pointers
alloc_tile: allocate a tile; declare a tile buffer; reserve on-chip memory
alloc_multi_tile: double buffer; several tiles with one handle; ping pong
multi_tile_get: one slot of a double buffer
make_tensor_view: view of a tensor in global memory; shape and strides of an array
partition_view: slice of a tensor view; part of a tensor; block of a matrix in global memory
set_validshape: set the valid region at run time; tail of a loop;
    ragged tail; number of valid columns at run time; last block is smaller
get_validshape: ask for the valid rows and columns of a tile
tassign: place a tile at an address
set_flag: signal another pipe that data is ready; raise a flag; producer side
wait_flag: wait for a flag; wait until another pipe has finished; consumer side
barrier: barrier; wait until a pipe has finished; pipe_barrier
syncall: barrier over all cores; wait for all blocks; grid synchronisation
mem_bar: order vector loads and stores in the unified buffer
get_buf: lock a buffer
rls_buf: release a buffer
record_event: raise an event of an operation
wait_event: wait for the event of an operation
sync.set: signal between the cube and the vector core
sync.wait: wait for a signal of the other core
tpush_to_aiv: send a tile from the cube core to the vector core
tpush_to_aic: send a tile from the vector core to the cube core
tpop_from_aic: receive a tile from the cube core
tpop_from_aiv: receive a tile from the vector core
tpush: send a tile through a queue
tpop: receive a tile through a queue
get_block_idx: which block am I; index of the block; core number; program id
get_block_num: how many cores are running my kernel; number of running cores; number of blocks; how many cores run;
    grid size
get_subblock_idx: which vector core of the block
section.cube: code for the cube core
section.vector: code for the vector cores
vecscope: vector function; where registers live; loop of vector instructions
simt_launch: start work-items; launch threads
syncthreads: wait for all threads of the block
get_tid_x: number of the thread; work-item index
set_atomic_add: atomic add of stores; accumulate in global memory
atomic_add: atomic add of one element from a work-item
atomic_cas: compare and swap
mte_gm_ub: copy from global memory to the unified buffer; DMA in
mte_ub_gm: copy from the unified buffer to global memory; DMA out
mte_gm_l1: copy from global memory to L1
mte_gm_l1_frac: load a matrix into L1 in NZ; nd2nz
mte_l1_l0a: copy from L1 to L0A; load the left matrix
mte_l1_l0b: copy from L1 to L0B; load the right matrix
mte_l1_bt: load the bias table
mte_l0c_gm: write the accumulator to global memory; fixpipe to GM
mte_l0c_ub: write the accumulator to the unified buffer
mte_l0c_l1: write the accumulator to L1
vlds: load a register from the unified buffer; vector load
vsts: store a register to the unified buffer; vector store
vadd: add two registers
vsub: subtract two registers
vmul: multiply two registers
vdiv: divide two registers
vexp: exponential of a register
vln: natural logarithm of a register
vsqrt: square root of a register
vabs: absolute value of a register
vrelu: relu of a register
vlrelu: leaky relu of a register
vmula: fused multiply and add of registers
vcvt: cast of a register; convert the lanes
vsel: select by a mask between registers
vcmp: compare two registers
vcadd: sum of all lanes; horizontal sum of a register
vcmax: maximum of all lanes; horizontal maximum
vcmin: minimum of all lanes; horizontal minimum
vci: sequence of numbers in a register; lane index
vdup: fill a register with a number; broadcast a scalar to all lanes
vgather2: gather elements by index into a register
vscatter: scatter the lanes of a register by index
vmrgsort4: merge sorted lists in memory
vintlv: interleave two registers
vdintlv: deinterleave two registers
pset_b32: mask of all lanes; predicate from a pattern
plt_b32: mask for the tail of a loop; first n lanes
comm.tput: write to the memory of another rank
comm.tget: read from the memory of another rank
comm.treduce: all-reduce; reduce over ranks
comm.tbroadcast: broadcast to all ranks
comm.tgather: gather from all ranks
comm.tnotify: signal another rank
comm.twait: wait for another rank
load_scalar: read one element of memory as a number
store_scalar: write one element of memory
addptr: advance a pointer; pointer arithmetic
castptr: cast a pointer; integer to pointer
trap: stop with an error; abort
""",
    "pto.",
)
"""Phrases by operation."""
