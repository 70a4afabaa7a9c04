"""Random programs whose tile handles are carried by loops: swapped, rotated, chosen, yielded by branches, nested.

A program is a function of its seed and its target. All tiles that a handle may mean are loaded before the first
handle is made, so a program reads only what it has written.
"""

from __future__ import annotations

from random import Random

ROWS, COLS, PARTS = 16, 16, 6
COUNT = ROWS * COLS * PARTS
"""Elements of each of the two buffers."""
_TILE = f"!pto.tile_buf<vec, {ROWS}x{COLS}xf32>"
_HALF = f"!pto.tile_buf<vec, {ROWS // 2}x{COLS}xf32>"
_SUM = f"!pto.tile_buf<vec, {ROWS}x1xf32, blayout=col_major>"
_PART = f"!pto.partition_tensor_view<{ROWS}x{COLS}xf32>"
_VIEW = "!pto.tensor_view<?x?xf32>"
_DEEPEST = 3
_BINARY = ("tadd", "tsub", "tmax", "tmin")


class CarriedProgram:
    """The text of a program; its arguments are two buffers of ``COUNT`` f32 and an index, which counts modulo 4."""

    def __init__(self, seed: int, target: str, statements: int = 16) -> None:
        self.random = Random(f"{seed} {target}")
        self.target = target
        self.left = statements
        self.names = 0
        self.lines: list[str] = []
        self.handles: list[str] = []
        self.indices = ["%n"]
        self.depth = 2
        for _ in range(self.random.choice((2, 3, 3, 4))):
            self.handles.append(self._fresh())
        while self.left > 0:
            self.random.choice((self._loop, self._loop, self._while, self._body))()
        if self.random.random() < 0.5:
            self._store(self._pick())

    @property
    def text(self) -> str:
        """The program."""
        sizes = sorted({0, 1, 2, 3, 4, 8, 16, ROWS * PARTS})
        head = [
            f'module attributes {{pto.target_arch = "{self.target}"}} {{',
            "  func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %m: index) attributes {pto.entry} {",
            *(f"    %c{number} = arith.constant {number} : index" for number in sizes),
            "    %half = arith.constant 0.5 : f32",
            "    %n = arith.remui %m, %c4 : index",
        ]
        shape = f"shape = [%c{ROWS * PARTS}, %c{COLS}], strides = [%c{COLS}, %c1]"
        head += [f"    %v{name} = pto.make_tensor_view %{name}, {shape} : {_VIEW}" for name in "ab"]
        return "\n".join((*head, *self.lines, "    return", "  }", "}", ""))

    # ------------------------------------------------------------ text

    def _put(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def _name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _made(self, line: str) -> str:
        """Puts an operation with a result; its name."""
        name = self._name()
        self._put(f"{name} = {line}")
        return name

    def _pick(self) -> str:
        """A handle, rather one of the last that were made: most tiles are soon dead."""
        recent = self.handles[-3:] if self.random.random() < 0.8 else self.handles
        return self.random.choice(recent)

    # ------------------------------------------------------------ statements

    def _body(self) -> None:
        """Statements up to the end of a region; handles that are made in it end with it."""
        known, indices, many = list(self.handles), list(self.indices), self.random.randrange(2, 6)
        while self.left > 0 and many > 0:
            self.left, many = self.left - 1, many - 1
            self._statement()
        self.handles, self.indices = known, indices

    def _region(self, carried: list[str] | None = None) -> None:
        """The statements of a region; the handles that they make may be yielded. In the body of a loop something is
        done with what it carries first."""
        self.depth += 1
        if carried:
            self._iteration(carried)
        for _ in range(self.random.randrange(1, 4)):
            if self.left > 0:
                self.left -= 1
                self._statement()
        self.depth -= 1

    def _iteration(self, carried: list[str]) -> None:
        """A load into one of the handles, a result of them in a tile of its own, a store: in some order."""
        steps = [lambda: self._fill(self.random.choice(carried)), lambda: self._new(carried)]
        if self.random.random() < 0.7:
            steps.append(lambda: self._store(self.handles[-1]))
        if self.random.random() < 0.3:
            self.random.shuffle(steps)
        for step in steps[self.random.random() < 0.2 :]:
            step()

    def _new(self, sources: list[str]) -> None:
        """A result in a new tile."""
        one, other = self.random.choice(sources), self.random.choice(sources)
        into = self._made(f"pto.alloc_tile : {_TILE}")
        self._put(f"pto.{self.random.choice(_BINARY)} ins({one}, {other} : {_TILE}, {_TILE}) outs({into} : {_TILE})")
        self.handles.append(into)

    def _statement(self) -> None:
        deep = self.depth >= 2 + _DEEPEST
        kinds = [self._load, *[self._compute] * 4, *[self._store_one] * 3, self._select, self._row_sums, self._window]
        if not deep:
            kinds += [self._loop, self._branch, self._while]
        self.random.choice(kinds)()

    def _load(self) -> None:
        """Fills the tile of some handle, or a new one."""
        if self.random.random() < 0.4:
            self.handles.append(self._fresh())
        else:
            self._fill(self._pick())

    def _fresh(self) -> str:
        tile = self._made(f"pto.alloc_tile : {_TILE}")
        self._fill(tile)
        return tile

    def _fill(self, tile: str) -> None:
        part = self._part(self.random.choice("aaab"))
        self._put(f"pto.tload ins({part} : {_PART}) outs({tile} : {_TILE})")

    def _store_one(self) -> None:
        self._store(self._pick())

    def _store(self, tile: str) -> None:
        self._put(f"pto.tstore ins({tile} : {_TILE}) outs({self._part('b')} : {_PART})")

    def _part(self, buffer: str) -> str:
        index = self.random.choice((*self.indices, "%c1", "%c2"))
        row = self._made(f"arith.muli {index}, %c{ROWS} : index")
        sizes = f"sizes = [%c{ROWS}, %c{COLS}]"
        return self._made(f"pto.partition_view %v{buffer}, offsets = [{row}, %c0], {sizes} : {_VIEW} -> {_PART}")

    def _compute(self) -> None:
        """Writes a new tile or some handle."""
        if self.random.random() < 0.7:
            self._new([self._pick(), self._pick()])
            return
        kind, one, other, into = self.random.choice(_BINARY), self._pick(), self._pick(), self._pick()
        self._put(f"pto.{kind} ins({one}, {other} : {_TILE}, {_TILE}) outs({into} : {_TILE})")

    def _row_sums(self) -> None:
        """An operation that does not work element by element, through sums of rows."""
        one, into = self._pick(), self._pick()
        room, sums = self._made(f"pto.alloc_tile : {_TILE}"), self._made(f"pto.alloc_tile : {_SUM}")
        self._put(f"pto.trowsum ins({one}, {room} : {_TILE}, {_TILE}) outs({sums} : {_SUM})")
        other = self._pick()
        self._put(f"pto.trowexpandsub ins({other}, {sums} : {_TILE}, {_SUM}) outs({into} : {_TILE})")

    def _window(self) -> None:
        tile, start = self._pick(), self.random.choice(("%c0", "%c8"))
        part = self._made(f"pto.subview {tile}[{start}, %c0] sizes [{ROWS // 2}, {COLS}] : {_TILE} -> {_HALF}")
        self._put(f"pto.tmuls ins({part}, %half : {_HALF}, f32) outs({part} : {_HALF})")

    def _condition(self) -> str:
        kind = self.random.choice(("eq", "sgt", "slt"))
        return self._made(
            f"arith.cmpi {kind}, {self.random.choice(self.indices)}, %c{self.random.randrange(4)} : index"
        )

    # ------------------------------------------------------------ handles

    def _select(self) -> None:
        """One of two handles, and often the other one as well."""
        one, other, which = self._pick(), self._pick(), self._condition()
        for pair in ((one, other), (other, one))[: self.random.randrange(1, 3)]:
            self.handles.append(self._made(f"arith.select {which}, {pair[0]}, {pair[1]} : {_TILE}"))

    def _results(self, count: int) -> list[str]:
        return [self._name() for _ in range(count)]

    def _yield(self, values: list[str], what: str = "scf.yield") -> None:
        self._put(f"  {what} {', '.join(values)} : {', '.join([_TILE] * len(values))}")

    def _branch(self) -> None:
        """Handles that each of two branches yields."""
        count = self.random.choice((0, 1, 1, 2))
        results, which = self._results(count), self._condition()
        types = f" -> ({', '.join([_TILE] * count)})" if count else ""
        known = list(self.handles)
        self._put(f"{', '.join(results)} = scf.if {which}{types} {{" if count else f"scf.if {which} {{")
        for number in range(2):
            if number:
                self._put("} else {")
            self._region()
            if count:
                self._yield(self.random.choices(self.handles, k=count))
            self.handles = list(known)
        self._put("}")
        self.handles += results

    def _turned(self, carried: list[str]) -> list[str]:
        """What an iteration hands on: its handles in another order, sometimes others."""
        moved = carried[1:] + carried[:1]
        if self.random.random() < 0.25:
            moved = self.random.sample(carried, len(carried))
        if self.random.random() < 0.25:
            moved[self.random.randrange(len(moved))] = self._pick()
        return moved

    def _start(self) -> list[str]:
        count = self.random.choice((1, 2, 2, 2, 3, 3))
        distinct = list(dict.fromkeys(self.handles))
        return self.random.sample(distinct, min(count, len(distinct)))

    def _loop(self) -> None:
        """A counted loop."""
        start, index = self._start(), self._name()
        carried, results = self._results(len(start)), self._results(len(start))
        pairs = ", ".join(f"{name} = {value}" for name, value in zip(carried, start, strict=True))
        end = self.random.choice(("%c2", "%c3", "%c4", "%n"))
        types = ", ".join([_TILE] * len(start))
        self._put(f"{', '.join(results)} = scf.for {index} = %c0 to {end} step %c1 iter_args({pairs}) -> ({types}) {{")
        known, indices = list(self.handles), list(self.indices)
        self.handles, self.indices = [*known, *carried], [*indices, index]
        self._region(carried)
        self._yield(self._turned(carried))
        self._put("}")
        self.handles, self.indices = [*known, *results], indices

    def _while(self) -> None:
        """A loop that counts itself, up to three times."""
        start = self._start()
        carried, held, results = (self._results(len(start)) for _ in range(3))
        number, inner, last = self._name(), self._name(), self._name()
        types = ", ".join(["index", *([_TILE] * len(start))])
        pairs = ", ".join(f"{a} = {b}" for a, b in zip([number, *carried], ["%c0", *start], strict=True))
        self._put(f"{', '.join([last, *results])} = scf.while ({pairs}) : ({types}) -> ({types}) {{")
        end = self.random.choice(("%c2", "%c3", "%n"))
        more = self._name()
        self._put(f"  {more} = arith.cmpi slt, {number}, {end} : index")
        self._put(f"  scf.condition({more}) {', '.join([number, *carried])} : {types}")
        self._put("} do {")
        self._put(f"^bb0({', '.join([f'{inner}: index', *(f'{name}: {_TILE}' for name in held)])}):")
        known, indices = list(self.handles), list(self.indices)
        self.handles, self.indices = [*known, *held], [*indices, inner]
        self._region(held)
        following = self._name()
        self._put(f"  {following} = arith.addi {inner}, %c1 : index")
        self._put(f"  scf.yield {', '.join([following, *self._turned(held)])} : {types}")
        self._put("}")
        self.handles, self.indices = [*known, *results], indices
