"""Products of tiles as multiply-adds. Source: docs/reference/numerics.md, "Matrix products"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, instructions, lowered, refusals, tile_type
from xdsl.dialects.scf import IfOp

RNG = np.random.default_rng(5)
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8}


def whole(shape, element: str):
    """Small integers, whose sums are exact in any order."""
    return RNG.integers(-5, 6, shape).astype(TYPES[element])


def gemm(m: int, k: int, n: int, element: str = "f16", op: str = "tmatmul", rows: int = 0, **more: str) -> Program:
    """One product of two arrays; left tiles have ``rows`` rows, of which m are valid."""
    sums = "i32" if element == "i8" else "f32"
    found = Program(a=element, b=element, c=sums)
    height = rows or m
    found.view("va", "a", (m, k), (k, 1))
    found.view("vb", "b", (k, n), (n, 1))
    found.view("vc", "c", (m, n), (n, 1))
    valid = {} if height == m else {"valid": f"{m}x{k}"}
    found.tile("ma", "mat", height, k, element, **valid)
    found.tile("mb", "mat", k, n, element)
    found.tile("l", "left", height, k, element, **valid)
    found.tile("r", "right", k, n, element)
    found.tile("s", "acc", height, n, sums, **({} if height == m else {"valid": f"{m}x{n}"}))
    found.op("tload", "va", to="ma")
    found.op("tload", "vb", to="mb")
    found.op("tmov", "ma", to="l")
    found.op("tmov", "mb", to="r")
    found.op(op, "l", "r", to="s")
    found.op("tstore", "s", to="vc")
    return found


def product(m: int, k: int, n: int, element: str):
    """Operands and their exact product."""
    a, b = whole((m, k), element), whole((k, n), element)
    sums = np.int32 if element == "i8" else np.float32
    exact = (a.astype(np.float64) @ b.astype(np.float64)).astype(sums)
    return {"a": a, "b": b, "c": np.zeros((m, n), sums)}, exact


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(("m", "k", "n"), [(16, 32, 32), (64, 96, 32)])
def test_a_product_is_one_multiply_add(m, k, n, element):
    arrays, exact = product(m, k, n, element)
    module, found = lowered(gemm(m, k, n, element), **arrays)
    assert np.array_equal(found["c"], exact)
    assert instructions(module) == [
        *("mte_gm_l1_frac", "mte_gm_l1_frac", "mte_l1_l0a", "mte_l1_l0b", "mad", "mte_l0c_gm"),
    ]


def test_infinite_operands_stay_infinite():
    arrays, _ = product(16, 16, 16, "f16")
    arrays["a"][3, 4] = np.inf
    arrays["b"][5, 6] = np.nan
    _, found = lowered(gemm(16, 16, 16), **arrays)
    assert not np.isfinite(found["c"][3]).any()
    assert np.isnan(found["c"][:, 6]).all()


@pytest.mark.parametrize("m", [1, 5, 17, 33])
def test_tiles_with_more_rows_than_are_valid(m):
    """Accumulators of 48 rows are written 16 columns at a time, operands of 48 rows 16 products at a time."""
    arrays, exact = product(m, 32, 64, "f16")
    _, found = lowered(gemm(m, 32, 64, rows=48), **arrays)
    assert np.array_equal(found["c"], exact)


def test_one_valid_row_of_a_block_is_no_list():
    arrays, exact = product(1, 32, 32, "f16")
    module, found = lowered(gemm(1, 32, 32, rows=16), **arrays)
    assert np.array_equal(found["c"], exact)
    assert [one for one in instructions(module) if one.startswith("mad")] == ["mad"]


def vector(k: int, layout: str, columns: int) -> Program:
    """A product of one row of ``k`` valid elements, whose tiles have ``columns``."""
    program = gemm(1, k, 32, op="tgemv")
    valid = "" if k == columns else f"1x{k}"
    for name, loc, kind in (("ma", "mat", layout), ("l", "left", "")):
        wide = tile_type(loc, 1, columns, "f16", kind, valid)
        at = next(at for at, line in enumerate(program.tiles) if line.startswith(f"%{name} = "))
        program.tiles[at] = f"%{name} = pto.alloc_tile : {wide}"
        program.lines = [line.replace(program.types[name], wide) for line in program.lines]
    return program


@pytest.mark.parametrize("layout", ["nz", "nd"])
@pytest.mark.parametrize(("k", "columns"), [(16, 256), (64, 256), (272, 512), (512, 512)])
def test_a_vector_is_a_list(k, columns, layout):
    arrays, exact = product(1, k, 32, "f16")
    module, found = lowered(vector(k, layout, columns), **arrays)
    assert np.array_equal(found["c"], exact)
    assert [one for one in instructions(module) if one.startswith("mad")] == ["mad"]


@pytest.mark.parametrize("layout", ["nz", "nd"])
@pytest.mark.parametrize(("k", "columns"), [(16, 16), (64, 128), (272, 288)])
def test_a_vector_without_whole_blocks(k, columns, layout):
    """A load moves 512 bytes at a time: of a shorter row it moves what comes after its tile, where nobody has bytes."""
    arrays, exact = product(1, k, 32, "f16")
    module, found = lowered(vector(k, layout, columns), **arrays)
    assert np.array_equal(found["c"], exact)
    assert "mte_l1_l0a" in instructions(module)


def placed(program: Program, **addresses: int) -> Program:
    """The same with these addresses."""
    constants = [f"%at_{name} = arith.constant {address} : i64" for name, address in addresses.items()]
    for at, line in enumerate(program.tiles):
        name = line.partition(" ")[0][1:]
        program.tiles[at] = line.replace("pto.alloc_tile ", f"pto.alloc_tile addr = %at_{name} ")
    program.tiles = [*constants, *program.tiles]
    return program


@pytest.mark.parametrize(
    ("addresses", "location"),
    [
        ({"ma": 0, "mb": 256}, "mat"),
        ({"ma": 96, "mb": 544}, "mat"),
        # The end of L1 and of L0A.
        ({"ma": 512 * 1024 - 256}, "mat"),
        ({"l": 64 * 1024 - 256}, "left"),
        # Bytes of the scratch tile come after it.
        ({"l": 1024, "other": 1280}, "left"),
    ],
)
def test_bytes_of_others_are_not_moved(addresses, location):
    program = vector(64, "nz", 128)
    program.tile("other", "left", 16, 16, "f16")
    placed(program, **{"ma": 0, "mb": 8192, "l": 0, "r": 0, "s": 0, "other": 2048, **addresses})
    reason = f"a row in {location} of 128 elements is no whole blocks of 512 bytes, which a load moves"
    assert refusals(program) == [f"pto.tmov: {reason}, and what comes after it may belong to others"]


def test_bytes_of_nobody_are_moved():
    program = placed(vector(64, "nz", 128), ma=96, mb=608, l=0, r=0, s=0)
    arrays, exact = product(1, 64, 32, "f16")
    assert np.array_equal(lowered(program, **arrays)[1]["c"], exact)


def steps(element: str, start: str) -> Program:
    """Two products along k of 64 in a loop, with a bias or on top of what the accumulator has."""
    sums = "i32" if element == "i8" else "f32"
    found = Program(a=element, b=element, bias=sums, c=sums)
    found.view("vc", "c", (32, 32), (32, 1))
    found.view("vbias", "bias", (1, 32), (32, 1))
    for name, loc, rows, cols in (("ma", "mat", 32, 64), ("mb", "mat", 64, 32), ("l", "left", 32, 64)):
        found.tile(name, loc, rows, cols, element)
    found.tile("r", "right", 64, 32, element)
    found.tile("s", "acc", 32, 32, sums)
    found.tile("mbias", "mat", 1, 32, sums, layout="nd")
    found.tile("t", "bias", 1, 32, sums)
    if start == "bias":
        found.op("tload", "vbias", to="mbias")
        found.op("tmov", "mbias", to="t")
    for step in range(3):
        found.view(f"va{step}", "a", (32, 64), (192, 1), offsets=(0, step * 64))
        found.view(f"vb{step}", "b", (64, 32), (32, 1), offsets=(step * 64, 0))
        found.op("tload", f"va{step}", to="ma")
        found.op("tload", f"vb{step}", to="mb")
        found.op("tmov", "ma", to="l")
        found.op("tmov", "mb", to="r")
        if step:
            found.op("tmatmul.acc", "s", "l", "r", to="s")
        elif start == "bias":
            found.op("tmatmul.bias", "l", "r", "t", to="s")
        else:
            found.op("tmatmul", "l", "r", to="s")
    found.op("tstore", "s", to="vc")
    return found


@pytest.mark.parametrize("start", ["bias", "zero"])
@pytest.mark.parametrize("element", ["f16", "i8"])
def test_products_that_continue(start, element):
    arrays, exact = product(32, 192, 32, element)
    bias = RNG.integers(-9, 9, (1, 32)).astype(exact.dtype)
    arrays = {"a": arrays["a"], "b": arrays["b"], "bias": bias, "c": arrays["c"]}
    module, found = lowered(steps(element, start), **arrays)
    assert np.array_equal(found["c"], exact + bias if start == "bias" else exact)
    assert instructions(module).count("mad_acc") == 2
    assert ("mte_l1_bt" in instructions(module)) == (start == "bias")


def test_a_sum_that_goes_elsewhere_is_refused():
    found = gemm(16, 16, 16)
    found.tile("other", "acc", 16, 16, "f32")
    found.op("tmatmul.acc", "s", "l", "r", to="other")
    found.op("tstore", "other", to="vc")
    assert refusals(found) == ["pto.tmatmul.acc: it adds to another tile than the one that it writes"]


def test_sizes_that_only_a_run_knows():
    """An empty product, which no instruction computes, is skipped, and so are loads of nothing."""
    found = Program(a="f16", b="f16", c="f32", rows="=index")
    found.tile("l", "left", 16, 32, "f16", valid="?x32", sizes="valid_row = %rows")
    found.tile("ma", "mat", 16, 32, "f16", valid="?x32", sizes="valid_row = %rows")
    found.tile("mb", "mat", 32, 32, "f16")
    found.tile("r", "right", 32, 32, "f16")
    found.tile("s", "acc", 16, 32, "f32")
    for name, array, sizes in (("va", "a", ("%rows", 32)), ("vb", "b", (32, 32)), ("vc", "c", (16, 32))):
        found.view(name, array, sizes, (32, 1))
    found.types["va"] = found.types["va"].replace("%rows", "?")
    found.lines = [line.replace("view<%rowsx", "view<?x") for line in found.lines]
    found.op("tload", "va", to="ma")
    found.op("tload", "vb", to="mb")
    found.op("tmov", "ma", to="l")
    found.op("tmov", "mb", to="r")
    found.op("tmatmul", "l", "r", to="s")
    found.op("tstore", "s", to="vc")
    arrays, exact = product(16, 32, 32, "f16")
    for rows in (0, 1, 7, 16):
        module, result = lowered(found, **arrays, rows=rows)
        loads = [op for op in module.walk() if op.name in ("pto.mte_gm_l1_frac", "pto.mte_l1_l0a")]
        assert [isinstance(op.parent_op(), IfOp) for op in loads] == [True, False, True]
        assert np.array_equal(result["c"][:rows], exact[:rows])
