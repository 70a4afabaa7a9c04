"""Random programs of loads, moves, products and stores."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


class Writer:
    """A random program of loads, moves, products and stores on tiles that may alias."""

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
