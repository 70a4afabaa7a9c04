"""The laws of cycles against formulas written out here, and against single measurements.

Source: docs/reference/cycles.md, "Loops over registers", "Repeated instructions", "Transfers", "Products".
"""

from __future__ import annotations

from math import ceil

import pytest

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.fit import reset_to_priors
from pto_dialect.analysis.cycles.table import CycleTable, shipped
from pto_dialect.analysis.cycles.work import Work

A5, A2A3 = shipped("a5"), shipped("a2a3")


def tile(name: str, type_: str, rows: int, cols: int, valid: tuple[int, int] | None = None, **options: str) -> Work:
    valid_rows, valid_cols = valid or (rows, cols)
    return Work(name, type_, options.pop("to", type_), rows, cols, valid_rows, valid_cols, options=options)


@pytest.mark.parametrize(
    ("work", "measured"),
    [
        (tile("tmins", "f32", 1, 640), 64),
        (tile("tadd", "f32", 1, 1280), 80),
        (tile("tadd", "f32", 20, 1312, (20, 1280)), 869),
        (tile("tmul", "f32", 10, 160, (10, 65)), 122),
        (tile("texp", "f16", 10, 1344, (10, 1280)), 463),
        (tile("trsqrt", "f32", 3, 224, (3, 192)), 113),
        (tile("trecip", "f32", 10, 672, (10, 640), op_params="high_precision"), 34689),
        (tile("tcvt", "f32", 3, 448, (3, 384), to="f8e4m3"), 890),
        (tile("tcvt", "f4e2m1", 1, 2560, to="bf16"), 99),
        (tile("tsel", "i8", 2, 640, (2, 512)), 66),
    ],
)
def test_a5_is_near_measurements(work: Work, measured: float) -> None:
    found = estimate(work, A5)
    assert found.cycles == pytest.approx(measured, rel=0.04)
    assert found.low <= measured <= found.high
    assert found.evidence == "measured"


@pytest.mark.parametrize(
    ("work", "measured"),
    [
        (tile("tadd", "f32", 64, 64), 160),
        (tile("tadd", "i16", 64, 64), 167),
        (tile("tmul", "f16", 16, 256), 96),
        (tile("texp", "f16", 32, 32), 47),
        (tile("tcolmax", "f32", 1, 3072), 390),
        (tile("tdivs", "f16", 63, 64), 328),
        (tile("tdiv", "f32", 64, 64), 288),
        (tile("tdiv", "f16", 64, 64), 304),
        (tile("trowsum", "f16", 64, 128), 495),
        (Work("tload", "i16", "i16", 64, 128, 64, 128, "gm:ub", 32), 8576),
        (Work("tmov", "f32", "f32", 64, 128, 63, 125, "ub:ub"), 1323),
    ],
)
def test_a2a3_is_near_measurements(work: Work, measured: float) -> None:
    found = estimate(work, A2A3)
    assert found.cycles == pytest.approx(measured, rel=0.03)
    assert found.low <= measured <= found.high


@pytest.mark.parametrize("rows", [1, 3, 10])
@pytest.mark.parametrize("cols", [128, 192, 640])
def test_loops_are_limited_by_issue_or_units(rows: int, cols: int) -> None:
    """An exponential: 16 cycles to its result, two to the store, one every two cycles; gaps of 5 between rows."""
    registers = ceil(cols / 64)
    issue = 45 + 14 + rows * max(7, registers + 5)
    units = 50 + 14 + 2 * (rows * registers - 1)
    found = estimate(tile("texp", "f32", rows, cols + 32, (rows, cols), variant="2D_NO_POST_UPDATE"), A5)
    assert found.cycles == max(issue, units)


def test_the_library_s_choice_is_the_default() -> None:
    full, cut = tile("texp", "f32", 8, 128), tile("texp", "f32", 8, 160, (8, 128))
    assert estimate(full, A5).cycles < estimate(cut, A5).cycles
    stated = tile("texp", "f32", 8, 128, variant="2D_NO_POST_UPDATE")
    assert estimate(stated, A5).cycles == estimate(cut, A5).cycles
    assert estimate(tile("texp", "f32", 1, 160, (1, 128), variant="1D_POST_UPDATE"), A5).cycles == 66
    one_row = tile("tneg", "f32", 1, 160, (1, 128))
    assert estimate(one_row, A5).cycles == 45 + 6 + 7


def test_empty_lanes_of_a_register_are_free() -> None:
    for cols in (65, 100, 128):
        assert estimate(tile("tadd", "f32", 10, 160, (10, cols)), A5).cycles == 45 + 5 + 1 + 10 * 7


@pytest.mark.parametrize("cols", [32, 64, 96, 128])
def test_repeats_of_short_and_cut_rows(cols: int) -> None:
    """Two sources: short rows one by one and 16 more, cut rows as one run and 16 more."""
    rows = 10
    repeats = rows if cols < 64 else ceil(rows * cols / 64)
    extra = 16 if cols % 64 else 0
    assert estimate(tile("tsub", "f32", rows, cols), A2A3).cycles == pytest.approx(24 + 2.05 * repeats + extra)
    scalar = ceil(rows * cols / 64)
    extra = 16 if cols > 64 and cols % 64 else 0
    assert estimate(tile("tmins", "f32", rows, cols), A2A3).cycles == 23 + scalar + extra


@pytest.mark.parametrize(("type_", "cols"), [("f16", 16), ("f16", 64), ("f16", 128), ("f32", 32), ("f32", 64)])
def test_a_division_takes_a_cycle_for_sixteen_lanes(type_: str, cols: int) -> None:
    """Four for each repeat of 64 lanes, of which short rows take one each."""
    short = cols < (128 if type_ == "f16" else 64)
    cycles = 31 + 4.03 * 10 * ceil(cols / 64) + (16 if short else 0)
    assert estimate(tile("tdiv", type_, 10, cols), A2A3).cycles == pytest.approx(cycles)


@pytest.mark.parametrize(("type_", "rows", "cols"), [
    ("f32", 128, 128), ("f32", 16, 32), ("f16", 64, 48), ("i8", 32, 64), ("f32", 128, 24),
])  # fmt: skip
def test_a_transposition_goes_through_blocks_and_is_copied(type_: str, rows: int, cols: int) -> None:
    """The source has ``rows`` x ``cols``: blocks of 16 rows x 32 bytes, of single bytes 32 x 32 in four steps; then
    each row of the result is copied from the scratch tile."""
    size = {"f32": 4, "f16": 2, "i8": 1}[type_]
    side = 32 if size == 1 else 16
    steps = ceil(rows / side) * ceil(cols * size / 32) * (4 if size == 1 else 1)
    copied = cols * ceil(rows * size / 32) * 32
    found = estimate(tile("ttrans", type_, cols, rows), A2A3)
    assert found.cycles == pytest.approx(26 + 2 * steps + copied / 256)
    assert found.evidence == "published"


def test_a_transposition_near_its_measurement_and_one_by_the_scalar_unit() -> None:
    assert estimate(tile("ttrans", "f32", 128, 128), A2A3).cycles == pytest.approx(501, rel=0.08)
    # Rows of the result that are no multiple of 16 elements.
    odd = estimate(tile("ttrans", "f32", 128, 24, (128, 24)), A2A3)
    assert (odd.cycles, odd.evidence) == (26 + 4 * 128 * 24, "assumed")


def test_columns_that_end_inside_of_a_block_have_a_wide_band() -> None:
    """Eight blocks of the view, sixty columns of 255 numbers: at the least as any transfer, at the most the latency
    for each column."""
    work = Work("tload", "f32", "f32", 64, 256, 60, 255, "gm:ub", 8, by_columns=True)
    least, most = 8 * 264 + 60 * 255 * 4 / 128, 60 * 264 + 60 * 255 * 4 / 128
    found = estimate(work, A2A3)
    assert (found.low, found.high) == pytest.approx((least, most)) and found.evidence == "assumed"
    assert found.low < 8352 < found.high and found.cycles == pytest.approx((least * most) ** 0.5)
    # Columns of whole blocks, and a single one, are plain transfers.
    for rows, cols in ((60, 256), (1, 255)):
        plain = Work("tload", "f32", "f32", rows, cols, rows, cols, "gm:ub", 1, by_columns=True)
        assert estimate(plain, A2A3).cycles == 264 + rows * cols * 4 / 128
    assert estimate(Work("tload", "f32", "f32", 64, 256, 60, 255, "gm:ub", 8), A2A3).evidence == "measured"


@pytest.mark.parametrize(("type_", "inner", "head", "passes", "table"), [
    ("f16", 16, 6, 1, A2A3), ("i8", 32, 6, 1, A2A3), ("f32", 8, 6, 2, A2A3),
    ("bf16", 16, 25, 1, A5), ("f8e4m3", 32, 25, 1, A5), ("f4e2m1", 64, 25, 2, A5), ("f32", 8, 25, 8, A5),
])  # fmt: skip
def test_products_pass_over_fractals(type_: str, inner: int, head: int, passes: int, table: CycleTable) -> None:
    work = Work("tmatmul", type_, "f32", 128, 100, 120, 100, k=72)
    assert estimate(work, table).cycles == head + passes * ceil(120 / 16) * ceil(72 / inner) * ceil(100 / 16)


def test_what_has_no_figures_has_a_range() -> None:
    for table in (A5, A2A3):
        found = estimate(tile("nosuch", "f32", 16, 64), table)
        assert found.evidence == "assumed"
        assert found.low < found.cycles < found.high
        assert found.high > 20 * found.low
    assert estimate(Work("tload", "f32", "f32", 8, 8, 8, 8, "fb:gm"), A5).evidence == "assumed"


def test_shapes_that_only_a_run_knows_widen_the_band() -> None:
    known = estimate(tile("texp", "f32", 16, 64), A5)
    work = Work("texp", "f32", "f32", 16, 64, 16, 64, is_static=False)
    found = estimate(work, A5)
    assert found.evidence == "assumed"
    assert found.low < known.low
    assert found.high > known.high


def test_more_work_never_takes_less() -> None:
    for table in (A5, A2A3):
        for name in ("tadd", "texp", "tmins"):
            cycles = [estimate(tile(name, "f32", rows, 128), table).cycles for rows in range(1, 40)]
            assert cycles == sorted(cycles)


@pytest.mark.parametrize(("name", "pass_", "fixed"), [("sub", 2.11, 24), ("mul", 2.3, 25), ("div", 4.03, 31)])
@pytest.mark.parametrize(("rows", "cols"), [(32, 256), (64, 128)])
def test_operations_with_a_column_spread_it_first(name: str, pass_: float, fixed: int, rows: int, cols: int) -> None:
    """An instruction that spreads eight numbers in each repeat, then the operation over repeats of 64 numbers."""
    found = estimate(tile(f"trowexpand{name}", "f32", rows, cols), A2A3)
    assert found.cycles == pytest.approx(26 + rows / 8 + fixed + pass_ * rows * cols / 64)
    assert found.evidence == "neighbour"


@pytest.mark.parametrize(("type_", "rate"), [("f16", 206), ("f8e5m2", 206), ("f4e2m1", 16.5), ("f4e1m2", 16.5)])
def test_pairs_of_small_numbers_are_extracted_slowly(type_: str, rate: float) -> None:
    work = Work("textract", type_, type_, 128, 256, 128, 256, "l1:l0a")
    assert estimate(work, A5).cycles == pytest.approx(10 + work.bytes() / rate)


@pytest.mark.parametrize("table", [A5, A2A3], ids=["a5", "a2a3"])
@pytest.mark.parametrize("name", ["trowprod", "tcolprod", "tcolexpandsub", "tfmod", "tsort32", "tunheard"])
@pytest.mark.parametrize(("rows", "cols", "valid"), [(8, 64, (8, 64)), (16, 160, (16, 129)), (1, 32, (1, 1))])
def test_operations_without_figures_have_the_law_of_their_family(
    table: CycleTable, name: str, rows: int, cols: int, valid: tuple[int, int]
) -> None:
    family = table.family_of(name)
    assert family is not None
    p = {key[3]: one.value for key, one in table.entries.items() if key[:2] == ("family", family)}
    per_row, in_all = ceil(valid[1] * 4 / 256), ceil(valid[0] * valid[1] * 4 / 256)
    registers = in_all if valid[1] == cols else valid[0] * per_row
    expected = p["fixed"] + p["row"] * valid[0] + p["slope"] * registers
    found = estimate(tile(name, "f32", rows, cols, valid), table)
    assert found.cycles == pytest.approx(expected)
    assert (found.low, found.high) == pytest.approx((expected / (1 + p["error"]), expected * (1 + p["error"])))
    assert found.evidence == "family" and p["error"] >= 0.5


def test_what_has_no_family_has_a_range() -> None:
    found = estimate(Work("simt_launch", "i8", "i8", 1, 256, 1, 256), A5)
    assert found.evidence == "assumed" and found.high > 20 * found.low
    # The slow way has a family of its own; that of reciprocals, which is measured, lies in its band.
    slow = estimate(tile("texp", "f32", 8, 64, op_params="high_precision"), A5)
    known = estimate(tile("trecip", "f32", 8, 64, op_params="high_precision"), A5)
    assert (slow.evidence, known.evidence) == ("family", "measured") and slow.low < known.cycles < slow.high
    # A shape that only a run knows has one as well.
    assert estimate(Work("tnew", "i8", "i8", 1, 1, 1, 1, is_static=False), A5).evidence == "assumed"
    # An instruction for one register has none to know.
    assert estimate(Work("vlds", "i8", "i8", 1, 1, 1, 1, is_static=False), A5).cycles == 2


@pytest.mark.parametrize(
    ("work", "measured"),
    [
        (tile("trecip", "f16", 10, 448, (10, 384), op_params="high_precision"), 5109),
        (tile("tcvt", "f4e2m1", 10, 2624, (10, 2560), to="bf16"), 407),
        (tile("tcvt", "f4e1m2", 1, 1280, to="bf16"), 94),
        (tile("tcvt", "hif8", 10, 128, (10, 64), to="f32"), 96),
        (tile("tcvt", "f32", 10, 1344, (10, 1280), to="f8e5m2"), 8359),
    ],
)
def test_an_expansion_predicts_the_cycles_of_an_operation_before_it_is_measured(work: Work, measured: float) -> None:
    assert estimate(work, reset_to_priors(A5)).cycles == pytest.approx(measured, rel=0.12)


def test_spread_masks_cost_the_same_in_conversions_and_selections() -> None:
    dearer = A5.with_values({("flow", "spread", "*", "value"): A5.value_of("flow", "spread") + 1})
    for work, registers in (
        (tile("tcvt", "f8e4m3", 4, 704, (4, 640), to="f32"), 40),
        (tile("tsel", "f32", 4, 672, (4, 640)), 40),
        (tile("tcvt", "f8e4m3", 4, 704, (4, 640), to="f16"), 0),
    ):
        assert estimate(work, dearer).cycles - estimate(work, A5).cycles == pytest.approx(registers)


def test_8_to_16_bits_costs_what_16_to_32_bits_cost() -> None:
    short = estimate(tile("tcvt", "i8", 10, 1344, (10, 1280), to="f16"), A5)
    assert short.cycles == estimate(tile("tcvt", "f16", 10, 704, (10, 640), to="f32"), A5).cycles


def test_the_slow_division_by_a_number_costs_what_the_slow_reciprocal_costs() -> None:
    for type_ in ("f16", "f32"):
        found = [estimate(tile(name, type_, 8, 256, precision="high_precision"), A5) for name in ("tdivs", "trecip")]
        assert found[0].cycles == found[1].cycles
        assert found[0].evidence == "neighbour"


@pytest.mark.parametrize(("valid", "full"), [((16, 0), (16, 64)), ((0, 64), (16, 64)), ((0, 0), (1, 1))])
@pytest.mark.parametrize("name", ["texp", "tadd", "tsel", "tcvt", "trowsum", "tcolmax", "trowexpand", "trem"])
@pytest.mark.parametrize("table", [A5, A2A3], ids=["a5", "a2a3"])
def test_an_empty_tile_costs_a_start_and_nothing_for_rows(
    table: CycleTable, name: str, valid: tuple[int, int], full: tuple[int, int]
) -> None:
    conversions = [("f32", "f16"), ("f16", "f32"), ("f32", "i8"), ("i8", "f32")]
    for type_, to in conversions if name == "tcvt" else [("f32", "f32")]:
        empty = estimate(tile(name, type_, 16, 64, valid, to=to), table)
        taller = estimate(tile(name, type_, 64, 64, (valid[0] * 4, valid[1]), to=to), table)
        assert 0 < empty.cycles <= estimate(tile(name, type_, 16, 64, full, to=to), table).cycles
        assert empty.cycles == taller.cycles and empty.evidence != "measured"


def test_empty_transfers_and_products_cost_a_latency_and_a_head() -> None:
    assert estimate(tile("texp", "f32", 16, 64, (16, 0)), A5).cycles == 50
    assert estimate(tile("tmins", "f32", 16, 64, (16, 0)), A2A3).cycles == 23
    assert estimate(Work("tload", "f32", "f32", 16, 64, 16, 0, "gm:ub"), A5).cycles == 264
    assert estimate(Work("tmatmul", "f16", "f32", 16, 64, 0, 64, k=64), A5).cycles == 25
