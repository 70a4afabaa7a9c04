"""Random tile programs of vector cores without flags: loops, branches, shared bytes, windows, scalars.

A program is a function of its seed. Tiles lie at few addresses, so that many share bytes; what they hold before the
first write is whatever is there, which is the same in every run with the same content of memory.
"""

from __future__ import annotations

from random import Random

import numpy as np

ROWS, COLS, PARTS = 8, 32, 6
_TILE = f"!pto.tile_buf<vec, {ROWS}x{COLS}xi32>"
_HALF = f"!pto.tile_buf<vec, {ROWS // 2}x{COLS}xi32>"
_PART = f"!pto.partition_tensor_view<{ROWS}x{COLS}xi32>"
_BYTES = ROWS * COLS * 4
_NUMBERS = range(16)


class RandomProgram:
    """The text of a program for ``seed``. Its arguments are ``buffers`` of i32, then an index, which
    counts modulo 4.

    Without ``addresses`` a program reads only what it has written.
    """

    def __init__(self, seed: int, target: str, statements: int = 14, addresses: bool = True) -> None:
        self.random = Random(seed)
        self.addresses = addresses
        self.written: list[str] = []
        self.target = target
        self.buffers = self.random.choice((2, 3))
        self.lines: list[str] = []
        self.indices: list[str] = ["%n"]
        self.names = 0
        self.left = statements
        self.text = self._text()

    def _name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _put(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def _text(self) -> str:
        arguments = [f"%a{number}: !pto.ptr<i32>" for number in range(self.buffers)]
        self._put(0, f'module attributes {{pto.target_arch = "{self.target}"}} {{')
        self._put(1, f"func.func @f({', '.join(arguments)}, %m: index) attributes {{pto.entry}} {{")
        for number in _NUMBERS:
            self._put(2, f"%c{number} = arith.constant {number} : index")
        self._put(2, "%n = arith.remui %m, %c4 : index")
        for number in (ROWS, COLS, ROWS * COLS, ROWS * PARTS):
            self._put(2, f"%k{number} = arith.constant {number} : index")
        self._put(2, "%three = arith.constant 3 : i32")
        views = ", ".join
        for number in range(self.buffers):
            shape, strides = views(("%k48", "%k32")), views(("%k32", "%c1"))
            kind = "!pto.tensor_view<?x?xi32>"
            self._put(
                2, f"%g{number} = pto.make_tensor_view %a{number}, shape = [{shape}], strides = [{strides}] : {kind}"
            )
        self.tiles: list[str] = []
        step = self.random.choice((_BYTES, _BYTES // 2))
        for number in range(self.random.choice((3, 4, 5))):
            address = self.random.randrange(5) * step
            self._put(2, f"%at{number} = arith.constant {address} : i64")
            given = f"addr = %at{number} " if self.addresses else ""
            self._put(2, f"%t{number} = pto.alloc_tile {given}: {_TILE}")
            self.tiles.append(f"%t{number}")
        self._body(2, 0)
        self._put(2, "return")
        self._put(1, "}")
        self._put(0, "}")
        return "\n".join(self.lines) + "\n"

    def _body(self, depth: int, nesting: int) -> None:
        outside = list(self.written)
        self._statements(depth, nesting)
        self.written = outside

    def _statements(self, depth: int, nesting: int) -> None:
        while self.left > 0:
            self.left -= 1
            kind = self.random.random()
            if kind < 0.13 and nesting < 3:
                self._loop(depth, nesting)
            elif kind < 0.2 and nesting < 3:
                self._branch(depth, nesting)
            else:
                self._statement(depth)
            if nesting and self.random.random() < 0.25:
                return

    def _loop(self, depth: int, nesting: int) -> None:
        low, high = self.random.randrange(2), self.random.choice(("%c0", "%c1", "%c2", "%c3", "%n"))
        index = self._name()
        self._put(depth, f"scf.for {index} = %c{low} to {high} step %c{self.random.choice((1, 1, 2))} {{")
        self.indices.append(index)
        self._body(depth + 1, nesting + 1)
        self.indices.pop()
        self._put(depth, "}")

    def _branch(self, depth: int, nesting: int) -> None:
        condition = self._name()
        question = f"{self.random.choice(self.indices)}, %c{self.random.randrange(3)}"
        self._put(depth, f"{condition} = arith.cmpi {self.random.choice(('eq', 'sgt'))}, {question} : index")
        self._put(depth, f"scf.if {condition} {{")
        self._body(depth + 1, nesting + 1)
        if self.random.random() < 0.5:
            self._put(depth, "} else {")
            self._body(depth + 1, nesting + 1)
        self._put(depth, "}")

    def _part(self, depth: int) -> str:
        """A part of a buffer at rows that are a multiple of the index or a constant."""
        offset, part = self._name(), self._name()
        index = self.random.choice((*self.indices, "%c1", "%c2"))
        scale = self.random.choice(("%k8", "%k8", "%c4"))
        self._put(depth, f"{offset} = arith.muli {index}, {scale} : index")
        buffer = self.random.randrange(self.buffers)
        self._put(
            depth,
            f"{part} = pto.partition_view %g{buffer}, offsets = [{offset}, %c0], sizes = [%k8, %k32] "
            f": !pto.tensor_view<?x?xi32> -> {_PART}",
        )
        return part

    def _statement(self, depth: int) -> None:
        one, two, into = (self.random.choice(self.tiles) for _ in range(3))
        kind = self.random.choice(("load", "load", "add", "mul", "add", "store", "store", "get", "set", "half", "move"))
        if not self.addresses:
            # What nothing has written differs with the location of a tile.
            known = self.written
            kind = kind if known and (kind != "half" or into in known) and (kind != "set" or into in known) else "load"
            one, two = (self.random.choice(known or self.tiles) for _ in range(2))
            if kind in ("load", "add", "mul", "move"):
                self.written.append(into)
        if kind == "load":
            part = self._part(depth)
            self._put(depth, f"pto.tload ins({part} : {_PART}) outs({into} : {_TILE})")
        elif kind == "store":
            part = self._part(depth)
            self._put(depth, f"pto.tstore ins({one} : {_TILE}) outs({part} : {_PART})")
        elif kind in ("add", "mul"):
            self._put(depth, f"pto.t{kind} ins({one}, {two} : {_TILE}, {_TILE}) outs({into} : {_TILE})")
        elif kind == "move":
            self._put(depth, f"pto.tadds ins({one}, %three : {_TILE}, i32) outs({into} : {_TILE})")
        elif kind == "half":
            window, start = self._name(), self.random.choice(("%c0", "%c4"))
            sizes = f"sizes [{ROWS // 2}, {COLS}]"
            self._put(depth, f"{window} = pto.subview {into}[{start}, %c0] {sizes} : {_TILE} -> {_HALF}")
            self._put(depth, f"pto.tadds ins({window}, %three : {_HALF}, i32) outs({window} : {_HALF})")
        else:
            value = self._name()
            place = f"%c{self.random.choice(_NUMBERS)}"
            self._put(depth, f"{value} = pto.tgetval ins({one}, {place} : {_TILE}, index) outs : i32")
            if kind == "set":
                self._put(depth, f"pto.tsetval ins({place}, {value} : index, i32) outs({into} : {_TILE})")


def arguments(program: RandomProgram, count: int) -> list[object]:
    """Buffers with small numbers, the same each time, and ``count``."""
    size = ROWS * COLS * PARTS
    buffers = [np.arange(size, dtype=np.int32) * 7 % 1000 + number for number in range(program.buffers)]
    return [*buffers, count]
