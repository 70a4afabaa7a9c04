"""Comparisons and selections as vector functions. Source: docs/reference/tiles.md, "Elementwise"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals

from pto_dialect import print_module

RNG = np.random.default_rng(41)
STORAGE = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32, "ui8": np.uint8}
FORMULAS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def values(shape, element: str):
    """Few different numbers, so that many are equal; floats with NaN and zeros of both signs."""
    found = RNG.integers(-2, 3, shape).astype(STORAGE[element])
    if element[0] == "f":
        found.reshape(-1)[:4] = [np.nan, 0.0, -0.0, np.inf]
    return found


def packed(bits, width: int):
    """Bits of rows in ``width`` bytes each."""
    found = np.zeros((bits.shape[0], width), np.uint8)
    for row, col in zip(*np.nonzero(bits), strict=True):
        found[row, col // 8] |= 1 << (col % 8)
    return found


def comparison(name: str, element: str, mode: str, rows: int, cols: int, valid: int, width: int) -> Program:
    """A comparison whose bytes are stored."""
    found = Program(a=element, b=element, c="ui8", number=f"={element}")
    for tile, array in (("x", "a"), ("y", "b")):
        found.view(f"v{tile}", array, (rows, valid), (valid, 1))
        found.tile(tile, "vec", rows, cols, element, valid=f"{rows}x{valid}")
        found.op("tload", f"v{tile}", to=tile)
    found.view("vz", "c", (rows, width), (width, 1))
    found.tile("z", "vec", rows, width, "ui8")
    more = f" {{cmpMode = #pto<cmp {mode}>}}"
    if name == "tcmp":
        found.op("tcmp", "x", "y", to="z", more=more)
    else:
        found.op("tcmps", "x", to="z", more=more, extra=", %number", extra_types=f", {element}")
    found.op("tstore", "z", to="vz")
    return found


CASES = [
    ("tcmp", "f32", "gt", 5, 96, 70, 32),
    ("tcmp", "f32", "ne", 3, 320, 300, 64),
    ("tcmp", "f32", "lt", 9, 64, 64, 32),
    ("tcmp", "i32", "eq", 2, 256, 256, 32),
    ("tcmp", "f16", "le", 3, 208, 193, 32),
    ("tcmps", "f32", "ge", 4, 64, 64, 32),
    ("tcmps", "f16", "gt", 2, 128, 128, 32),
    ("tcmps", "i16", "eq", 3, 48, 40, 32),
    ("tcmps", "i8", "lt", 3, 320, 300, 64),
]


@pytest.mark.parametrize(("name", "element", "mode", "rows", "cols", "valid", "width"), CASES)
def test_comparisons(name, element, mode, rows, cols, valid, width):
    a, b = values((rows, valid), element), values((rows, valid), element)
    arrays = {"a": a, "b": b, "c": np.full((rows, width), 7, np.uint8), "number": 1}
    module, found = lowered(comparison(name, element, mode, rows, cols, valid, width), "lower-vector", **arrays)
    assert f"pto.{name} " not in print_module(module)
    other = b if name == "tcmp" else STORAGE[element](1)
    assert np.array_equal(found["c"], packed(FORMULAS[mode](a, other), width))


REPEATS = [
    ("f32", 4, 64, 64, 32), ("f32", 3, 40, 40, 32), ("f32", 2, 256, 256, 32), ("f32", 3, 192, 128, 32),
    ("i16", 3, 48, 40, 32), ("f16", 2, 256, 200, 32), ("i8", 3, 320, 300, 64),
]  # fmt: skip


@pytest.mark.parametrize(("element", "rows", "cols", "valid", "width"), REPEATS)
def test_consecutive_bits(element, rows, cols, valid, width):
    """The backend ``vpto``: rows of narrow elements end with a predicate, those of 32 bits have no gaps."""
    program = comparison("tcmps", element, "ge", rows, cols, valid, width)
    text = str(program).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    a = values((rows, valid), element)
    arrays = {"a": a, "b": a, "c": np.full((rows, width), 7, np.uint8), "number": 1}
    module, found = lowered(text, "lower-vector", **arrays)
    assert "pto.tcmps " not in print_module(module)
    bits = a >= STORAGE[element](1)
    lanes = 256 // a.itemsize
    wide = bits.reshape(1, -1) if a.itemsize == 4 else np.pad(bits, ((0, 0), (0, -valid % lanes)))
    stored = np.packbits(wide, axis=1, bitorder="little").reshape(-1)
    assert np.array_equal(found["c"].reshape(-1)[: stored.size], stored)


@pytest.mark.parametrize(
    ("element", "rows", "cols", "valid"), [("f32", 256, 16, 16), ("f16", 8, 256, 32), ("i32", 9, 64, 48)]
)
def test_consecutive_bits_fill_the_valid_region(element, rows, cols, valid):
    """Each row of the region has one piece of 16 bytes, or some."""
    program = comparison("tcmps", element, "ge", rows, cols, cols, 64)
    part = program.types["z"].replace(f"{rows}x64xui8", f"{rows}x64xui8, valid={rows}x{valid}")
    program.tiles = [
        line.replace(program.types["z"], part) if line.startswith("%z") else line for line in program.tiles
    ]
    program.lines = [
        line.replace(program.types["z"], part).replace("%c64]", f"%c{valid}]").replace("x64xui8>", f"x{valid}xui8>")
        if "%z" in line or "%vz" in line
        else line
        for line in program.lines
    ]
    program.numbers.add(valid)
    text = str(program).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    a = values((rows, cols), element)
    out = np.full((rows, 64), 7, np.uint8)
    module, found = lowered(text, "lower-vector", a=a, b=a, c=out, number=1)
    assert "pto.tcmps " not in print_module(module)
    stored = np.packbits((a >= STORAGE[element](1)).reshape(-1), bitorder="little")
    assert np.array_equal(found["c"][:, :valid].reshape(-1)[: stored.size], stored)
    assert np.array_equal(found["c"][:, valid:], out[:, valid:])


def test_bits_of_rows_that_begin_within_a_predicate():
    text = str(comparison("tcmps", "f32", "ge", 4, 72, 70, 64)).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    reason = "its rows of bits are contiguous and begin within a predicate"
    assert refusals(text, "lower-vector") == [f"pto.tcmps: {reason}"]


def selection(name: str, element: str, rows: int, cols: int, valid: int, width: int) -> Program:
    """A selection by bits that are loaded."""
    found = Program(a=element, b=element, m="ui8", c=element, number=f"={element}")
    for tile, array in (("x", "a"), ("y", "b"), ("z", "c")):
        found.view(f"v{tile}", array, (rows, valid), (valid, 1))
        found.tile(tile, "vec", rows, cols, element, valid=f"{rows}x{valid}")
    found.view("vm", "m", (rows, width), (width, 1))
    found.tile("bits", "vec", rows, width, "ui8")
    found.tile("t", "vec", rows, width, "ui8")
    for tile, view in (("x", "vx"), ("y", "vy"), ("bits", "vm")):
        found.op("tload", view, to=tile)
    if name == "tsel":
        found.op("tsel", "bits", "x", "y", "t", to="z")
    else:
        found.op("tsels", "bits", "x", "t", to="z", extra=", %number", extra_types=f", {element}")
    found.op("tstore", "z", to="vz")
    return found


SELECTIONS = [
    ("tsel", "f32", 5, 96, 70, 32),
    ("tsel", "f32", 2, 320, 300, 64),
    ("tsel", "f16", 3, 208, 193, 32),
    ("tsel", "i8", 3, 320, 300, 64),
    ("tsels", "i32", 4, 64, 64, 32),
    ("tsels", "f16", 2, 128, 128, 32),
]


@pytest.mark.parametrize(("name", "element", "rows", "cols", "valid", "width"), SELECTIONS)
def test_selections(name, element, rows, cols, valid, width):
    a, b = values((rows, valid), element), values((rows, valid), element)
    bits = RNG.integers(0, 256, (rows, width)).astype(np.uint8)
    arrays = {"a": a, "b": b, "m": bits, "c": np.zeros_like(a), "number": 3}
    module, found = lowered(selection(name, element, rows, cols, valid, width), "lower-vector", **arrays)
    assert f"pto.{name} " not in print_module(module)
    chosen = np.unpackbits(bits, axis=1, bitorder="little")[:, :valid].astype(bool)
    other = b if name == "tsel" else np.full_like(a, 3)
    assert np.array_equal(found["c"], np.where(chosen, a, other), equal_nan=element[0] == "f")


@pytest.mark.parametrize(("element", "cols"), [("f32", 64), ("f32", 160), ("f16", 32), ("i8", 160)])
def test_rows_of_bits_that_end_within_a_predicate(element, cols):
    """Bits after the last element are loaded with the others, and nothing is chosen by them."""
    width = cols // 8
    found = selection("tsel", element, 4, cols, cols, 32)
    short = found.types["bits"].replace("4x32xui8", f"4x32xui8, valid=4x{width}")
    found.tiles = [line.replace(found.types["bits"], short) if "%bits" in line else line for line in found.tiles]
    found.lines = [
        line.replace("%c32]", f"%c{width}]").replace("4x32xui8>", f"4x{width}xui8>") if "%vm" in line else line
        for line in (line.replace(found.types["bits"], short, 1) if "%bits" in line else line for line in found.lines)
    ]
    found.numbers.add(width)
    a, b = values((4, cols), element), values((4, cols), element)
    bits = RNG.integers(0, 256, (4, 32)).astype(np.uint8)
    module, result = lowered(found, "lower-vector", a=a, b=b, m=bits, c=np.zeros_like(a), number=0)
    chosen = np.unpackbits(bits, axis=1, bitorder="little")[:, :cols].astype(bool)
    assert np.array_equal(result["c"], np.where(chosen, a, b), equal_nan=element[0] == "f")
    assert "pto.tsel " not in print_module(module)


def test_bits_beside_a_part_of_a_tile_are_not_loaded():
    found = selection("tsel", "f32", 4, 64, 64, 64)
    whole = found.types["bits"]
    part = "!pto.tile_buf<vec, 4x8xui8>"
    found.lines.insert(0, f"%part = pto.subview %bits[%c0, %c32] sizes [4, 8] : {whole} -> {part}")
    found.numbers.add(32)
    found.lines = [
        line.replace("ins(%bits", "ins(%part").replace(whole, part, 1) if "pto.tsel " in line else line
        for line in found.lines
    ]
    reason = "predicates are loaded in pieces of 16 bytes, and its rows of bits may end"
    assert refusals(found, "lower-vector") == [f"pto.tsel: {reason}"]


def test_rows_of_bits_that_are_too_short():
    found = selection("tsel", "f32", 4, 320, 300, 32)
    reason = "predicates are loaded in pieces of 16 bytes, and its rows of bits may end"
    assert refusals(found, "lower-vector") == [f"pto.tsel: {reason}"]


@pytest.mark.parametrize("slope", [2.0, 1.0 + 2.0**-11, 1e-9])
def test_numbers_of_other_widths_are_rounded(slope):
    """Halves are compared with a number of 32 bits, and chosen with one."""
    a = values((3, 64), "f16")
    a[1, :8] = np.float16(slope)
    compared = comparison("tcmps", "f16", "eq", 3, 64, 64, 32)
    compared.arguments["number"] = "=f32"
    compared.lines = [line.replace(", f16)", ", f32)") for line in compared.lines]
    arrays = {"a": a, "b": a, "c": np.full((3, 32), 7, np.uint8), "number": slope}
    _, result = lowered(compared, "lower-vector", **arrays)
    assert np.array_equal(result["c"], packed(a == np.float16(slope), 32))
    chosen = selection("tsels", "f16", 3, 64, 64, 32)
    chosen.arguments["number"] = "=f32"
    chosen.lines = [line.replace(", f16)", ", f32)") for line in chosen.lines]
    bits = RNG.integers(0, 256, (3, 32)).astype(np.uint8)
    _, result = lowered(chosen, "lower-vector", a=a, b=a, m=bits, c=np.zeros_like(a), number=slope)
    taken = np.unpackbits(bits, axis=1, bitorder="little")[:, :64].astype(bool)
    assert np.array_equal(result["c"], np.where(taken, a, np.float16(slope)), equal_nan=True)


def test_bits_at_the_address_of_what_is_compared():
    found = comparison("tcmp", "f32", "gt", 4, 64, 64, 32)
    found.tiles[:0] = [f"%at{name} = arith.constant {at} : i64" for name, at in (("x", 0), ("y", 4096), ("z", 32))]
    found.tiles[3:] = [line.replace("alloc_tile ", f"alloc_tile addr = %at{line[1]} ") for line in found.tiles[3:]]
    reason = "its destination overlaps elements that are compared later"
    assert refusals(found, "lower-vector") == [f"pto.tcmp: {reason}"]


@pytest.mark.parametrize(("rows", "cols", "valid"), [(4, 64, 64), (3, 96, 70), (2, 320, 300)])
def test_comparisons_of_tiles_are_the_same_in_both_libraries(rows, cols, valid):
    """Only comparisons with a number have their rows of bits one after the other in ``vpto``."""
    program = comparison("tcmp", "f32", "le", rows, cols, valid, 64)
    text = str(program).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    a, b = values((rows, valid), "f32"), values((rows, valid), "f32")
    module, found = lowered(text, "lower-vector", a=a, b=b, c=np.full((rows, 64), 7, np.uint8), number=1)
    assert "pto.tcmp " not in print_module(module)
    assert np.array_equal(found["c"], packed(a <= b, 64))


@pytest.mark.parametrize(("element", "cols", "valid"), [("f32", 96, 70), ("f32", 64, 64), ("i16", 128, 100)])
def test_a_single_row_of_consecutive_bits(element, cols, valid):
    """A row that is followed by others of the tile, none of which are compared."""
    program = comparison("tcmps", element, "ge", 1, cols, valid, 64)
    text = str(program).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    a = values((1, valid), element)
    module, found = lowered(text, "lower-vector", a=a, b=a, c=np.full((1, 64), 7, np.uint8), number=1)
    assert "pto.tcmps " not in print_module(module)
    stored = np.packbits((a >= STORAGE[element](1)).reshape(-1), bitorder="little")
    assert np.array_equal(found["c"].reshape(-1)[: stored.size], stored)


@pytest.mark.parametrize("valid", ["2x32", "2x40"])
def test_more_consecutive_bits_than_the_valid_region_has(valid):
    """8 pieces of 16 bytes where fewer bytes count: they follow each other in the whole tile."""
    found = Program(a="f32", c="ui8", number="=f32")
    found.view("vx", "a", (8, 128), (128, 1))
    found.tile("x", "vec", 8, 128, "f32", "addr = %atx")
    found.tile("z", "vec", 4, 64, "ui8", "addr = %atz", valid=valid)
    found.tile("out", "vec", 4, 64, "ui8", "addr = %atz")
    found.tiles[:0] = [f"%at{name} = arith.constant {place} : i64" for name, place in (("x", 0), ("z", 8192))]
    found.view("vz", "c", (4, 64), (64, 1))
    found.op("tload", "vz", to="out")
    found.op("tload", "vx", to="x")
    found.op("tcmps", "x", to="z", more=" {cmpMode = #pto<cmp gt>}", extra=", %number", extra_types=", f32")
    found.op("tstore", "out", to="vz")
    a, out = values((8, 128), "f32"), RNG.integers(0, 256, (4, 64)).astype(np.uint8)
    text = str(found).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    module, result = lowered(text, "lower-vector", a=a, c=out, number=1)
    assert "pto.tcmps " not in print_module(module)
    stored = np.packbits((a > 1).reshape(-1), bitorder="little")
    assert np.array_equal(result["c"].reshape(-1), np.concatenate((stored, out.reshape(-1)[stored.size :])))


@pytest.mark.parametrize("cols", [1, 31, 32, 64, 65, 128, 129, 160])
def test_comparisons_of_columns_that_a_run_counts(cols):
    found = Program(a="f32", c="ui8", number="=f32", n="=index")
    found.numbers |= {3, 160}
    found.tile("x", "vec", 3, 160, "f32", "valid_col = %n", valid="3x?")
    found.types["vx"] = part = "!pto.partition_tensor_view<3x?xf32>"
    view = "!pto.tensor_view<?x?xf32>"
    found.lines += [
        f"%whole = pto.make_tensor_view %a, shape = [%c3, %n], strides = [%c160, %c1] : {view}",
        f"%vx = pto.partition_view %whole, offsets = [%c0, %c0], sizes = [%c3, %n] : {view} -> {part}",
    ]
    found.tile("z", "vec", 3, 32, "ui8")
    found.view("vz", "c", (3, 32), (32, 1))
    found.op("tload", "vx", to="x")
    found.op("tcmps", "x", to="z", more=" {cmpMode = #pto<cmp lt>}", extra=", %number", extra_types=", f32")
    found.op("tstore", "z", to="vz")
    a = values((3, 160), "f32")
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros((3, 32), np.uint8), number=1, n=cols)
    assert "pto.tcmps " not in print_module(module)
    assert np.array_equal(result["c"], packed(a[:, :cols] < 1, 32))
