"""Elementwise tile operations as vector functions. Source: docs/reference/tiles.md, "Elementwise"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, lowered, refusals
from groups import in_groups
from sampling import sampled

from pto_dialect import print_module
from pto_dialect.passes.lower_vector.table import COPIED, MOVED, ROWS

RNG = np.random.default_rng(13)
STORAGE = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "i16": np.int16, "i32": np.int32}
STORAGE |= {"i8": np.int8, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}
SHAPES = {"whole rows": (8, 64, 64), "a part of each row": (5, 96, 70), "less than a register": (3, 32, 17)}
"""Rows, columns of the tile and valid columns."""


def values(shape, element: str):
    """Numbers, and for floats the special ones."""
    if element[0] in "iu":
        return RNG.integers(-300, 300, shape).astype(np.int64).astype(STORAGE[element])
    found = RNG.uniform(-4, 4, shape).astype(STORAGE[element])
    found.reshape(-1)[:6] = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 65504]).astype(STORAGE[element])
    return found


def program(name: str, element: str, rows: int, cols: int, valid: int) -> Program:
    """One operation on tiles of which ``valid`` columns count."""
    row = ROWS[name]
    found = Program(a=element, b=element, c=element, number=f"={element}")
    part = {"valid": f"{rows}x{valid}"} if valid != cols else {}
    if row.column:
        vector = "x" if row.column == "src" else "y"
        found.view(f"v{vector}", "b", (rows, 1), (1, 1), layout="dn")
        found.tile(vector, "vec", 32, 1, element, layout="dn", valid=f"{rows}x1")
    spread = {"src": "x", "src1": "y"}.get(row.spread)
    for tile, array in (("x", "a"), ("y", "b"), ("z", "c")):
        if tile in found.types:
            continue
        height = 1 if tile == spread else rows
        found.view(f"v{tile}", array, (height, valid), (valid, 1))
        own = {"valid": f"{height}x{valid}"} if part else {}
        found.tile(tile, "vec", height, cols, element, **own)
    tiles = ["x", "y"][: len([source for source in row.sources if source != "dst"])]
    if "dst" in row.sources:
        found.op("tload", "vz", to="z")
    for tile in tiles:
        found.op("tload", f"v{tile}", to=tile)
    if row.number and not tiles:
        found.lines.append(f"{name} ins(%number : {element}) outs(%z : {found.types['z']})")
    else:
        number = {"extra": ", %number", "extra_types": f", {element}"} if row.number else {}
        found.op(name.removeprefix("pto."), *tiles, to="z", **number)
    found.op("tstore", "z", to="vz")
    return found


FEW = ("i8", "ui8", "ui16", "ui32")
"""Elements of which each operation is tried with one."""


def kinds(number: int, elements: frozenset[str]) -> list[str]:
    """The element types that the operation with a number is tried with."""
    few = [kind for kind in FEW if kind in elements]
    return sorted(elements.difference(FEW, MOVED - COPIED)) + few[number % max(1, len(few)) :][:1]


CASES = [
    (name, element, list(SHAPES)[position % 3])
    for position, (name, element) in enumerate(
        (name, kind) for number, name in enumerate(ROWS) for kind in kinds(number, ROWS[name].elements)
    )
]


@in_groups(("name", "element", "shape"), sampled(CASES, 2))
def test_a_vector_function_computes_the_same_bits(name, element, shape):
    rows, cols, valid = SHAPES[shape]
    arrays = {
        **{"a": values((rows, valid), element), "b": values((rows, valid), element)},
        **{"c": np.zeros((rows, valid), STORAGE[element]), "number": 3 if element[0] in "iu" else 1.25},
    }
    module, found = lowered(program(name, element, rows, cols, valid), last="lower-vector", **arrays)
    assert name not in print_module(module)
    assert "pto.vecscope" in print_module(module)
    assert found["c"].any()


@pytest.mark.parametrize(("source", "target"), [((5, 20), (8, 32)), ((8, 32), (5, 20)), ((3, 32), (8, 10))])
@pytest.mark.parametrize("known", [True, False])
def test_moves_between_tiles_with_other_valid_parts(source, target, known):
    """What both have is moved, the rest of the result does not change."""
    found = Program(a="f32", b="f32", c="f32")
    for name, array, (rows, cols) in (("x", "a", source), ("z", "b", target)):
        sizes = "" if known else f"valid_row = {found.index(rows)} valid_col = {found.index(cols)}"
        found.tile(name, "vec", 8, 32, "f32", sizes, valid=f"{rows}x{cols}" if known else "?x?")
        found.view(f"v{name}", array, (rows, cols), (cols, 1))
        found.op("tload", f"v{name}", to=name)
    found.view("vc", "c", target, (target[1], 1))
    found.op("tmov", "x", to="z")
    found.op("tstore", "z", to="vc")
    a, b = values(source, "f32"), values(target, "f32")
    expected = b.copy()
    rows, cols = (min(sizes) for sizes in zip(source, target, strict=True))
    expected[:rows, :cols] = a[:rows, :cols]
    module, result = lowered(found, last="lower-vector", a=a, b=b, c=np.zeros_like(b))
    assert "pto.tmov" not in print_module(module)
    assert np.array_equal(result["c"], expected, equal_nan=True)


@pytest.mark.parametrize("element", sorted(MOVED - COPIED))
def test_moves_of_floats_of_8_bits(element):
    found = Program(a="ui8", c="ui8")
    for name, array in (("x", "a"), ("z", "c")):
        found.view(f"v{name}", array, (5, 70), (70, 1))
        found.tile(name, "vec", 5, 96, "ui8", valid="5x70")
        kind = "!pto.hif8" if element == "hif8" else element
        found.types[f"{name}_bits"] = found.types[name].replace("ui8", kind)
    found.op("tload", "vx", to="x")
    for name in "xz":
        found.lines.append(f"%{name}_bits = pto.bitcast %{name} : {found.types[name]} -> {found.types[f'{name}_bits']}")
    found.op("tmov", "x_bits", to="z_bits")
    found.op("tstore", "z", to="vz")
    a = RNG.integers(0, 256, (5, 70)).astype(np.uint8)
    module, result = lowered(found, last="lower-vector", a=a, c=np.zeros_like(a))
    assert "pto.tmov" not in print_module(module)
    assert np.array_equal(result["c"], a)


@pytest.mark.parametrize("slope", [-1.5, 0.0, -0.0, 0.25, 3.0, np.inf, np.nan])
@pytest.mark.parametrize("known", [True, False])
def test_zeros_keep_what_a_slope_makes_of_them(slope, known):
    found = program("pto.tlrelu", "f32", 1, 64, 64)
    if known and np.isfinite(slope):
        found.tiles.append(f"%slope = arith.constant {slope:e} : f32")
        found.lines = [line.replace("%number", "%slope") for line in found.lines]
    a = values((1, 64), "f32")
    arrays = {"a": a, "b": a, "c": np.zeros_like(a), "number": slope}
    module, result = lowered(found, last="lower-vector", **arrays)
    with np.errstate(all="ignore"):
        expected = np.where(a > 0, a, a * np.float32(slope))
    assert np.array_equal(result["c"], expected, equal_nan=True)
    assert np.array_equal(np.signbit(result["c"][expected == 0]), np.signbit(expected[expected == 0]))
    assert ("vlrelu" in print_module(module)) == (known and slope in (0.25, 3.0))


@pytest.mark.parametrize(("element", "divisor"), [("i32", 64), ("i32", 2), ("i16", 16384)])
def test_integers_divided_by_a_power_of_two_go_toward_zero(element, divisor):
    found = program("pto.tadds", element, 2, 64, 50)
    found.tiles.append(f"%divisor = arith.constant {divisor} : {element}")
    found.lines = [line.replace("tadds", "tdivs").replace("%number", "%divisor") for line in found.lines]
    a = RNG.integers(np.iinfo(STORAGE[element]).min, np.iinfo(STORAGE[element]).max, (2, 50)).astype(STORAGE[element])
    a[0, :5] = (-divisor, -divisor + 1, -1, np.iinfo(STORAGE[element]).min, np.iinfo(STORAGE[element]).max)
    module, result = lowered(found, last="lower-vector", a=a, b=a, c=np.zeros_like(a), number=0)
    assert np.array_equal(result["c"], np.trunc(a / divisor).astype(STORAGE[element]))
    assert "tdivs" not in print_module(module)


@pytest.mark.parametrize("slope", [0.1, 1e-9, 1e9, -2.5])
def test_slopes_of_halves_have_32_bits(slope):
    found = program("pto.tlrelu", "f16", 3, 64, 50)
    found.tiles.append(f"%slope = arith.constant {slope:e} : f32")
    found.lines = [line.replace("%number", "%slope").replace(", f16) outs", ", f32) outs") for line in found.lines]
    a = values((3, 50), "f16")
    module, result = lowered(found, last="lower-vector", a=a, b=a, c=np.zeros_like(a), number=0)
    with np.errstate(all="ignore"):
        expected = np.where(a > 0, a, (a.astype(np.float32) * np.float32(slope)).astype(np.float16))
    assert np.array_equal(result["c"], expected, equal_nan=True)
    assert "tlrelu" not in print_module(module)


@pytest.mark.parametrize("number", [300, -5, 70000])
def test_integer_numbers_of_other_widths_wrap(number):
    found = program("pto.tadds", "i16", 3, 64, 50)
    found.arguments["number"] = "=i32"
    found.lines = [line.replace(", i16) outs", ", i32) outs") for line in found.lines]
    a = values((3, 50), "i16")
    _, result = lowered(found, last="lower-vector", a=a, b=a, c=np.zeros_like(a), number=number)
    assert np.array_equal(result["c"], (a.astype(np.int64) + number).astype(np.int16))


def divided(a: int, b: int, element: str) -> int:
    """Toward zero, with the low bits where they do not fit; division by 0 gives 0."""
    found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    return int(np.array(found).astype(STORAGE[element]))


DIVISIONS = ["pto.tdiv", "pto.tcolexpanddiv", "pto.trowexpanddiv", "pto.tdivs"]


@pytest.mark.parametrize("element", ["i16", "i32"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_are_divided_toward_zero(name, element):
    info, rows, valid = np.iinfo(STORAGE[element]), 6, 500
    near = [info.min, info.min + 1, info.max, info.max - 1, -3, -2, -1, 0, 1, 2, 3, 7, 127, 385, 1 << 14]
    many = RNG.integers(info.min, info.max, (2, rows, valid)) >> RNG.integers(0, info.bits, (2, rows, valid))
    a, b = many.astype(STORAGE[element])
    a[0, : len(near) ** 2], b[0, : len(near) ** 2] = np.repeat(near, len(near)), np.tile(near, len(near))
    # Products, and what is just below or above them, show quotients that are off by one.
    factor = np.where(b[1] == 0, 1, b[1]).astype(np.int64)
    a[1] = (RNG.integers(info.min, info.max, valid) // factor * factor + RNG.integers(-1, 2, valid)).astype(a.dtype)
    module, result = lowered(
        program(name, element, rows, 512, valid), "lower-vector", a=a, b=b, c=np.zeros_like(a), number=-77
    )
    right = {"pto.tcolexpanddiv": b[:1], "pto.trowexpanddiv": b.reshape(-1)[:rows, None], "pto.tdivs": -77}.get(name, b)
    pairs = zip(a.reshape(-1).tolist(), np.broadcast_to(right, a.shape).reshape(-1).tolist(), strict=True)
    assert result["c"].reshape(-1).tolist() == [divided(one, other, element) for one, other in pairs]
    assert name not in print_module(module)


@pytest.mark.parametrize("element", ["i16", "i32"])
def test_integers_below_0_become_0(element):
    a = values((5, 70), element)
    module, result = lowered(
        program("pto.trelu", element, 5, 96, 70), "lower-vector", a=a, b=a, c=np.zeros_like(a), number=0
    )
    assert np.array_equal(result["c"], np.maximum(a, 0))
    assert "vmaxs" in print_module(module)


def test_shifts_count_modulo_the_width():
    for name, expected in (("pto.tshls", lambda a: a << 5), ("pto.tshrs", lambda a: a >> 5)):
        a = RNG.integers(-(2**20), 2**20, (1, 64)).astype(np.int32)
        arrays = {"a": a, "b": a, "c": np.zeros_like(a), "number": 37}
        _, result = lowered(program(name, "i32", 1, 64, 64), last="lower-vector", **arrays)
        assert np.array_equal(result["c"], expected(a))


@pytest.mark.parametrize("kind", ["i8", "i16", "i64", "index"])
def test_counts_of_shifts_have_a_type_of_their_own(kind):
    found = program("pto.tshls", "i32", 1, 64, 64)
    found.arguments["number"] = f"={kind}"
    found.lines = [line.replace(", i32) outs", f", {kind}) outs") for line in found.lines]
    a = RNG.integers(-(2**20), 2**20, (1, 64)).astype(np.int32)
    module, result = lowered(found, last="lower-vector", a=a, b=a, c=np.zeros_like(a), number=35)
    assert np.array_equal(result["c"], a << 3)
    assert "vshls" in print_module(module)
    word = {"i8": "arith.extui", "i64": "arith.trunci", "index": "arith.index_cast"}.get(kind, "arith.andi")
    assert f"{word} %number" in print_module(module)


def test_partial_operations_on_parts_stay():
    found = Program(a="f32", b="f32", c="f32")
    for name, cols in (("x", 64), ("y", 32), ("z", 64)):
        found.tile(name, "vec", 4, 64, "f32", valid=f"4x{cols}")
        array = {"x": "a", "y": "b", "z": "c"}[name]
        found.view(f"v{name}", array, (4, cols), (64, 1))
    found.op("tload", "vx", to="x")
    found.op("tload", "vy", to="y")
    found.op("tpartadd", "x", "y", to="z")
    found.op("tstore", "z", to="vz")
    a, b = values((4, 64), "f32"), values((4, 64), "f32")
    module, _ = lowered(found, last="lower-vector", a=a, b=b, c=np.zeros_like(a))
    assert "tpartadd" in print_module(module)


FORMULAS = {
    "pto.tadd": lambda a, b, s: a + b,
    "pto.tmul": lambda a, b, s: a * b,
    "pto.tmaxs": lambda a, b, s: np.maximum(a, s),
    "pto.tprelu": lambda a, b, s: np.where(a > 0, a, a * b),
    "pto.taxpy": lambda a, b, s: a * s,
    "pto.taddrelu": lambda a, b, s: np.maximum(a + b, 0),
    "pto.tpartmul": lambda a, b, s: a * b,
    "pto.tcolexpandsub": lambda a, b, s: a - b,
    "pto.trowexpandsub": lambda a, b, s: a - b.reshape(-1)[: len(a), None],
    "pto.trowexpand": lambda a, b, s: b.reshape(-1)[: len(a), None] + np.zeros_like(a),
    "pto.tcolexpand": lambda a, b, s: a[:1] + np.zeros_like(a),
    "pto.tsubs": lambda a, b, s: a - s,
    "pto.tdivs": lambda a, b, s: a / s,
    "pto.texpands": lambda a, b, s: np.full_like(a, s),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_results_are_those_of_the_formula(name):
    rows, cols, valid = SHAPES["a part of each row"]
    a, b = (
        RNG.integers(-9, 9, (height, valid)).astype(np.float32) for height in (rows, 1 if ROWS[name].spread else rows)
    )
    arrays = {"a": a, "b": b, "c": np.zeros((rows, valid), np.float32), "number": 1.25}
    _, found = lowered(program(name, "f32", rows, cols, valid), last="lower-vector", **arrays)
    assert np.array_equal(found["c"], FORMULAS[name](a, b, np.float32(1.25)))


@pytest.mark.parametrize("columns", [0, 1, 64, 70])
def test_sizes_that_only_a_run_knows(columns):
    found = Program(a="f32", b="f32", c="f32", columns="=index")
    for tile in "xyz":
        found.tile(tile, "vec", 4, 96, "f32", "valid_col = %columns", valid="4x?")
    found.tile("whole", "vec", 4, 96, "f32")
    for view, array in (("va", "a"), ("vb", "b"), ("vc", "c")):
        found.view(view, array, (4, 96), (96, 1))
    for view, tile in (("va", "x"), ("vb", "y"), ("vc", "z")):
        found.op("tload", view, to=tile)
    found.op("tadd", "x", "y", to="z")
    found.op("tadds", "z", to="x", extra=", %half", extra_types=", f32")
    found.tiles.append("%half = arith.constant 0.5 : f32")
    found.lines.append(f"pto.tstore ins(%x : {found.types['x']}) outs(%vc : {found.types['vc']})")
    found.lines[-1:] = []
    found.view("part", "c", (4, 96), (96, 1))
    found.lines[-1] = (
        "%part = pto.partition_view %part_all, offsets = [%c0, %c0], sizes = [%c4, %columns] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<4x?xf32>"
    )
    found.types["part"] = "!pto.partition_tensor_view<4x?xf32>"
    found.op("tstore", "x", to="part")
    a, b = (RNG.integers(-9, 9, (4, 96)).astype(np.float32) for _ in "ab")
    _, result = lowered(found, "lower-vector", a=a, b=b, c=np.zeros((4, 96), np.float32), columns=columns)
    assert np.array_equal(result["c"][:, :columns], (a + b + np.float32(0.5))[:, :columns])
    assert not result["c"][:, columns:].any()


def in_columns(found: Program, *tiles: str) -> Program:
    """The program with its tiles, or some of them, in the layout of columns."""
    kind = "vec, 16x16xf32, blayout=col_major>"
    for name in tiles:
        found.types[name] = found.types[name].replace("vec, 16x16xf32>", kind)
    found.tiles = [
        line.replace("vec, 16x16xf32>", kind) if line[1 : line.index(" ")] in tiles else line for line in found.tiles
    ]
    return found


def test_tiles_of_columns():
    found = Program(a="f32", b="f32", c="f32")
    in_columns_of = {"layout": "dn", "valid": "20x1"}
    for tile, array in (("x", "a"), ("y", "b"), ("z", "c")):
        found.view(f"v{tile}", array, (20, 1), (1, 1), layout="dn")
        found.tile(tile, "vec", 24, 1, "f32", **in_columns_of)
    for tile in "xy":
        found.op("tload", f"v{tile}", to=tile)
    found.op("tmax", "x", "y", to="z")
    found.op("tstore", "z", to="vz")
    a, b = (values((20, 1), "i32").astype(np.float32) for _ in "ab")
    module, result = lowered(found, "lower-vector", a=a, b=b, c=np.zeros((20, 1), np.float32))
    assert "pto.tmax" not in print_module(module)
    assert np.array_equal(result["c"], np.maximum(a, b))


def test_columns_beside_rows_are_refused():
    found = in_columns(program("pto.tadd", "f32", 16, 16, 16), "y")
    found.lines = [
        line.replace("ins(%x, %y : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>)",
                     f"ins(%x, %y : {found.types['x']}, {found.types['y']})")
        .replace("outs(%y : !pto.tile_buf<vec, 16x16xf32>)", f"outs(%y : {found.types['y']})")
        for line in found.lines
    ]  # fmt: skip
    reason = "its tiles lie in the layout DN, registers are loaded from rows"
    assert refusals(found, "lower-vector") == [f"pto.tadd: {reason}"]


def test_either_operand_has_the_values_of_rows():
    found = Program(a="f32", b="f32", c="f32")
    found.view("vx", "a", (5, 1), (1, 1), layout="dn")
    found.tile("x", "vec", 8, 1, "f32", layout="dn", valid="5x1")
    for tile, array in (("y", "b"), ("z", "c")):
        found.view(f"v{tile}", array, (5, 70), (70, 1))
        found.tile(tile, "vec", 5, 96, "f32", valid="5x70")
    for tile in "xy":
        found.op("tload", f"v{tile}", to=tile)
    found.op("trowexpandsub", "x", "y", to="z")
    found.op("tstore", "z", to="vz")
    a, b = values((5, 1), "i32").astype(np.float32), values((5, 70), "i32").astype(np.float32)
    _, result = lowered(found, "lower-vector", a=a, b=b, c=np.zeros((5, 70), np.float32))
    assert np.array_equal(result["c"], a - b)


def row_vector_in_rows(columns: int) -> Program:
    """Values of rows in a tile of rows, of which some columns count."""
    found = Program(a="f32", b="f32", c="f32")
    for tile, array, valid in (("x", "a", 70), ("y", "b", columns), ("z", "c", 70)):
        found.view(f"v{tile}", array, (5, valid), (valid, 1))
        found.tile(tile, "vec", 5, 96, "f32", valid=f"5x{valid}")
    for tile in "xy":
        found.op("tload", f"v{tile}", to=tile)
    found.op("trowexpandmul", "x", "y", to="z")
    found.op("tstore", "z", to="vz")
    return found


def test_values_of_rows_lie_in_rows():
    a, b = values((5, 70), "i32").astype(np.float32), values((5, 2), "i32").astype(np.float32)
    _, result = lowered(row_vector_in_rows(2), "lower-vector", a=a, b=b, c=np.zeros((5, 70), np.float32))
    assert np.array_equal(result["c"], a * b[:, :1])


def test_a_row_that_is_overwritten_is_refused():
    found = program("pto.tcolexpandsub", "f32", 8, 64, 64)
    found.lines = [line.replace("%x, %y", "%x, %x").replace("outs(%z", "outs(%x") for line in found.lines]
    found.lines = [line.replace(", !pto.tile_buf<vec, 1x64xf32>)", f", {found.types['x']})") for line in found.lines]
    reason = "its destination overlaps values that later rows need"
    assert refusals(found, "lower-vector") == [f"pto.tcolexpandsub: {reason}"]


def test_a_number_is_divided_by_a_tile():
    found = program("pto.tdivs", "f32", 5, 96, 70)
    found.lines = [
        line.replace("%x, %number", "%number, %x").replace(f"{found.types['x']}, f32)", f"f32, {found.types['x']})")
        for line in found.lines
    ]
    a = values((5, 70), "f32")
    arrays = {"a": a, "b": a, "c": np.zeros((5, 70), np.float32), "number": 1.25}
    _, result = lowered(found, "lower-vector", **arrays)
    with np.errstate(divide="ignore"):
        assert np.array_equal(result["c"], np.float32(1.25) / a, equal_nan=True)


@pytest.mark.parametrize(("element", "number"), [("i32", 4), ("i16", 4), ("f32", 4.0), ("f16", 4.0)])
@pytest.mark.parametrize("first", [False, True])
def test_a_power_of_two_that_divides_or_is_divided(element, number, first):
    """Integers are divided toward zero."""
    kind = STORAGE[element]
    found = Program(a=element, c=element)
    for name, array in (("x", "a"), ("z", "c")):
        found.view(f"v{name}", array, (3, 64), (64, 1))
        found.tile(name, "vec", 3, 64, element)
    found.lines.append(f"%number = arith.constant {number} : {element}")
    found.op("tload", "vx", to="x")
    if first:
        tile = found.types["x"]
        found.lines.append(f"pto.tdivs ins(%number, %x : {element}, {tile}) outs(%z : {found.types['z']})")
    else:
        found.op("tdivs", "x", to="z", extra=", %number", extra_types=f", {element}")
    found.op("tstore", "z", to="vz")
    a = RNG.integers(1, 40, (3, 64)).astype(kind) * RNG.choice([-1, 1], (3, 64)).astype(kind)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros_like(a))
    one, other = (kind(number), a) if first else (a, kind(number))
    if element[0] == "f":
        expected = (one / other).astype(kind)
    else:
        expected = np.trunc(np.float64(one) / np.float64(other)).astype(kind)
    assert np.array_equal(result["c"], expected)
    assert "pto.tdivs" not in print_module(module)
