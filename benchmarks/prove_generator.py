"""Random functions with loops, slots, branches, flags, barriers and buffer ids, most of them nearly in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

HEAD = """!V = !pto.partition_tensor_view<1x64xf32>
!G = !pto.tensor_view<?x?xf32>
!T = !pto.tile_buf<vec, 1x64xf32>
!M = !pto.multi_tile_buf<!T, count=3>
""".replace("<!T,", "<!pto.tile_buf<vec, 1x64xf32>,")
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 17, 19, 64, 1000)
ADDRESSES = {"x": 0, "y": 256, "z": 512, "w": 640}
"""Tiles of 256 bytes; the last two overlap."""
PIPES = ("MTE2", "V", "MTE3")


@dataclass
class Block:
    """A statement with statements inside: a loop or a branch."""

    head: str
    body: list[Statement] = field(default_factory=list)


@dataclass
class Repeat(Block):
    """A loop that runs as long as memory says so, with the statements ``before`` in the region that decides."""

    before: list[Statement] = field(default_factory=list)


@dataclass(frozen=True)
class Question:
    """A truth value that memory gives, which is another one in each iteration of ``indices``.

    So that calls can be enumerated, ``answered`` texts compute it from the argument ``%s`` instead."""

    name: str
    indices: tuple[str, ...]
    salt: int

    def lines(self, answered: bool) -> Iterator[str]:
        total = f"{self.name}_0"
        yield f"{total} = arith.addi %s, %c{self.salt} : index"
        for number, (index, factor) in enumerate(zip(self.indices, (5, 3, 11, 13, 17, 19), strict=False)):
            yield f"{self.name}_m{number} = arith.muli {index}, %c{factor} : index"
            yield f"{self.name}_{number + 1} = arith.addi {self.name}_{number}, {self.name}_m{number} : index"
            total = f"{self.name}_{number + 1}"
        if answered:
            yield f"{self.name}_square = arith.muli {total}, {total} : index"
            yield f"{self.name}_rest = arith.remui {self.name}_square, %c7 : index"
            yield f"{self.name} = arith.cmpi sgt, {self.name}_rest, %c1 : index"
        else:
            yield f"{self.name}_is = pto.load_scalar %memory[{total}] : !pto.ptr<i32, gm> -> i32"
            yield f"{self.name} = arith.cmpi sgt, {self.name}_is, %zero : i32"


Statement = str | Block | Question


def lines_of(statements: list[Statement], depth: int = 2, answered: bool = False) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, str):
            yield from ("  " * depth + line for line in statement.split("\n"))
        elif isinstance(statement, Question):
            yield from ("  " * depth + line for line in statement.lines(answered))
        elif isinstance(statement, Repeat):
            yield from ("  " * depth + line for line in _repeated(statement, depth, answered))
        else:
            yield "  " * depth + statement.head
            yield from lines_of(statement.body, depth + 1, answered)
            yield "  " * depth + "}"


def _repeated(loop: Repeat, depth: int, answered: bool) -> Iterator[str]:
    """The lines of a loop whose condition memory gives; answered ones end after three iterations."""
    name = loop.head
    yield f"{name}_end = scf.while ({name}_b = %c0) : (index) -> index {{"
    yield from (line.removeprefix("  " * depth) for line in lines_of(loop.before, depth + 1, answered))
    if answered:
        yield f"  {name}_few = arith.cmpi slt, {name}_b, %c3 : index"
        yield f"  {name}_more = arith.andi {name}_on, {name}_few : i1"
    yield f"  scf.condition({name}_{'more' if answered else 'on'}) {name}_b : index"
    yield "} do {"
    yield f"^bb0({name}: index):"
    yield from (line.removeprefix("  " * depth) for line in lines_of(loop.body, depth + 1, answered))
    yield f"  {name}_next = arith.addi {name}, %c1 : index"
    yield f"  scf.yield {name}_next : index"
    yield "}"


def function_text(name: str, body: list[Statement], answered: bool = False) -> str:
    """A function with arguments %n and %a, %b, %d in global memory around some statements; with %s and %memory if they
    ask memory."""
    constants = [f"    %c{number} = arith.constant {number} : index" for number in NUMBERS]
    constants.append("    %zero = arith.constant 0 : i32")
    tiles = [
        f"    %p{at} = arith.constant {at} : i64\n    %{tile} = pto.alloc_tile addr = %p{at} : !T"
        for tile, at in ADDRESSES.items()
    ]
    slots = ["    %p4096 = arith.constant 4096 : i64", "    %m = pto.alloc_multi_tile addr = %p4096 : !M"]
    view = ["    %dv = pto.make_tensor_view %d, shape = [%c1000, %c64], strides = [%c64, %c1] : !G"]
    lines = list(lines_of(body, answered=answered))
    asks = ", %s: index, %memory: !pto.ptr<i32, gm>" if any("= arith.addi %s, " in line for line in lines) else ""
    arguments = f"%a: !V, %b: !V, %d: !pto.ptr<f32, gm>, %n: index{asks}"
    head = f"  func.func @{name}({arguments}) {{"
    return "\n".join([head, *constants, *tiles, *slots, *view, *lines, "    return", "  }", ""])


def module_text(functions: dict[str, list[Statement]], target: str = "a5", answered: bool = False) -> str:
    texts = "\n".join(function_text(name, body, answered) for name, body in functions.items())
    return f'{HEAD}module attributes {{pto.target_arch = "{target}"}} {{\n{texts}}}\n'


def flag(word: str, source: str, target: str, number: int | str) -> str:
    if isinstance(number, str):
        return f"pto.{word}_flag_dyn[<PIPE_{source}>, <PIPE_{target}>, {number}]"
    return f"pto.{word}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{number}>]"


class Generator:
    """One random function; the same for the same seed. With ``memory`` there are branches and loops on what memory
    gives."""

    def __init__(self, seed: int, memory: bool = False):
        self.random = Random(seed)
        self.memory = memory
        self.names = 0
        self.loops: list[str] = []
        self.last: dict[str, str] = {}

    def function(self) -> list[Statement]:
        body: list[Statement] = []
        for _ in range(self.random.randint(1, 3)):
            body += self.random.choice((self.loop, self.loop, self.works, self.branch))(0)
        return body

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"%{stem}{self.names}"

    # ------------------------------------------------------------ work and order

    def works(self, depth: int) -> list[Statement]:
        result: list[Statement] = []
        for _ in range(self.random.randint(1, 4)):
            result += self.work(self.random.choice(list(ADDRESSES)))
        return result

    def work(self, tile: str, handle: str | None = None) -> list[Statement]:
        """An access of a tile on some pipe, mostly after a flag from the last pipe that has used it."""
        pipe = self.random.choice(PIPES)
        result: list[Statement] = []
        before = self.last.get(tile, pipe)
        if before != pipe and self.random.random() < 0.9:
            result += self.pair(before, pipe)
        self.last[tile] = pipe
        return [*result, self.access(pipe, handle or f"%{tile}")]

    def pair(self, source: str, target: str) -> list[Statement]:
        if self.random.random() < 0.06:
            return ["pto.barrier <PIPE_ALL>"]
        number = self.random.randint(0, 3)
        return [flag("set", source, target, number), flag("wait", source, target, number)]

    def access(self, pipe: str, handle: str) -> str:
        if pipe == "MTE2":
            return f"pto.tload ins(%a : !V) outs({handle} : !T)"
        if pipe == "V":
            source, target = self.random.choice(((handle, handle), (handle, "%y"), ("%z", handle)))
            return f"pto.tadd ins({source}, {source} : !T, !T) outs({target} : !T)"
        if not self.loops:
            return f"pto.tstore ins({handle} : !T) outs(%b : !V)"
        part = self.fresh("part")
        return (
            f"{part} = pto.partition_view %dv, offsets = [{self.loops[-1]}, %c0], sizes = [%c1, %c64] : !G -> !V\n"
            f"pto.tstore ins({handle} : !T) outs({part} : !V)"
        )

    # ------------------------------------------------------------ control flow

    def loop(self, depth: int) -> list[Statement]:
        if self.memory and self.random.random() < 0.4:
            return self.repeat(depth)
        kind = self.random.choice((self.serial, self.token, self.ring, self.ring, self.locked))
        before, upper = self.bound()
        index = self.fresh("i")
        self.loops.append(index)
        step = self.random.choice(("%c1", "%c1", "%c1", "%c2"))
        block = Block(f"scf.for {index} = {self.random.choice(('%c0', '%c0', '%c1'))} to {upper} step {step} {{")
        result = kind(block, depth)
        self.loops.pop()
        return [*before, *result]

    def repeat(self, depth: int) -> list[Statement]:
        """A loop that runs as long as memory says so."""
        name = self.fresh("k")
        block = Repeat(name)
        self.loops.append(f"{name}_b")
        block.before = [*(self.works(depth) if self.random.random() < 0.3 else ()), self.question(f"{name}_on")]
        self.loops[-1] = name
        result = self.random.choice((self.serial, self.serial, self.token, self.locked))(block, depth)
        self.loops.pop()
        return result

    def question(self, name: str) -> Question:
        return Question(name, tuple(self.loops), self.random.randint(0, 7))

    def bound(self) -> tuple[list[Statement], str]:
        outer = [("", self.loops[-1])] if self.loops else []
        name = self.fresh("u")
        text, value = self.random.choice(
            [
                *(("", "%n"), ("", "%n"), ("", "%c3")),
                (f"{name} = arith.minsi %n, %c4 : index", name),
                (f"{name} = arith.subi %n, %c2 : index", name),
                (f"{name} = arith.divsi %n, %c2 : index", name),
                *outer,
            ]
        )
        return ([text] if text else []), value

    def inside(self, depth: int) -> list[Statement]:
        makers: list[Callable[[int], list[Statement]]] = [self.works, self.works, self.works]
        if depth < 1:
            makers += [self.branch, self.loop]
        return self.random.choice(makers)(depth + 1)

    def serial(self, block: Block, depth: int) -> list[Statement]:
        """A loop whose iterations end with flags back, from most pipes to most others."""
        block.body += self.inside(depth)
        for source in PIPES:
            for target in PIPES:
                if source != target and self.random.random() < 0.85:
                    block.body += self.pair(source, target)
        return [block]

    def token(self, block: Block, depth: int) -> list[Statement]:
        """A loop with one token for each of two pipes."""
        source, target = self.random.sample(PIPES, 2)
        number = self.random.randint(4, 7)
        block.body += [flag("wait", source, target, number), *self.inside(depth), flag("set", source, target, number)]
        return [flag("set", source, target, number), block, flag("wait", source, target, number)]

    def ring(self, block: Block, depth: int) -> list[Statement]:
        """A loop over slots of a multi-buffer, with as many ids, or nearly."""
        count = self.random.choice((2, 3))
        ids = count if self.random.random() < 0.8 else 5 - count
        index, slot, event = self.loops[-1], self.fresh("s"), self.fresh("e")
        handle = self.fresh("t")
        block.body += [
            f"{slot} = arith.remui {index}, %c{count} : index",
            f"{event} = arith.remui {index}, %c{ids} : index",
            f"{handle} = pto.multi_tile_get %m[{slot}] : !M -> !T",
            flag("wait", "V", "MTE2", event),
            f"pto.tload ins(%a : !V) outs({handle} : !T)",
            flag("set", "MTE2", "V", event),
            flag("wait", "MTE2", "V", event),
            f"pto.tadd ins({handle}, {handle} : !T, !T) outs(%z : !T)",
            flag("set", "V", "MTE2", event),
        ]
        if self.random.random() < 0.3:
            block.body += self.inside(depth)
        first: list[Statement] = [flag("set", "V", "MTE2", number) for number in range(ids)]
        last: list[Statement] = [flag("wait", "V", "MTE2", number) for number in range(ids)]
        return [*first, block, *last]

    def locked(self, block: Block, depth: int) -> list[Statement]:
        """A loop whose work is enclosed in brackets of buffer ids."""
        for tile in self.random.sample(list(ADDRESSES), 2):
            for pipe in self.random.sample(PIPES, 2):
                number = list(ADDRESSES).index(tile)
                bracket: list[Statement] = [f'pto.get_buf "PIPE_{pipe}", {number}, 0', self.access(pipe, f"%{tile}")]
                block.body += [*bracket, f'pto.rls_buf "PIPE_{pipe}", {number}, 0']
        return [block]

    def branch(self, depth: int) -> list[Statement]:
        value = self.loops[-1] if self.loops and self.random.random() < 0.7 else "%n"
        rest, condition = self.fresh("r"), self.fresh("is")
        if self.memory and self.random.random() < 0.6:
            asked = self.question(condition)
            branch = Block(f"scf.if {condition} {{", self.inside(depth))
            # What the same answer decides again may belong together.
            again = [Block(f"scf.if {condition} {{", self.inside(depth))] if self.random.random() < 0.2 else []
            return [asked, branch, *again]
        limit = self.random.choice(("%c0", "%c1", "%c2", "%c3"))
        if self.random.random() < 0.5:
            tests: list[Statement] = [
                f"{rest} = arith.remui {value}, %c2 : index",
                f"{condition} = arith.cmpi eq, {rest}, %c0 : index",
            ]
        else:
            predicate = self.random.choice(("slt", "sgt", "eq", "ne"))
            tests = [f"{condition} = arith.cmpi {predicate}, {value}, {limit} : index"]
        return [*tests, Block(f"scf.if {condition} {{", self.inside(depth))]


def places_of(body: list[Statement]) -> Iterator[tuple[list[Statement], int]]:
    """Every statement: the list that has it, and its index."""
    for index, statement in enumerate(body):
        yield body, index
        if isinstance(statement, Repeat):
            yield from places_of(statement.before)
        if isinstance(statement, Block):
            yield from places_of(statement.body)


def is_signal(statement: Statement) -> bool:
    return isinstance(statement, str) and any(word in statement for word in ("_flag", "_buf ", "barrier"))


def damaged(body: list[Statement], random: Random) -> None:
    """Deletes, moves or exchanges one signal."""
    places = [(owner, index) for owner, index in places_of(body) if is_signal(owner[index])]
    if not places:
        return
    owner, index = random.choice(places)
    statement = owner.pop(index)
    if "%" not in str(statement) and random.random() < 0.5:
        owner.insert(random.randint(0, len(owner)), statement)
