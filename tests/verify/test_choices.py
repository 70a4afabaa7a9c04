"""What may be at one location of a statement: the tokens and types that a rule allows there, and others."""

from __future__ import annotations

from typing import NamedTuple

from groups import in_groups
from tile_programs import findings


class Choice(NamedTuple):
    """Statements with each of ``good`` at the location of ``$`` keep ``rule``; with one of ``bad`` they break it.

    Alternatives are between bars.
    """

    rule: str
    statement: str
    good: str
    bad: str
    target: str = "a5"


def bars(*words: str) -> str:
    """Words separated by blanks, as alternatives."""
    return "|".join(word for text in words for word in text.split())


INTEGERS = " ".join(f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64))
SCALARS = f"{INTEGERS} f16 bf16 f32 f64 f8E4M3FN f8E4M3 f8E5M2 !pto.hif8 !pto.hif8x2 !pto.f4E1M2x2 !pto.f4E2M1x2"
PAIRS = "vector<2xf16> vector<2xbf16> vector<2xf32> vector<2xi8> vector<2xi16> vector<2xi32> vector<2xf8E4M3FN>"
MANY = "vector<4xf8E4M3FN> vector<4xf8E5M2> vector<8xf8E4M3FN> vector<8xf8E4M3>"
NEVER = "i1 vector<2xf64> vector<2xi64> vector<4xf16> vector<8xi8> vector<3xf8E5M2> vector<2x2xf16> vector<2xi1>"
MOVED = bars(SCALARS, PAIRS, MANY)
T = "!pto.tile_buf<vec, 16x16xf32>"
OPEN = "!pto.tile_buf<vec, 16x16xf32, valid=?x?>"
MULTI = f"!pto.multi_tile_buf<{OPEN}, count=2>"
MEMORY = "memref<16x16xf32, #pto.address_space<vec>>"
PLAIN = "{config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>}"
SET = f"pto.set_validshape %t, %n, %n : {OPEN}"
MAKERS = "|".join(
    (
        f"%t = pto.alloc_tile valid_row = %n valid_col = %n : {OPEN}",
        f"%t = pto.declare_tile -> {OPEN}",
        f"%t = pto.materialize_tile %m, %n, %n {PLAIN} : {MEMORY} -> {OPEN}",
        f"%u = pto.alloc_multi_tile valid_row = %n valid_col = %n : {MULTI}\n"
        f"%t = pto.multi_tile_get %u[%c1] : {MULTI} -> {OPEN}",
        f"%u = pto.declare_tile -> {OPEN}\n%t = pto.treshape %u : {OPEN} -> {OPEN}",
        f"%u = pto.declare_tile -> {OPEN}\n%t = pto.bitcast %u : {OPEN} -> {OPEN}",
    )
)
RECEIVED = f"%t = pto.treshape %u : {OPEN} -> {OPEN}|%t = pto.bitcast %u : {OPEN} -> {OPEN}"
GROUPS = "%m = pto.vmi.create_group_mask %n {$ : i64} : index -> !pto.vmi.mask<64xpred>"
VIEW = "!pto.partition_tensor_view<16x16xf32>"
VIEWS = (
    f"pto.tprint ins(%t : {T})|pto.tprint ins(%v : {VIEW})|pto.tload ins(%v : {VIEW}) outs(%t : {T})"
    f"|pto.tstore ins(%t : {T}) outs(%v : {VIEW})|pto.tprefetch ins(%v : {VIEW}) outs(%t : {T})"
)
HISTOGRAM = "%r = pto.vmi.vdhist %a, %s, %m : {}, {}, {} -> {}"
BINS = "!pto.vmi.vreg<256xui16>"
BYTES = "!pto.vmi.vreg<256xui8>"
MASK = "!pto.vmi.mask<256xb8>"
GM32 = "!pto.ptr<i32, gm>"
NAMES = "exch add sub min max and or xor"
LIST = "!pto.tile_buf<vec, 1x256xf32>"
SORTED = "!pto.tile_buf<vec, 1x512xf32>"

CHOICES = [
    Choice("simt-ldg", "%x = pto.ldg %p[%i] : !pto.ptr<$, gm> -> $", MOVED, bars(NEVER)),
    Choice("simt-ldg", "pto.stg %x, %p[%i] : !pto.ptr<$, gm>, $", MOVED, bars(NEVER)),
    Choice("simt-ldg", "%x = pto.ldg %p[%i] : !pto.ptr<f32, $> -> f32", "gm", "ub"),
    Choice("simt-ldg", "%x = pto.ldg %p[%i] : !pto.ptr<f32, gm> -> $", "f32", "f16|i32"),
    *(
        Choice("simt-atomic", f"%o = pto.atomic_{name} %p, %x $ -> i32", f": {GM32}, i32|signed : {GM32}, i32",
               ": !pto.ptr<i32, l1>, i32|: !pto.ptr<f32, gm>, i32")
        for name in NAMES.split()
    ),
    *(Choice("simt-atomic", f"%o = pto.atomic_{name} %p, %x : !pto.ptr<i64, $>, i64 -> i64", "gm", "ub")
      for name in NAMES.split()),
    *(Choice("simt-atomic", f"%o = pto.atomic_{name} %p, %x $ -> f32", ": !pto.ptr<f32, gm>, f32",
             "signed : !pto.ptr<f32, gm>, f32") for name in ["exch", "add", "sub", "min", "max"]),
    *(Choice("simt-atomic", f"%o = pto.atomic_{name} %p, %x : !pto.ptr<$, gm>, $ -> $", "i32|i64", "f32")
      for name in ["and", "or", "xor"]),
    Choice("simt-keep", "pto.keep %x {slot = 0 : i64} : $", "i8|i16|i32|i64|f16|bf16|f32", "f64|vector<2xf16>"),
    Choice("setvalid-dynamic", f"$\n{SET}", MAKERS, RECEIVED),
    Choice("vmi-group", GROUPS, "group_size = 16 : i64, num_groups = 4", "group_size = 0 : i64, num_groups = 4"
           "|group_size = 16 : i64, num_groups = 0|group_size = -16 : i64, num_groups = -4"
           "|group_size = 16 : i64, num_groups = 3"),
    Choice("tile-type", "$", VIEWS,
           f"pto.tadds ins(%v, %x : {VIEW}, f32) outs(%t : {T})|pto.tadds ins(%t, %x : {T}, f32) outs(%v : {VIEW})"
           f"|pto.tstore ins(%v : {VIEW}) outs(%w : {VIEW})"),
    Choice("vmi-hist", HISTOGRAM.format("$", BYTES, MASK, "$"), f"{BINS}|!pto.vmi.vreg<128xi16>",
           "!pto.vmi.vreg<64xui16>|!pto.vmi.vreg<256xui32>|!pto.vmi.vreg<256xsi16>"),
    Choice("vmi-hist", HISTOGRAM.format(BINS, "$", MASK, BINS), f"{BYTES}|!pto.vmi.vreg<256xi8>",
           "!pto.vmi.vreg<256xsi8>|!pto.vmi.vreg<256xui16>"),
    Choice("vmi-hist", HISTOGRAM.format(BINS, BYTES, "$", BINS), f"{MASK}|!pto.vmi.mask<256xpred>",
           "!pto.vmi.mask<256xb16>|!pto.vmi.mask<256xb32>"),
    Choice("vmi-hist", HISTOGRAM.format(BINS, BYTES, MASK, "$"), f"{BINS}|!pto.vmi.vreg<256xi16>",
           "!pto.vmi.vreg<128xui16>|!pto.vmi.vreg<256xui32>|!pto.vmi.vreg<256xui8>"),
    Choice("mrgsort-form", f"pto.tmrgsort ins($) outs(%d : {LIST})", f"%a, %c64 : {LIST}, i32",
           f"%a, %b, %c64 : {LIST}, {LIST}, i32|%a, %b, %t : {LIST}, {LIST}, {SORTED}"),
]  # fmt: skip


@in_groups("choice", CHOICES)
def test_what_is_allowed_there(choice: Choice) -> None:
    assert choice.bad, "or the name of the rule says nothing"
    for words, broken in ((choice.good, False), (choice.bad, True)):
        for word in words.split("|") if words else ():
            text = choice.statement.replace("$", word)
            assert (choice.rule in (found := findings(text, choice.target))) == broken, (text, found)
