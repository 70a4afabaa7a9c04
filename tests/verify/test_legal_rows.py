"""Tables of what is legal, row by row against copies in a form of their own, and limits on both of their sides."""

from __future__ import annotations

from itertools import product

import pytest
from groups import in_groups
from tile_programs import findings

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.aliases import canonical
from pto_dialect.targets.fixpipe_modes import QUANT_MODES
from pto_dialect.targets.tcvt_pairs import A2A3_TCVT_PAIRS, A5_TCVT_PAIRS, tcvt_finding
from pto_dialect.verify.vmi.tables import ELEMENTS, RESULT_ELEMENTS, admits

# --- conversions of tiles ---------------------------------------------------------------------------------

INTEGERS = ("i4", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")
PLAIN = (*INTEGERS, "f16", "bf16", "f32")
LOW = ("f8E4M3FN", "f8E5M2", "hif8", "f4E1M2x2", "f4E2M1x2", "f8E8M0")
BY_DESTINATION = {
    "a2a3": {
        "f32": "f32 f16 bf16 i16 i32 i64", "f16": "f32 i16 i32 ui8 i8 i4", "bf16": "f32", "i4": "f16", "i8": "f16",
        "ui8": "f16", "i16": "f32 f16 i32", "i32": "f32 f16 bf16 i64", "i64": "f32 i32",
    },
    "a5": {
        "f32": "f32 f16 bf16 i16 i32 i64 f8E4M3FN f8E5M2 hif8", "f16": "f32 bf16 i16 ui8 i8",
        "bf16": "f32 f4E1M2x2 f4E2M1x2", "i8": "f16", "ui8": "f16 i16 i32 ui32", "i16": "f32 f16 i32 i8 ui32",
        "ui16": "i32 ui8 ui32", "i32": "f32 f16 bf16 i16 i64 i8", "ui32": "i16", "i64": "f32 i32",
        "f8E4M3FN": "f32", "f8E5M2": "f32", "hif8": "f32 f16", "f4E1M2x2": "bf16", "f4E2M1x2": "bf16",
    },
}  # fmt: skip
"""Sources by destination, for each chip; the table of the package has destinations by source."""


@pytest.mark.parametrize(("target", "table"), [("a2a3", A2A3_TCVT_PAIRS), ("a5", A5_TCVT_PAIRS)])
def test_every_pair_of_a_conversion(target: str, table: dict[str, frozenset[str]]) -> None:
    for src, dst in product((*PLAIN, *LOW), repeat=2):
        if src in BY_DESTINATION[target].get(dst, "").split():
            wanted = None
        else:
            wanted = "tcvt-lowprec-pair" if src in LOW or dst in LOW else "tcvt-pair-undocumented"
        assert tcvt_finding(table, src, dst) == wanted, (src, dst)
        if src[0] == "i" and wanted is None:
            assert tcvt_finding(table, f"s{src}", dst) is None, "a sign that is written is the one without"


# --- quantisation while the accumulator is stored ---------------------------------------------------------

FP8 = "f8E4M3FN f8E5M2 hif8"
BYTES, SHORTS, NIBBLES = "i8 si8 ui8", "i16 si16", "i4 si4"
PAIRED = [
    # number of the form with a table, source, destinations
    ("qf322hif8_pre", 2, "f32", "hif8"), ("qf322hif8_pre_hybrid", 4, "f32", "hif8"),
    ("deqs32_int", 6, "i32", "i32"), ("req8", 8, "i32", BYTES), ("deqf16", 10, "i32", "f16"),
    ("qf322fp8_pre", 12, "f32", FP8), ("qf322f32_pre", 14, "f32", "f32"), ("qf162b8_pre", 17, "f32", BYTES),
    ("qf162s4_pre", 19, "f32", NIBBLES), ("req4", 21, "i32", NIBBLES), ("qf322b8_pre", 23, "f32", BYTES),
    ("qf322s4_pre", 25, "f32", NIBBLES), ("deqs16", 27, "i32", SHORTS), ("qf162s16_pre", 29, "i32", SHORTS),
    ("qf322f16_pre", 31, "f32", "f16"), ("qf322bf16_pre", 33, "f32", "bf16"), ("qs322bf16_pre", 35, "i32", "bf16"),
]  # fmt: skip
MODES = {
    "no_convert": (0, "any", "any", "any"),
    "f32_f16": (1, "f32", "f16", "scalar"),
    "f32_bf16": (16, "f32", "bf16", "scalar"),
    **{f"{stem}_vec": (code, source, to, "vec") for stem, code, source, to in PAIRED},
    **{f"{stem}_scalar": (code + 1, source, to, "scalar") for stem, code, source, to in PAIRED},
}


def test_modes_of_quantisation() -> None:
    found = {
        name: (mode.code, mode.source, " ".join(mode.destinations), mode.payload) for name, mode in QUANT_MODES.items()
    }
    assert found == MODES
    assert sorted(mode.code for mode in QUANT_MODES.values()) == list(range(37))
    assert {name for name, mode in QUANT_MODES.items() if mode.warns} == {"no_convert", "req4_vec", "req4_scalar"}


# --- elements of logical vectors --------------------------------------------------------------------------

WIDTHS = (8, 16, 32, 64)
ALL = tuple(f"{sign}{bits}" for sign in ("i", "si", "ui") for bits in WIDTHS)
FLOATS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E4M3", "f8E5M2", "hif8")


def integers(*bits: int, signs: str = "any") -> set[str]:
    """Integers of those widths: of any sign, signed only, or unsigned and without a sign."""
    kinds = {"any": ("i", "si", "ui"), "signed": ("si",), "unsigned": ("ui", "i")}[signs]
    return {f"{sign}{width}" for sign in kinds for width in bits}


SMALL = integers(8, 16, 32)
LOGICAL: list[tuple[str, set[str]]] = [
    ("absf divf exp ln negf sqrt vaxpy vdiv vexp vln vlrelu vprelu vsqrt", {"f16", "f32"}),
    ("addf cmpf fma maxf minf mulf subf", {"f16", "bf16", "f32"}),
    ("addi andi cmpi maxi mini negi not ori shli xori subi", SMALL),
    ("absi shrsi", integers(8, 16, 32, signs="signed")),
    ("shrui", integers(8, 16, 32, signs="unsigned")),
    ("muli", integers(16, 32)),
    ("relu vrelu", {"si32", "f16", "f32"}),
    ("vabs", integers(8, 16, 32, signs="signed") | {"f16", "bf16", "f32"}),
    ("vadd vadds vcmp vcmps vmax vmaxs vmin vmins vsub", SMALL | {"f16", "bf16", "f32"}),
    ("vneg", SMALL | {"f16", "f32"}),
    ("vmul", integers(16, 32) | {"f16", "bf16", "f32"}),
    ("vmuls", integers(16, 32) | {"f16", "f32"}),
    ("vmula vcadd vcmax vcmin", {*ALL, *FLOATS}),
    ("vmull", {"ui32", "i32"}),
    ("vaddc vaddcs reduce_addi", integers(32)),
    ("vand vor vxor vnot vshl vshr vshls vshrs", set(ALL)),
    ("reduce_addf reduce_maxf reduce_minf group_reduce_addf group_reduce_maxf group_reduce_minf", {"f16", "f32"}),
    ("reduce_maxi reduce_mini group_reduce_addi group_reduce_maxi group_reduce_mini", SMALL),
]


@pytest.mark.parametrize(("names", "elements"), LOGICAL, ids=[names.split()[0] for names, _ in LOGICAL])
def test_elements_of_logical_vectors(names: str, elements: set[str]) -> None:
    for name in names.split():
        row = ELEMENTS[f"pto.vmi.{name}"]
        assert {element for element in (*ALL, *FLOATS) if admits(row, element)} == elements, name


def test_no_row_of_logical_vectors_is_left_out() -> None:
    listed = {f"pto.vmi.{name}" for names, _ in LOGICAL for name in names.split()}
    # vexpdif takes what exponentials take, whatever its result.
    assert set(ELEMENTS) == listed | {"pto.vmi.vexpdif"}
    assert set(ELEMENTS["pto.vmi.vexpdif"]) == {"f16", "f32"}
    assert {name.rpartition(".")[2]: sorted(row) for name, row in RESULT_ELEMENTS.items()} == {
        **{name: ["f16", "f32", "i16", "i32", "i8"] for name in ("iota", "group_iota", "vci")},
        "active_prefix_index": ["ui16", "ui32", "ui8"],
        "vexpdif": ["f32"],
    }


def test_a_product_of_bytes_is_refused() -> None:
    for element, broken in (("i8", True), ("i16", False)):
        v = f"!pto.vmi.vreg<64x{element}>"
        found = findings(f"%r = pto.vmi.muli %a, %b : {v}, {v} -> {v}", "a5")
        assert ("vmi-types" in found) == broken


# --- distributions of vector loads and stores -------------------------------------------------------------

REGISTERS = {8: ("ui8", 256), 16: ("f16", 128), 32: ("f32", 64)}
LOADS = {
    "BRC_B8": {8}, "BRC_B16": {16}, "BRC_B32": {32}, "US_B8": {8}, "US_B16": {16}, "DS_B8": {8}, "DS_B16": {16},
    "UNPK_B8": {8, 16}, "UNPK_B16": {16, 32}, "UNPK_B32": {32}, "UNPK4": {8, 32}, "SPLT4CHN": {8},
    "SPLT2CHN_B8": {8}, "SPLT2CHN_B16": {16}, "E2B_B16": {16}, "E2B_B32": {32}, "BRC_BLK": {8, 16, 32},
    "NORM": {8, 16, 32},
}  # fmt: skip
PAIRS = {"DINTLV_B8": {8}, "DINTLV_B16": {16}, "DINTLV_B32": {32}, "BDINTLV": {8, 16, 32}}
STORES = {
    "NORM_B8": {8}, "NORM_B16": {16}, "NORM_B32": {32}, "1PT_B8": {8}, "1PT_B16": {16}, "1PT_B32": {32},
    "PK_B16": {8, 16, 32}, "PK_B32": {8, 16, 32}, "PK4_B32": {8, 16, 32},
}  # fmt: skip
INTERLEAVED = {"INTLV_B8": {8}, "INTLV_B16": {16}, "INTLV_B32": {32}}


@pytest.mark.parametrize("bits", REGISTERS)
@pytest.mark.parametrize(
    ("table", "rule", "statement"),
    [
        (LOADS, "vlds-dist-width", '%v = pto.vlds %p[%c0] {{dist = "{dist}"}} : {p} -> {v}'),
        (PAIRS, "vlds-dist-width", '%v, %w = pto.vldsx2 %p[%c0], "{dist}" : {p}, index -> {v}, {v}'),
        (STORES, "vsts-dist", 'pto.vsts %x, %p[%c0], %m {{dist = "{dist}"}} : {v}, {p}, {m}'),
        (INTERLEAVED, "vsts-dist", 'pto.vstsx2 %x, %y, %p[%c0], "{dist}", %m : {v}, {v}, {p}, index, {m}'),
    ],
    ids=["vlds", "vldsx2", "vsts", "vstsx2"],
)
def test_widths_of_distributions(table: dict[str, set[int]], rule: str, statement: str, bits: int) -> None:
    element, lanes = REGISTERS[bits]
    for dist, widths in table.items():
        text = statement.format(
            dist=dist, p=f"!pto.ptr<{element}, ub>", v=f"!pto.vreg<{lanes}x{element}>", m=f"!pto.mask<b{bits}>"
        )
        found = findings(text, "a5")
        assert (found.get(rule) is Severity.WARNING) == (bits not in widths), (dist, found)


# --- sizes of scratch tiles -------------------------------------------------------------------------------


def tile(rows: int, cols: int, element: str, valid: tuple[int, int] | None = None, layout: str = "") -> str:
    """A tile type of the vector unit."""
    part = f", valid={valid[0]}x{valid[1]}" if valid else ""
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{part}{layout}>"


def fits(statement: str, size: int, element: str, rule: str = "tile-tmp-size") -> bool:
    """True when a scratch of ``size`` bytes, of unknown valid region, is enough."""
    count = size // {"f32": 4, "i32": 4, "f16": 2, "i16": 2, "ui8": 1, "i8": 1}[element]
    return rule not in findings(statement.replace("$T", f"!pto.tile_buf<vec, 1x{count}x{element}, valid=?x?>"), "a2a3")


def unary(op: str, src: str, dst: str, more: str = "") -> str:
    return f"pto.{op} ins(%a, %t{more} : {src}, $T) outs(%d : {dst})"


F, H, I = tile(16, 64, "f32"), tile(16, 64, "f16"), tile(16, 64, "i16")  # noqa: E741
COLUMN = "!pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>"
PACKED = tile(16, 32, "ui8")
SIZES: list[tuple[str, str, str, int]] = [
    ("txor", f"pto.txor ins(%a, %b, %t : {I}, {I}, $T) outs(%d : {I})", "i16", 16 * 64 * 2),
    ("tpow", f"pto.tpow ins(%a, %b, %t : {F}, {F}, $T) outs(%d : {F})", "f32", 16 * 64 * 4),
    ("tsel", f"pto.tsel ins(%m, %a, %b, %t : {PACKED}, {F}, {F}, $T) outs(%d : {F})", "ui8", 32),
    ("trowsum", unary("trowsum", F, tile(16, 8, "f32", (16, 1))), "f32", 32),
    *(
        (f"trowexpandadd-{rows}", f"pto.trowexpandadd ins(%a, %b, %t : {whole}, {column}, $T) outs(%d : {whole})",
         "f32", size)
        for rows, size in ((8, 256), (16, 512), (24, 768), (248, 31 * 256), (256, 7680), (264, 7680))
        for whole, column in ((tile(rows, 8, "f32"), COLUMN.format(rows=rows)),)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "element", "size"), [row[1:] for row in SIZES], ids=[row[0] for row in SIZES])
def test_sizes_of_scratch(statement: str, element: str, size: int) -> None:
    assert fits(statement, size, element)
    if size > 32:
        assert not fits(statement, size - 32, element)
    else:
        assert fits(statement, 32, element)


@pytest.mark.parametrize(
    ("rows", "cols", "lines", "columns"), [(16, 64, 17, 8), (16, 256, 17, 32), (8, 264, 9, 33), (1, 8, 2, 1)]
)
def test_scratch_of_prelu(rows: int, cols: int, lines: int, columns: int) -> None:
    """A line of bits for each row in whole blocks of 32 bytes, and one line more."""
    whole = tile(rows, -(-cols // 8) * 8, "f32", (rows, cols))
    statement = f"pto.tprelu ins(%a, %b, %t : {whole}, {whole}, {{t}}) outs(%d : {whole})"
    width = -(-columns // 32) * 32
    for height, broken in ((lines, set()), (lines - 1, {"tile-tmp-shape", "tile-tmp-size"})):
        if height:
            found = findings(statement.format(t=tile(height, width, "ui8", (height, columns))), "a2a3")
            assert {rule for rule in found if rule.startswith("tile-tmp-s")} == broken, height
    if columns > 1:
        found = findings(statement.format(t=tile(lines, width, "ui8", (lines, columns - 1))), "a2a3")
        assert "tile-tmp-shape" in found


@pytest.mark.parametrize(
    ("element", "cols", "needed"),
    # A repeat is 64 words or 128 halves; values with positions (2 of each) and values, each in blocks of 32 bytes.
    [("f32", 64, 16), ("f32", 65, 16), ("f32", 256, 16), ("f32", 257, 24), ("f32", 512, 24), ("f32", 513, 40),
     ("f16", 128, 32), ("f16", 1024, 32), ("f16", 1025, 48), ("f16", 2048, 48), ("f16", 2049, 80)],
)  # fmt: skip
def test_scratch_of_positions(element: str, cols: int, needed: int) -> None:
    block = 8 if element == "f32" else 16
    width = -(-cols // block) * block
    source = tile(16, width, element, (16, cols))
    places = tile(1, -(-cols // 8) * 8, "i32", (1, cols))
    for columns, broken in ((needed, False), (needed - 1, True)):
        scratch = tile(16, -(-columns // block) * block, element, (1, columns))
        found = findings(f"pto.tcolargmax ins(%a, %t : {source}, {scratch}) outs(%d : {places})", "a2a3")
        assert ("tile-tmp-shape" in found) == broken, columns


# --- spellings --------------------------------------------------------------------------------------------


@in_groups(("written", "meant"), [
        *((f"{op}_{form}", f"{op}.{form}") for op in ("tmatmul", "tgemv") for form in ("acc", "bias", "mx")),
        *((f"{op}.fp", f"{op}_fp") for op in ("textract", "tinsert", "tstore")),
        *((op, f"comm.{op}") for op in ("tput", "tget", "tnotify", "twait", "ttest", "tbroadcast", "treduce")),
        ("tmov_fp", "tmov.fp"), ("get_scale_addr", "tget_scale_addr"), ("subset", "subview"),
        ("pipe_barrier", "barrier"), ("set_cross_core", "sync.set"), ("wait_flag_dev", "sync.wait"),
        ("wait_intra_core", "wait_intra_block"), ("vsta", "vstas"), ("vmrgsort", "vmrgsort4"),
    ])  # fmt: skip
def test_other_spellings(written: str, meant: str) -> None:
    assert canonical(f"pto.{written}") == canonical(f"PTO.{written.upper()}") == f"pto.{meant}"
