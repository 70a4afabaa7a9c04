"""Single facts of the profiles: what tile moves, loads, stores and conversions may do."""

from __future__ import annotations

import pytest

from pto_dialect.targets import memory, tile_dtypes
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.fixpipe_modes import QUANT_MODES
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_rules import ROWEXPAND_TMP_OPS

A2A3 = get_profile("a2a3")
A5 = get_profile("a5")
BOTH = pytest.mark.parametrize("profile", [A2A3, A5], ids=lambda profile: profile.name)


# --- moves, loads, stores ---------------------------------------------------------------------------------


def test_tmov_pairs() -> None:
    a2a3 = {("mat", dst) for dst in ("left", "right", "bias", "scaling")}
    a2a3 |= {("vec", "vec"), ("acc", "mat"), ("acc", "vec")}
    assert A2A3.tmov_pairs == a2a3
    assert A5.tmov_pairs == a2a3 | {("vec", "mat")}


def test_textract_and_tinsert_pairs() -> None:
    assert A2A3.textract_pairs == {("mat", "left"), ("mat", "right"), ("vec", "vec"), ("acc", "mat")}
    assert ("mat", "scaling") in A5.textract_pairs and ("acc", "vec") in A5.textract_pairs
    assert A2A3.tinsert_pairs == {("vec", "vec"), ("acc", "mat")}
    assert A5.tinsert_pairs == {("vec", "vec"), ("vec", "mat"), ("acc", "mat"), ("acc", "vec")}
    for profile in (A2A3, A5):
        named = {
            loc
            for pairs in (profile.tmov_pairs, profile.textract_pairs, profile.tinsert_pairs)
            for p in pairs
            for loc in p
        }
        assert named <= memory.LOC_TO_SPACE.keys()
    assert A2A3.tmov_pairs < A5.tmov_pairs
    assert A2A3.textract_pairs < A5.textract_pairs
    assert A2A3.tinsert_pairs < A5.tinsert_pairs


def test_load_and_store_locations() -> None:
    assert A2A3.tload_destinations == A5.tload_destinations == {"vec", "mat"}
    assert A2A3.tstore_sources == {"vec", "mat", "acc"}
    assert A5.tstore_sources == {"vec", "acc"}
    assert A2A3.tile_rules.tload_wide_pads is None and A2A3.tile_rules.tload_vec_layouts is None
    assert A5.tile_rules.tload_wide_pads == {"null", "zero"}
    assert A5.tile_rules.tload_vec_layouts == {"ND", "DN", "NZ"}


def test_accumulator_conversions() -> None:
    for profile in (A2A3, A5):
        store = profile.acc_store
        assert len(store.plain) == 8 and ("i32", "bf16") in store.plain and ("f32", "i32") in store.plain
        assert (store.cols, store.valid_cols) == ((1, 4095), (0, 4095))
    assert A2A3.acc_store.quant == {("i32", "i8"), ("i32", "f16"), ("f32", "i8")}
    assert A5.acc_store.quant - A2A3.acc_store.quant == {("i32", "bf16")} | {
        ("f32", dst) for dst in ("f16", "bf16", "f32", "hif8", "f8E4M3FN")
    }
    assert A2A3.acc_move == {("f32", "f16"), ("f32", "bf16")}
    assert A5.acc_move == A2A3.acc_move | {("f32", "f32"), ("i32", "i32")}
    assert ("i32", "i16") in A2A3.acc_move_quant and ("i32", "i16") not in A5.acc_move_quant
    assert ("f32", "f8E5M2") in A5.acc_move_quant and ("f32", "f16") not in A2A3.acc_move_quant


@BOTH
def test_quantising_stores_use_existing_modes(profile: Profile) -> None:
    assert profile.acc_store.quant <= set(profile.acc_quant_mode)
    for (src, dst), stem in profile.acc_quant_mode.items():
        for ending in ("_vec", "_scalar"):
            mode = QUANT_MODES[stem + ending]
            assert mode.source == src
            assert dst in mode.destinations


def test_header_modes() -> None:
    assert A5.acc_quant_mode["f32", "hif8"] == "qf322hif8_pre"
    assert A5.acc_quant_mode["i32", "bf16"] == "qs322bf16_pre"
    assert ("i32", "bf16") not in A2A3.acc_quant_mode
    assert ("i32", "i16") in A2A3.acc_quant_mode and ("i32", "i16") not in A5.acc_quant_mode


def test_remaining_tile_rules() -> None:
    assert (A2A3.tile_rules.trecip_in_place, A5.tile_rules.trecip_in_place) == ("error", None)
    assert (A2A3.tile_rules.tprelu_shared, A5.tile_rules.tprelu_shared) == ("error", None)
    assert (A2A3.tile_rules.rowexpand_tmp, A5.tile_rules.rowexpand_tmp) == (None, "warning")
    assert not A2A3.tile_rules.select_tmp_ignored and A5.tile_rules.select_tmp_ignored
    assert "trowexpandadd" not in ROWEXPAND_TMP_OPS and len(ROWEXPAND_TMP_OPS) == 6


def test_operand_types_beside_the_data() -> None:
    assert A2A3.gather_index == {"i32"} and A5.gather_index == {"i16", "i32"}
    assert A2A3.gather_compare_eq_only == {"i32"} and not A5.gather_compare_eq_only
    widths = {"i8": 16, "i16": 16, "f16": 16, "bf16": 16, "i32": 32, "f32": 32}
    assert {data: f"i{bits}" for data, bits in widths.items()} == tile_dtypes.SCATTER_INDEX
    assert set(tile_dtypes.SCATTER_INDEX) == A5.tile_dtypes["tscatter[index]"]
    assert tile_dtypes.MSCATTER_ATOMIC["add"] - tile_dtypes.MSCATTER_ATOMIC["max"] == {"ui32", "f16"}
    assert tile_dtypes.TQUANT_FORMS["INT8_SYM"] == ("i8", None)
    assert tile_dtypes.TQUANT_FORMS["INT8_ASYM"] == ("ui8", "f32")
    assert ("f16", "f32") in tile_dtypes.MIXED_DTYPES["taxpy"]
    assert {7, 10} == tile_dtypes.TRANDOM_ROUNDS
    assert A2A3.documented_dtypes["tshls"] < A5.documented_dtypes["tshls"] < A5.tile_dtypes["tshls"]


# --- availability -----------------------------------------------------------------------------------------


def test_availability() -> None:
    mx = {f"{op}.mx{form}" for op in ("tmatmul", "tgemv") for form in ("", ".acc", ".bias")}
    rest = {"thistogram", "trandom", "tget_scale_addr", "tquant.mx"}
    assert A2A3.unavailable_ops == mx | rest
    assert A5.unavailable_ops == {"taddrelu"}
    for profile in (A2A3, A5):
        for op in profile.unavailable_ops & set(profile.tile_dtypes):
            assert not profile.tile_dtypes[op]
    assert A5.available("tmatmul.mx") and not A2A3.available("tmatmul.mx")


@pytest.mark.parametrize("op", ["tload", "tcvt", "tmov", "tmatmul", "tgemv.bias", "tmatmul.mx.acc", "tquant.mx"])
def test_low_precision_operations(op: str) -> None:
    assert A5.low_precision_allowed(op, "hif8")
    assert not A2A3.low_precision_allowed(op, "hif8")
    assert A2A3.low_precision_allowed(op, "f16")


@pytest.mark.parametrize("op", ["tadd", "texp", "trowsum", "tabs", "ttrans", "tsel", "tconcat", "tscatter"])
def test_arithmetic_refuses_low_precision(op: str) -> None:
    for elem in ("f8E4M3FN", "hif8", "f4E2M1x2", "f8E8M0"):
        assert not A5.low_precision_allowed(op, elem)


def test_rows_with_low_precision_belong_to_listed_operations() -> None:
    for key, row in A5.tile_dtypes.items():
        op = key.partition("[")[0]
        for elem in row:
            assert A5.low_precision_allowed(op, elem), (key, elem)


@BOTH
def test_handles_of_low_precision_tiles_may_exist(profile: Profile) -> None:
    assert all(profile.low_precision_allowed(op, "f8E5M2") for op in ("alloc_tile", "subview"))


def test_levels_of_the_other_generation() -> None:
    assert A2A3.is_foreign("vadd", "micro-vector")
    assert A2A3.is_foreign("mad", "micro-cube")
    assert A2A3.is_foreign("mte_gm_ub", "micro-dma")
    assert not A2A3.is_foreign("copy_gm_to_ubuf", "micro-dma")
    assert not A2A3.is_foreign("ub.vadd", "micro-ub")
    assert A5.is_foreign("ub.vadd", "micro-ub")
    assert not A5.is_foreign("vadd", "micro-vector")
    assert not A5.is_foreign("tadd", "tile-L2")


# --- conversions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("src", "dst", "a2a3", "a5"),
    [
        ("f32", "bf16", None, None),
        ("f32", "f32", None, None),
        ("f16", "ui8", None, None),
        ("f16", "si8", None, None),
        ("i32", "f16", None, "tcvt-pair-undocumented"),
        ("bf16", "f16", "tcvt-pair-undocumented", None),
        ("i8", "i32", "tcvt-pair-undocumented", None),
        ("ui32", "ui8", "tcvt-pair-undocumented", None),
        ("ui16", "f16", "tcvt-pair-undocumented", "tcvt-pair-undocumented"),
        ("f16", "i4", None, "tcvt-pair-undocumented"),
        ("f32", "hif8", "tcvt-lowprec-pair", None),
        ("f16", "hif8", "tcvt-lowprec-pair", None),
        ("bf16", "f4E2M1x2", "tcvt-lowprec-pair", None),
        ("f4E1M2x2", "bf16", "tcvt-lowprec-pair", None),
        ("f16", "f8E5M2", "tcvt-lowprec-pair", "tcvt-lowprec-pair"),
        ("f8E4M3FN", "f16", "tcvt-lowprec-pair", "tcvt-lowprec-pair"),
        ("f32", "f8E8M0", "tcvt-lowprec-pair", "tcvt-lowprec-pair"),
    ],
)
def test_tcvt(src: str, dst: str, a2a3: str | None, a5: str | None) -> None:
    assert A2A3.tcvt_finding(src, dst) == a2a3
    assert A5.tcvt_finding(src, dst) == a5


def test_tcvt_pair_counts() -> None:
    assert sum(map(len, A2A3.tcvt_pairs.values())) == 6 + 6 + 2 + 2 + 4 + 2 + 1 + 1 + 1
    assert sum(map(len, A5.tcvt_pairs.values())) == 9 + 6 + 5 + 5 + 5 + 2 + 2 + 3 + 3 + 5
