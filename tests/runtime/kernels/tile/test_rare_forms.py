"""Tile instructions on operands that few programs give them: other orders, parts, and locations that do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_time_tiles import held, refused, value
from tile_run_helpers import DTYPES, run, tile
from tile_values import same

import pto_dialect
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.tile.move import Move, ScaleOrder
from pto_dialect.runtime.kernels.tile.operands import in_row_order, linear_memory
from pto_dialect.runtime.kernels.tile.quant import rounded_up_exponents
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.targets.backend import Backend

RNG = np.random.default_rng(12)


# ------------------------------------------------------------ broadcasts


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_of_two_tiles_of_one_size_the_second_is_the_vector(dynamic: bool, backend: Backend) -> None:
    """32 bytes of values in each row: all of them, or the first one."""
    a, v = (RNG.integers(-50, 50, (16, 8)).astype(np.float32) for _ in range(2))
    found = run(
        "pto.trowexpandsub ins(%a, %v : {a}, {v}) outs(%d : {d})", tile("a", "f32", a, (16, 8), dynamic=dynamic),
        tile("v", "f32", v, (16, 8), dynamic=dynamic), tile("d", "f32", np.zeros_like(a), (16, 8), dynamic=dynamic),
        backend=backend, target="a5",
    )["d"]  # fmt: skip
    same(found, a - (v if backend == "emitc" else v[:, :1]))


@pytest.mark.parametrize("dynamic", [False, True])
def test_consecutive_columns_are_no_copies(dynamic: bool) -> None:
    """A row of 32 bytes in a tile whose columns are contiguous: its first value counts."""
    a, v = (RNG.integers(-50, 50, (16, cols)).astype(np.float32) for cols in (24, 8))
    found = run(
        "pto.trowexpandadd ins(%a, %v : {a}, {v}) outs(%d : {d})", tile("a", "f32", a, (16, 24), dynamic=dynamic),
        tile("v", "f32", v, (16, 8), "blayout=col_major", dynamic=dynamic),
        tile("d", "f32", np.zeros_like(a), (16, 24), dynamic=dynamic), verify=False, backend="emitc",
    )["d"]  # fmt: skip
    same(found, a + v[:, :1])


@pytest.mark.parametrize("layout", ["", "blayout=col_major, slayout=row_major"])
@pytest.mark.parametrize("width", [32, 24])
def test_a_row_may_be_longer_than_what_it_is_added_to(layout: str, width: int) -> None:
    a, v = (RNG.integers(-50, 50, (rows, 32)).astype(np.float16) for rows in (16, 1))
    before = np.full_like(a, 77)
    found = run(
        "pto.tcolexpandadd ins(%a, %v : {a}, {v}) outs(%d : {d})", tile("a", "f16", a, (16, 24), layout),
        tile("v", "f16", v, (1, width)), tile("d", "f16", before, (16, 24), layout), verify=False,
    )["d"]  # fmt: skip
    same(found, np.where(np.arange(32) < 24, a + v, before))


BOXES = "blayout=col_major, slayout=row_major"


@pytest.mark.parametrize(("full", "column", "result"), [
    ((16, 24), (16, 1), (9, 24)), ((9, 24), (16, 1), (9, 24)), ((16, 24), (9, 1), (9, 24)), ((9, 32), (9, 1), (9, 24)),
    ((16, 24), (16, 1), (16, 24)),
])  # fmt: skip
@pytest.mark.parametrize("layout", ["", BOXES])
@pytest.mark.parametrize("first", [False, True])
def test_what_is_valid_of_the_result_is_computed(
    full: tuple[int, int], column: tuple[int, int], result: tuple[int, int], layout: str, first: bool
) -> None:
    """Operands may have more valid rows and columns than that, in any order of elements."""
    a, v = (RNG.integers(-50, 50, (32, cols)).astype(np.float16) for cols in (32, 1))
    before = np.full_like(a, 77)
    names = ("%v, %a", "{v}, {a}") if first and full == result else ("%a, %v", "{a}, {v}")
    found = run(
        f"pto.trowexpandsub ins({names[0]} : {names[1]}) outs(%d : {{d}})", tile("a", "f16", a, full, layout),
        tile("v", "f16", v, column, "blayout=col_major"), tile("d", "f16", before, result, layout), verify=False,
    )["d"]  # fmt: skip
    rows, cols = result
    wanted = before.copy()
    difference = a[:rows, :cols] - v[:rows]
    wanted[:rows, :cols] = -difference if names[0] == "%v, %a" else difference
    same(found, wanted)


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_a_vector_in_a_memref(backend: Backend) -> None:
    """It lies row after row: 32 bytes of values in each row are repeated with emitc."""
    memref, kind = "memref<16x8xf32, #pto.address_space<vec>>", "!pto.tile_buf<vec, 16x24xf32>"
    a, v = (RNG.integers(-50, 50, (16, cols)).astype(np.float32) for cols in (24, 8))
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: {kind}, %v: {memref}, %d: {kind}) {{
    pto.trowexpandadd ins(%a, %v : {kind}, {memref}) outs(%d : {kind})
    return
    }}
    }}"""
    given = {"a": a, "v": v, "d": np.zeros_like(a)}
    found = pto_dialect.run(pto_dialect.parse(text), given, verify=False, backend=backend)["d"]
    same(found, a + (np.tile(v, 3) if backend == "emitc" else v[:, :1]))


# ------------------------------------------------------------ reductions


@pytest.mark.parametrize("element", ["i16", "i32", "ui32"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1])
def test_integers_of_a_region_that_only_a_run_knows(element: str, name: str, axis: int) -> None:
    dtype = np.dtype(DTYPES[element])
    a = RNG.integers(-90 if dtype.kind == "i" else 0, 90, (8, 16)).astype(dtype)
    exact = a[:5, :11].astype(object)
    fold = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[name].reduce
    wanted = [int(x) for x in fold(exact, axis)]
    words = np.array([x % (1 << 8 * a.itemsize) for x in wanted], f"u{a.itemsize}").view(a.dtype)
    scratch = tile("t", element, np.zeros((8, 16)), (5, 11), dynamic=True)
    if axis:
        result = tile("d", element, np.zeros((8, 16)), (5, 1), dynamic=True)
        text = f"pto.trow{name} ins(%a, %t : {{a}}, {{t}}) outs(%d : {{d}})"
    else:
        result = tile("d", element, np.zeros((1, 16)), (1, 11), dynamic=True)
        text = f"pto.tcol{name} ins(%a{', %t' * (name == 'sum')} : {{a}}{', {t}' * (name == 'sum')}) outs(%d : {{d}})"
    found = run(text, tile("a", element, a, (5, 11), dynamic=True), scratch, result, verify=False)["d"]
    assert (found[:5, 0] if axis else found[0, :11]).tolist() == words.tolist()


@pytest.mark.parametrize("which", ["source", "result"])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_boxes_and_into_boxes(which: str, axis: int) -> None:
    """Tiles in blocks are no arrays, though their valid region is known."""
    a = RNG.integers(-9, 9, (32, 32)).astype(np.float16)
    name = "trowmax" if axis else "tcolmax"
    shape = (32, 16) if axis else (16, 32)
    result = tile("d", "f16", np.zeros(shape), (32, 1) if axis else (1, 32), BOXES if which == "result" else "")
    source = tile("a", "f16", a, layout=BOXES if which == "source" else "")
    text = f"pto.{name} ins(%a{', %a' * axis} : {{a}}{', {a}' * axis}) outs(%d : {{d}})"
    found = run(text, source, result, verify=False)["d"]
    same(found[:, 0] if axis else found[0], a.max(axis=axis))


# ------------------------------------------------------------ moves


@pytest.mark.parametrize(("row", "col"), [(-1, 0), (0, -1), (-1, -1), (5, 0), (0, 9), (0, 0), (4, 8)])
@pytest.mark.parametrize("make", [held, value])
def test_windows_lie_inside(row: int, col: int, make: Any) -> None:
    """4 x 8 elements of 8 x 16 from (row, col) on, and the other way round."""
    numbers, part = np.arange(128).reshape(8, 16), np.arange(32).reshape(4, 8) + 200
    big, small = make(8, 16), make(4, 8)
    big.write(numbers.astype(np.float32))
    inside = 0 <= row <= 4 and 0 <= col <= 8
    message = f"4x8 at ({row}, {col}) leaves the tile 8x16"
    for mode, source, dst in (("extract", big, small), ("insert", small, big)):
        move = Move(None, mode)
        if not inside:
            refused("extract-bounds", message, lambda m=move, s=source, d=dst: m(s, d, row, col))
            continue
        if mode == "insert":
            small.write(part.astype(np.float32))
        move(source, dst, row, col)
        if mode == "extract":
            assert (small.read() == numbers[row : row + 4, col : col + 8]).all()
        else:
            numbers[row : row + 4, col : col + 8] = part
            assert (big.read() == numbers).all()


def test_a_move_leaves_bytes_that_are_no_elements() -> None:
    """Two tiles of 20 rows in boxes of 16: what follows row 20 is nobody's."""
    source, dst = (held(20, 32, "f16", layout=("col_major", "row_major", 512)) for _ in range(2))
    numbers = RNG.integers(1, 99, (20, 32)).astype(np.float16)
    source.write(numbers)
    source.pointer.arena.bytes[source.pointer.arena.bytes == 0] = 5
    source.write(numbers)
    Move(None, "move")(source, dst)
    assert (dst.read() == numbers).all()
    assert np.count_nonzero(dst.pointer.arena.bytes.view(np.float16)) == numbers.size


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("shape", "valid"), [
    ((1, 80), (20, 4)), ((1, 4), (1, 4)), ((1, 6), (1, 4)), ((1, 8), (1, 4)), ((1, 6), (2, 4)), ((2, 8), (4, 4)),
    ((1, 8), (2, 4)),
])  # fmt: skip
def test_lists_of_scales(shape: tuple[int, int], valid: tuple[int, int], axis: int) -> None:
    """A row is a list of rows like those of the destination, if that has several and the row is as long as some."""
    scales = RNG.integers(1, 250, shape).astype(np.uint8)
    dst = held(64, 64, "ui8", valid=valid, room=8192)
    ScaleOrder(axis)(value(*shape, "ui8", scales), dst)
    matrix = scales if axis else scales.T
    if axis and shape[0] == 1 and valid[0] > 1 and scales.size % valid[1] == 0:
        matrix = scales.reshape(-1, valid[1])
    rows, groups = (-(-matrix.shape[0] // 16) * 16, -(-matrix.shape[1] // 2) * 2)
    full = np.zeros((rows, groups), np.uint8)
    full[: matrix.shape[0], : matrix.shape[1]] = matrix
    wanted = [full[16 * b + q, 2 * p + e]
              for b in range(rows // 16) for p in range(groups // 2) for q in range(16) for e in range(2)]  # fmt: skip
    start = dst.pointer.offset
    assert dst.pointer.arena.bytes[start : start + len(wanted)].tolist() == wanted
    assert not dst.pointer.arena.bytes[start + len(wanted) :].any()


@pytest.mark.parametrize("strides", [(8, 1), (10, 1), (1, 4)])
def test_only_consecutive_rows_are_a_list(strides: tuple[int, int]) -> None:
    fmt = format_of("f32")
    arena = Arena.from_array(np.arange(64, dtype=np.float32))
    memref = MemRef(arena.pointer(4, fmt.storage), (4, 8), strides, fmt)
    dense = strides == (8, 1)
    assert (in_row_order(memref) is not None) == dense
    wanted = [1 + row * strides[0] + col * strides[1] for row in range(4) for col in range(8)]
    assert linear_memory(memref).tolist() == (list(range(1, 64)) if dense else wanted)


@pytest.mark.parametrize(("maximum", "code"), [
    (2.0**127, 254), (float(np.nextafter(np.float32(2.0**127), np.float32(0))), 254), (2.0**126, 253),
    (1.5 * 2.0**126, 254), (1.5 * 2.0**127, 254), (np.inf, 254), (np.nan, 255), (1.0, 127), (1.25, 128),
])  # fmt: skip
def test_exponents_end_below_that_of_no_number(maximum: float, code: int) -> None:
    assert rounded_up_exponents(np.array([maximum], np.float32), 1.0).tolist() == [code]


# ------------------------------------------------------------ conversions


@pytest.mark.parametrize(("target", "wanted"), [("a2a3", [2**31 - 1, -(2**31), 7]), ("a5", None)])
def test_only_narrowing_pairs_do_without_saturation_on_a2a3(target: str, wanted: list[int] | None) -> None:
    values = np.zeros((8, 8), np.float32)
    values[0, :3] = 3e9, -3e9, 7.0
    found = run(
        "pto.tcvt ins(%a {sat_mode = #pto<saturation_mode OFF>} : {a}) outs(%d : {d})", tile("a", "f32", values),
        tile("d", "i32", np.zeros((8, 8))), target=target, verify=False,
    )["d"][0, :3].tolist()  # fmt: skip
    assert found == (wanted or [(int(x) + 2**31) % 2**32 - 2**31 for x in (3e9, -3e9, 7.0)])


@pytest.mark.parametrize("pairs", [1, 3, 8])
def test_an_odd_number_of_pairs_is_unpacked(pairs: int) -> None:
    """E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6; the low half of a byte comes first."""
    numbers = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    codes = np.tile(np.arange(8, dtype=np.uint8), 4)[: 2 * pairs]
    packed = np.zeros((1, 32), np.uint8)
    packed[0, :pairs] = codes[::2] | codes[1::2] << 4
    found = run(
        "pto.tcvt ins(%a : {a}) outs(%d : {d})", tile("a", "!pto.f4E2M1x2", packed, (1, pairs)),
        tile("d", "bf16", np.zeros((1, 64)), (1, 2 * pairs)), verify=False, target="a5",
    )["d"]  # fmt: skip
    assert found[0, : 2 * pairs].astype(float).tolist() == [numbers[code] for code in codes]


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize("element", ["i1", "!pto.f4E2M1x2"])
def test_elements_that_are_no_single_numbers_are_not_computed_with(element: str) -> None:
    type_ = f"!pto.tile_buf<vec, 8x32x{element}>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%x: i32) {{
    %a = pto.alloc_tile : {type_}
    pto.tadd ins(%a, %a : {type_}, {type_}) outs(%a : {type_})
    return
    }}
    }}"""
    with pytest.raises(ProgramError, match=r"pto.tadd of elements .* cannot be executed") as caught:
        pto_dialect.run(pto_dialect.parse(text), {"x": 1}, verify=False)
    assert caught.value.rule == "unmodelled"
