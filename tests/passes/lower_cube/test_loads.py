"""Loads into L1 and from there. Source: docs/reference/layouts.md, "Loads with a change of layout", "Loads into L0"."""

import numpy as np
import pytest
from cube_programs import Program, instructions, lowered, passed, refusals
from groups import in_groups

RNG = np.random.default_rng(7)
STORAGE = {"f16": np.float16, "f32": np.float32, "i8": np.int8}


def whole(shape, element: str = "f16"):
    """Small integers, whose sums are exact in any order."""
    return RNG.integers(-5, 6, shape).astype(STORAGE[element])


def gemm(element: str = "f16", a: str = "nz", b: str = "nz", sizes=(32, 32, 32)) -> Program:
    """C = A B from views ``va`` and ``vb``, which are still to be made, with operands in L1 in these layouts."""
    m, k, n = sizes
    sums = "i32" if element == "i8" else "f32"
    found = Program(a=element, b=element, c=sums)
    for name, loc, rows, cols, layout in (("ma", "mat", m, k, a), ("mb", "mat", k, n, b)):
        found.tile(name, loc, rows, cols, element, layout=layout)
    found.tile("l", "left", m, k, element)
    found.tile("r", "right", k, n, element)
    found.tile("s", "acc", m, n, sums)
    found.view("vc", "c", (m, n), (n, 1))
    return found


def multiplied(found: Program) -> Program:
    """Loads both views, multiplies and stores."""
    for view, tile, to in (("va", "ma", "l"), ("vb", "mb", "r")):
        found.op("tload", view, to=tile)
        found.op("tmov", tile, to=to)
    found.op("tmatmul", "l", "r", to="s")
    found.op("tstore", "s", to="vc")
    return found


def exact(a, b):
    """The product."""
    return a.astype(np.int64) @ b.astype(np.int64)


@pytest.mark.parametrize("element", STORAGE)
@pytest.mark.parametrize("layouts", [("nz", "zn"), ("zn", "nz"), ("zn", "zn")])
def test_transposed_operands_are_turned(layouts, element):
    a, b = whole((32, 64), element), whole((64, 32), element)
    found = gemm(element, *layouts, sizes=(32, 64, 32))
    found.view("va", "a", (32, 64), (64, 1))
    found.view("vb", "b", (64, 32), (32, 1))
    sums = np.zeros((32, 32), np.int32 if element == "i8" else np.float32)
    module, result = lowered(multiplied(found), a=a, b=b, c=sums)
    assert np.array_equal(result["c"], exact(a, b))
    assert "mte_l1_l0a" in instructions(module)


def test_a_tile_whose_valid_rows_are_set():
    """The product of the first rows, whose number a run says."""
    a, b = whole((32, 32)), whole((32, 32))
    found = Program(a="f16", b="f16", c="f32", rows="=index")
    sizes = f"valid_row = {found.index(32)}"
    for name, loc, element in (("ma", "mat", "f16"), ("l", "left", "f16"), ("s", "acc", "f32")):
        found.tile(name, loc, 32, 32, element, sizes, valid="?x32")
        found.lines.append(f"pto.set_validshape %{name}, %rows, {found.index(32)} : {found.types[name]}")
    found.tile("mb", "mat", 32, 32, "f16")
    found.tile("r", "right", 32, 32, "f16")
    for name in "abc":
        found.view(f"v{name}", name, (32 if name == "b" else "%rows", 32), (32, 1))
    for rows in (0, 1, 19, 32):
        module, result = lowered(multiplied(found), a=a, b=b, c=np.zeros((32, 32), np.float32), rows=rows)
        expected = np.zeros((32, 32))
        expected[:rows] = exact(a[:rows], b)
        assert np.array_equal(result["c"], expected)
    assert {"mte_gm_l1_frac", "mte_l1_l0a", "mte_l0c_gm"} <= set(instructions(module))


def test_a_transposed_matrix_in_memory():
    """B is stored row after row as its transposed matrix; a view of the layout dn has the strides the other way."""
    a, b = whole((32, 32)), whole((32, 32))
    for layout in ("nz", "zn"):
        found = gemm(b=layout)
        found.view("va", "a", (32, 32), (32, 1))
        found.view("vb", "b", (32, 32), (1, 32), layout="dn")
        _, result = lowered(multiplied(found), a=a, b=b.T.copy(), c=np.zeros((32, 32), np.float32))
        assert np.array_equal(result["c"], exact(a, b))


def test_a_matrix_in_blocks_in_memory():
    """A is stored as two columns of blocks of 16 columns."""
    a, b = whole((32, 32)), whole((32, 32))
    found = gemm()
    found.view("va", "a", (1, 2, 2, 16, 16), (1024, 512, 256, 16, 1), layout="nz")
    found.view("vb", "b", (32, 32), (32, 1))
    blocks = a.reshape(32, 2, 16).transpose(1, 0, 2).copy()
    _, result = lowered(multiplied(found), a=blocks, b=b, c=np.zeros((32, 32), np.float32))
    assert np.array_equal(result["c"], exact(a, b))


def test_rows_of_several_dimensions():
    """Two groups of 16 rows, 1024 elements apart."""
    a, b = whole((2, 32, 32)), whole((32, 32))
    found = gemm()
    found.view("va", "a", (2, 16, 32), (1024, 32, 1))
    found.view("vb", "b", (32, 32), (32, 1))
    _, result = lowered(multiplied(found), a=a, b=b, c=np.zeros((32, 32), np.float32))
    assert np.array_equal(result["c"], exact(a[:, :16].reshape(32, 32), b))


def test_more_dimensions_than_a_load_follows():
    found = gemm()
    found.view("va", "a", (2, 2, 8, 32), (4096, 1024, 32, 1))
    found.view("vb", "b", (32, 32), (32, 1))
    assert refusals(multiplied(found)) == ["pto.tload: its view has more steps than a load follows"]


@pytest.mark.parametrize("layout", ["nz", "zn"])
@pytest.mark.parametrize("element", STORAGE)
def test_windows_of_larger_tiles(element, layout):
    """Left and right operands are parts of tiles in L1: rows and columns at multiples of a block."""
    a, b = whole((64, 128), element), whole((128, 64), element)
    sums = "i32" if element == "i8" else "f32"
    found = Program(a=element, b=element, c=sums)
    found.view("va", "a", (64, 128), (128, 1))
    found.view("vb", "b", (128, 64), (64, 1))
    found.view("vc", "c", (32, 32), (32, 1))
    for name, rows, cols in (("ma", 64, 128), ("mb", 128, 64)):
        found.tile(name, "mat", rows, cols, element, layout=layout)
    found.tile("l", "left", 32, 64, element)
    found.tile("r", "right", 64, 32, element)
    found.tile("s", "acc", 32, 32, sums)
    found.op("tload", "va", to="ma")
    found.op("tload", "vb", to="mb")
    found.index(32)
    found.index(64)
    found.op("textract", "ma", to="l", extra=", %c32, %c64", extra_types=", index, index")
    found.op("textract", "mb", to="r", extra=", %c64, %c32", extra_types=", index, index")
    found.op("tmatmul", "l", "r", to="s")
    found.op("tstore", "s", to="vc")
    arrays = {"a": a, "b": b, "c": np.zeros((32, 32), np.int32 if element == "i8" else np.float32)}
    _, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], exact(a[32:, 64:], b[64:, 32:]))


def walking(step: str) -> Program:
    """Operands that a loop takes from tiles in L1, 32 columns at a time."""
    found = gemm(sizes=(32, 64, 32))
    found.view("va", "a", (32, 64), (64, 1))
    found.view("vb", "b", (64, 32), (32, 1))
    found.tile("l2", "left", 32, 32, "f16")
    found.tile("r2", "right", 32, 32, "f16")
    found.op("tload", "va", to="ma")
    found.op("tload", "vb", to="mb")
    found.lines.append(f"scf.for %i = %c0 to %c64 step %{step} {{")
    for source, to, at in (("ma", "l2", "%c0, %i"), ("mb", "r2", "%i, %c0")):
        found.op("textract", source, to=to, extra=f", {at}", extra_types=", index, index")
    found.lines.append("%first = arith.cmpi eq, %i, %c0 : index")
    found.lines.append("scf.if %first {")
    found.op("tmatmul", "l2", "r2", to="s")
    found.lines.append("} else {")
    found.op("tmatmul.acc", "s", "l2", "r2", to="s")
    found.lines += ["}", "}"]
    found.index(64)
    found.index(32)
    found.op("tstore", "s", to="vc")
    return found


def test_windows_at_offsets_that_a_loop_computes():
    a, b = whole((32, 64)), whole((64, 32))
    _, result = lowered(walking("c32"), a=a, b=b, c=np.zeros((32, 32), np.float32))
    assert np.array_equal(result["c"], exact(a, b))


def test_a_window_that_may_cut_a_block_is_refused():
    found = walking("c4")
    found.index(4)
    said = refusals(found)
    assert said[0].startswith("pto.textract: the column that it begins with must be a multiple of 16")


def test_tiles_without_addresses_and_values_are_refused():
    found = gemm()
    found.view("va", "a", (32, 32), (32, 1))
    found.op("tload", "va", to="ma")
    _, said = passed(str(found), "lower-cube")
    assert said == ["lower-cube-unsupported: lower-cube cannot lower pto.tload: %ma has no address"]


def test_other_chips_have_no_such_instructions():
    found = gemm()
    found.view("va", "a", (32, 32), (32, 1))
    found.op("tload", "va", to="ma")
    _, said = passed(str(found).replace('"a5"', '"a2a3"'), "assign-memory", "lower-cube")
    assert said == [
        "lower-cube-unsupported: lower-cube cannot lower pto.tload: a2a3 has no instructions with sizes as operands"
    ]


@pytest.mark.parametrize("valid", ["0x32", "32x0", "0x0"])
@pytest.mark.parametrize("layout", ["nz", "zn"])
@pytest.mark.parametrize("loc", ["left", "right"])
@pytest.mark.parametrize("name", ["tmov", "textract"])
def test_nothing_is_loaded_into_an_operand_without_elements(name, loc, layout, valid):
    found = Program()
    found.tile("m", "mat", 32, 32, "f16", layout=layout)
    found.tile("l", loc, 32, 32, "f16", valid=valid)
    offsets = {"extra": ", %c0, %c0", "extra_types": ", index, index"} if name == "textract" else {}
    found.op(name, "m", to="l", **offsets)
    assert instructions(lowered(found)[0]) == []


@pytest.mark.parametrize("layout", ["nz", "zn"])
@pytest.mark.parametrize("cols", [47, 48, 49, 63, 64])
@in_groups("pad", [0, 1, 2, 3])
def test_what_a_load_fills_up(pad, cols, layout):
    """The last row of a block, of 16 elements, gets zeros; other numbers, and rows of blocks after it, get none."""
    found = Program(a="f16")
    found.tile("m", "mat", 32, 64, "f16", layout=layout, valid=f"32x{cols}", more=f", pad={pad}")
    found.view("v", "a", (32, cols), (cols, 1))
    found.op("tload", "v", to="m")
    reached = -(-cols // 16) * 16 == 64
    possible = pad == 0 or (layout == "nz" and reached and (pad == 1 or cols == 64))
    if possible:
        module, said = passed(str(found), "assign-memory", "lower-cube")
        assert not said and "mte_gm_l1_frac" in instructions(module)
    else:
        assert refusals(found) == ["pto.tload: a load into L1 fills up a row of a block with zeros and nothing else"]


def test_a_single_column_of_a_view_whose_columns_are_apart():
    """One element of each row counts, wherever the next one would be."""
    a, b = whole((32, 20)), whole((1, 32))
    found = Program(a="f16", b="f16", c="f32")
    for name, loc, rows, cols, valid in (("ma", "mat", 32, 16, "32x1"), ("mb", "mat", 16, 32, "1x32"),
                                         ("l", "left", 32, 16, "32x1"), ("r", "right", 16, 32, "1x32")):  # fmt: skip
        found.tile(name, loc, rows, cols, "f16", valid=valid)
    found.tile("s", "acc", 32, 32, "f32")
    found.view("va", "a", (32, 4), (20, 3))
    found.view("vb", "b", (1, 32), (32, 1))
    found.view("vc", "c", (32, 32), (32, 1))
    _, result = lowered(multiplied(found), a=a, b=b, c=np.zeros((32, 32), np.float32))
    assert np.array_equal(result["c"], exact(a[:, :1], b))


def test_an_operand_with_more_rows_than_are_moved():
    """32 rows into a tile of 64: blocks of a column lie further apart there."""
    a, b = whole((32, 32)), whole((32, 32))
    found = gemm()
    found.tiles = [line for line in found.tiles if not line.startswith(("%l ", "%s "))]
    found.tile("l", "left", 64, 32, "f16", valid="32x32")
    found.tile("s", "acc", 64, 32, "f32", valid="32x32")
    found.view("va", "a", (32, 32), (32, 1))
    found.view("vb", "b", (32, 32), (32, 1))
    _, result = lowered(multiplied(found), a=a, b=b, c=np.zeros((32, 32), np.float32))
    assert np.array_equal(result["c"], exact(a, b))


@pytest.mark.parametrize("depth", [1, 15, 16, 17, 32, 64])
@pytest.mark.parametrize("layouts", [("nz", "nz"), ("zn", "zn")])
def test_products_whose_depth_a_run_says(layouts, depth):
    a, b = whole((32, 64)), whole((64, 32))
    found = gemm(a=layouts[0], b=layouts[1], sizes=(32, 64, 32))
    found.arguments["n"] = "=index"
    found.tiles = [line for line in found.tiles if not line.startswith(("%l ", "%r "))]
    found.tile("l", "left", 32, 64, "f16", "valid_col = %n", valid="32x?")
    found.tile("r", "right", 64, 32, "f16", "valid_row = %n", valid="?x32")
    found.view("va", "a", (32, 64), (64, 1))
    found.view("vb", "b", (64, 32), (32, 1))
    _, result = lowered(multiplied(found), a=a, b=b, c=np.zeros((32, 32), np.float32), n=depth)
    assert np.array_equal(result["c"], exact(a[:, :depth], b[:depth]))
