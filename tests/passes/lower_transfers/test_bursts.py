"""Loads and stores of the unified buffer as bursts. Source: docs/reference/layouts.md, "Transfers"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, instructions, lowered, passed, refusals

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass

RNG = np.random.default_rng(21)
STORAGE = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "i8": np.int8, "ui16": np.uint16,
           "i16": np.int16, "i32": np.int32, "i64": np.int64}  # fmt: skip
LAST = "lower-transfers"


def numbers(shape, element: str):
    return RNG.integers(-100 if element[0] != "u" else 0, 100, shape).astype(STORAGE[element])


def copied(element: str, rows: int, cols: int, **more: str) -> Program:
    """Array ``a`` goes through tile ``x`` to array ``c``; both arrays have 3 columns more than the tile's region."""
    found = Program(a=element, c=element)
    found.tile("x", "vec", rows, cols, element, **more)
    return found


SHAPES = [(8, 64, (8, 64)), (5, 64, (3, 37)), (1, 256, (1, 200))]


@pytest.mark.parametrize(("element", "shape"), [(name, SHAPES[number % 3]) for number, name in enumerate(STORAGE)])
def test_rows_are_bursts(element, shape):
    rows, cols, valid = shape
    found = copied(element, rows, cols, valid=f"{valid[0]}x{valid[1]}")
    found.view("va", "a", valid, (valid[1] + 3, 1), offsets=(1, 2))
    found.view("vc", "c", valid, (valid[1] + 3, 1), offsets=(0, 3))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a, c = numbers((valid[0] + 1, valid[1] + 3), element), numbers((valid[0], valid[1] + 3), element)
    module, result = lowered(found, LAST, a=a, c=c)
    expected = c.copy()
    expected[:, 3:] = a[1:, 2 : 2 + valid[1]]
    assert np.array_equal(result["c"], expected)
    assert instructions(module) == ["mte_gm_ub", "mte_ub_gm"]
    assert "pto.t" not in print_module(module).replace("pto.target", "")


def test_rows_without_gaps_are_one_burst():
    found = copied("f16", 16, 32)
    found.view("va", "a", (16, 32), (32, 1))
    found.view("vc", "c", (16, 32), (32, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((16, 32), "f16")
    module, result = lowered(found, LAST, a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a)
    assert "c1024_i64 nburst(%c1_i64" in print_module(module)


def test_columns_are_bursts_of_a_tile_in_columns():
    found = copied("f32", 16, 8, valid="11x5", layout="dn")
    found.view("va", "a", (11, 5), (1, 20))
    found.view("vc", "c", (11, 5), (1, 11))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((5, 20), "f32")
    _, result = lowered(found, LAST, a=a, c=np.zeros((5, 11), np.float32))
    assert np.array_equal(result["c"], a[:, :11])


def test_a_column_of_values():
    found = copied("f32", 16, 1, layout="dn")
    found.view("va", "a", (16, 1), (1, 1), layout="dn")
    found.view("vc", "c", (16, 1), (1, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((16,), "f32")
    _, result = lowered(found, LAST, a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a)


@pytest.mark.parametrize("element", ["f32", "f16", "i8"])
def test_blocks_are_bursts_of_32_bytes(element):
    width = 32 // np.dtype(STORAGE[element]).itemsize
    found = copied(element, 16, 3 * width, layout="nz")
    found.view("va", "a", (16, 3 * width), (3 * width, 1))
    found.view("vc", "c", (16, 3 * width), (3 * width, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((16, 3 * width), element)
    module, result = lowered(found, LAST, a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a)
    assert "c512_i64" in print_module(module)


def test_outer_dimensions_of_views_are_loops():
    found = copied("f32", 24, 16)
    found.view("va", "a", (2, 3, 4, 16), (700, 200, 20, 1))
    found.view("vc", "c", (2, 3, 4, 16), (192, 64, 16, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((1400,), "f32")
    module, result = lowered(found, LAST, a=a, c=np.zeros(384, np.float32))
    expected = [a[i * 700 + j * 200 + k * 20 :][:16] for i in range(2) for j in range(3) for k in range(4)]
    assert np.array_equal(result["c"], np.concatenate(expected))
    assert "loop(" in print_module(module)


PADS = {
    ("f32", 1): 0.0, ("f32", 2): np.inf, ("f16", 3): -np.inf, ("bf16", 2): np.inf,
    ("i32", 3): -(2**31), ("i16", 2): 2**15 - 1, ("ui16", 2): 2**16 - 1, ("i8", 3): -128,
}  # fmt: skip


CASES = [(backend, *case) for backend in ("emitc", "vpto") for case in PADS if backend == "emitc" or "f" in case[0]]


@pytest.mark.parametrize(("backend", "element", "pad"), CASES)
def test_the_rest_of_a_row_is_filled_up(backend, element, pad):
    found = copied(element, 4, 64, valid="3x41", more=f", pad={pad}")
    found.tile("all", "vec", 4, 64, element)
    found.view("va", "a", (3, 41), (41, 1))
    found.view("vc", "c", (4, 64), (64, 1))
    found.op("tload", "va", to="x")
    found.lines.append(f"%seen = pto.treshape %x : {found.types['x']} -> {found.types['all']}")
    found.types["seen"] = found.types["all"]
    found.op("tstore", "seen", to="vc")
    text = str(found).replace("module attributes {", f'module attributes {{pto.backend = "{backend}", ')
    a = numbers((3, 41), element)
    _, result = lowered(text, LAST, a=a, c=np.zeros((4, 64), STORAGE[element]))
    value = PADS[element, pad]
    if backend == "vpto" and value in (np.inf, -np.inf):
        value = np.sign(value) * ml_dtypes.finfo(STORAGE[element]).max.astype(np.float64)
    assert np.array_equal(result["c"][:3, :41], a)
    assert (result["c"][:3, 41:] == np.array(value).astype(STORAGE[element])).all()


@pytest.mark.parametrize(
    ("element", "word"),
    [("f32", "add"), ("f16", "max"), ("bf16", "min"), ("i32", "add"), ("i16", "max"), ("i8", "min")],
)
def test_stores_that_combine(element, word):
    found = copied(element, 4, 64)
    found.view("va", "a", (4, 64), (64, 1))
    found.view("vc", "c", (4, 64), (64, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc", more=f" {{atomicType = #pto<atomic_type atomic_{word}>}}")
    a, c = (numbers((4, 64), element) // 4 for _ in range(2))
    _, result = lowered(found, LAST, a=a, c=c)
    expected = {"add": np.add, "max": np.maximum, "min": np.minimum}[word](a, c)
    assert np.array_equal(result["c"], expected)


def test_the_mode_of_a_store_ends_after_it():
    found = copied("f32", 4, 64)
    for name in "ac":
        found.view(f"v{name}", name, (4, 64), (64, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc", more=" {atomicType = #pto<atomic_type atomic_add>}")
    found.op("tstore", "x", to="vc")
    a, c = (numbers((4, 64), "f32") for _ in range(2))
    _, result = lowered(found, LAST, a=a, c=c)
    assert np.array_equal(result["c"], a)


@pytest.mark.parametrize(("rows", "cols"), [(0, 5), (3, 0), (4, 70), (4, 96), (1, 1)])
def test_sizes_that_only_a_run_knows(rows, cols):
    found = Program(a="f32", c="f32", rows="=index", cols="=index")
    found.tile("x", "vec", 4, 96, "f32", "valid_row = %rows valid_col = %cols", valid="?x?", more=", pad=1")
    for name in ("a", "c"):
        found.view(f"v{name}", name, (4, 96), (96, 1))
        found.lines[-1] = found.lines[-1].replace("[%c4, %c96]", "[%rows, %cols]").replace("<4x96x", "<?x?x")
        found.types[f"v{name}"] = "!pto.partition_tensor_view<?x?xf32>"
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a, c = numbers((4, 96), "f32"), numbers((4, 96), "f32")
    _, result = lowered(found, LAST, a=a, c=c, rows=rows, cols=cols)
    expected = c.copy()
    expected[:rows, :cols] = a[:rows, :cols]
    assert np.array_equal(result["c"], expected)


def test_parts_of_a_tile():
    found = copied("f32", 16, 64)
    found.view("va", "a", (16, 64), (64, 1))
    found.view("vc", "c", (8, 32), (32, 1))
    found.view("vn", "a", (8, 8), (64, 1))
    found.op("tload", "va", to="x")
    for name, where, size in (("w", "[%c8, %c16]", "8x32"), ("n", "[%c8, %c24]", "8x8")):
        found.types[name] = f"!pto.tile_buf<vec, 16x64xf32, valid={size}>"
        sizes = size.replace("x", ", ")
        found.lines.append(
            f"%{name} = pto.subview %x{where} sizes [{sizes}] : {found.types['x']} -> {found.types[name]}"
        )
    found.numbers |= {8, 16, 24}
    found.op("tload", "vn", to="n")
    found.op("tstore", "w", to="vc")
    a = numbers((16, 64), "f32")
    _, result = lowered(found, LAST, a=a, c=np.zeros((8, 32), np.float32))
    expected = a[8:, 16:48].copy()
    expected[:, 8:16] = a[:8, :8]
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize(
    ("sizes", "strides", "rows", "cols"),
    [((16, 1, 32, 1, 8), (256, 256, 8, 8, 1), 32, 128), ((8, 1, 16, 1, 8), (256, 256, 8, 8, 1), 16, 64),
     ((64, 16), (16, 1), 16, 64), ((8, 64), (64, 1), 32, 16)],
)  # fmt: skip
@pytest.mark.parametrize("layout", ["nz", "nd"])
def test_views_of_other_sizes_fill_a_tile_in_their_order(sizes, strides, rows, cols, layout):
    whole = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) + 1
    found = copied("f32", rows, cols, layout=layout)
    found.view("va", "a", sizes, strides)
    found.view("vc", "c", (rows, cols), (cols, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((whole,), "f32")
    module, result = lowered(found, LAST, a=a, c=np.zeros((rows, cols), np.float32))
    places = [sum(map(lambda n, step: n * step, at, strides)) for at in np.ndindex(*sizes)]
    assert np.array_equal(result["c"], a[places].reshape(rows, cols))
    assert instructions(module) == ["mte_gm_ub", "mte_ub_gm"]


def test_views_in_columns_of_other_sizes_fill_a_tile_column_by_column():
    found = copied("f32", 16, 64, layout="dn")
    found.view("va", "a", (64, 16), (1, 64), layout="dn")
    found.view("vc", "c", (16, 64), (1, 16), layout="dn")
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((1024,), "f32")
    _, result = lowered(found, LAST, a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a)


def test_a_tile_fills_a_view_of_other_sizes_in_its_order():
    found = copied("f32", 16, 64, layout="nz")
    found.view("va", "a", (16, 64), (64, 1))
    found.view("vc", "c", (8, 16, 8), (256, 8, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a, c = numbers((16, 64), "f32"), numbers((8, 256), "f32")
    _, result = lowered(found, LAST, a=a, c=c)
    expected = c.copy()
    expected[:, :128] = a.reshape(8, 128)
    assert np.array_equal(result["c"], expected)


def _refused(view: tuple, tile: tuple, **more: str) -> list[str]:
    found = copied("f32", *tile, **more)
    found.view("va", "a", *view)
    found.op("tload", "va", to="x")
    return refusals(found, LAST)


def test_what_no_transfer_does_is_refused():
    assert _refused(((16, 16), (1, 16)), (16, 16)) == [
        "pto.tload: bursts in the unified buffer begin at multiples of 32 bytes"
    ]
    assert _refused(((8, 3, 15), (48, 16, 1)), (15, 24)) == [
        "pto.tload: lines of its view end in the midst of lines of its tile"
    ]
    assert _refused(((16, 12), (12, 1)), (16, 16), layout="nz", valid="16x12") == [
        "pto.tload: the last of its columns of blocks has less than 8 elements"
    ]
    assert _refused(((4, 6), (1, 8)), (8, 8), layout="dn", valid="4x6", more=", pad=1") == [
        "pto.tload: a transfer fills up whole rows of a tile and nothing else"
    ]


def test_the_older_chip_is_refused():
    text = str(copied("f32", 8, 8))
    statement = "pto.tsetval ins(%c0, %one : index, f32) outs(%x : !pto.tile_buf<vec, 8x8xf32>)\n    return"
    found = text.replace("a5", "a2a3").replace("return", f"%one = arith.constant 1.0 : f32\n    {statement}")
    _, said = passed(found, "assign-memory", LAST)
    assert said == [
        "lower-transfers-unsupported: lower-transfers cannot lower pto.tsetval: "
        "a2a3 has no transfers with sizes as operands"
    ]


GIVEN = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.partition_tensor_view<12x40xf32>, %c: !pto.tensor_view<?x?xf32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c12 = arith.constant 12 : index
    %c40 = arith.constant 40 : index
    %x = pto.alloc_tile : !pto.tile_buf<vec, 12x40xf32>
    pto.tload ins(%a : !pto.partition_tensor_view<12x40xf32>) outs(%x : !pto.tile_buf<vec, 12x40xf32>)
    %p = pto.partition_view %c, offsets = [%c2, %c0], sizes = [%c12, %c40] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<12x40xf32>
    pto.tstore ins(%x : !pto.tile_buf<vec, 12x40xf32>) outs(%p : !pto.partition_tensor_view<12x40xf32>)
    return
  }
}
"""  # noqa: E501


def test_views_of_a_launch_are_queried_for_their_location():
    a, c = numbers((12, 40), "f32"), numbers((15, 44), "f32")
    module, result = lowered(GIVEN, LAST, a=a, c=c)
    expected = c.copy()
    expected[2:14, :40] = a
    assert np.array_equal(result["c"], expected)
    text = print_module(module)
    assert instructions(module) == ["mte_gm_ub", "mte_ub_gm"]
    assert text.count("pto.tensor_view_addr") == 2
    assert "pto.tload" not in text


def test_views_of_functions_that_may_be_called_are_refused():
    call = """  func.func @g(%a: !pto.partition_tensor_view<12x40xf32>, %c: !pto.tensor_view<?x?xf32>) {
    func.call @f(%a, %c) : (!pto.partition_tensor_view<12x40xf32>, !pto.tensor_view<?x?xf32>) -> ()
    return
  }
}
"""
    module = parse(GIVEN.replace("alloc_tile :", "alloc_tile addr = %at :").replace(
        "    %x =", "    %at = arith.constant 0 : i64\n    %x ="
    ).removesuffix("}\n") + call, "program.pto")  # fmt: skip
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    make_pass(LAST, None).run(module, engine)
    assert {one.message.partition(": ")[2] for one in engine.diagnostics} == {"its view is not made in this function"}


def test_neighbours_in_memory_that_lie_in_rows_of_a_tile():
    """Each element of a column is a burst of its own, though they are side by side in the array."""
    found = copied("f32", 8, 8, valid="8x1")
    found.view("va", "a", (8, 1), (1, 1))
    found.view("vc", "c", (8, 1), (3, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a, c = numbers((8, 1), "f32"), numbers((8, 3), "f32")
    _, result = lowered(found, LAST, a=a, c=c)
    expected = c.copy()
    expected[:, 0] = a[:, 0]
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize("cols", [7, 8, 16])
def test_blocks_of_a_tile(cols):
    """A part of a column of blocks, a whole one, and two of them."""
    found = copied("f32", 16, 16, valid=f"16x{cols}", layout="nz")
    found.view("va", "a", (16, cols), (cols, 1))
    found.view("vc", "c", (16, cols), (cols, 1))
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers((16, cols), "f32")
    _, result = lowered(found, LAST, a=a, c=np.zeros_like(a))
    assert np.array_equal(result["c"], a)
