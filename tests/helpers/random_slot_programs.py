"""Random loops over the slots of multi-buffers: several buffers, indices of many kinds, branches, inner loops."""

from __future__ import annotations

from random import Random

from lowering_programs import PART, TILE, add, kernel, load, part, store

INDICES = {
    "turn": ("%{n} = arith.remui %i, %k{c} : index",),
    "ahead": ("%{n}a = arith.addi %i, %d{d} : index", "%{n} = arith.remui %{n}a, %k{c} : index"),
    "half": ("%{n}h = arith.divui %i, %c2 : index", "%{n} = arith.remui %{n}h, %k{c} : index"),
    "odd": ("%{n}m = arith.muli %i, %i : index", "%{n} = arith.remui %{n}m, %k{c} : index"),
}
"""Ways to choose a slot: alternating, some iterations ahead, every second iteration, and in no order that a compiler
knows."""


class SlotProgram:
    """The text of a loop; the same for the same seed."""

    def __init__(self, seed: int, target: str) -> None:
        self.random = Random(seed)
        buffers = self.random.randint(1, 3)
        self.counts = [self.random.randint(2, 4) for _ in range(buffers)]
        self.tiles: list[str] = ["x", "y"]
        self.body: list[str] = []
        self.handles = 0
        head = [f"%k{count} = arith.constant {count} : index" for count in range(2, 5)]
        head += [f"%d{ahead} = arith.constant {ahead} : index" for ahead in range(1, 4)]
        for number, count in enumerate(self.counts):
            type_ = f"!pto.multi_tile_buf<vec, 16x16xf32, count={count}>"
            head.append(f"%at{number + 3} = arith.constant {4096 * (number + 1)} : i64")
            head.append(f"%m{number} = pto.alloc_multi_tile addr = %at{number + 3} : {type_}")
        for _ in range(self.random.randint(1, 4)):
            self._handle()
        self._operations(self.random.randint(3, 7), nested=True)
        # Whatever is read was written: all slots and tiles get numbers first.
        first = [part("s0", "a", "c0"), load("s0", "x"), load("s0", "y"), load("s0", "z")]
        for number, count in enumerate(self.counts):
            for place in range(count):
                name = f"i{number}_{place}"
                type_ = f"!pto.multi_tile_buf<vec, 16x16xf32, count={count}>"
                first.append(f"%n{name} = arith.constant {place} : index")
                first.append(f"%{name} = pto.multi_tile_get %m{number}[%n{name}] : {type_} -> {TILE}")
                first.append(load("s0", name))
        rows = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))
        self.text = kernel(
            *head, *first, "scf.for %i = %c0 to %n step %c1 {", *rows, "%e = arith.remui %i, %c2 : index",
            "%even = arith.cmpi eq, %e, %c0 : index", *self.body, "}", target=target,
        )  # fmt: skip

    def _handle(self) -> None:
        number = self.random.randrange(len(self.counts))
        count, name = self.counts[number], f"h{self.handles}"
        self.handles += 1
        lines = INDICES[self.random.choice(("turn", "turn", "turn", "ahead", "half", "odd"))]
        ahead = self.random.randint(1, 3)
        self.body += [line.format(n=f"s{name}", c=count, d=ahead) for line in lines]
        type_ = f"!pto.multi_tile_buf<vec, 16x16xf32, count={count}>"
        self.body.append(f"%{name} = pto.multi_tile_get %m{number}[%s{name}] : {type_} -> {TILE}")
        self.tiles += [name, name]

    def _operations(self, number: int, nested: bool) -> None:
        for _ in range(number):
            kind = self.random.choice(("load", "load", "add", "add", "store", "store", "if", "for"))
            one, other, into = (self.random.choice(self.tiles) for _ in range(3))
            if kind == "load":
                self.body.append(load("p", into))
            elif kind == "add":
                self.body.append(add(one, other, into))
            elif kind == "store":
                self.body.append(store(one, "q"))
            elif nested and kind == "if":
                self.body.append("scf.if %even {")
                self._operations(self.random.randint(1, 3), nested=False)
                self.body.append("}")
            elif nested:
                self.body.append(f"scf.for %j{len(self.body)} = %c0 to %c2 step %c1 {{")
                self._operations(self.random.randint(1, 3), nested=False)
                self.body.append("}")


assert PART
