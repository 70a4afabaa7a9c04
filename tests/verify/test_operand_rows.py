"""Which memories, widths and masks each instruction takes: one row for each, walked on both sides.

The rows are in a form of their own; every operation is tried with what its row says and with everything else.
"""

from __future__ import annotations

from itertools import product

import pytest
from groups import in_groups
from tile_programs import findings

from pto_dialect.diagnostics.diagnostic import Severity

SPACES = ("gm", "ub", "l1", "l0a", "l0c")
BLOCKS = ", i64, i64, i64, i64"
BURST = "%s, %d, %c2 nburst(%c1, %c0, %c0) : {s}, {d}" + BLOCKS
WIDE = "%s, %d, %c64 nburst(%c1, %c64, %c64) : {s}, {d}" + BLOCKS
TRANSFERS: dict[str, tuple[str, str, str]] = {
    # statement, memories from and to
    "mte_gm_ub": ("%s, %d, %c0, %c64 nburst(%c1, %c64, %c64) : {s}, {d}, i64" + BLOCKS, "gm", "ub"),
    "mte_ub_gm": (WIDE, "ub", "gm"),
    "mte_ub_ub": (BURST, "ub", "ub"),
    "mte_gm_l1": (WIDE, "gm", "l1"),
    "mte_l1_ub": (BURST, "l1", "ub"),
    "mte_ub_l1": (BURST, "ub", "l1"),
    "copy_gm_to_ubuf": (
        "%s, %d, %c0, %c1, %c64, %c0, %c0, %true, %c0, %c64, %c64 : {s}, {d}" + BLOCKS + ", i64, i1, i64, i64, i64",
        "gm", "ub",
    ),
    "copy_ubuf_to_gm": ("%s, %d, %c0, %c1, %c64, %c0, %c64, %c64 : {s}, {d}, i64, i64" + BLOCKS, "ub", "gm"),
    "copy_ubuf_to_ubuf": ("%s, %d, %c0, %c1, %c2, %c0, %c0 : {s}, {d}, i64" + BLOCKS, "ub", "ub"),
    "copy_gm_to_cbuf": ("%s, %d, %c1, %c2, %c0, %c0 : {s}, {d}" + BLOCKS, "gm", "l1"),
    "copy_cbuf_to_ubuf": ("%s, %d, %c0, %c1, %c2, %c0, %c0 : {s}, {d}, i64" + BLOCKS, "l1", "ub"),
    "copy_ubuf_to_cbuf": ("%s, %d, %c0, %c1, %c2, %c0, %c0 : {s}, {d}, i64" + BLOCKS, "ub", "l1"),
}  # fmt: skip
ONE_WIDTH = {
    "mte_gm_ub", "mte_ub_gm", "mte_gm_l1", "mte_l1_ub", "copy_gm_to_ubuf", "copy_ubuf_to_gm", "copy_cbuf_to_ubuf",
}  # fmt: skip
"""Transfers between elements of one width; the others move blocks."""


OUTSIDE_OF_UB, ON_CHIP_ONLY = {*SPACES} - {"ub"}, {"gm", "ub"}
REFUSED: dict[str, tuple[set[str], set[str]]] = {
    # memories that the source must not be in, and those that the destination must not be in
    "mte_gm_ub": ({"ub"}, {"gm"}),
    "mte_gm_l1": ({"ub"}, {"gm"}),
    "copy_gm_to_ubuf": ({"ub"}, {"gm"}),
    "copy_ubuf_to_gm": ({"gm"}, {"ub"}),
    "mte_l1_ub": (ON_CHIP_ONLY, OUTSIDE_OF_UB),
    "copy_cbuf_to_ubuf": (ON_CHIP_ONLY, OUTSIDE_OF_UB),
    "mte_ub_l1": (OUTSIDE_OF_UB, ON_CHIP_ONLY),
    "copy_ubuf_to_cbuf": (OUTSIDE_OF_UB, ON_CHIP_ONLY),
}
"""Transfers that another memory is only a warning for; all others state both memories."""


def transfer(op: str, source: str, target: str, elements: tuple[str, str] = ("f16", "f16")) -> dict[str, Severity]:
    s, d = f"!pto.ptr<{elements[0]}, {source}>", f"!pto.ptr<{elements[1]}, {target}>"
    return findings(f"pto.{op} {TRANSFERS[op][0].format(s=s, d=d)}", "a5")


@pytest.mark.parametrize("op", TRANSFERS)
def test_memories_of_transfers(op: str) -> None:
    _, *wanted = TRANSFERS[op]
    sources, targets = REFUSED.get(op, ({*SPACES} - {wanted[0]}, {*SPACES} - {wanted[1]}))
    for source, target in product(SPACES, SPACES):
        refused = source in sources or target in targets
        expected = None if [source, target] == wanted else Severity.ERROR if refused else Severity.WARNING
        assert transfer(op, source, target).get("dma-direction") == expected, (source, target)


@pytest.mark.parametrize("op", TRANSFERS)
def test_widths_of_transfers(op: str) -> None:
    _, source, target = TRANSFERS[op]
    bits = {"i8": 8, "f16": 16, "bf16": 16, "f32": 32, "i32": 32}
    for one, other in product(bits, bits):
        broken = op in ONE_WIDTH and bits[one] != bits[other]
        assert ("dma-elem-width" in transfer(op, source, target, (one, other))) == broken, (one, other)


# --- masks of vector instructions -------------------------------------------------------------------------

GRAINS = {"b8": ("i8", 256), "b16": ("i16", 128), "b32": ("i32", 64)}
ONE = "vabs vnot vrelu vcmax vcmin vcgadd vcgmax vcgmin vcadd vneg"
TWO = "vadd vsub vmax vmin vand vor vxor vshl vshr"
NUMBER = "vadds vmaxs vmins"
COUNT = "vshls vshrs"
STATEMENTS: dict[str, str] = {
    **dict.fromkeys(ONE.split(), "%r = pto.{op} %a, %m : {v}, {m} -> {v}"),
    **dict.fromkeys(TWO.split(), "%r = pto.{op} %a, %b, %m : {v}, {v}, {m} -> {v}"),
    **dict.fromkeys(NUMBER.split(), "%r = pto.{op} %a, %x, %m : {v}, {e}, {m} -> {v}"),
    **dict.fromkeys(COUNT.split(), "%r = pto.{op} %a, %x, %m : {v}, i16, {m} -> {v}"),
    "vsel": "%r = pto.{op} %a, %b, %m : {v}, {v}, {m} -> {v}",
    "vcmp": '%r = pto.{op} %a, %b, %m, "lt" : {v}, {v}, {m} -> {m}',
    "vcmps": '%r = pto.{op} %a, %x, %m, "lt" : {v}, {e}, {m} -> {m}',
    "vsts": "pto.{op} %a, %p[%c0], %m : {v}, {p}, {m}",
    "vmula": "%r = pto.{op} %a, %b, %c, %m : {v}, {v}, {v}, {m} -> {v}",
    "vaddc": "%r, %k = pto.{op} %a, %b, %m : {v}, {v}, {m} -> {v}, {m}",
    "vsubc": "%r, %k = pto.{op} %a, %b, %m : {v}, {v}, {m} -> {v}, {m}",
}


@in_groups("op", STATEMENTS)
def test_masks_are_as_wide_as_the_lanes(op: str) -> None:
    for grain, (element, lanes) in GRAINS.items():
        for mask in GRAINS:
            text = STATEMENTS[op].format(
                op=op,
                v=f"!pto.vreg<{lanes}x{element}>",
                m=f"!pto.mask<{mask}>",
                e=element,
                p=f"!pto.ptr<{element}, ub>",
            )
            found = findings(text, "a5")
            assert ("mask-granularity" in found) == (mask != grain), (grain, mask, found)


# --- scratch of broadcasts --------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "max", "min"])
def test_scratch_of_every_broadcast(op: str) -> None:
    """256 bytes for each group of 8 rows."""
    whole, column = "!pto.tile_buf<vec, 16x8xf32>", "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    for size, broken in ((512, False), (480, True)):
        scratch = f"!pto.tile_buf<vec, 1x{size // 4}xf32, valid=?x?>"
        text = f"pto.trowexpand{op} ins(%a, %b, %t : {whole}, {column}, {scratch}) outs(%d : {whole})"
        assert ("tile-tmp-size" in findings(text, "a2a3")) == broken, size


# --- elements after addresses -----------------------------------------------------------------------------


POINTEES = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3", "f8E4M3FN", "f8E5M2"]
POINTEES += ["!pto.hif8", "!pto.f4E1M2x2", "!pto.f4E2M1x2", "ui8", "si16", "ui32"]


@pytest.mark.parametrize("element", [*POINTEES, "i1", "!pto.f8E8M0"])
def test_elements_after_a_number(element: str) -> None:
    found = findings(f"%q = pto.inttoptr %n : i64 -> !pto.ptr<{element}, gm>", "a5")
    assert ("castptr-form" in found) == (element not in POINTEES), found
