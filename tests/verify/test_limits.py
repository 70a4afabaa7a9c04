"""Limits of rules on both of their sides: the last number that is allowed, and the next one."""

from __future__ import annotations

from typing import NamedTuple

from groups import in_groups
from tile_programs import findings


class Limit(NamedTuple):
    """Numbers at the location of ``$n`` from ``low`` to ``high`` (where they end) satisfy ``rule``, others break it."""

    rule: str
    statement: str
    low: int | None
    high: int | None
    target: str = "a5"
    step: int = 1


C = "!pto.ptr<f32, l0c>"
L0C_GM = f"pto.mte_l0c_gm %s, %d, %c16, %c32, %c16, %c32, {{}}, nz2nd : {C}, !pto.ptr<f32, gm>{', i64' * 6}"
L0C_L1 = f"pto.mte_l0c_l1 %s, %d, {{}}, %c16, %c32, nz2nd : {C}, !pto.ptr<f32, l1>{', i64' * 4}"
L0C_UB = f"pto.mte_l0c_ub %s, %d, %c16, {{}}, nz2nd : {C}, !pto.ptr<f32, ub>{', i64' * 4}"
MAD = f"pto.mad %a, %b, %c, {{}} : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, {C}, i64, i64, i64"
RAW = f"pto.mte_l1_l0a %s, %d, {{}} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>{', i64' * 6}"
CA = f"pto.load_cbuf_to_ca %s, %d, {{}} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>{', i64' * 6}"
WINDOW = ("%c0", "%c0", "%c1", "%c1", "%c1", "%c1")
SIZES = ("%c16", "%c32", "%c0", "%c0")
FRAC = (
    "pto.mte_gm_l1_frac %s, %d, nd2nz, shape(%c16, %c$n), src_layout(%c64), dst_group(%c1, %c1, %c16, %c0), "
    "ctrl(%c0, %true) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, src_layout(i64), "
    "dst_group i64, i64, i64, i64, ctrl i64, i1"
)
FILL = "pto.create_cbuf_matrix %d, %v, {} {{fill_word_bits = 32 : i64}} : !pto.ptr<ui32, l1>, i32, i64, i64, i64"
BURST = "pto.mte_gm_ub %s, %d, %c$n, %c64 nburst(%c1, %c64, %c64) : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>{}"
THREADS = "func.func @f() attributes {pto.simt_entry, pto.simt_max_threads = $n : i32} {\n  return\n}"
KEEP = "func.func @f(%v: i32) attributes {pto.simt_entry} {\n  pto.keep %v {slot = $n : i64} : i32\n  return\n}"
MULTI = "%a = pto.alloc_multi_tile : !pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=$n>"
SLOT = (
    "%i = arith.constant $n : index\n%m = pto.alloc_multi_tile : "
    "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=4>\n%t = pto.multi_tile_get %m[%i] : "
    "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=4> -> !pto.tile_buf<vec, 16x16xf32>"
)
PART = (
    "%q = pto.partition_view %v, offsets = [%c$n, %c0], sizes = [%c8, %c16] : "
    "!pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<8x16xf32>"
)
PIPE = (
    "func.func @example(%b: i32) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n"
    "  pto.aic_initialize_pipe {{id = 1, dir_mask = 1, {}}} (c2v_consumer_buf = %b : i32)\n  return\n}}"
)
PLACE = (
    "func.func @f() {{\n  %at = arith.constant $n : i64\n  "
    "%a = pto.alloc_tile addr = %at : !pto.tile_buf<{}>\n  return\n}}"
)


def among(template: str, parts: tuple[str, ...], place: int) -> str:
    """``template`` with ``parts``, the one at ``place`` open."""
    return template.format(", ".join("%c$n" if i == place else part for i, part in enumerate(parts)))


LIMITS = [
    *(Limit("mad-mnk-range", among(MAD, ("%c16",) * 3, place), None, 4095) for place in range(3)),
    *(Limit("mad-mnk-positive", among(MAD, ("%c16",) * 3, place), 1, None) for place in range(3)),
    Limit("fixp-sid-range", among(L0C_GM, ("%c0", "%c0"), 0), 0, 3),
    Limit("fixp-l2-range", among(L0C_GM, ("%c0", "%c0"), 1), 0, 15),
    *(Limit("fixp-extent", among(L0C_L1, ("%c16", "%c32"), place), 1, None) for place in range(2)),
    Limit("fixp-ub-sub-range", L0C_UB.format("%c32, %c16, %c32, dst_mode(%c$n)") + ", i64", 0, 1),
    Limit("fixp-split-bit", L0C_L1.format("%c16, %c32").replace("nz2nd", "nz2nz(%c$n)") + ", i64", 0, 1),
    *(Limit("l1l0-raw-range", among(RAW, WINDOW, place), 0, 65535) for place in (0, 1)),
    *(Limit("l1l0-raw-range", among(RAW, WINDOW, place), 1, 255) for place in (2, 3)),
    *(Limit("l1l0-raw-range", among(RAW, WINDOW, place), 1, 65535) for place in (4, 5)),
    *(Limit("l1l0-raw-range", among(CA, WINDOW, place), 0, 65535) for place in (0, 1)),
    *(Limit("l1l0-raw-range", among(CA, WINDOW, place), 1, 255) for place in (2, 3)),
    *(
        Limit("l1l0-extent", among("pto.mte_l1_l0a %s, %d, {} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>"
                                   ", i64, i64, i64, i64", SIZES, place), 1, 4095)
        for place in (0, 1)
    ),
    Limit("frac-smallc0", FRAC, None, 4),
    *(Limit("l1-fill-range", among(FILL, ("%c1", "%c1", "%c0"), place), 0, 32767) for place in range(3)),
    Limit("dma-l2-ctl", BURST.format(", i64" * 5), 0, 15),
    Limit("simt-max-threads", THREADS, 1, 2048),
    Limit("simt-keep", KEEP, 0, 122),
    Limit("simt-keep", KEEP.replace("i32", "i64"), 0, 120, step=2),
    Limit("multi-tile-count", MULTI, 2, 16),
    Limit("multi-tile-count", SLOT, 0, 3),
    Limit("part-bounds", PART, 0, 8),
    Limit("sync-buf-range", 'pto.get_buf "PIPE_V", $n', 0, 31),
    Limit("sync-buf-range", 'pto.rls_buf "PIPE_V", $n', 0, 31),
    Limit("sync-sem-range", "pto.set_intra_block #pto.pipe<PIPE_FIX>, $n", 0, 31),
    Limit("sync-sem-range", "pto.set_cross_block #pto.pipe<PIPE_FIX>, $n", 0, 15),
    Limit("sync-sem-range", "pto.sync.set #pto.pipe<PIPE_FIX>, $n", 0, 15, "a2a3"),
    Limit("pipe-sizes", PIPE.format("slot_size = 1024, slot_num = 4, local_slot_num = $n"), 1, 4),
    Limit("pipe-sizes", PIPE.format("slot_size = $n"), 1, None),
    Limit("alloc-addr-align", PLACE.format("vec, 16x16xf32"), 0, None, step=32),
    Limit("mad-mnk-range", among(MAD.replace("pto.mad ", "pto.mad_acc "), ("%c16",) * 3, 2), None, 4095),
]  # fmt: skip


def broken(limit: Limit, number: int) -> bool:
    """Whether the program with ``number`` breaks the rule."""
    text = limit.statement.replace("$n", str(number).replace("-", "m" if "%c$n" in limit.statement else "-"))
    return limit.rule in findings(text, limit.target)


@in_groups("limit", LIMITS)
def test_both_sides(limit: Limit) -> None:
    assert (limit.low, limit.high) != (None, None)
    if limit.high is not None:
        assert not broken(limit, limit.high)
        assert broken(limit, limit.high + limit.step)
    if limit.low is not None:
        assert not broken(limit, limit.low)
        assert broken(limit, limit.low - limit.step)
