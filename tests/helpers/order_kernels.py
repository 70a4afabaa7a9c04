"""Small kernels with loops, branches and flags as data: their text, and what is wrong with them by enumeration.

The enumeration knows nothing of the package: executions are nodes of a graph, and an order is a path in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

Kernel = Sequence[Any]
PIPES = ("MTE2", "V", "MTE3")
_TILE = "!pto.tile_buf<vec, 16x16xf32>"
_PART = "!pto.partition_tensor_view<16x16xf32>"
SLOTS = 4
"""Tiles of 1,024 bytes, one after the other."""
_MANY = f"!pto.multi_tile_buf<vec, 16x16xf32, count={SLOTS}>"


# ------------------------------------------------------------ text


class _Text:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[int, str] = {}
        self.count = 0

    def constant(self, number: int) -> str:
        return self.constants.setdefault(number, f"%c{number}" if number >= 0 else f"%m{-number}")

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def number(self, what: Any, counters: Sequence[str]) -> str:
        """A number: a constant, or ``("mod", divisor, shift)`` of the innermost counter."""
        if isinstance(what, int):
            return self.constant(what)
        _, divisor, shift = what
        total, rest = self.fresh(), self.fresh()
        self.lines.append(f"{total} = arith.addi {counters[-1]}, {self.constant(shift)} : index")
        self.lines.append(f"{rest} = arith.remui {total}, {self.constant(divisor)} : index")
        return rest

    def tile(self, what: Any, counters: Sequence[str]) -> str:
        if isinstance(what, int):
            return f"%t{what}"
        slot = self.fresh()
        number = self.number(what, counters)
        self.lines.append(f"{slot} = pto.multi_tile_get %all[{number}] : {_MANY} -> {_TILE}")
        return slot

    def body(self, kernel: Kernel, counters: tuple[str, ...]) -> None:
        for kind, *rest in kernel:
            getattr(self, kind)(counters, *rest)

    def load(self, counters: tuple[str, ...], slot: Any) -> None:
        tile = self.tile(slot, counters)
        self.lines.append(f"pto.tload ins(%p : {_PART}) outs({tile} : {_TILE})")

    def add(self, counters: tuple[str, ...], source: Any, target: Any) -> None:
        x, y = self.tile(source, counters), self.tile(target, counters)
        self.lines.append(f"pto.tadd ins({x}, {x} : {_TILE}, {_TILE}) outs({y} : {_TILE})")

    def store(self, counters: tuple[str, ...], slot: Any) -> None:
        tile = self.tile(slot, counters)
        self.lines.append(f"pto.tstore ins({tile} : {_TILE}) outs(%q : {_PART})")

    def set(self, counters: tuple[str, ...], source: str, target: str, number: Any) -> None:
        self._flag("set", counters, source, target, number)

    def wait(self, counters: tuple[str, ...], source: str, target: str, number: Any) -> None:
        self._flag("wait", counters, source, target, number)

    def _flag(self, kind: str, counters: tuple[str, ...], source: str, target: str, number: Any) -> None:
        pipes = f'"PIPE_{source}", "PIPE_{target}"'
        if isinstance(number, int):
            self.lines.append(f'pto.{kind}_flag[{pipes}, "EVENT_ID{number}"]')
        else:
            self.lines.append(f"pto.{kind}_flag_dyn[{pipes}, {self.number(number, counters)}]")

    def bar(self, counters: tuple[str, ...], pipe: str) -> None:
        self.lines.append(f"pto.barrier #pto.pipe<PIPE_{pipe}>")

    def loop(self, counters: tuple[str, ...], bound: Any, body: Kernel) -> None:
        self.count += 1
        counter = f"%i{self.count}"
        high = "%n" if bound == "n" else counters[-1] if bound == "i" else self.constant(bound)
        self.lines.append(f"scf.for {counter} = {self.constant(0)} to {high} step {self.constant(1)} {{")
        self.body(body, (*counters, counter))
        self.lines.append("}")

    def when(self, counters: tuple[str, ...], condition: Any, body: Kernel) -> None:
        name, *numbers = condition
        holds = self.fresh()
        if name == "mod":
            rest = self.number(("mod", numbers[0], 0), counters)
            self.lines.append(f"{holds} = arith.cmpi eq, {rest}, {self.constant(numbers[1])} : index")
        else:
            value = "%n" if name == "n" else counters[-1]
            self.lines.append(f"{holds} = arith.cmpi slt, {value}, {self.constant(numbers[0])} : index")
        self.lines.append(f"scf.if {holds} {{")
        self.body(body, counters)
        self.lines.append("}")


def text_of(kernel: Kernel) -> str:
    """The program of a kernel with the argument ``n``."""
    text = _Text()
    text.body(kernel, ())
    constants = [f"{name} = arith.constant {number} : index" for number, name in text.constants.items()]
    addresses = [f"%a{slot} = arith.constant {1024 * slot} : i64" for slot in range(SLOTS)]
    tiles = [f"%t{slot} = pto.alloc_tile addr = %a{slot} : {_TILE}" for slot in range(SLOTS)]
    many = [f"%all = pto.alloc_multi_tile addr = %a0 : {_MANY}"]
    lines = "\n  ".join([*constants, *addresses, *tiles, *many, *text.lines])
    head = f"func.func @k(%p: {_PART}, %q: {_PART}, %n: index)"
    return f'module attributes {{pto.target_arch = "a5"}} {{\n{head} {{\n  {lines}\n  return\n}}\n}}\n'


# ------------------------------------------------------------ enumeration


def _number(what: Any, counters: Sequence[int]) -> int:
    return what if isinstance(what, int) else (counters[-1] + what[2]) % what[1]


def executions(kernel: Kernel, n: int, counters: tuple[int, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """What a call executes, in the order of the text."""
    for kind, *rest in kernel:
        if kind == "loop":
            bound, body = rest
            for turn in range(n if bound == "n" else counters[-1] if bound == "i" else bound):
                yield from executions(body, n, (*counters, turn))
        elif kind == "when":
            (name, *numbers), body = rest
            holds = (
                counters[-1] % numbers[0] == numbers[1]
                if name == "mod"
                else (n if name == "n" else counters[-1]) < numbers[0]
            )
            if holds:
                yield from executions(body, n, counters)
        elif kind in ("set", "wait"):
            yield kind, rest[0], rest[1], _number(rest[2], counters)
        elif kind == "bar":
            yield kind, rest[0]
        else:
            yield kind, *(_number(slot, counters) for slot in rest)


_WORK = {"load": "MTE2", "add": "V", "store": "MTE3"}


def faults(kernel: Kernel, n: int) -> set[str]:
    """The kinds of what is wrong in the call with ``n``."""
    nodes = list(executions(kernel, n))
    found, matched = _matched(nodes)
    if "deadlock" in found:
        return found
    return found | _races(nodes, matched)


def _matched(nodes: list[tuple[Any, ...]]) -> tuple[set[str], dict[int, int]]:
    """Faults of flags, and the set that each wait takes: flags of one key are taken in the order of their sets."""
    sets: dict[Any, list[int]] = {}
    waits: dict[Any, list[int]] = {}
    found: set[str] = set()
    for place, (kind, *rest) in enumerate(nodes):
        if kind == "set":
            if len(sets.get(tuple(rest), ())) > len(waits.get(tuple(rest), ())):
                found.add("overfull-flag")
            sets.setdefault(tuple(rest), []).append(place)
        elif kind == "wait":
            waits.setdefault(tuple(rest), []).append(place)
    matched: dict[int, int] = {}
    for key in {*sets, *waits}:
        mine, theirs = sets.get(key, []), waits.get(key, [])
        matched |= dict(zip(theirs, mine, strict=False))
        if len(mine) > len(theirs):
            found.add("leftover-flag")
        if len(theirs) > len(mine):
            found.add("deadlock")
    if "deadlock" not in found and not _ends(nodes, matched):
        found.add("deadlock")
    return found, matched


def _pipe(node: tuple[Any, ...]) -> str:
    kind, *rest = node
    return rest[0] if kind == "set" else rest[1] if kind == "wait" else rest[0] if kind == "bar" else _WORK[kind]


def _ends(nodes: list[tuple[Any, ...]], matched: dict[int, int]) -> bool:
    """Whether all pipes come to their end, each taking its nodes in order."""
    queues: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        queues.setdefault(_pipe(node), []).append(place)
    done: set[int] = set()
    joins = [place for place, node in enumerate(nodes) if node == ("bar", "ALL")]
    moved = True
    while moved:
        moved = False
        for queue in queues.values():
            while queue:
                place = queue[0]
                blocked = any(join < place and join not in done for join in joins)
                if nodes[place] == ("bar", "ALL"):
                    blocked = any(other not in done for other in range(place))
                if blocked or (place in matched and matched[place] not in done):
                    break
                done.add(queue.pop(0))
                moved = True
    return len(done) == len(nodes)


def _races(nodes: list[tuple[Any, ...]], matched: dict[int, int]) -> set[str]:
    after: dict[int, list[int]] = {place: [] for place in range(len(nodes))}
    for one, first in enumerate(nodes):
        for other, second in enumerate(nodes):
            if matched.get(other) == one or (one < other and _follows(first, second)):
                after[one].append(other)
    found: set[str] = set()
    for one, first in enumerate(nodes):
        if first[0] not in _WORK:
            continue
        reached = _reached(one, after)
        for other in range(one + 1, len(nodes)):
            kind = _conflict(first, nodes[other])
            if kind is not None and other not in reached:
                found.add(kind)
    return found


def _follows(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    """Whether a later node of the text begins after an earlier one has ended, by the pipe alone."""
    if ("bar", "ALL") in (first, second):
        return True
    if _pipe(first) != _pipe(second):
        return False
    return first[0] in ("wait", "bar") or second[0] in ("set", "bar")


def _reached(start: int, after: dict[int, list[int]]) -> set[int]:
    seen: set[int] = set()
    pending = [start]
    while pending:
        for other in after[pending.pop()]:
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return seen


def _bytes(node: tuple[Any, ...]) -> tuple[set[Any], set[Any]]:
    kind, *slots = node
    if kind == "load":
        return {"p"}, {slots[0]}
    return ({slots[0]}, {slots[1]}) if kind == "add" else ({slots[0], "q"}, {"q"})


def _conflict(first: tuple[Any, ...], second: tuple[Any, ...]) -> str | None:
    if second[0] not in _WORK:
        return None
    (reads, writes), (more, others) = _bytes(first), _bytes(second)
    if first[0] == second[0]:
        return "race-same-pipe" if first[0] != "add" and writes & others else None
    if writes & more:
        return "race-raw"
    if writes & others:
        return "race-waw"
    return "race-war" if reads & others else None


# ------------------------------------------------------------ random kernels


def random_kernel(seed: int) -> Kernel:
    """A kernel that is often right: flags in pairs around work, then sometimes one step changed."""
    chance = random.Random(seed)
    slots: Any = ("mod", chance.choice((2, 3)), 0) if chance.random() < 0.4 else 0
    number: Any = slots if chance.random() < 0.7 else 0
    turn: list[Any] = [
        ("wait", "V", "MTE2", number), ("load", slots), ("set", "MTE2", "V", number), ("wait", "MTE2", "V", number),
        ("wait", "MTE3", "V", 3), ("add", slots, 3), ("set", "V", "MTE2", number), ("set", "V", "MTE3", 0),
        ("wait", "V", "MTE3", 0), ("bar", "MTE3"), ("store", 3), ("set", "MTE3", "V", 3),
    ]  # fmt: skip
    ids = range(slots[1]) if number != 0 else (0,)
    before: list[Any] = [*(("set", "V", "MTE2", one) for one in ids), ("set", "MTE3", "V", 3)]
    behind: list[Any] = [*(("wait", "V", "MTE2", one) for one in ids), ("wait", "MTE3", "V", 3)]
    if chance.random() < 0.4:
        turn = [*turn[:1], ("bar", "MTE2"), *turn[1:]]
    body: list[Any] = [_loop(chance, turn)]
    kernel = [*before, *body, *behind]
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        _change(chance, chance.choice((kernel, turn)))
    return kernel


def _loop(chance: random.Random, turn: list[Any]) -> Any:
    kind = chance.randrange(5)
    if kind == 0:
        return ("loop", "n", [("when", chance.choice((("mod", 2, 1), ("lt", 3), ("mod", 3, 0))), turn)])
    if kind == 1:
        return ("loop", "n", [("loop", chance.choice(("i", 2)), turn)])
    if kind == 2:
        return ("when", ("n", 5), [("loop", "n", turn)])
    return ("loop", "n", turn)


def _change(chance: random.Random, steps: list[Any]) -> None:
    place = chance.randrange(len(steps))
    kind = chance.randrange(4)
    if kind == 0:
        del steps[place]
    elif kind == 1:
        other = chance.randrange(len(steps))
        steps[place], steps[other] = steps[other], steps[place]
    elif kind == 2:
        steps.insert(place, ("bar", chance.choice(("ALL", "V", "MTE2"))))
    else:
        condition = chance.choice((("n", 2), ("n", 4)))
        steps[place] = ("when", condition, [steps[place]])
