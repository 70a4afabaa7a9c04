"""Random functions with structured control flow: as LLVM IR, and evaluated in Python.

Registers are 32-bit numbers. In the IR, every block has a phi for every register, so that any shape of control flow
occurs with all kinds of values that enter, leave and cross it.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

REGISTERS = 5
STORES = 8
_FUEL = 60
_OPERATIONS = {"add": "+", "sub": "-", "mul": "*", "xor": "^", "and": "&", "or": "|"}
_PREDICATES = ("slt", "sle", "sgt", "eq", "ne", "ult", "uge")
Statement = tuple[Any, ...]


def random_body(chance: random.Random, depth: int = 0, in_loop: bool = False) -> list[Statement]:
    """Statements of a block."""
    return [_statement(chance, depth, in_loop) for _ in range(chance.randint(1, 4))]


def _condition(chance: random.Random) -> Statement:
    return chance.choice(_PREDICATES), chance.randrange(REGISTERS), chance.choice((0, 1, 7, -3, chance.randrange(99)))


def _statement(chance: random.Random, depth: int, in_loop: bool) -> Statement:
    kind = chance.randrange(12)
    if kind < 2 and depth < 3:
        otherwise = random_body(chance, depth + 1, in_loop) if chance.random() < 0.5 else []
        return "if", _condition(chance), random_body(chance, depth + 1, in_loop), otherwise
    if kind < 5 and depth < 3:
        low, high = chance.choice((0, 0, 2)), chance.choice((("register", chance.randrange(REGISTERS)), ("number", 5)))
        bounds = low, high, chance.choice((1, 1, 2, 3)), chance.choice((True, False))
        return "for", depth, bounds, random_body(chance, depth + 1, True)
    if kind == 5 and depth < 3:
        return "while", _condition(chance), random_body(chance, depth + 1, True)
    if kind == 6 and in_loop:
        return "if", _condition(chance), [(chance.choice(("break", "continue")),)], []
    if kind == 7 and depth:
        return "if", _condition(chance), [("return",)], []
    if kind < 10:
        operands = chance.randrange(REGISTERS), chance.choice((chance.randrange(REGISTERS), None))
        return "set", chance.randrange(REGISTERS), chance.choice(list(_OPERATIONS)), *operands, chance.randint(-9, 9)
    return "store", chance.randrange(STORES), chance.randrange(REGISTERS)


# -------------------------------------------------------------------- evaluation


class _Left(Exception):
    """A break, continue or return."""


def signed(number: int) -> int:
    """The low 32 bits as a signed number."""
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def evaluate(body: list[Statement], arguments: list[int]) -> list[int]:
    """What a function stores."""
    state = _State([*arguments, *[0] * (REGISTERS - len(arguments))])
    with suppress(_Left):
        state.run(body)
    return state.stores


@dataclass
class _State:
    registers: list[int]
    stores: list[int] = field(default_factory=lambda: [0] * STORES)
    fuel: int = _FUEL

    def holds(self, condition: Statement) -> bool:
        predicate, register, number = condition
        a, b = self.registers[register], number
        if predicate[0] == "u":
            a, b = a & 0xFFFFFFFF, b & 0xFFFFFFFF
        return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[predicate[-2:]]

    def run(self, body: list[Statement]) -> None:
        for statement in body:
            getattr(self, f"_{statement[0]}")(*statement[1:])

    def _set(self, target: int, operation: str, left: int, right: int | None, number: int) -> None:
        a, b = self.registers[left], number if right is None else self.registers[right]
        results = {"add": a + b, "sub": a - b, "mul": a * b, "xor": a ^ b, "and": a & b, "or": a | b}
        self.registers[target] = signed(results[operation])

    def _store(self, index: int, register: int) -> None:
        self.stores[index] = self.registers[register]

    def _if(self, condition: Statement, then: list[Statement], otherwise: list[Statement]) -> None:
        self.run(then if self.holds(condition) else otherwise)

    def _while(self, condition: Statement, body: list[Statement]) -> None:
        while self.holds(condition) and self.fuel > 0:
            self.fuel -= 1
            if not self._again(body):
                return

    def _for(self, depth: int, bounds: Statement, body: list[Statement]) -> None:
        low, high, step, is_counter_read = bounds
        end = high[1] if high[0] == "number" else self.registers[high[1]] & 7
        for counter in range(low, end, step):
            if is_counter_read:
                self.registers[depth] = counter
            if not self._again(body):
                return

    def _again(self, body: list[Statement]) -> bool:
        try:
            self.run(body)
        except _Left as left:
            if left.args[0] == "return":
                raise
            return left.args[0] == "continue"
        return True

    def _break(self) -> None:
        raise _Left("break")

    def _continue(self) -> None:
        raise _Left("continue")

    def _return(self) -> None:
        raise _Left("return")


# -------------------------------------------------------------------- LLVM IR


@dataclass
class _Block:
    name: str
    lines: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    before: list[_Block] = field(default_factory=list)
    after: list[_Block] = field(default_factory=list)
    is_ended: bool = False


class _Builder:
    """Writes the blocks of a function."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.blocks: list[_Block] = []
        self.count = 0

    def block(self) -> _Block:
        block = _Block(f"b{len(self.blocks)}")
        block.values = {name: f"%{name}.{block.name}" for name in self.names}
        self.blocks.append(block)
        return block

    def fresh(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def emit(self, block: _Block, text: str) -> str:
        name = self.fresh()
        block.lines.append(f"{name} = {text}")
        return name

    def jump(self, block: _Block, *targets: _Block, condition: str = "") -> None:
        if block.is_ended:
            return
        block.is_ended = True
        for target in targets:
            target.before.append(block)
            block.after.append(target)
        labels = ", ".join(f"label %{target.name}" for target in targets)
        block.lines.append(f"br i1 {condition}, {labels}" if condition else f"br {labels}")

    def test(self, block: _Block, condition: Statement) -> str:
        predicate, register, number = condition
        return self.emit(block, f"icmp {predicate} i32 {block.values[f'r{register}']}, {number}")


def to_llvm(body: list[Statement], arguments: int) -> str:
    """The function ``k`` of statements: it stores into its first argument."""
    names = [*(f"r{i}" for i in range(REGISTERS)), "fuel", *(f"c{i}" for i in range(4))]
    builder = _Builder(names)
    entry, end = _Block("entry"), _Block("end")
    entry.values = {name: "0" for name in names} | {"fuel": str(_FUEL)}
    entry.values |= {f"r{i}": f"%a{i}" for i in range(arguments)}
    entry.lines.append("store i32 0, ptr %out, align 4")
    first = builder.block()
    builder.jump(entry, first)
    last = _write(builder, body, first, (end, end), end)
    builder.jump(last, end)
    parameters = ", ".join(["ptr %out", *(f"i32 %a{i}" for i in range(arguments))])
    lines = [f"define void @k({parameters}) {{", "entry:", *entry.lines]
    reached: set[str] = {"entry"}
    pending = [entry]
    while pending:
        for following in pending.pop().after:
            if following.name not in reached:
                reached.add(following.name)
                pending.append(following)
    for block in builder.blocks:
        if block.name not in reached:
            continue
        lines.append(f"{block.name}:")
        for name in names:
            edges = ", ".join(f"[ {one.values[name]}, %{one.name} ]" for one in block.before if one.name in reached)
            lines.append(f"  %{name}.{block.name} = phi i32 {edges}")
        lines += [f"  {line}" for line in block.lines]
    return "\n".join([*lines, "end:", "  ret void", "}"])


def _write(builder: _Builder, body: list[Statement], block: _Block, loop: tuple[_Block, _Block], end: _Block) -> _Block:
    """Writes statements; returns the block after them."""
    for statement in body:
        kind = statement[0]
        if kind == "set":
            _, target, operation, left, right, number = statement
            operand = number if right is None else block.values[f"r{right}"]
            block.values[f"r{target}"] = builder.emit(block, f"{operation} i32 {block.values[f'r{left}']}, {operand}")
        elif kind == "store":
            pointer = builder.emit(block, f"getelementptr inbounds i32, ptr %out, i64 {statement[1]}")
            block.lines.append(f"store i32 {block.values[f'r{statement[2]}']}, ptr {pointer}, align 4")
        elif kind == "if":
            block = _write_if(builder, statement, block, loop, end)
        elif kind in ("for", "while"):
            block = (_write_for if kind == "for" else _write_while)(builder, statement, block, end)
        else:
            builder.jump(block, {"break": loop[1], "continue": loop[0], "return": end}[kind])
            block = builder.block()
    return block


def _write_if(
    builder: _Builder, statement: Statement, block: _Block, loop: tuple[_Block, _Block], end: _Block
) -> _Block:
    then, otherwise, behind = builder.block(), builder.block(), builder.block()
    builder.jump(block, then, otherwise, condition=builder.test(block, statement[1]))
    builder.jump(_write(builder, statement[2], then, loop, end), behind)
    builder.jump(_write(builder, statement[3], otherwise, loop, end), behind)
    return behind


def _write_while(builder: _Builder, statement: Statement, block: _Block, end: _Block) -> _Block:
    header, body, latch, behind = (builder.block() for _ in range(4))
    builder.jump(block, header)
    wanted = builder.test(header, statement[1])
    has_fuel = builder.emit(header, f"icmp sgt i32 {header.values['fuel']}, 0")
    both = builder.emit(header, f"and i1 {wanted}, {has_fuel}")
    builder.jump(header, body, behind, condition=both)
    body.values["fuel"] = builder.emit(body, f"sub i32 {body.values['fuel']}, 1")
    builder.jump(_write(builder, statement[2], body, (latch, behind), end), latch)
    builder.jump(latch, header)
    return behind


def _write_for(builder: _Builder, statement: Statement, block: _Block, end: _Block) -> _Block:
    """Writes a counted loop as compilers do: a test before it and one at its end."""
    _, depth, (low, high, step, is_counter_read), inner = statement
    name = f"c{depth}"
    body, latch, behind = builder.block(), builder.block(), builder.block()
    bound = str(high[1])
    if high[0] == "register":
        bound = builder.emit(block, f"and i32 {block.values[f'r{high[1]}']}, 7")
    block.values[name] = str(low)
    builder.jump(block, body, behind, condition=builder.emit(block, f"icmp slt i32 {low}, {bound}"))
    if is_counter_read:
        body.values[f"r{depth}"] = body.values[name]
    builder.jump(_write(builder, inner, body, (latch, behind), end), latch)
    latch.values[name] = builder.emit(latch, f"add nuw nsw i32 {latch.values[name]}, {step}")
    builder.jump(latch, body, behind, condition=builder.emit(latch, f"icmp slt i32 {latch.values[name]}, {bound}"))
    return behind
