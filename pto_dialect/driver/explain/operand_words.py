"""Meanings of operands and attributes by name; an entry for one operation has priority over that for all."""

from __future__ import annotations

from typing import Final

from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.kinds import SCALAR
from pto_dialect.ir.core.registry import family_of
from pto_dialect.verify.tile.common import ALL_OPS, VIEWS


def _words(text: str) -> dict[str, str]:
    rows = (line.partition(":") for line in text.strip().splitlines())
    return {name: meaning.strip() for names, _, meaning in rows for name in names.split()}


OPERANDS: Final = _words("""
dst: what is written
dsts: the tiles that are written
src source input s srcs: what is read
src0 source0 lhs: the first source
src1 source1 rhs: the second source
src2 source2: the third source
source3: the fourth source
first: the integer that is changed
second: the index of the bit
a: the left matrix
b: the right matrix
a_scale: the scales of the left matrix, one for each 32 elements along k
b_scale: the scales of the right matrix, one for each 32 elements along k
acc: what the result is added to
acc_in c_in: the accumulator that is added
bias: the row that is added, one element for each column
m: rows of the left matrix and of the result
n: columns of the right matrix and of the result
k: columns of the left matrix, rows of the right one
mask: which lanes take part
mask0: the lower 64 bits of the mask
mask1: the upper 64 bits of the mask
destination: where it goes
value val raw_value: the value
values inputs parts: the values
offset: distance from the pointer or the first element
byte_offset: distance from the pointer
offsets: where each element lies
indices indexes index idx: which elements, by number
scalar: the number that every element meets
slope alpha: the factor
shiftDist: the number, or the distance of the shift
tmp scratch: scratch buffer; its contents are undefined afterwards
repeat repeat_times: how often the instruction is repeated
dstBlockStride: distance of the 32-byte blocks of dst inside a repetition
dstRepeatStride: distance of the repetitions in dst
srcBlockStride src0BlockStride src1BlockStride: distance of the 32-byte blocks of the source inside a repetition
srcRepeatStride src0RepeatStride src1RepeatStride: distance of the repetitions in the source
block_stride: distance of the 32-byte blocks in memory
repeat_stride: what is added to the address of the access
ptr: the pointer
addr addrs: the byte address
address: the byte address
base: the base of the powers, or the first number
exp: the exponents
exp_zz: the exponents in the layout of scales
max: the maxima
scaling: the factors of the groups
src_stride nburst_src_stride burst_src_stride source_gap nburst_src_gap: distance of the bursts in the source
dst_stride nburst_dst_stride burst_dst_stride dst_gap nburst_dst_gap: distance of the bursts in the destination
loop_src_strides: distance of the iterations of each loop in the source, inner to outer
loop_dst_strides: distance of the iterations of each loop in the destination, inner to outer
dst_gap_32b: what is left out between two runs
gm_stride: distance of the bursts in global memory
ub_stride: distance of the bursts in the unified buffer
n_burst: how many bursts, runs of bytes without a gap
len_burst: length of a burst
block_num_32b: length of a run
loop_counts: how often each loop runs, inner to outer
loop loop3_count: how often the loop runs
loop0_src_stride loop1_src_stride loop3_src_stride loop4_src_stride: distance in the source between loop iterations
loop3_dst_stride: distance in the destination between loop iterations
dst_loop2_stride: distance of rows in the destination
dst_loop3_stride: distance of blocks of C0 columns in the destination
dst_loop4_stride: distance of the matrices in the destination
src_inner_stride: distance of rows (`nd2nz`) or columns (`dn2nz`) in the source
src_outer_stride: distance of the matrices in the source
stride strides row_stride: distance of rows, groups or dimensions
source_group_stride: distance of the groups in the source
x y: the operand
x_step y_step: how many fractals along this side
x_start y_start x_start_position y_start_position: the first fractal along this side
m_start start_row: the first fractal row
k_start start_col: the first fractal column
m_step: how many fractal rows
k_step: how many fractal columns
valid_row valid_col: the valid extent, where the type leaves it open
fp: quantisation parameters, one for each channel
preQuantScalar pre_quant: the quantisation parameter
pre_relu: the slope for negative elements
clip_value: the upper bound
split: where channels are split
sid: the stream, usually 0
l2_cache_ctrl l2_cache_ctl: how the transfer uses the L2 cache
event_id event_id_dyn: the id of the flag
event events: what is waited for
buf_id: the id of the buffer lock
ping pong recvPing recvPong: tile through which the data passes
xt: the configuration word
xm config config0 config1 controls: the configuration word
tile scaling_tile: the tile
group: the members of the group
session: the session of asynchronous transfers
ctx: the context of prefetches
array: the array
struct: the struct
entry: the slot of the queue
pipe_handle: the queue
indexRow: the first row
indexCol: the first column
aiv_subblockid sub_blockid: which of the two vector cores
pred: the condition of each lane
signal: the counters
cmpValue compare kValue: what is compared with
n_value: rows of a matrix
d_value: columns of a matrix
smallc0_en: whether few channels are packed
bound active_lanes: how many lanes are active
active_elems_per_group: how many lanes of each group are active
align align_in: the state of the stream
src0Idx: how many elements of src0 are taken, as the index tile says
src1Idx: how many elements of src1 are taken, as the index tile says
dstIdx: the indices that belong to dst
carry_in: the carries of the lower words
passthru: what lanes that are not active hold
gm_slot_buffer gm_slot_tensor: slots of the queue in global memory
c2v_consumer_buf: the vector core's buffer of the queue
v2c_consumer_buf: the cube core's buffer of the queue
local_addr: the consumer's buffer
peer_local_addr: the buffer of the other direction
bin: which half of the bins
workspace gm_workspace: global memory that the operation counts in
ub_workspace l1_workspace: local memory that the operation counts in
used_cores: how many cores take part
left_padding_count left_padding_num: elements added on the left
right_padding_count right_padding_num: elements added on the right
pad_value: the element that is added
init_condition: whether the destination is initialised
tensor_view: the view
dim_index: which dimension
transpose: whether blocks are transposed
mem: the memory
scale: the factors
dimX: work-items along x
dimY: work-items along y
dimZ: work-items along z
low: the even lanes
high: the odd lanes
true_value: what is taken where the mask is set
false_value: what is taken elsewhere
seed: lanes that may become active
part: which lanes
conv_control: whether f16 becomes f32
data_select_bit: whether the elements beside a burst are padded
gm_addr: the address in global memory
payload: the integer that is stored
shape: extents
group_count: how many matrices
slot: which slot
sizes: extents
selector: bits that choose bytes
ffts: the address of the flag area
args: the arguments of the function
captures: the values that the region sees
S: the first number
cdst: how many were found
blockLen: length of the sorted blocks
excuted: how many elements of each source were consumed
key0 key1: the key
counter0 counter1 counter2 counter3: the counter
diagonal: which diagonal
increment: how far the pointer advances
count: how many
l1_addr: the address in L1
""")
"""Meaning of operands by name."""

ATTRIBUTES: Final = _words("""
pmode: what lanes that are not active hold: zero, or what was there
mode: the mode of the operation
signedness: whether integers have a sign
precisionType: the algorithm: faster or more precise
id: the id of the queue
split: how the tile is shared by the two vector cores (0 not, 1 rows, 2 columns)
num_groups group: how many groups the lanes form
l1cache l2cache cache: how the access uses the cache
sat_mode saturate sat saturation: what happens beyond the range of the type
event_id sync_id: the id of the flag
accPhase stPhase: the phase of a product that is computed in parts
pattern: which lanes are active
dist dist_mode: how elements are distributed over lanes
part position: which lanes take part
pipe: the queue of the core that is meant
src_pipe: the pipe that raises the flag
dst_pipe: the pipe that waits
src_op: the operation whose pipe raises the event
dst_op: the operation whose pipe waits
op_type: the operation whose pipe is meant
unit_flag_mode unit_flag: how the product and the write-back hand accumulators over
disable_gemv: a left matrix of one row is read as fractals
n_dir: the direction along n
rounding rnd rmode round_mode: how results are rounded
tf32_mode: f32 operands are rounded to TF32 first
dir_mask: directions of the queue: 1 to the vector cores, 2 to the cube core, 3 both
slot_size: bytes of a slot
slot_num local_slot_num: how many slots
flag_base: the first flag that the queue uses
nosplit: both vector cores get the whole tile
acc_push_epilogue: what the fixpipe does with pushed accumulators
root: the member that the others send to or receive from
cmp cmpMode cmp_mode predicate: the comparison
transpose: blocks are transposed
width: how many lanes form a group
reluPreMode pre_relu_mode: what the fixpipe does with negative elements
pre_quant_mode: how the fixpipe converts
order: whether numbers go up or down
config: the packed configuration
ffts_mode: which cores the signal reaches
spr: the special register
accToVecMode dst_mode: which vector core gets which part
reassoc: the order of the sum is free
atomicType atomic_type atomic_op scatterAtomicOp: how the element is combined with what memory holds
fill_word_bits: the integer that is filled in
buf_id: the id of the buffer lock
name: the name of the buffer
slot: which slot
coalesce: whether an index names a row or an element
path: the field, from the outside in
maskPattern: the pattern that chooses lanes
axis grpAxis: the direction of the groups
quant_type: the type of the result
value: the value
space scope mem: the memories that are meant
block_bytes: bytes of a block
comm_block_offset: distance of the blocks
queue_num: how many queues
channel_group_idx: the index of the channel group
notifyOp: whether the signal is set or counted up
reduceOp: sum, maximum or minimum
dst: what is written back
peer_func: the function on the other core
layout: the layout in memory
kind: which accesses are ordered
gatherOob scatterOob: what happens to indices out of range
scatterConflict: which element stays where several meet
format printFormat: how numbers are printed
size: bytes
location: the memory of the buffer
autoAlloc: the address is found by the compiler
base: the address
dimX dimY dimZ: work-items along this dimension
callee: the function that runs
sizes: rows and columns
core_type: which cores take part
descending: numbers go down
isBinary: the sum is formed as a tree
padValue: the content outside of the valid region
offset: the first column or lane
byte: which byte is counted
tinsertMode: how parts are put together
pad_mode: what is padded
init_out_buffer: the destination is initialised first
exhausted: lists may run out
quantScaleAlg: how scales are found
storeMode: the order in which elements are stored
interleave: lanes alternate
rounds: how many rounds
upperOrLower: 1 for the upper, 0 for the lower triangle
group_size: lanes of a group
indices: which lanes
""")
"""Meaning of attributes by name."""

OF_ONE: Final[dict[tuple[str, str], str]] = {
    **{
        (f"pto.{name}", f"{side}_stride"): f"distance of the bursts in the {word}"
        for name in ("mte_ub_l1", "copy_gm_to_cbuf", "copy_cbuf_to_ubuf", "copy_ubuf_to_cbuf")
        for side, word in (("src", "source"), ("dst", "destination"))
    },
    **{
        (f"pto.{name}", "mode"): "the order of the elements at the destination"
        for name in ("mte_l0c_gm", "mte_l0c_l1", "mte_l0c_ub")
    },
    ("pto.mte_gm_l1_frac", "mode"): "the order of the source: row-major or column-major",
    ("pto.syncall", "mode"): "hardware signals, or counters in a workspace",
    ("pto.vstur", "mode"): "whether the register AR advances by the written bytes",
    ("pto.get_buf_dyn", "mode"): "0 for the lock of one pipe, 1 for several",
    ("pto.rls_buf_dyn", "mode"): "0 for the lock of one pipe, 1 for several",
    ("pto.get_buf", "mode"): "0 for the lock of one pipe, 1 for several",
    ("pto.rls_buf", "mode"): "0 for the lock of one pipe, 1 for several",
    ("pto.vexpdif", "max"): "what is subtracted",
    ("pto.vmi.vexpdif", "max"): "what is subtracted",
    ("pto.vaxpy", "alpha"): "the factor of every lane",
    ("pto.comm.tgather", "group"): "the views of the members",
    ("pto.tstore", "dst"): "the view that is written",
    ("pto.mscatter", "idx"): "rows or elements of the memory",
    ("pto.tquant", "fp"): "the factor of each row",
    ("pto.tquant", "offset"): "what is added to each row before rounding",
    ("pto.tdequant", "offset"): "what is subtracted from each row first",
    ("pto.tdequant", "scale"): "the factor of each row",
    ("pto.tsort32", "idx"): "the index that goes with each score",
    ("pto.tsort32", "dst"): "pairs: a score, and the bits of its index in the next element",
    ("pto.mgather", "mem"): "the view of global memory that is read",
    ("pto.vlds", "updated_base"): "the pointer after the read bytes",
    ("pto.vsts", "updated_base"): "the pointer after the written bytes",
    ("pto.partition_view", "source"): "the whole view",
    ("pto.partition_view", "offsets"): "where the part begins, one number for each dimension",
    ("pto.partition_view", "sizes"): "how many elements it has, one number for each dimension",
    ("pto.partition_view", "result"): "the part",
    ("pto.tstore", "src"): "the tile whose valid region is stored",
    ("pto.tload", "src"): "the view that is read",
    ("pto.tload", "dst"): "the tile that is filled",
    ("pto.alloc_tile", "addr"): "the byte address; without it one is assigned",
}
"""Meaning for one operation only."""

OF_FAMILY: Final[dict[tuple[str, str], str]] = {
    (family, name): text
    for families, words in (
        (
            "fixpipe",
            """
source: the accumulators, in fractals of 16 x 16
destination: where the results are stored
m: logical rows of the result
n: logical columns of the result
src_stride: distance of two blocks of 16 columns in L0C, usually m rounded up to 16
dst_stride: distance of rows (`nz2nd`), columns (`nz2dn`) or blocks of columns (`nz2nz`) at the destination
pre_quant: factor of all elements, or the table of one factor for each channel (column)
pre_relu: slope of negative elements, or the table of one slope for each channel (column)
clip_value: upper bound of the elements, in the type of the destination
split: whether `nz2nz` has blocks of 8 columns
loop0_src_stride: distance of two rows of the matrix in L0C, with `nz2dn`
loop3_count: how often the whole transfer is repeated
loop3_src_stride: distance of the repetitions in L0C
loop3_dst_stride: distance of the repetitions at the destination
sub_blockid: the vector core that receives everything, with `dst_mode` `single`
""",
        ),
        (
            "cube_mad",
            """
lhs: the left operand, M x K fractals
rhs: the right operand, K x N fractals
dst: the accumulators, M x N
m: logical rows of the left operand and of the product
n: logical columns of the right operand and of the product
k: logical columns of the left operand, rows of the right one
bias: the table with one bias for each column
""",
        ),
        (
            "matmul gemv",
            """
lhs a: the left operand, valid M x K
rhs b: the right operand, valid K x N
dst: the accumulators that are written, valid M x N
acc_in c_in: the accumulators that the product is added to, valid M x N
bias: one row that is added to each row of the product, valid 1 x N
a_scale: the scales of the left operand, one for each 32 elements along K
b_scale: the scales of the right operand, one for each 32 elements along K
""",
        ),
        (
            "mte mte_raw",
            """
m: rows of the left operand
k: columns of the left operand, rows of the right one
n: columns of the right operand
src_stride: distance of two columns of fractals in the source
dst_stride: distance of two columns of fractals in the destination
""",
        ),
    )
    for family in families.split()
    for name, text in _words(words).items()
}
"""Meaning for the operations of one family."""

_VIEWS = dict.fromkeys(VIEWS, "a tile or view")
_TILES = {"a tile or view": "a tile", "a tile or view, not a memref": "a tile"}
_RULED: Final[dict[str, dict[str, str]]] = {
    **dict.fromkeys(ALL_OPS, _TILES),
    # The sizes of a product; rule mad-mnk-type.
    **{name: {SCALAR.label: "i64"} for name, (family, _, _) in OPS.items() if family == "cube_mad"},
}
"""For each operation, what its rules make of a kind of its declaration."""
_ROLES = ("reads and writes", "reads", "writes")


def meaning(cls: type[PtoOp], slot: Slot, attribute: bool = False) -> str:
    """Returns what an operand or attribute of ``cls`` means; without an entry here what its clause says."""
    table = ATTRIBUTES if attribute else OPERANDS
    own = OF_ONE.get((cls.name, slot.name)) or (None if attribute else OF_FAMILY.get((family_of(cls), slot.name)))
    said = own or table.get(slot.name)
    if said is not None:
        return said
    clauses = clauses_of(cls)
    return next((row.summary for row, names, _ in clauses if slot.name in (row.declares, *names)), "")


def kind_of(cls: type[PtoOp], slot: Slot) -> str:
    """Returns what an operand or result is, closer than its declaration where the rules demand more."""
    label = slot.kind.label
    ruled = _RULED.get(cls.name, {}).get(label)
    if ruled is not None:
        return _VIEWS.get((cls.name, slot.name), ruled)
    if slot.name.rstrip("_") == "result" and label == "any type":
        dst = _destination(cls)
        return label if dst is None else kind_of(cls, dst)
    return label


def _destination(cls: type[PtoOp]) -> Slot | None:
    return {slot.name: slot for slot in signature(cls).operands}.get("dst")


def yielded(cls: type[PtoOp], slot: Slot) -> str:
    """Returns what a result is."""
    said = OF_ONE.get((cls.name, slot.name))
    if said is not None:
        return said
    if slot.arity != "1" and _destination(cls) is not None:
        return "in the form without `outs`: the tile that `%dst` would be"
    return "what it yields"


def access(cls: type[PtoOp], name: str) -> str:
    """Returns ``reads``, ``writes`` or both, for operands whose memory is touched; of others only the value counts."""
    spec = op_spec(cls)
    reads, writes = name in spec.reads, name in spec.writes
    return _ROLES[0] if reads and writes else _ROLES[1] if reads else _ROLES[2] if writes else "value"
