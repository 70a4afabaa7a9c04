"""What no instruction of the cube core does, and why. Source: docs/reference/layouts.md, "Loads with a change of
layout", "Loads into L0", "Write-back addresses".
"""

from collections.abc import Callable

from cube_programs import Program, refusals
from groups import in_groups

STEPS = "its view has more steps than a load follows"
OUT_STEPS = "its view has more steps than a write-back follows"
PADDED = "a load into L1 fills up a row of a block with zeros and nothing else"
ONE_ROW = "a table is loaded from one row"


def loaded(element: str, sizes: tuple[int, ...], strides: tuple[int, ...], layout: str = "", **tile: str) -> Program:
    """A load of a view into a tile of 32 x 32 elements in L1."""
    found = Program(a=element, n="=index")
    found.view("v", "a", sizes, strides, layout=layout)
    open_size = "valid_col = %n" if "?" in tile.get("valid", "") else ""
    found.tile("m", "mat", 32, 32, element, open_size, **tile)
    found.op("tload", "v", to="m")
    return found


def stored(element: str, sizes: tuple[int, ...], strides: tuple[int, ...], layout: str = "") -> Program:
    """A store of an accumulator of 32 x 32 elements."""
    found = Program(c=element)
    found.tile("s", "acc", 32, 32, element)
    found.view("v", "c", sizes, strides, layout=layout)
    found.op("tstore", "s", to="v")
    return found


def turned(valid: str, sizes: str, rows: int = 32, cols: int = 32) -> Program:
    """A move of bytes from L1 into L0A that lie the other way there, with sizes that a run says."""
    found = Program(r="=index", n="=index")
    found.tile("m", "mat", 64, 64, "i8", layout="zn")
    found.tile("l", "left", rows, cols, "i8", sizes, valid=valid)
    found.op("tmov", "m", to="l")
    return found


def table(source: dict[str, str], dst: dict[str, str], rows: int = 1, to_rows: int = 1) -> Program:
    """A move of a bias from L1 into its table."""
    found = Program()
    found.tile("m", "mat", rows, 32, "f32", **source)
    found.tile("t", "bias", to_rows, 32, "f32", **dst)
    found.op("tmov", "m", to="t")
    return found


def list_and_blocks() -> Program:
    """A single row of L0A from a tile of blocks in L1."""
    found = Program()
    found.tile("m", "mat", 32, 512, "f16")
    found.tile("l", "left", 1, 256, "f16", layout="nd")
    found.op("tmov", "m", to="l")
    return found


def parts_of_sums() -> Program:
    """A product that adds to rows 16 to 31 of a tile, and writes rows 0 to 15."""
    found = Program()
    found.numbers.add(16)
    found.tile("l", "left", 16, 32, "f16")
    found.tile("r", "right", 32, 32, "f16")
    found.tile("s", "acc", 32, 32, "f32")
    for name, row in (("low", 0), ("high", 16)):
        found.types[name] = found.types["s"].replace("32x32", "16x32")
        place = f"%{name} = pto.subview %s[%c{row}, %c0] sizes [16, 32]"
        found.lines.append(f"{place} : {found.types['s']} -> {found.types[name]}")
    found.op("tmatmul.acc", "high", "l", "r", to="low")
    return found


def quantised(entry: int, out: str) -> Program:
    """A store of sums with a scale for all channels."""
    found = Program(c=out)
    found.tile("s", "acc", 32, 32, "i32")
    found.view("v", "c", (32, 32), (32, 1))
    found.lines.append(f"%scale = arith.constant {entry} : i64")
    found.op("tstore", "s", to="v", extra=", %scale", extra_types=", i64")
    return found


ONE = 0x3F800000
"""The bits of 1.0; bit 46 states that results have a sign."""
OWN = "a scale for all channels has no offset, shift or sign of its own"
GROUPS = "a turned load copies groups of 32 x 32 elements of sizes that are known"
FIT = "a turned load copies groups of 32 x 32 elements, which do not fit"
CASES: dict[str, tuple[Callable[[], Program], str]] = {
    "blocks of 64 bytes": (
        lambda: loaded("f32", (32, 32), (32, 1), more=", fractal=1024"),
        "pto.tload: no load into L1 makes the layout NZ",
    ),
    "rows and columns in two steps each": (
        lambda: loaded("f16", (1, 2, 2, 16, 16), (1024, 600, 272, 16, 1), layout="nz"), f"pto.tload: {STEPS}",
    ),
    "padding of columns that a run counts": (
        lambda: loaded("f16", (32, 32), (32, 1), valid="32x?", more=", pad=1"), f"pto.tload: {PADDED}",
    ),
    "turned rows that a run counts": (lambda: turned("?x32", "valid_row = %r"), f"pto.tmov: {GROUPS}"),
    "turned columns that a run counts": (lambda: turned("32x?", "valid_col = %n"), f"pto.tmov: {GROUPS}"),
    "turned rows that do not fit": (lambda: turned("16x32", "", rows=16), f"pto.tmov: {FIT}"),
    "a list from blocks": (list_and_blocks, "pto.tmov: one of its tiles is a list and the other one has blocks"),
    "a table from two rows": (lambda: table({"layout": "nd"}, {}, rows=2), f"pto.tmov: {ONE_ROW}"),
    "a table from columns": (lambda: table({"layout": "dn"}, {}), f"pto.tmov: {ONE_ROW}"),
    "a table into columns": (lambda: table({"layout": "nd"}, {"layout": "dn"}), f"pto.tmov: {ONE_ROW}"),
    "a table of two rows": (lambda: table({"layout": "nd"}, {}, to_rows=2), f"pto.tmov: {ONE_ROW}"),
    "another part of the sums": (
        parts_of_sums, "pto.tmatmul.acc: it adds to another tile than the one that it writes",
    ),
    "an offset": (lambda: quantised(ONE | 1 << 46 | 3 << 37, "i8"), f"pto.tstore: {OWN}"),
    "a shift": (lambda: quantised(ONE | 1 << 46 | 1 << 32, "i8"), f"pto.tstore: {OWN}"),
    "a sign that the results have not": (lambda: quantised(ONE | 1 << 46, "ui8"), f"pto.tstore: {OWN}"),
    "no sign where results have one": (lambda: quantised(ONE, "i8"), f"pto.tstore: {OWN}"),
    "rows of several steps": (
        lambda: stored("f32", (2, 16, 32), (1024, 32, 1)), f"pto.tstore: {OUT_STEPS}",
    ),
    "rows and columns of several steps": (
        lambda: stored("f32", (1, 2, 2, 16, 16), (1024, 600, 272, 16, 1), layout="nz"), f"pto.tstore: {OUT_STEPS}",
    ),
    "columns in steps of three": (
        lambda: stored("f32", (2, 2, 1, 32, 8), (2048, 640, 512, 16, 1), layout="nz"), f"pto.tstore: {OUT_STEPS}",
    ),
    "columns in steps of three, of which the middle ones are side by side": (
        lambda: stored("f32", (2, 8, 1, 32, 2), (5000, 1, 2048, 64, 8), layout="nz"), f"pto.tstore: {OUT_STEPS}",
    ),
    "blocks of four columns": (
        lambda: stored("f32", (1, 8, 2, 16, 4), (1024, 128, 64, 4, 1), layout="nz"), f"pto.tstore: {OUT_STEPS}",
    ),
    "blocks whose elements are apart": (
        lambda: stored("f32", (1, 2, 2, 16, 16), (2048, 1024, 512, 32, 2), layout="nz"), f"pto.tstore: {OUT_STEPS}",
    ),
}  # fmt: skip


@in_groups("case", CASES)
def test_refusals(case):
    program, reason = CASES[case]
    assert refusals(program()) == [reason]
