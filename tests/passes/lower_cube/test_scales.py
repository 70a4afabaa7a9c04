"""Products of MX operands. Source: docs/reference/layouts.md, "MX scales"; docs/reference/numerics.md, "Matrix
products".
"""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, instructions, lowered, passed, refusals

RNG = np.random.default_rng(11)
BLOCKS = {"left": ", slayout=row_major, fractal=32", "right": ", blayout=col_major, slayout=col_major, fractal=32"}


def blocks_of(scales):
    """Scales of rows [rows, groups] in blocks of 16 x 2, one row of blocks after the other."""
    rows, groups = scales.shape
    return scales.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).copy()


def mx(m: int, k: int, n: int, start: str = "", left_at: int = 0, scales_at: int | None = None) -> Program:
    """One product; ``start`` is the form of the operation, operands of the left lie at byte ``left_at``."""
    e8m0, e4m3, groups = "!pto.f8E8M0", "f8E4M3FN", k // 32
    found = Program(a=e4m3, sa=e8m0, b=e4m3, sb=e8m0, bias="f32", c="f32")
    found.view("va", "a", (m, k), (k, 1))
    found.view("vb", "b", (k, n), (n, 1))
    found.view("vsa", "sa", (m, groups), (groups, 1))
    found.view("vsb", "sb", (groups, n), (n, 1))
    found.view("vbias", "bias", (1, n), (n, 1))
    found.view("vc", "c", (m, n), (n, 1))
    for number in {0, left_at, left_at // 16 if scales_at is None else scales_at}:
        found.tiles.append(f"%at{number} = arith.constant {number} : i64")
    found.tile("ma", "mat", m, k, e4m3)
    found.tile("mb", "mat", k, n, e4m3)
    found.tile("l", "left", m, k, e4m3, f"addr = %at{left_at}")
    found.tile("r", "right", k, n, e4m3, "addr = %at0")
    found.tile("s", "acc", m, n, "f32")
    found.tile("mbias", "mat", 1, n, "f32", layout="nd")
    found.tile("t", "bias", 1, n, "f32")
    for name, loc, rows, cols, side, address in (
        ("msa", "mat", m, groups, "left", ""),
        ("msb", "mat", groups, n, "right", ""),
        ("ls", "scaling", m, groups, "left", f"addr = %at{left_at // 16 if scales_at is None else scales_at}"),
        ("rs", "scaling", groups, n, "right", "addr = %at0"),
    ):
        found.types[name] = f"!pto.tile_buf<{loc}, {rows}x{cols}x{e8m0}{BLOCKS[side]}>"
        found.tiles.append(f"%{name} = pto.alloc_tile {address} : {found.types[name]}")
    moves = [("va", "ma", "l"), ("vb", "mb", "r"), ("vsa", "msa", "ls"), ("vsb", "msb", "rs")]
    for view, tile, to in [*moves, *([("vbias", "mbias", "t")] if start == ".bias" else [])]:
        found.op("tload", view, to=tile)
        found.op("tmov", tile, to=to)
    found.op("tget_scale_addr", "l", to="ls")
    if start == ".acc":
        found.op("tmatmul.mx", "l", "ls", "r", "rs", to="s")
        found.op("tmatmul.mx.acc", "s", "l", "ls", "r", "rs", to="s")
    else:
        found.op(f"tmatmul.mx{start}", "l", "ls", "r", "rs", *(["t"] if start else []), to="s")
    found.op("tstore", "s", to="vc")
    return found


@pytest.mark.parametrize("start", ["", ".acc", ".bias"])
@pytest.mark.parametrize(("m", "k", "n"), [(32, 64, 32), (16, 128, 64)])
def test_scales_go_where_the_product_looks_for_them(m, k, n, start):
    a, b = (RNG.integers(-4, 5, shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((m, k), (k, n)))
    left, right = (RNG.integers(126, 129, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    bias = RNG.integers(-9, 9, (1, n)).astype(np.float32)
    arrays = {
        **{"a": a.view(np.uint8), "sa": blocks_of(left), "b": b.view(np.uint8), "sb": blocks_of(right)},
        **{"bias": bias, "c": np.zeros((m, n), np.float32)},
    }
    module, found = lowered(mx(m, k, n, start, left_at=4096), **arrays)
    factors = [np.repeat(2.0 ** (scales.astype(int) - 127), 32, axis=1) for scales in (left, right)]
    exact = (a.astype(np.float64) * factors[0]) @ (b.astype(np.float64) * factors[1].T)
    assert np.array_equal(found["c"], {"": exact, ".acc": 2 * exact, ".bias": exact + bias}[start])
    names = instructions(module)
    assert {"mte_l1_l0a_mx", "mte_l1_l0b_mx"} < set(names)
    assert [name for name in names if name.startswith("mad")] == {
        "": ["mad_mx"],
        ".acc": ["mad_mx", "mad_mx_acc"],
        ".bias": ["mad_mx_bias"],
    }[start]


def test_scales_elsewhere_are_refused():
    reason = "its scales are bound to another address than the one of their tile"
    said = refusals(mx(32, 64, 32, left_at=4096, scales_at=128))
    assert said == [f"{name}: {reason}" for name in ("pto.tmov", "pto.tget_scale_addr", "pto.tmatmul.mx")]


@pytest.mark.parametrize(("outer", "groups"), [(24, 2), (8, 2), (16, 1), (32, 3), (24, 3), (17, 4)])
@pytest.mark.parametrize("side", ["left", "right"])
def test_scales_are_loaded_in_whole_blocks(side, outer, groups):
    shape = (outer, groups) if side == "left" else (groups, outer)
    found = Program(s="!pto.f8E8M0")
    found.view("v", "s", shape, (shape[1], 1))
    found.types["t"] = f"!pto.tile_buf<mat, {shape[0]}x{shape[1]}x!pto.f8E8M0{BLOCKS[side]}>"
    found.tiles.append(f"%t = pto.alloc_tile : {found.types['t']}")
    found.op("tload", "v", to="t")
    assert refusals(found) == ["pto.tload: scales are loaded in whole blocks of 16 x 2"]


@pytest.mark.parametrize(
    "source",
    ["32x2x!pto.f8E8M0", "16x4x!pto.f8E8M0, slayout=row_major, fractal=32", "32x2xi8, slayout=row_major, fractal=32"],
)
def test_scales_are_moved_from_the_same_blocks(source):
    found = Program()
    found.types |= {
        "m": f"!pto.tile_buf<mat, {source}>",
        "t": f"!pto.tile_buf<scaling, 32x2x!pto.f8E8M0{BLOCKS['left']}>",
    }
    found.tiles += ["%at = arith.constant 0 : i64", f"%m = pto.alloc_tile addr = %at : {found.types['m']}"]
    found.tiles.append(f"%t = pto.alloc_tile addr = %at : {found.types['t']}")
    found.op("tmov", "m", to="t")
    _, said = passed(str(found), "lower-cube")
    assert said == [
        "lower-cube-unsupported: lower-cube cannot lower pto.tmov: scales are moved from a tile of the same blocks"
    ]


def test_scales_of_a_view_that_a_launch_gives_are_refused():
    """Their strides do not say how the blocks lie."""
    view = "!pto.tensor_view<32x2x!pto.f8E8M0>"
    found = Program(v=f"={view}")
    found.types |= {"v": view, "t": f"!pto.tile_buf<mat, 32x2x!pto.f8E8M0{BLOCKS['left']}>"}
    found.types["p"] = "!pto.partition_tensor_view<32x2x!pto.f8E8M0>"
    found.numbers |= {2, 32}
    found.tiles.append(f"%t = pto.alloc_tile : {found.types['t']}")
    found.lines.append(
        f"%p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c32, %c2] : {view} -> {found.types['p']}"
    )
    found.op("tload", "p", to="t")
    assert refusals(found) == ["pto.tload: its view is not made in this function"]
