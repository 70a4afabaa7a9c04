"""What operations are called in CUDA, Triton, numpy and Ascend C."""

from __future__ import annotations

from typing import Final

from .phrases import rows

NAMES_ELSEWHERE: Final = rows(
    """
store_scalar: write a number to global memory; scalar store
load_scalar: read a number from global memory into a scalar; scalar load
tload: cudaMemcpyAsync to the chip; tl.load with mask; tl.load; DataCopy from GM; DataCopy; DataCopyPad; cp.async;
    TMA load
tstore: tl.store; DataCopy to GM; store with atomic add; atomic add to global memory
tmatmul: tl.dot; np.matmul; Mmad of tiles; wmma; mma; batch matmul; linear layer; torch.mm; cube product; int8
    matmul; dense layer
tmatmul.mx: mxfp8 matmul with block scales; scaled matmul; tl.dot_scaled; mxfp8 matmul; mxfp4 matmul; MX matmul; fp8
    matmul
mad: Mmad; mma instruction
mad_mx: MmadMx
tadds: Adds
tmuls: Muls; Mul by scalar
tmaxs: clamp to a lower bound; lower limit; Maxs; clamp; torch.clamp from below
tmins: clamp to an upper bound; upper limit; Mins; clamp; torch.clamp from above
taxpy: Axpy; a*x + y; ax plus y
texpands: Duplicate; tl.full; tl.zeros; memset; np.full; zero initialise; set to zero; np.zeros
tci: tl.arange; np.arange; ArithProgression; CreateVecIndex; iota; iota of indices
tsel: tl.where; np.where; Select; torch.where
tcvt: Cast with rounding mode; cast and round; Cast; astype; tl.cast; type conversion; to bf16; to fp16
texp: tl.exp; Exp; sigmoid; silu; swish; gelu with exp; np.exp; torch.exp
trecip: Reciprocal; 1 / x; sigmoid
trsqrt: 1/sqrt(x); 1/sqrt; Rsqrt; tl.rsqrt; RMS normalisation; rms norm; layer norm denominator
tlog: Ln; tl.log; log of a tile; cross entropy
trowsum: tl.sum along axis 1; row reduce; ReduceSum of rows; layer norm; mean of rows; average of each row; sum over
    the last axis; norm of rows; torch.sum over the last dimension; np.sum along axis 1;
    tl.sum
trowmax: tl.max along axis 1; ReduceMax of rows; ReduceMax; tl.max along axis; row reduce max;
    tl.max
trowmin: tl.min along axis 1; ReduceMin of rows
tcolsum: tl.sum along axis 0; ReduceSum of columns; sum over rows; sum over the first axis; batch sum
tcolmax: tl.max along axis 0; ReduceMax of columns
trowargmax: torch.argmax; argmax of each row; argmax along rows; tl.argmax; np.argmax; ArgMax; greedy decode; most
    likely token;
    position of the largest element in a row
trowexpandexpdif: softmax; exp(x - max); flash attention; online softmax; rescale
trowexpanddiv: softmax normalisation; x / sum; divide each row by its sum
ttrans: tl.trans; np.transpose; Transpose; permute dimensions; .T of a matrix
tgather: Gather; np.take; tl.gather; torch.gather
mgather: torch.embedding; index_select; lookup table; paged attention gather; kv cache gather; gather pages
mscatter: index_put; scatter to GM; kv cache scatter; kv cache update; write rows by index
tsort32: Sort32; Sort; top k; topk; torch.sort; moe routing; top k experts;
    tl.sort; Sort; sort the values of a row
tmrgsort: MrgSort; MrgSort4; top k; topk
tconcat: torch.cat; np.concatenate; tl.cat; torch.cat of columns; join tiles side by side
textract: tile[a:b]; cut a window out; copy part of a tile
tinsert: write a tile into a bigger tile; paste a tile
tgetval: GetValue; tile[i]; read one element; scalar of a tile; read back a scalar; tile to scalar
tsetval: SetValue; set one element
tprint: DumpTensor; print a tensor; tl.device_print; printf of a tile
print: printf; device printf; print a value
trap: assert; __trap; abort; tl.device_assert; device assert; assert in a kernel
tpow: Power; np.power; x to the power of y; pow;
    2^x; x^y
tpows: x to the power of a number; square; cube of x; x squared; square of a tile
tquant.mx: mxfp8 scale; mxfp4 quantisation; mxfp8 quantisation; MX quantisation
tget_scale_addr: mxfp8 scale address; scales of an MX operand; address of MX scales
set_flag: SetFlag; set_flag(PIPE, PIPE, EVENT_ID);
    cp.async.commit_group; mbarrier arrive; signal that a copy has ended
wait_flag: WaitFlag; wait_flag(PIPE, PIPE, EVENT_ID); wait for mte2 before vector; wait for data to arrive; wait
    until the load is done; wait for the DMA; wait for a load to finish; wait for a copy to finish;
    cp.async.wait_group; mbarrier wait; wait for an asynchronous copy
barrier: PipeBarrier; pipe_barrier; pipe all barrier; PIPE_ALL; synchronise everything; wait for everything;
    tl.debug_barrier; order instructions of one pipe
syncall: barrier across all cores; global barrier; barrier between blocks; all cores wait; SyncAll; cooperative
    groups grid sync; this_grid().sync; grid.sync; barrier over the grid
sync.set: CrossCoreSetFlag; ffts_cross_core_sync; set between cores; cube vector signal
sync.wait: CrossCoreWaitFlag; wait_flag_dev; wait between cores
set_ffts: ffts; set_ffts_base_addr; FFTS address
tpush: EnQue; TQue EnQue; TPipe; push to a queue
tpop: DeQue; TQue DeQue; pop from a queue
alloc_tile: AllocTensor; TBuf; TPosition; shared memory allocation; __shared__;
    InitBuffer; cudaMalloc on the chip
tfree: FreeTensor
make_tensor_view: SetGlobalBuffer; tl.make_block_ptr; tensor descriptor; GlobalTensor; tl.make_tensor_descriptor
partition_view: tl.advance; block pointer; pointer to a block; tile of a big matrix; offset into a tensor; window of
    global memory
get_block_idx: GetBlockIdx; tl.program_id; blockIdx; blockIdx.x; program id; block id; multiple cores share work;
    split work over cores; core id; GetBlockIdx()
get_block_num: GetBlockNum; tl.num_programs; gridDim; gridDim.x
get_subblock_idx: GetSubBlockIdx; subblock id; sub block; which AIV
get_subblock_num: GetSubBlockNum; how many vector cores
get_tid_x: threadIdx; threadIdx.x; thread id
get_block_dim_x: blockDim; blockDim.x
get_laneid: laneid; lane id of a warp
syncthreads: __syncthreads; syncthreads; bar.sync
threadfence: __threadfence; fence of a thread
shuffle_down: __shfl_down_sync; warp shuffle down; warp shuffle
shuffle_up: __shfl_up_sync; warp shuffle up
shuffle_bfly: __shfl_xor_sync; butterfly shuffle; warp shuffle xor
shuffle_idx: __shfl_sync; warp shuffle; warp broadcast
redux_add: warp level sum; warp reduction; reduce within a warp; __reduce_add_sync; warp reduce sum; sum over a warp
redux_max: __reduce_max_sync; warp reduce maximum; warp reduce max
vote_ballot: __ballot_sync; ballot
vote_any: __any_sync;
    warp vote; true for any thread
vote_all: __all_sync;
    warp vote; true for all threads
atomic_add: atomicAdd; tl.atomic_add;
    atomic counter in global memory; increment a counter
atomic_cas: atomicCAS; tl.atomic_cas; compare and swap
atomic_max: atomicMax; tl.atomic_max
atomic_exch: atomicExch; tl.atomic_xchg
set_atomic_add: SetAtomicAdd; atomic mode of stores;
    SetAtomicAdd; atomic accumulation of stores
set_atomic_none: SetAtomicNone; DisableDmaAtomic
mem_bar: memory barrier between vector loads and stores; LocalMemBar; memory fence in the unified buffer
dsb: DataSyncBarrier; data synchronisation barrier; memory fence
fence.barrier_all: memory fence; fence of everything
dcci: DataCacheCleanAndInvalid; cache flush; flush the data cache; clean and invalidate the cache
cmo.cacheinvalid: invalidate the cache; cache invalidate
tprefetch: prefetch to L2; L2 prefetch
mte_gm_l1_frac: Nd2Nz; DataCopy with Nd2NzParams; ND to NZ
mte_l1_l0a: LoadData to A2; LoadData;
    LoadData to L0A; load the left operand
mte_l1_l0b: LoadData to B2; LoadDataWithTranspose; matrix transposed load into L0B; transpose on load;
    LoadData to L0B; load the right operand
mte_l0c_gm: Fixpipe; FixpipeParams; quantised writeback; quantize on write-back; relu after matmul
mte_l0c_ub: Fixpipe to the unified buffer
mte_l0c_l1: Fixpipe to L1
vcadd: ReduceSum; WholeReduceSum; sum of a register;
    reduce a register to one value; sum over lanes
vcmax: WholeReduceMax
vcmin: WholeReduceMin
vcgadd: BlockReduceSum
vmula: MulAddDst; FusedMulAdd; fused multiply add; fma; mad of registers
fma: fmaf; fma of a thread; tl.fma; fused multiply add of work-items
vmadd: FusedMulAdd in place
vlds: LoadAlign; vector load from UB
vsts: StoreAlign; vector store to UB; masked store of a register; store some lanes; store only some lanes
vcvt: Cast of registers;
    widen fp16 lanes to fp32; narrow lanes
pset_b32: all-true predicate; all lanes active; full mask; CreateMask
plt_b32: predicate for the loop tail; mask of the remainder; UpdateMask; predicate for tail elements; tail mask;
    remaining elements
comm.treduce: all reduce; allreduce; HcclAllReduce; ncclAllReduce; all reduce over devices
comm.tgather: allgather; all gather; HcclAllGather; ncclAllGather
comm.tscatter: reduce scatter; scatter to ranks
comm.tbroadcast: HcclBroadcast; ncclBroadcast
comm.tput: send data to another chip; send to another device; put; nvshmem_put
comm.tget: get from another chip; nvshmem_get; read from another device
comm.tnotify: send a remote signal; notify a peer; signal another device
comm.twait: wait for a remote signal; wait until a remote signal arrives; wait for a peer; wait for another device
tmul: elementwise multiplication; Hadamard product; Mul; gate
tadd: elementwise addition; Add; add residual; skip connection
tsub: elementwise subtraction; Sub
tdiv: elementwise division; Div
trowexpandsub: subtract mean from each row; centre rows; x - max; row broadcast subtract
trowexpandmul: scale each row; rms norm scale; dequantize per row; row broadcast multiply; per token scale
tcolexpandmul: gamma weight of a norm; per channel scale; column broadcast multiply
tcolexpandadd: bias add after gemm; beta of layer norm; column broadcast add; row vector added to matrix; matrix
    plus row vector
trowexpandadd: row broadcast add
treshape: flatten a tile; np.reshape; view with another shape; squeeze; unsqueeze; alias two tiles; reinterpret
    memory; two tiles on the same memory; tl.reshape; torch.reshape;
    tl.view; reinterpret the shape
tshls: bitshift left; << by a number; ShiftLeft
tshrs: bitshift right; >> by a number; ShiftRight
tshl: bitshift; bit shift of tiles; elementwise <<
tshr: elementwise >>; logical shift right
tfillpad: np.pad; mask out the tail; fill tail with -inf; negative infinity padding
trelu: ReLU; max(x, 0); clip to zero; clip below zero; torch.relu
tlrelu: LeakyRelu; negative slope
tcmps: greater than zero; threshold; x > 0; CompareScalar
tcmp: a < b; elementwise comparison; Compare
tsels: masked fill; replace where mask
vsldb: vector load with stride; strided load; block stride load
vsstb: vector store with stride; strided store
vldsx2: deinterleave load; load pairs; split even and odd
vstsx2: interleave store; store pairs
vselr: permute lanes; reverse the order of lanes; shuffle lanes of a register; table lookup in a register
vsqz: compress lanes; squeeze active lanes; stream compaction
vpack: pack lanes; narrow a register
vdintlv: split even and odd lanes
vintlv: zip two registers
plt_b16: tail mask of half; predicate for tail of f16
vbr: broadcast a scalar to a register
vmul: Mul of registers
vmax: Max of registers
tmatmul.acc: split k; k loop; accumulate over k; += product; accumulate in fp32; accumulate over several products;
    nested loops over k
tdequant: int8 to float; scale after int8 matmul; AscendDequant
tquant: AscendQuant; dynamic quantisation; per token quantisation;
    write int8 results with a scale per row or channel
set_atomic_max: atomic max; atomic maximum of stores
set_atomic_min: atomic min; atomic minimum of stores
floor: floor of a float in a thread; floorf; tl.floor
round: round in a thread
multi_tile_get: choose a slot; slot by parity
set_validshape: tail tile; remainder block; last tile; partial tile; dynamic rows
tprefetch_async: asynchronous prefetch
get_clock64: clock64; cycle counter; timestamp
trandom: np.random; random bits; dropout mask;
    tl.rand; np.random
thistogram: np.histogram; bincount; tl.histogram; torch.histc
vexpdif: exp of a difference in registers
vaxpy: Axpy of registers
pand: and of masks
por: or of masks
pnot: not of a mask
tmov: move accumulator into vector memory; move between memories; accumulator to vec; copy between locations
trowexpand: broadcast column vector; column vector to all columns; expand a column; Brcb; broadcast a column; one
    column over all columns;
    tl.broadcast_to along a row; Broadcast; copy a column vector to all columns
tcolexpand: broadcast row vector; row vector to all rows;
    tl.broadcast_to along a column; copy a row vector to all rows
bitcast: bitcast float to int; reinterpret bits; reinterpret_cast of a tile
vbitcast: bitcast a register; reinterpret lanes
subview: share a buffer; part of a tile without a copy; alias of a tile
atomic_min: atomicMin; tl.atomic_min
atomic_and: atomicAnd; tl.atomic_and
atomic_or: atomicOr; tl.atomic_or
atomic_xor: atomicXor; tl.atomic_xor
get_grid_dim_y: gridDim.y
tabs: tl.abs; np.abs; torch.abs
tsqrt: tl.sqrt; np.sqrt; torch.sqrt
tmax: tl.maximum; np.maximum; torch.maximum; relu with another tile
tmin: tl.minimum; np.minimum; torch.minimum
trowargmin: tl.argmin; np.argmin; torch.argmin;
    position of the smallest element in a row
cos: tl.cos; cosf
sin: tl.sin; sinf
ceil: ceilf; tl.ceil
tscatter: torch.scatter
redux_min: warp reduce min
""",
    "pto.",
)
"""Phrases by operation."""
