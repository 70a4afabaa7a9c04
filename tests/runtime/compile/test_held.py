"""Tiles that generated code keeps as arrays: buffers that a user can see are, bit for bit, those of tile memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed
from product_programs import DTYPES, Writer
from sampling import sampled

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.compile.held import Tile, _fills, _is_foreign, _multiplies, _overlapping, _passes_on
from pto_dialect.runtime.compile.variants import PLAIN, Variant
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.types.parser import parse_type

ROOT = Path(__file__).resolve().parents[3]


class MemoryKernel(Kernel):
    """A kernel whose code has every tile in the memory of its core."""

    @property
    def variant(self) -> Variant:
        return PLAIN._replace(holds_tiles=False)


def outcome(kernel: Kernel, arguments: list[Any], blocks: int) -> str:
    """Runs a kernel; the message of its error, or nothing."""
    try:
        kernel.run(arguments, blocks=blocks)
    except ProgramError as error:
        return f"{error.rule}: {error.message} at {error.span}"
    return ""


def both(text: str, arguments: Any, blocks: int = 1, accumulate: str = "fast", entry: str | None = None) -> bool:
    """Compares both codes on arrays that ``arguments`` makes; whether something was held."""
    module, _ = parsed(text)
    options = RunOptions(accumulate=accumulate)
    held, plain = Kernel(module, entry, "a5", options), MemoryKernel(module, entry, "a5", options)
    assert not plain.compiled.holds
    mine, theirs = arguments(held), arguments(plain)
    assert outcome(held, mine, blocks) == outcome(plain, theirs, blocks)
    for one, other in zip(mine, theirs, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
    return held.compiled.holds


# ------------------------------------------------------------ generated programs


SHARED = ("nothing", "all", "in part", "the written one")


@pytest.mark.parametrize("part", range(8))
def test_generated_programs_leave_the_same_buffers(part: int) -> None:
    held = 0
    for seed in sampled(range(part * 15, part * 15 + 15), 2):
        writer = Writer(seed)
        text = writer.text()
        for sharing in SHARED if writer.element == "f32" else SHARED[:1]:
            accumulate = "exact" if seed % 5 == 0 else "fast"
            held += both(text, lambda _, w=writer, s=sharing: w.arguments(s), 1 + seed % 2, accumulate)
    assert held


# ------------------------------------------------------------ known programs


def made(kernel: Kernel) -> list[Any]:
    """Arrays of random numbers, and ones, for the arguments of a kernel."""
    rng = np.random.default_rng(5)
    found: list[Any] = []
    for _, type_ in kernel.arguments:
        if isinstance(type_, t.PtrType):
            found.append(rng.standard_normal(1 << 16).astype(DTYPES[t.element_name(type_.element)]))
        elif isinstance(type_, t.ShapedView):
            found.append(rng.standard_normal(type_.shape).astype(DTYPES[t.element_name(type_.element)]))
        else:
            found.append(1)
    return found


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("tests/tools/programs/gemm.pto", "gemm"),
        ("examples/seed_snippets/level2.pto", "tmatmul"),
        ("examples/seed_snippets/level2.pto", "tmatmul_acc"),
    ],
)
def test_known_programs_leave_the_same_buffers(path: str, entry: str) -> None:
    assert both((ROOT / path).read_text(), made, entry=entry)


# ------------------------------------------------------------ what is held

MAT = "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, 32x32xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 32x32xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
PART, SUMS = "!pto.partition_tensor_view<32x32xf16>", "!pto.partition_tensor_view<32x32xf32>"

PRODUCT = f"""func.func @k(%a: !pto.ptr<f16>, %c: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 32 : index
  %at = arith.constant 0 : i64
  %av = pto.make_tensor_view %a, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<32x32xf16>
  %cv = pto.make_tensor_view %c, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<32x32xf32>
  %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%n, %n] : !pto.tensor_view<32x32xf16> -> {PART}
  %cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%n, %n] : !pto.tensor_view<32x32xf32> -> {SUMS}
  %m = pto.alloc_tile : {MAT}
  %l = pto.alloc_tile : {LEFT}
  %r = pto.alloc_tile : {RIGHT}
  %o = pto.alloc_tile : {ACC}
  pto.tload ins(%ap : {PART}) outs(%m : {MAT})
  pto.tmov ins(%m : {MAT}) outs(%l : {LEFT})
  pto.tmov ins(%m : {MAT}) outs(%r : {RIGHT})
  pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%o : {ACC})
  pto.tstore ins(%o : {ACC}) outs(%cp : {SUMS})
  return
}}"""


def holds(text: str, **options: Any) -> bool:
    """Whether the code of a program holds a tile."""
    module, found = parsed(text)
    assert found == []
    return Kernel(module, None, "a5", RunOptions(**options)).compiled.holds


def test_a_chain_that_nobody_sees_is_held() -> None:
    assert holds(PRODUCT)


BIAS = "!pto.tile_buf<bias, 1x32xf32>"


@pytest.mark.parametrize("statement", [
    f"pto.tmatmul.acc ins(%o, %l, %r : {ACC}, {LEFT}, {RIGHT}) outs(%o : {ACC})",
    f"pto.tgemv.acc ins(%p, %x, %y : {ACC}, {LEFT}, {RIGHT}) outs(%p : {ACC})",
    f"pto.tgemv ins(%x, %y : {LEFT}, {RIGHT}) outs(%p : {ACC})",
    f"%b = pto.alloc_tile : {BIAS}\n"
    f"pto.tmatmul.bias ins(%x, %y, %b : {LEFT}, {RIGHT}, {BIAS}) outs(%p : {ACC})",
    f"pto.textract ins(%n0, %c0, %c0 : {MAT}, index, index) outs(%x : {LEFT})",
    f"pto.tinsert ins(%p, %c0, %c0 : {ACC}, index, index) outs(%n0 : {MAT})",
])  # fmt: skip
def test_other_work_of_the_matrix_unit_leaves_a_chain_held(statement: str) -> None:
    """It has tiles of its own, or continues with the sums."""
    more = "\n".join(f"%{name} = pto.alloc_tile : {type_}" for name, type_ in (
        ("n0", MAT), ("x", LEFT), ("y", RIGHT), ("p", ACC)))  # fmt: skip
    text = PRODUCT.replace("  pto.tload", f"  {more}\n  pto.tload", 1).replace(
        "  pto.tstore", f"  {statement}\n  pto.tstore", 1
    )
    module, _ = parsed(text)
    assert Kernel(module, None, "a5", RunOptions()).compiled.holds


def test_memory_that_starts_with_something_is_not_held() -> None:
    assert not holds(PRODUCT, fill="poison")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Another name for the bytes, a pointer into the memory, a queue's address, a number that is an address.
        ("  return", f"  %s = pto.subview %m[%c0, %c0] sizes [16, 32] : {MAT} -> "
         + MAT.replace("32x32", "16x32") + "\n  return"),
        ("  return", "  %p = pto.castptr %at : i64 -> !pto.ptr<f16, l1>\n  return"),
        ("  return", f"  pto.tprint ins(%m : {MAT})\n  return"),
    ],
)  # fmt: skip
def test_bytes_that_others_may_see_are_not_held(old: str, new: str) -> None:
    module, _ = parsed(PRODUCT.replace(old, new))
    assert not Kernel(module, None, "a5", RunOptions()).compiled.holds


def test_elements_that_no_array_has_are_not_held() -> None:
    """Bytes of 8-bit floats are no float32."""
    assert not holds(PRODUCT.replace("f16", "f8E4M3FN"))
    assert holds(PRODUCT.replace("f16", "bf16"))


WIDE = """func.func @k(%a: !pto.ptr<f16>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = arith.constant 16 : index
  %n = arith.constant {cols} : index
  %av = pto.make_tensor_view %a, shape = [%r, %n], strides = [%n, %c1] : !pto.tensor_view<16x{cols}xf16>
  %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%r, %n] : !pto.tensor_view<16x{cols}xf16>
    -> !pto.partition_tensor_view<16x{cols}xf16>
  %m = pto.alloc_tile : !pto.tile_buf<mat, 16x{cols}xf16, blayout=col_major, slayout=row_major>
  pto.tload ins(%ap : !pto.partition_tensor_view<16x{cols}xf16>)
    outs(%m : !pto.tile_buf<mat, 16x{cols}xf16, blayout=col_major, slayout=row_major>)
  return
}}"""


@pytest.mark.parametrize(("cols", "held"), [(4080, True), (4096, False)])
def test_matrices_that_no_product_takes_are_not_held(cols: int, held: bool) -> None:
    assert holds(WIDE.format(cols=cols)) is held


def test_tiles_of_functions_that_run_more_than_once_are_not_held() -> None:
    """Their memory still has what the last call has left; so has that of a block that is come back to."""
    types = "!pto.ptr<f16>, !pto.ptr<f32>"
    call = f"  func.call @k(%a, %c) : ({types}) -> ()\n"
    caller = (
        f"func.func @m(%a: !pto.ptr<f16>, %c: !pto.ptr<f32>) attributes {{pto.kernel}} {{\n{call}{call}  return\n}}"
    )
    module, found = parsed(f"{PRODUCT}\n{caller}")
    assert found == []
    assert not Kernel(module, "m", "a5", RunOptions()).compiled.holds
    assert Kernel(module, "k", "a5", RunOptions()).compiled.holds
    assert not holds(PRODUCT.replace("  %m = pto.alloc", "  cf.br ^next\n^next:\n  %m = pto.alloc"))


def test_tiles_of_a_loop_are_not_held() -> None:
    text = PRODUCT.replace(
        f"  %o = pto.alloc_tile : {ACC}\n", f"  scf.for %i = %c0 to %n step %n {{\n  %o = pto.alloc_tile : {ACC}\n"
    )
    text = text.replace("  return", "  }\n  return")
    module, found = parsed(text)
    assert found == []
    source = Kernel(module, None, "a5", RunOptions()).source
    # The sums are in memory, so nothing is left to hold.
    assert "of_part" not in source and "of_sums" not in source


def repeated(text: str) -> str:
    """The program with everything after the views and tiles in a loop."""
    text = text.replace("  %ap = pto", "  scf.for %i = %c0 to %n step %c1 {\n  %ap = pto")
    lines = text.replace("  return", "  }\n  return").split("\n")
    moved = [line for line in lines if "alloc_tile" in line]
    rest = [line for line in lines if "alloc_tile" not in line]
    place = next(number for number, line in enumerate(rest) if "scf.for" in line)
    return "\n".join([*rest[:place], *moved, *rest[place:]])


def test_parts_that_nobody_writes_are_widened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime.kernels.cube import held

    widened: list[int] = []
    monkeypatch.setattr(held, "copy_cast", lambda out, values: widened.append(values.size))
    module, found = parsed(repeated(PRODUCT))
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    memory = np.zeros(2048, np.float32)
    kernel.run([np.zeros(1024, np.float16), memory[:1024]])
    assert len(widened) == 1
    # Sums that are stored over the operand change it.
    kernel.run([memory.view(np.float16)[:1024], memory[:1024]])
    assert len(widened) == 1 + 32


@pytest.mark.parametrize("text", [PRODUCT, repeated(PRODUCT)], ids=["once", "in a loop"])
def test_a_view_beside_its_buffer_is_the_same_error(text: str) -> None:
    def arguments(_: Kernel) -> list[Any]:
        return [np.zeros(100, np.float16), np.zeros(1024, np.float32)]

    assert both(text, arguments)


def test_rows_of_a_part_may_be_unevenly_spaced() -> None:
    """The first 16 of each 20 rows, twice, make a matrix of 32 rows."""
    matrix, rows = "!pto.tensor_view<32x32xf16>", "!pto.tensor_view<2x20x32xf16>"
    text = repeated(PRODUCT)
    for old, new in (
        (f"[%n, %n], strides = [%n, %c1] : {matrix}", f"[%two, %many, %n], strides = [%far, %n, %c1] : {rows}"),
        (f"[%c0, %c0], sizes = [%n, %n] : {matrix}", f"[%c0, %c0, %c0], sizes = [%two, %half, %n] : {rows}"),
    ):
        text = text.replace(old, new)
    numbers = {"two": 2, "many": 20, "far": 640, "half": 16}
    constants = "".join(f"  %{name} = arith.constant {value} : index\n" for name, value in numbers.items())
    text = text.replace("<32x32xf16>", "<2x16x32xf16>").replace("  %at =", f"{constants}  %at =")
    module, found = parsed(text)
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    assert "of_part(" in kernel.source
    a = np.random.default_rng(3).integers(-8, 8, (2, 20, 32)).astype(np.float16)
    result, taken = np.zeros((32, 32), np.float32), a[:, :16].reshape(32, 32).astype(np.int64)
    kernel.run([a.reshape(-1), result.reshape(-1)])
    assert result.tolist() == (taken @ taken).tolist()


def test_tiles_that_share_bytes_are_found() -> None:
    rng = random.Random(4)
    for _ in range(300):
        tiles: dict[Any, Tile] = {}
        for number in range(rng.randrange(1, 8)):
            start = rng.randrange(20)
            tiles[number] = Tile(rng.choice(("l1", "l0a")), start, start + rng.randrange(1, 8), True)
        expected = {
            one
            for one, a in tiles.items()
            for other, b in tiles.items()
            if one != other and a.space == b.space and a.start < b.end and b.start < a.end
        }
        assert _overlapping(tiles) == expected


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        *((f"!pto.multi_tile_buf<{loc}, 16x16xf32, count=2>", loc != "vec") for loc in ("mat", "left", "acc", "vec")),
        *((f"!pto.ptr<f16, {space}>", space not in ("gm", "ub")) for space in ("gm", "ub", "l1", "l0a", "l0b", "l0c")),
        ("memref<16x16xf16, #pto.address_space<mat>>", True),
        ("memref<16x16xf16, #pto.address_space<gm>>", False),
        ("memref<16x16xf16>", False),
        ("!pto.tile_buf<mat, 16x16xf32>", False),
        ("index", False),
    ],
)
def test_what_gives_access_to_the_memories_of_the_matrix_unit(text: str, foreign: bool) -> None:
    module, _ = parsed(f"func.func private @f(%x: {text})")
    (function,) = module.body.block.ops
    (type_,) = function.properties["function_type"].inputs
    assert _is_foreign(type_) == foreign


def tile_type(loc: str, rows: int, cols: int, element: str) -> str:
    """A tile of the matrix unit."""
    layout = {"right": "slayout=col_major", "acc": "blayout=col_major, slayout=row_major, fractal=1024"}
    return f"!pto.tile_buf<{loc}, {rows}x{cols}x{element}, {layout.get(loc, 'blayout=col_major, slayout=row_major')}>"


@pytest.mark.parametrize(
    ("lhs", "rhs", "dst", "multiplies"),
    [
        (("left", 16, 32), ("right", 32, 48), ("acc", 16, 48), True),
        (("left", 32, 32), ("right", 32, 48), ("acc", 16, 48), False),
        (("left", 16, 16), ("right", 32, 48), ("acc", 16, 48), False),
        (("left", 16, 32), ("right", 32, 32), ("acc", 16, 48), False),
        (("mat", 16, 32), ("right", 32, 48), ("acc", 16, 48), False),
        (("left", 16, 32), ("mat", 32, 48), ("acc", 16, 48), False),
        (("left", 16, 32), ("right", 32, 48), ("mat", 16, 48), False),
    ],
)
def test_products_that_work_on_arrays(lhs: Any, rhs: Any, dst: Any, multiplies: bool) -> None:
    """Operands where products take them, which agree in every extent; also sums that begin with others."""
    given = ((lhs, "f16"), (rhs, "f16"), (dst, "f32"))
    types = [tile_type(place, rows, cols, element) for (place, rows, cols), element in given]
    other = tile_type(dst[0], dst[1] + 16, dst[2], "f32")
    text = f"""func.func @k(%l: {types[0]}, %r: {types[1]}, %o: {types[2]}, %w: {other}) {{
      pto.tmatmul ins(%l, %r : {types[0]}, {types[1]}) outs(%o : {types[2]})
      pto.tmatmul.acc ins(%o, %l, %r : {types[2]}, {types[0]}, {types[1]}) outs(%o : {types[2]})
      pto.tmatmul.acc ins(%w, %l, %r : {other}, {types[0]}, {types[1]}) outs(%o : {types[2]})
      return
    }}"""
    module, _ = parsed(text)
    (function,) = module.body.block.ops
    plain, more, others, _ = function.regions[0].block.ops
    assert _multiplies(plain) is _multiplies(more) is multiplies
    assert not _multiplies(others)


@pytest.mark.parametrize(
    ("source", "target", "passes"),
    [
        (("mat", 16, 32, "f16"), ("left", 16, 32, "f16"), True),
        (("mat", 16, 32, "f16"), ("right", 16, 32, "f16"), True),
        (("mat", 16, 32, "f16"), ("left", 32, 32, "f16"), False),
        (("mat", 16, 32, "f16"), ("left", 16, 16, "f16"), False),
        (("mat", 16, 32, "f16"), ("left", 16, 32, "bf16"), False),
        (("left", 16, 32, "f16"), ("mat", 16, 32, "f16"), False),
        (("mat", 16, 32, "f16"), ("mat", 16, 32, "f16"), False),
        (("left", 16, 32, "f16"), ("right", 16, 32, "f16"), False),
    ],
)
def test_moves_that_pass_a_matrix_on(source: Any, target: Any, passes: bool) -> None:
    assert _passes_on(parse_type(tile_type(*source)), parse_type(tile_type(*target))) is passes
    assert not _passes_on(parse_type("index"), parse_type(tile_type(*target)))
    assert not _passes_on(parse_type(tile_type(*source)), parse_type("index"))


@pytest.mark.parametrize(
    ("view", "tile", "fills"),
    [
        ("16x32xf16", ("mat", 16, 32, "f16"), True),
        ("1x1x16x32xf16", ("mat", 16, 32, "f16"), True),
        ("32x16xf16", ("mat", 16, 32, "f16"), True),
        ("16x16xf16", ("mat", 16, 32, "f16"), False),
        ("16x32xbf16", ("mat", 16, 32, "f16"), False),
        ("16x32xf16", ("left", 16, 32, "f16"), False),
        ("?x32xf16", ("mat", 16, 32, "f16"), False),
        ("?x?xf16", ("mat", 1, 1, "f16"), False),
    ],
)
def test_loads_that_fill_a_matrix(view: str, tile: Any, fills: bool) -> None:
    part, matrix = parse_type(f"!pto.partition_tensor_view<{view}>"), parse_type(tile_type(*tile))
    assert _fills(part, matrix) is fills
    assert not _fills(matrix, matrix) and not _fills(part, part)
