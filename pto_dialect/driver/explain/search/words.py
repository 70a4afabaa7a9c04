"""Words that mean the same, for the search of operations: what people say, what names of operations abbreviate."""

from __future__ import annotations

import re
from typing import Final

_SAME = """
max maximum largest biggest greatest highest
min minimum smallest least lowest
add sum plus addition total adding summed
sub subtract minus difference subtraction
mul multiply times product multiplication multiplied
div divide division quotient divided
rem remainder modulo mod fmod modulus
exp exponential exponent e^
log logarithm ln natural
sqrt root squareroot
rsqrt reciprocalroot
recip reciprocal inverse
abs absolute magnitude
neg negate negative negation sign
relu rectified rectifier clampzero
lrelu leaky leakyrelu
prelu parametric
cmp compare comparison compares equal greater less
sel select choose choice where pick selection
cvt cast convert conversion converted converts converting narrow widen upcast downcast
trans transpose transposed transposition
load read fetch
store write save stored written stores
mov move copy transfer moved copies
gather collect lookup
scatter distribute
sort sorted sorting order ranked topk descending
mrgsort merge merges merging combine combined combines
fill splat
pad padding padded
quant quantize quantise quantization quantisation quantized
dequant dequantize dequantise dequantization dequantisation
reshape reinterpret
transpose trans
random philox rng noise
print show prints dump printing
alloc allocate allocation reserve declare create
view tensor window
partition slice part subview region sub
block blocks
flag flags event events
set raise raises signal signals notify ready
wait waits block_until stall
barrier synchronize synchronise sync synchronization join
mask predicate masks predicates masked
row rows
col column columns cols
lane lanes
tile tiles
vector vectors register registers vreg
matrix matmul gemm mm dot
gemv matrixvector
acc accumulate accumulator accumulates accumulating accumulators accumulation
bias biases
scalar number constant value
expand broadcast spread broadcasts expands
arg index argmax argmin position indices place
prefetch hint
hist histogram bins bin count counts
tri triangle triangular lower upper
ci iota sequence arange range enumerate ramp consecutive
push send enqueue pushed pushes
pop receive dequeue popped pops
queue fifo pipe_between
free release released releases frees freeing dealloc deallocate
tail leftover leftovers remaining ragged boundary uneven
stage stages phase phases
cube aic
aiv vectorcore
gm global ddr hbm dram off-chip
ub unified buffer
l1 cbuf
l0a ca
l0b cb
l0c cc
bt biastable
fb fixpipe fixpipebuffer
and conjunction
or disjunction
xor exclusive
not complement invert bitwise_not
shl left shift_left
shr right shift_right
shift shl shr
pow power raise_to powers raised
concat concatenate join_tiles followed
extract cut
insert paste embed
atomic atomically
float floats fp floating f32 f16 bf16 fp16 fp32 half
int integer integers int8 int32 i8 i32 int4 int16 i16
zero zeros
shuffle permute exchange rearrange
interleave interleaved intlv alternate alternating
deinterleave dintlv
pack packed compress
unpack unpacked
workitem thread threads simt item items workitems
launch start run
group groups warp warps wavefront
vote ballot any all
launch_count grid
cache caches
fence fences
large big
hang hangs hanging stuck freeze frozen endless infinite
capacity overflow exceeded
rank ranks device devices chip chips npus gpus
elementwise pointwise
quick fast speed faster speedup
race races hazard hazards
range bounds
clock cycle cycles time
stop trap abort
stride strides
address ptr pointer pointers
dim dimension size extent
valid
"""

PHRASES: Final = (
    (re.compile(r"\bbitwise (and|or|xor|not)\b", re.IGNORECASE), r"bitwise bit\1"),
    (re.compile(r"\bC\+\+", re.IGNORECASE), "cpp"),
    (re.compile(r"\b([a-z]{3,})iz(e|ed|es|ing|er|ation)\b", re.IGNORECASE), r"\1is\2"),
    (re.compile(r"\bAscendC::", re.IGNORECASE), ""),
    (
        re.compile(r"\b(?:k (?:largest|highest|biggest)|(?:largest|highest|biggest) k)\b", re.IGNORECASE),
        "topk",
    ),
    (
        re.compile(
            r"\b((?:bf|fp?|u?i|int|float)\d+|float|half) ?(?:to|into|->) ?((?:bf|fp?|u?i|int|float)\d+|float|half)\b",
            re.IGNORECASE,
        ),
        r"convert \1 to \2",
    ),
    (re.compile(r"\b\d+ ?x ?\d+\b", re.IGNORECASE), ""),
    (re.compile(r"\bleft (?:operand )?(?:buffer|memory)\b", re.IGNORECASE), "l0a"),
    (re.compile(r"\bright (?:operand )?(?:buffer|memory)\b", re.IGNORECASE), "l0b"),
    (re.compile(r"\bnever (?:finish|end|return|terminate)(?:e?s)?\b", re.IGNORECASE), "hangs"),
    (re.compile(r"\b(?:does not|doesn't|will not) (?:finish|end|return|terminate)\b", re.IGNORECASE), "hangs"),
    (re.compile(r"^where (is|are|do|does|can|to)\b", re.IGNORECASE), ""),
)
"""Phrases whose meaning is more than that of their terms, and what replaces them."""

CONCEPTS: Final[dict[str, tuple[str, ...]]] = {}
for _line in _SAME.strip().splitlines():
    _head, *_others = _line.split()
    for _word in (_head, *_others):
        CONCEPTS[_word] = (*CONCEPTS.get(_word, ()), _head)

_SILENT = """
a an the of to in into on from by for with and or is are am i do does how what which that its it own their this be as at
kernel kernels program programs each one two another my me we you data can them there if element elements so than other
operation operations instruction pto tl np torch use using make get want need dst src j k whose when more
equivalent corresponding analogue every inside single op ops custom used needed here
"""
STOP: Final = frozenset(_SILENT.split())
"""Words that say nothing about an operation."""

ABBREVIATIONS: Final = (
    *("row", "col", "arg", "max", "min", "sum", "prod", "add", "sub", "mul", "div", "rem", "fmod", "expand", "expdif"),
    *("exp", "log", "rsqrt", "sqrt", "recip", "abs", "neg", "not", "and", "xor", "or", "shl", "shr", "lrelu", "prelu"),
    *("relu", "cmp", "sel", "cvt", "trans", "load", "store", "gather", "scatter", "mrgsort", "sort", "fill", "pad"),
    *("dequant", "quant", "reshape", "random", "print", "alloc", "view", "partition", "flag", "set", "wait", "barrier"),
    *("matmul", "gemv", "acc", "bias", "mad", "prefetch", "hist", "tri", "ci", "push", "pop", "pow", "concat"),
    *("extract", "insert", "atomic", "tile", "mov", "copy", "part", "tensor", "block", "idx", "num", "l0a", "l0b"),
    *(
        "l0c",
        "l1",
        "gm",
        "ub",
        "sync",
        "vote",
        "shuffle",
        "keep",
        "resume",
        "launch",
        "subview",
        "free",
        "get",
        "mx",
        "raw",
        "dyn",
    ),
)
"""Parts that names of operations are made of, longer ones before those that they contain."""

DIRECTIONS: Final = {"to": ">", "into": ">", "onto": ">", "from": "<"}
"""Words that say where a transfer begins or ends, and the mark that the next term gets: in "UB to GM", ``gm`` is
``>gm``, too."""

ENDINGS: Final = (("", ""), ("s", ""), ("es", ""), ("d", ""), ("ed", ""), ("ing", ""), ("ing", "e"))
"""Endings of terms, and what may stand instead: ``loads`` is ``load``, ``comparing`` is ``compare``."""


def concepts(word: str) -> tuple[str, ...]:
    """Returns the concepts of a term; the term itself where it is in no list."""
    word = word.lower()
    for ending, instead in ENDINGS:
        form = word.removesuffix(ending) + instead if word.endswith(ending) else word
        if form in CONCEPTS:
            return CONCEPTS[form]
    for ending, _ in ENDINGS:
        if len(word) > len(ending) + 2 and ending and word.endswith(ending):
            return (word.removesuffix(ending),)
    return (word,)
