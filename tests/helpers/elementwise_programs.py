"""Random programs of loads, arithmetic on tiles and stores, for launches that are repeated."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

SIZE = 4096
"""Elements of each buffer of a program."""


class TileWriter:
    """A random program of loads, arithmetic and stores on tiles whose bytes may be shared."""

    ROWS, COLS = 8, 32

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fresh = 0
        self.lines: list[str] = []
        self.head: list[str] = []
        self.tiles: list[tuple[str, str]] = []
        self.columns: list[tuple[str, str, str, str]] = []
        self.halves: list[tuple[str, str]] = []
        self.apart = self.random.random() < 0.7
        self.in_place = self.random.random() < 0.3
        self.valid = self.random.choice(("", "", ", valid=8x24", ", valid=5x32"))
        at = 0
        for number in range(3):
            at = self._allocate(f"t{number}", f"{self.ROWS}x{self.COLS}xf32{self.valid}", "", 1024, at, self.tiles)
        for number in range(2):
            at = self._column(number, at)
        at = self._allocate("h0", f"{self.ROWS}x{self.COLS}xf16{self.valid}", "", 512, at, self.halves)

    def _place(self, size: int, at: int) -> tuple[int, int]:
        start = at if self.apart else self.random.randrange(0, 96) * 32
        return start, at + size

    def _allocate(self, name: str, shape: str, layout: str, size: int, at: int, kept: list[tuple[str, str]]) -> int:
        start, at = self._place(size, at)
        type_ = f"!pto.tile_buf<vec, {shape}{layout}>"
        self.head.append(f"  %at_{name} = arith.constant {start} : i64")
        self.head.append(f"  %{name} = pto.alloc_tile addr = %at_{name} : {type_}")
        kept.append((f"%{name}", type_))
        return at

    def _column(self, number: int, at: int) -> int:
        rows = 5 if "5x" in self.valid else self.ROWS
        valid = f", valid={rows}x1" if rows != self.ROWS else ""
        found: list[tuple[str, str]] = []
        at = self._allocate(f"s{number}", f"{self.ROWS}x1xf32{valid}", ", blayout=col_major", 32, at, found)
        (name, type_), row = found[0], f"!pto.tile_buf<vec, 1x{self.ROWS}xf32>"
        self.head.append(f"  {name}r = pto.treshape {name} : {type_} -> {row}")
        self.columns.append((name, type_, f"{name}r", row))
        return at

    @property
    def shape(self) -> tuple[int, int]:
        """The valid region of tiles."""
        return {", valid=8x24": (8, 24), ", valid=5x32": (5, 32)}.get(self.valid, (self.ROWS, self.COLS))

    def _part(self, pad: str, index: str, buffer: str, element: str = "f32") -> tuple[str, str]:
        self.fresh += 1
        rows, cols = self.shape
        row, col = self.random.choice((index, index, "%c8", "%c16")), self.random.choice(("%c0", "%c0", "%c32"))
        type_ = f"!pto.partition_tensor_view<{rows}x{cols}x{element}>"
        self.lines.append(
            f"{pad}%p{self.fresh} = pto.partition_view %{buffer}v, offsets = [{row}, {col}],"
            f" sizes = [%c{rows}, %c{cols}] : !pto.tensor_view<64x64x{element}> -> {type_}"
        )
        return f"%p{self.fresh}", type_

    def _line(self, pad: str, op: str, given: list[tuple[str, str]], target: tuple[str, str]) -> None:
        names, types = ", ".join(name for name, _ in given), ", ".join(type_ for _, type_ in given)
        self.lines.append(f"{pad}pto.{op} ins({names} : {types}) outs({target[0]} : {target[1]})")

    def statement(self, pad: str, index: str, depth: int) -> None:
        """One statement, which may be a loop or a choice."""
        pick = self.random.choice
        kind = pick(("load", "load", "two", "two", "one", "number", "rows", "row", "expand", "store", "move", "more"))
        one, two, dst = pick(self.tiles), pick(self.tiles), pick(self.tiles)
        column = pick(self.columns)
        if kind == "load":
            buffer = pick(("a", "b", "y")) if self.in_place else pick(("a", "b"))
            part, type_ = self._part(pad, index, buffer)
            self._line(pad, "tload", [(part, type_)], dst)
        elif kind == "two":
            self._line(pad, pick(("tadd", "tsub", "tmul", "tmax", "tmin", "tdiv")), [one, two], dst)
        elif kind == "one":
            self._line(pad, pick(("texp", "tabs", "tneg", "trelu", "tsqrt", "trsqrt")), [one], dst)
        elif kind == "number":
            self._line(pad, pick(("tadds", "tmuls", "tmaxs")), [one, (pick(("%half", "%x")), "f32")], dst)
        elif kind == "rows":
            names = ("trowsum", "trowmax", "trowmin")
            self._line(pad, pick(names), [one, two], (column[0], column[1]))
        elif kind == "row":
            other = pick(self.columns)
            op = pick(("tadd", "tmul", "tmax"))
            self._line(pad, op, [(column[2], column[3]), (other[2], other[3])], (other[2], other[3]))
        elif kind == "expand":
            op = pick(("trowexpandadd", "trowexpandmul", "trowexpandsub", "trowexpandmax"))
            self._line(pad, op, [one, (column[0], column[1])], dst)
        elif kind == "move":
            form = pick((0, 1, 2, 3))
            half = self.halves[0]
            if form == 0:
                self._line(pad, "tmov", [one], dst)
            elif form == 1:
                self._line(pad, "tcvt", [one], half)
                self._line(pad, "tcvt", [half], dst)
            elif form == 2:
                self._line(pad, "tadd", [half, half], half)
            else:
                self._line(pad, "texpands", [("%half", "f32")], dst)
        elif kind == "store":
            part, type_ = self._part(pad, index, "y")
            self._line(pad, "tstore", [one], (part, type_))
        elif depth:
            self._region(pad, index, depth)

    def _region(self, pad: str, index: str, depth: int) -> None:
        self.fresh += 1
        if self.random.random() < 0.7:
            name = f"%i{self.fresh}"
            self.lines.append(f"{pad}scf.for {name} = %c0 to %c32 step %c8 {{")
            self.body(pad + "  ", name, depth - 1, 8)
        else:
            self.lines.append(f"{pad}%is{self.fresh} = arith.cmpi ult, {index}, %c16 : index")
            self.lines.append(f"{pad}scf.if %is{self.fresh} {{")
            self.body(pad + "  ", index, depth - 1, 4)
        self.lines.append(f"{pad}}}")

    def body(self, pad: str, index: str, depth: int, count: int) -> None:
        """Statements one after the other."""
        for _ in range(count):
            self.statement(pad, index, depth)

    def loop(self) -> None:
        """A loop over blocks of rows, as kernels have it."""
        self.fresh += 1
        name = f"%i{self.fresh}"
        self.lines.append(f"  scf.for {name} = %c0 to %c64 step %c8 {{")
        for tile in self.tiles[:2]:
            rows, cols = self.shape
            type_ = f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
            self.fresh += 1
            self.lines.append(
                f"    %p{self.fresh} = pto.partition_view %av, offsets = [{name}, %c0], sizes = [%c{rows}, %c{cols}]"
                f" : !pto.tensor_view<64x64xf32> -> {type_}"
            )
            self._line("    ", "tload", [(f"%p{self.fresh}", type_)], tile)
        self.body("    ", name, 1, 10)
        rows, cols = self.shape
        type_ = f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
        self.lines.append(
            f"    %q{self.fresh} = pto.partition_view %yv, offsets = [{name}, %c32], sizes = [%c{rows}, %c{cols}]"
            f" : !pto.tensor_view<64x64xf32> -> {type_}"
        )
        self._line("    ", "tstore", [self.random.choice(self.tiles)], (f"%q{self.fresh}", type_))
        self.lines.append("  }")

    def text(self) -> str:
        """The program."""
        pick = self.random.choice
        for name, type_ in (*self.tiles, *self.halves):
            element = "f16" if "f16" in type_ else "f32"
            self.lines.append(f"  %z{name[1:]} = arith.constant 0.25 : {element}")
            self._line("  ", "texpands", [(f"%z{name[1:]}", element)], (name, type_))
        for _, _, row, type_ in self.columns:
            self._line("  ", "texpands", [("%half", "f32")], (row, type_))
        for _ in range(2):
            self.loop() if pick((True, True, False)) else self.body("  ", "%c0", 2, 10)
        views = [
            f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c64, %c64], strides = [%c64, %c1]"
            " : !pto.tensor_view<64x64xf32>"
            for name in ("a", "b", "y")
        ]
        constants = [f"  %c{n} = arith.constant {n} : index" for n in (0, 1, 5, 8, 16, 24, 32, 64)]
        constants.append("  %half = arith.constant 0.5 : f32")
        head = "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>, %x: f32) {"
        return "\n".join([head, *constants, *views, *self.head, *self.lines, "  return", "}"])


def matrices(seed: int) -> list[Any]:
    """Arguments of a generated program; some have infinities."""
    rng = np.random.default_rng(seed)
    arguments: list[Any] = [rng.standard_normal(SIZE).astype(np.float32) for _ in range(3)]
    if seed % 3 == 0:
        arguments[0][rng.integers(0, SIZE, 20)] = np.inf
    return [*arguments, 1.5]
