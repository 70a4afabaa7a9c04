"""Tiles that generated code keeps as arrays: buffers that a user can see are, bit for bit, those of tile memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.compile.flavours import PLAIN, Flavour
from pto_dialect.runtime.compile.held import Tile, _overlapping
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROOT = Path(__file__).resolve().parents[3]
DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


class MemoryKernel(Kernel):
    """A kernel whose code has every tile in the memory of its core."""

    @property
    def flavour(self) -> Flavour:
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


class Writer:
    """A random program of loads, moves, products and stores on tiles that may share addresses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.element = self.random.choice(("f16", "f16", "bf16", "f32"))
        self.lines: list[str] = []
        self.head: list[str] = []
        self.tiles: dict[str, dict[str, str]] = {"mat": {}, "left": {}, "right": {}, "acc": {}}
        self.fresh = 0
        self.narrow = self.random.random() < 0.15
        apart = self.random.random() < 0.6
        for loc, count in (("mat", 2), ("left", 2), ("right", 1), ("acc", 2)):
            for number in range(count):
                self._allocate(loc, number, apart)

    def _allocate(self, loc: str, number: int, apart: bool) -> None:
        layout = {"right": "slayout=col_major"}.get(loc, "blayout=col_major, slayout=row_major")
        layout += ", fractal=1024" if loc == "acc" else ""
        element = "f32" if loc == "acc" else self.element
        valid = ", valid=32x16" if loc == "mat" and self.random.random() < 0.05 else ""
        type_ = f"!pto.tile_buf<{loc}, 32x32x{element}{valid}, {layout}>"
        address = number * 4096 if apart else self.random.randrange(2) * 2048
        name = f"{loc}{number}"
        self.head.append(f"  %at_{name} = arith.constant {address} : i64")
        self.head.append(f"  %{name} = pto.alloc_tile addr = %at_{name} : {type_}")
        self.tiles[loc][name] = type_

    def _tile(self, loc: str) -> tuple[str, str]:
        return self.random.choice(list(self.tiles[loc].items()))

    def _part(self, buffer: str, element: str, pad: str, index: str) -> tuple[str, str]:
        self.fresh += 1
        name, cols = f"%p{self.fresh}", self.random.choice((32, 16)) if self.narrow else 32
        row = self.random.choice(("%c0", "%c32", index))
        type_ = f"!pto.partition_tensor_view<32x{cols}x{element}>"
        self.lines.append(
            f"{pad}{name} = pto.partition_view %{buffer}v, offsets = [{row}, %c{self.random.choice((0, 32))}],"
            f" sizes = [%c32, %c{cols}] : !pto.tensor_view<64x64x{element}> -> {type_}"
        )
        return name, type_

    def statement(self, pad: str, index: str, depth: int) -> None:
        """One statement, which may be a loop or a choice."""
        kind = self.random.choice(
            ("load", "load", "move", "move", "move", "product", "product", "sum", "store", "store", "more")
        )
        if kind == "load":
            tile, type_ = self._tile("mat")
            given = [("a", self.element), ("b", self.element), *([("c", "f32")] if self.element == "f32" else [])]
            part, view = self._part(*self.random.choice(given), pad, index)
            self.lines.append(f"{pad}pto.tload ins({part} : {view}) outs(%{tile} : {type_})")
        elif kind == "move":
            (source, have), (target, want) = self._tile("mat"), self._tile(self.random.choice(("left", "right")))
            self.lines.append(f"{pad}pto.tmov ins(%{source} : {have}) outs(%{target} : {want})")
        elif kind in ("product", "sum"):
            left, right, acc, start = (self._tile(loc) for loc in ("left", "right", "acc", "acc"))
            given = [start, left, right] if kind == "sum" else [left, right]
            names, types = ", ".join(f"%{name}" for name, _ in given), ", ".join(type_ for _, type_ in given)
            op = "tmatmul.acc" if kind == "sum" else "tmatmul"
            self.lines.append(f"{pad}pto.{op} ins({names} : {types}) outs(%{acc[0]} : {acc[1]})")
        elif kind == "store":
            tile, type_ = self._tile("acc")
            part, view = self._part("c", "f32", pad, index)
            self.lines.append(f"{pad}pto.tstore ins(%{tile} : {type_}) outs({part} : {view})")
        elif depth:
            self._region(pad, index, depth)

    def _region(self, pad: str, index: str, depth: int) -> None:
        self.fresh += 1
        if self.random.random() < 0.5:
            name = f"%i{self.fresh}"
            self.lines.append(f"{pad}scf.for {name} = %c0 to %c64 step %c32 {{")
            self.body(pad + "  ", name, depth - 1, 7)
        else:
            self.lines.append(f"{pad}%is{self.fresh} = arith.cmpi eq, {index}, %c0 : index")
            self.lines.append(f"{pad}scf.if %is{self.fresh} {{")
            self.body(pad + "  ", index, depth - 1, 4)
            self.lines.append(f"{pad}}} else {{")
            self.body(pad + "  ", index, depth - 1, 4)
        self.lines.append(f"{pad}}}")

    def body(self, pad: str, index: str, depth: int, count: int) -> None:
        """Statements one after the other."""
        for _ in range(count):
            self.statement(pad, index, depth)

    def text(self) -> str:
        """The program."""
        self.body("  ", "%c0", 2, 24)
        views = [
            f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c64, %c64], strides = [%c64, %c1]"
            f" : !pto.tensor_view<64x64x{element}>"
            for name, element in (("a", self.element), ("b", self.element), ("c", "f32"))
        ]
        constants = [f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 16, 32, 64)]
        pointers = f"%a: !pto.ptr<{self.element}>, %b: !pto.ptr<{self.element}>, %c: !pto.ptr<f32>"
        lines = [f"func.func @k({pointers}) {{", *constants, *views, *self.head, *self.lines, "  return", "}"]
        return "\n".join(lines)

    def arguments(self, sharing: str) -> list[np.ndarray[Any, Any]]:
        """Three arrays; of float32 some, or all, share memory."""
        rng = np.random.default_rng(3)
        memory = rng.integers(-4, 5, 3 * 4096).astype(np.float32) / 8
        if self.element != "f32" or sharing == "nothing":
            whole = [part.astype(DTYPES[self.element]) for part in (memory[:4096], memory[4096:8192])]
            return [*whole, memory[8192:].copy()]
        starts = {"all": (0, 0, 0), "in part": (0, 4096, 2048), "the written one": (0, 4096, 4096)}[sharing]
        return [memory[start : start + 4096] for start in starts]


SHARED = ("nothing", "all", "in part", "the written one")


@pytest.mark.parametrize("part", range(8))
def test_generated_programs_leave_the_same_buffers(part: int) -> None:
    held = 0
    for seed in range(part * 15, part * 15 + 15):
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


def test_parts_that_nobody_writes_are_widened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime.kernels.cube import held

    widened: list[int] = []
    monkeypatch.setattr(held, "copy_cast", lambda out, values: widened.append(values.size))
    text = PRODUCT.replace("  %ap = pto", "  scf.for %i = %c0 to %n step %c1 {\n  %ap = pto").replace(
        "  return", "  }\n  return"
    )
    moved = [line for line in text.split("\n") if "alloc_tile" in line]
    lines = [line for line in text.split("\n") if "alloc_tile" not in line]
    place = next(number for number, line in enumerate(lines) if "scf.for" in line)
    module, found = parsed("\n".join([*lines[:place], *moved, *lines[place:]]))
    assert found == []
    kernel = Kernel(module, None, "a5", RunOptions())
    memory = np.zeros(2048, np.float32)
    kernel.run([np.zeros(1024, np.float16), memory[:1024]])
    assert len(widened) == 1
    # Sums that are stored over the operand change it.
    kernel.run([memory.view(np.float16)[:1024], memory[:1024]])
    assert len(widened) == 1 + 32


def test_a_view_beside_its_buffer_is_the_same_error() -> None:
    def arguments(_: Kernel) -> list[Any]:
        return [np.zeros(100, np.float16), np.zeros(1024, np.float32)]

    assert both(PRODUCT, arguments)


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
