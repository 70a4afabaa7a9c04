"""Random well-formed tile programs: all families that vector and cube cores run on tiles, in loops and branches,
through views and slots, without addresses and flags.

A program is a function of its seed. It reads only what it has written: what lies in memory before depends on where a
tile lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from generated_tile_rows import BUFFERS, CUBE, LEFT_LAYOUT, SORTS, VECTOR, Row

_ROWS, _COLS = 256, 128
"""Extents of every buffer."""
_NUMBERS = (0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256)
_DEEPEST = 3


class TileProgram:
    """The text of a program for ``seed``; ``core`` is ``vector`` or ``cube``, by default as the seed says."""

    def __init__(self, seed: int, target: str, statements: int = 22, core: str | None = None) -> None:
        self.random = Random(f"{seed} {target}")
        self.target = target
        self.core = core or self.random.choice(("vector", "vector", "vector", "cube"))
        self.rows = CUBE if self.core == "cube" else VECTOR
        self.sorts = {name: text.format(layout=LEFT_LAYOUT[target]) for name, text in SORTS.items()}
        self.tiles: dict[str, list[str]] = {}
        self.written: set[str] = set()
        self.type_of: dict[str, str] = {}
        self.indices = ["%n"]
        self.lines: list[str] = []
        self.names = 0
        self.left = statements
        self.depth = 2
        for _ in range(2):
            self._load()
        self._body()
        self._store()

    @property
    def text(self) -> str:
        """The program."""
        arguments = [f"%{name}: !pto.ptr<{element}>" for name, (element, _) in BUFFERS.items()]
        head = [
            f'module attributes {{pto.target_arch = "{self.target}"}} {{',
            f"  func.func @f({', '.join(arguments)}, %m: index) attributes {{pto.entry}} {{",
            *(f"    %c{number} = arith.constant {number} : index" for number in _NUMBERS),
            "    %n = arith.remui %m, %c4 : index",
            "    %real = arith.constant 1.5 : f32",
            "    %integer = arith.constant 3 : i32",
        ]
        for name, (element, _) in BUFFERS.items():
            head.append(
                f"    %{name}v = pto.make_tensor_view %{name}, shape = [%c{_ROWS}, %c{_COLS}], "
                f"strides = [%c{_COLS}, %c1] : !pto.tensor_view<?x?x{element}>"
            )
        for name in (name for names in self.tiles.values() for name in names):
            alloc = "alloc_multi_tile" if name.startswith("%multi") else "alloc_tile"
            head.append(f"    {name} = pto.{alloc} : {self.type_of[name]}")
        return "\n".join([*head, *self.lines, "    return", "  }", "}"]) + "\n"

    # ------------------------------------------------------------ names

    def _name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _put(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def _target(self, sort: str) -> str:
        """A tile that may be written, a new one while there are few."""
        known = self.tiles.setdefault(sort, [])
        if len(known) < 2 or (len(known) < 4 and self.random.random() < 0.15):
            known.append(f"%{sort}{len(known)}")
            self.type_of[known[-1]] = self.sorts[sort]
        return self.random.choice(known)

    def _source(self, sort: str) -> str | None:
        """A tile that has been written, or a number."""
        if sort in ("f32", "i32"):
            return "%real" if sort == "f32" else "%integer"
        known = sorted(name for name in self.written if self.type_of[name] == self.sorts[sort])
        return self.random.choice(known) if known else None

    def _type(self, name: str, sort: str) -> str:
        return sort if name in ("%real", "%integer") else self.type_of[name]

    # ------------------------------------------------------------ control

    @contextmanager
    def _region(self) -> Iterator[None]:
        """What is written inside may not have been written afterwards."""
        outside = set(self.written)
        self.depth += 1
        yield
        if self.random.random() < 0.7:
            self._store()
        self.depth -= 1
        self.written = outside

    def _body(self, nesting: int = 0) -> None:
        while self.left > 0:
            self.left -= 1
            kind = self.random.random()
            if kind < 0.12 and nesting < _DEEPEST:
                self._loop(nesting)
            elif kind < 0.19 and nesting < _DEEPEST:
                self._branch(nesting)
            else:
                self._statement()
            if nesting and self.random.random() < 0.2:
                return

    def _loop(self, nesting: int) -> None:
        index = self._name()
        high, step = self.random.choice(("%c0", "%c1", "%c2", "%c3", "%n", "%n")), self.random.choice((1, 1, 1, 2))
        self._put(f"scf.for {index} = %c{self.random.randrange(2)} to {high} step %c{step} {{")
        self.indices.append(index)
        with self._region():
            if self.core == "vector" and self.random.random() < 0.4:
                self._slots(index)
            self._body(nesting + 1)
        self.indices.pop()
        self._put("}")

    def _branch(self, nesting: int) -> None:
        condition = self._name()
        question = f"{self.random.choice(self.indices)}, %c{self.random.randrange(3)}"
        self._put(f"{condition} = arith.cmpi {self.random.choice(('eq', 'sgt'))}, {question} : index")
        self._put(f"scf.if {condition} {{")
        with self._region():
            self._body(nesting + 1)
        if self.random.random() < 0.5:
            self._put("} else {")
            with self._region():
                self._body(nesting + 1)
        self._put("}")

    # ------------------------------------------------------------ statements

    def _statement(self) -> None:
        kind = self.random.random()
        done = False
        if kind < 0.6:
            known = [row for row in self.rows if all(self._source(sort) for sort in row.sources)]
            done = bool(known) and self._operation(self.random.choice(known))
        elif kind < 0.8:
            done = self._store()
        elif kind < 0.88 and self.core == "vector":
            done = self.random.choice((self._window, self._scalar))()
        if not done:
            self._load()

    def _operation(self, row: Row) -> bool:
        sources: list[str] = []
        for sort in row.sources:
            found = self._source(sort)
            if found is None:
                return False
            sources.append(found)
        types = [self._type(name, sort) for name, sort in zip(sources, row.sources, strict=True)]
        target = self._target(row.target)
        if row.apart and target in sources:
            return False
        for sort in row.scratch:
            spare = [name for name in (self._target(sort) for _ in range(8)) if name not in (*sources, target)]
            if not spare:
                return False
            sources.append(spare[0])
            types.append(self.type_of[spare[0]])
            self.written.discard(spare[0])
        ins = f"{', '.join(sources)}{row.more} : {', '.join(types)}"
        self._put(f"pto.{row.op} ins({ins}) outs({target} : {self.type_of[target]})")
        self.written.add(target)
        return True

    def _part(self, sort: str) -> tuple[str, str]:
        """A part of a buffer for a kind of tile, and its type."""
        buffer = self.random.choice([name for name, (_, sorts) in BUFFERS.items() if sort in sorts])
        rows, cols, element = self.sorts[sort].removesuffix(">").split(",")[1].strip().split("x")
        start, part = self._name(), self._name()
        self._put(f"{start} = arith.muli {self.random.choice((*self.indices, '%c1', '%c2'))}, %c{rows} : index")
        column = self.random.choice(("%c0", f"%c{128 - int(cols)}")) if cols in ("64", "128") else "%c0"
        kind = f"!pto.partition_tensor_view<{rows}x{cols}x{element}>"
        self._put(
            f"{part} = pto.partition_view %{buffer}v, offsets = [{start}, {column}], sizes = [%c{rows}, %c{cols}] "
            f": !pto.tensor_view<?x?x{element}> -> {kind}"
        )
        return part, kind

    def _load(self) -> bool:
        sorts = ("mat",) if self.core == "cube" else ("wide", "wide", "half", "whole", "row", "turned", "records")
        sort = self.random.choice(sorts)
        tile = self._target(sort)
        part, kind = self._part(sort)
        self._put(f"pto.tload ins({part} : {kind}) outs({tile} : {self.type_of[tile]})")
        self.written.add(tile)
        return True

    def _store(self) -> bool:
        sorts = ("acc",) if self.core == "cube" else ("wide", "wide", "half", "whole", "row", "turned")
        sort = self.random.choice(sorts)
        tile = self._source(sort)
        if tile is None:
            return False
        part, kind = self._part(sort)
        self._put(f"pto.tstore ins({tile} : {self.type_of[tile]}) outs({part} : {kind})")
        return True

    def _window(self) -> bool:
        """Computes in a half of a tile."""
        tile = self._source("wide")
        if tile is None:
            return False
        window, start = self._name(), self.random.choice(("%c0", "%c8"))
        part = self.sorts["part"]
        self._put(f"{window} = pto.subview {tile}[{start}, %c0] sizes [8, 64] : {self.type_of[tile]} -> {part}")
        self._put(f"pto.tadds ins({window}, %real : {part}, f32) outs({window} : {part})")
        return True

    def _scalar(self) -> bool:
        """Reads an element, and may write it somewhere else."""
        one, other = self._source("whole"), self._source("whole")
        if one is None or other is None:
            return False
        value, type_ = self._name(), self.sorts["whole"]
        self._put(f"{value} = pto.tgetval ins({one}, %c{self.random.choice(_NUMBERS)} : {type_}, index) outs : i32")
        if self.random.random() < 0.5:
            place = f"%c{self.random.choice(_NUMBERS)}"
            self._put(f"pto.tsetval ins({place}, {value} : index, i32) outs({other} : {type_})")
        return True

    def _slots(self, index: str) -> None:
        """Loads into the slot of this iteration; what follows may read it."""
        wide, count = self.sorts["wide"], self.random.choice((2, 2, 3))
        multi = f"!pto.multi_tile_buf<{wide}, count={count}>"
        buffer, turn, slot = f"%multi{self.names}", self._name(), self._name()
        self.tiles.setdefault("multi", []).append(buffer)
        self.type_of[buffer] = multi
        self._put(f"{turn} = arith.remui {index}, %c{count} : index")
        self._put(f"{slot} = pto.multi_tile_get {buffer}[{turn}] : {multi} -> {wide}")
        self.type_of[slot] = wide
        part, kind = self._part("wide")
        self._put(f"pto.tload ins({part} : {kind}) outs({slot} : {wide})")
        self.written.add(slot)
