"""The numbers of a function as expressions of its arguments and of the iterations of its loops.

Source: docs/reference/core-dialects.md, "Numbers"; docs/reference/order-proof.md, "Numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from pto_dialect.analysis.arithmetic import FOLDS
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.launcher_arguments import LAUNCHER_VALUES
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if

from .expressions import (
    FALSE,
    TRUE,
    Choice,
    Condition,
    Expr,
    Ordinal,
    Quotient,
    Symbol,
    UnknownValueError,
    Values,
    Varying,
    at_least,
    both,
    choose,
    either,
    equal,
    evaluate,
    is_natural,
    less,
    negated,
    symbol,
    symbols_of,
)

_QUERIES: dict[str, tuple[str, int, int | None, str]] = {
    "pto.get_block_idx": ("block_idx", 0, None, "block_num"),
    "pto.get_block_num": ("block_num", 1, None, ""),
    "pto.get_subblock_idx": ("subblock_idx", 0, 1, ""),
    "pto.get_subblock_num": ("subblock_num", 1, 2, ""),
}
"""Operations that query a number of the launch: its name, its bounds, and the number that it is less than."""
LAUNCH_NAMES = frozenset(row[0] for row in _QUERIES.values())
"""The names of these numbers."""
_LAUNCHER = {"block": "pto.get_block_idx", "count": "pto.get_block_num", "subblock": "pto.get_subblock_idx"}
"""The same numbers where a launcher passes them as arguments."""
_IN_BLOCK = {"pto.get_subblock_idx": (0, 0, 1), "pto.get_subblock_num": (2, 2, 2)}
"""Those that differ between the cores of a block, for each of them."""
_NARROW = 32
"""Bits of the narrowest integers whose sums and casts do not wrap around."""


def width_of(kind: Attribute) -> int:
    """Returns the bits of an integer type; 64 of an index, 0 of other types."""
    return kind.width.data if isinstance(kind, IntegerType) else 64 if isinstance(kind, IndexType) else 0


class Launch:
    """The symbols of one function: arguments, numbers of the launch, and what depends on neither."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.core: int | None = None
        """The number of the core of a block that is read: 0 is the cube core."""
        self._named: dict[Hashable, Symbol] = {}
        self._names: set[str] = set()

    def symbol(self, key: Hashable, name: str, low: int | None = None, high: int | None = None) -> Symbol:
        """Returns the symbol that a caller chooses for ``key``."""
        return self._find(key, lambda: Symbol(self._free(name), low, high))

    def query(self, name: str) -> Symbol:
        """Returns the number of the launch that an operation queries."""
        text, low, high, below = _QUERIES[name]
        larger = self.query(f"pto.get_{below}") if below else None
        return self._find(name, lambda: Symbol(text, low, high, larger))

    def unknown(self, key: Hashable, name: str, low: int | None = None, high: int | None = None) -> Symbol:
        """Returns a number that does not change and of which nothing else is known."""
        return self._find(key, lambda: Symbol(self._free(name), low, high, given=False))

    def derived(
        self, key: Hashable, name: str, meaning: Callable[[Values], int | None], sources: tuple[Expr, ...]
    ) -> Symbol:
        """Returns a number that follows from others in a way that sets cannot express."""
        return self._find(key, lambda: Symbol(self._free(name), given=False, meaning=meaning, sources=sources))

    def _find(self, key: Hashable, make: Callable[[], Symbol]) -> Symbol:
        found = self._named.get(key)
        if found is None:
            found = self._named[key] = make()
            self.symbols.append(found)
        return found

    def _free(self, name: str) -> str:
        text, count = name, 1
        while text in self._names:
            count += 1
            text = f"{name}_{count}"
        self._names.add(text)
        return text


def _queried(launch: Launch, name: str) -> Expr:
    """Returns the number of the launch that an operation queries, on the core that is read."""
    if launch.core is not None and name in _IN_BLOCK:
        return Expr(_IN_BLOCK[name][launch.core])
    return symbol(launch.query(name))


class Numbers:
    """The numbers of one function body; ``loops`` is how many loops surround it where it is called, by ``calls``."""

    def __init__(self, launch: Launch, loops: int = 0, calls: tuple[Operation, ...] = ()) -> None:
        self.launch = launch
        self.loops = loops
        self.calls = calls
        self._known: dict[SSAValue, Expr | None] = {}
        self._conditions: dict[SSAValue, Condition | None] = {}
        self._bound: set[SSAValue] = set()

    def bind(self, value: SSAValue, number: Expr | None) -> None:
        """States the number of a value that no operation defines."""
        self._known[value] = number
        self._bound.add(value)

    def copy(self) -> Self:
        """Returns another object that knows as much."""
        other = type(self)(self.launch, self.loops, self.calls)
        other._known, other._conditions = dict(self._known), dict(self._conditions)
        other._bound = set(self._bound)
        return other

    def outside(self, op: Operation) -> Self:
        """Returns another object that knows as much, but nothing of the values inside of ``op``."""
        other = self.copy()
        blocks = [block for inner in walk(op) for region in inner.regions for block in region.blocks]
        inside = {value for block in blocks for one in block.ops for value in one.results}
        for value in inside.union(*(block.args for block in blocks)):
            other._known.pop(value, None)
            other._conditions.pop(value, None)
            other._bound.discard(value)
        return other

    # ------------------------------------------------------------ numbers

    def number(self, value: SSAValue) -> Expr | None:
        """Returns the expression of an integer; ``None`` where nothing is known."""
        if value not in self._known:
            self._known[value] = None
            self._known[value] = self._compute(value)
        return self._known[value]

    def _compute(self, value: SSAValue) -> Expr | None:
        if width_of(value.type) == 1:
            condition = self.condition(value)
            return None if condition is None else choose(condition, Expr(1), Expr(0))
        constant = constant_of(value)
        if constant is not None:
            return Expr(int(constant)) if isinstance(constant, int) else None
        op = value.owner
        if isinstance(op, Block) or not isinstance(value, OpResult):
            return None
        if op.name in _QUERIES:
            return _queried(self.launch, op.name)
        if is_if(op):
            return self._chosen(op, value.index)
        if is_for(op):
            return self._after(op, value.index)
        if has_role(op, Role.SCALAR) and len(op.results) == 1:
            return self._scalar(op, value)
        return self._unknown(value)

    def _unknown(self, value: SSAValue) -> Expr | None:
        """Returns a number that memory or the machine gives: one symbol for each call, where no loop surrounds it."""
        width = width_of(value.type)
        if not width or self._in_loop(value):
            return None
        key = (value, self.calls, self.launch.core)
        return symbol(self.launch.unknown(key, value.name_hint or "value", *((0, 1) if width == 1 else ())))

    def _in_loop(self, value: SSAValue) -> bool:
        if self.loops:
            return True
        op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        while op is not None and not has_role(op, Role.FUNCTION):
            if has_role(op, Role.LOOP):
                return True
            op = op.parent_op()
        return False

    def _chosen(self, op: Operation, index: int) -> Expr | None:
        """Returns a result of a branch."""
        condition = self.condition(op.operands[0])
        ends = [region.block.last_op for region in op.regions if region.blocks]
        if condition is None or len(ends) < 2 or None in ends:
            return None
        yes, no = (self.number(end.operands[index]) for end in ends if end is not None)
        return None if yes is None or no is None else choose(condition, yes, no)

    def _after(self, op: Operation, index: int) -> Expr | None:
        """Returns a result of a loop; see :class:`pto_dialect.prove.carried.LoopNumbers`."""
        return self._unknown(op.results[index])

    # ------------------------------------------------------------ arithmetic

    def _scalar(self, op: Operation, value: SSAValue) -> Expr | None:
        name = op.name
        if name == "arith.select":
            condition = self.condition(op.operands[0])
            yes, no = self.number(op.operands[1]), self.number(op.operands[2])
            return None if condition is None or yes is None or no is None else choose(condition, yes, no)
        parts = [self.number(operand) for operand in op.operands]
        if not parts or any(part is None for part in parts):
            return self._unknown(value) if parts else None
        known = [part for part in parts if part is not None]
        width, narrow = width_of(op.operands[0].type), width_of(value.type)
        if name == "arith.index_castui" and narrow <= width:
            # The bits stay, or the upper ones go.
            name = "arith.index_cast"
        result = _combined(name.partition(".")[2], known, width)
        if result is None:
            result = self._folded(op, known)
        if result is None or not result.terms or narrow > width:
            return result
        if narrow < _NARROW or (name in _GROWING and _is_large(result, 1 << (narrow - 2))):
            return _wrapped(result, narrow)
        return result

    def _folded(self, op: Operation, parts: list[Expr]) -> Expr | None:
        fold = FOLDS.get(op.name)
        if fold is None or len(parts) != 2:
            return self._unknown(op.results[0])
        one, other = parts

        def meaning(values: Values) -> int | None:
            try:
                return fold(evaluate(one, values), evaluate(other, values))
            except UnknownValueError:
                return None

        name = op.results[0].name_hint or op.name.partition(".")[2]
        if any(isinstance(each, (Ordinal, Varying)) for part in parts for each in symbols_of(part)):
            return symbol(Varying(name, given=False, meaning=meaning, sources=(one, other)))
        return symbol(self.launch.derived((op.name, one, other), name, meaning, (one, other)))

    # ------------------------------------------------------------ conditions

    def condition(self, value: SSAValue) -> Condition | None:
        """Returns what a truth value means; ``None`` where nothing is known."""
        if value not in self._conditions:
            self._conditions[value] = None
            self._conditions[value] = self._decide(value)
        return self._conditions[value]

    def _decide(self, value: SSAValue) -> Condition | None:
        op = value.owner
        if value in self._bound:
            known = self._known[value]
            return None if known is None else at_least(known, 1)
        if isinstance(op, Block):
            return None
        attribute = op.properties.get("value") if has_role(op, Role.CONSTANT) else None
        if isinstance(attribute, IntegerAttr):
            return TRUE if attribute.value.data else FALSE
        if has_role(op, Role.COMPARISON):
            return self._compared(op)
        logic = {"arith.andi": both, "arith.ori": either}.get(op.name)
        if logic is not None or op.name == "arith.xori":
            one, other = (self.condition(operand) for operand in op.operands)
            if one is None or other is None:
                return FALSE if logic is both and FALSE in (one, other) else None
            if logic is not None:
                return logic(one, other)
            return either(both(one, negated(other)), both(negated(one), other))
        if op.name == "arith.select":
            chosen, yes, no = (self.condition(operand) for operand in op.operands)
            if chosen is None or yes is None or no is None:
                return None
            return either(both(chosen, yes), both(negated(chosen), no))
        if op.name == "arith.trunci":
            number = self.number(op.operands[0])
            return None if number is None else equal(number.modulo(2), 1)
        if is_if(op) and isinstance(value, OpResult):
            return self._chosen_condition(op, value.index)
        unknown = self._unknown(value)
        return None if unknown is None else at_least(unknown, 1)

    def _chosen_condition(self, op: Operation, index: int) -> Condition | None:
        chosen = self.condition(op.operands[0])
        ends = [region.block.last_op for region in op.regions if region.blocks]
        if chosen is None or len(ends) < 2 or None in ends:
            return None
        yes, no = (self.condition(end.operands[index]) for end in ends if end is not None)
        return None if yes is None or no is None else either(both(chosen, yes), both(negated(chosen), no))

    def _compared(self, op: Operation) -> Condition | None:
        attribute = op.properties.get("predicate")
        if width_of(op.operands[0].type) == 0 or not isinstance(attribute, IntegerAttr):
            return None
        one, other = (self.number(operand) for operand in op.operands)
        if one is None or other is None:
            return self._decide_unknown(op)
        number = attribute.value.data
        width = width_of(op.operands[0].type)
        if number < _FIRST_UNSIGNED:
            one, other = _signed(one, width), _signed(other, width)
        else:
            one, other = _unsigned(one, width), _unsigned(other, width)
            number -= _FIRST_UNSIGNED - 2
        return _COMPARISONS[number](one, other)

    def _decide_unknown(self, op: Operation) -> Condition | None:
        unknown = self._unknown(op.results[0])
        return None if unknown is None else at_least(unknown, 1)


_FIRST_UNSIGNED = 6
_COMPARISONS: tuple[Callable[[Expr, Expr], Condition], ...] = (
    equal,
    lambda one, other: negated(equal(one, other)),
    less,
    lambda one, other: at_least(other, one),
    lambda one, other: less(other, one),
    at_least,
)
"""By the number of the predicate of ``arith.cmpi``; unsigned ones follow those from ``slt`` on."""


def _unsigned(one: Expr, width: int) -> Expr:
    """A number read as unsigned."""
    if is_natural(one):
        return one
    return choose(at_least(one, 0), one, one.plus(1 << width))


def _signed(one: Expr, width: int) -> Expr:
    """A number read with a sign; of one bit, 1 is -1."""
    return one.times(-1) if width == 1 else one


_GROWING = frozenset(("arith.addi", "arith.subi", "arith.muli", "arith.shli"))
"""Operations whose results wrap around where an operand is a negative number read as unsigned."""


def _is_large(one: Expr, limit: int) -> bool:
    """Returns whether a constant in an expression is ``limit`` or more, as in negative numbers read as unsigned."""
    return abs(one.constant) >= limit or any(
        _is_large(atom.dividend, limit)
        if isinstance(atom, Quotient)
        else isinstance(atom, Choice) and (_is_large(atom.yes, limit) or _is_large(atom.no, limit))
        for atom, _ in one.terms
    )


def _wrapped(one: Expr, width: int) -> Expr:
    """Returns a number in the signed range of a narrow type."""
    half = 1 << (width - 1)
    return one.plus(half).modulo(2 * half).minus(half)


def _divided(one: Expr, divisor: int) -> Expr:
    """Returns a signed division that rounds to zero."""
    if is_natural(one):
        return one.over(divisor)
    return choose(at_least(one, 0), one.over(divisor), one.times(-1).over(divisor).times(-1))


def _combined(name: str, parts: list[Expr], width: int) -> Expr | None:
    """Returns the result of an operation of ``arith``; ``None`` where sets cannot express it."""
    one, other = parts[0], parts[-1]
    if len(parts) == 1:
        return _CASTS[name](one, width) if name in _CASTS else None
    if len(parts) != 2:
        return None
    if name in _SYMMETRIC:
        return _SYMMETRIC[name](one, other, width)
    if name == "muli":
        return (
            one.times(other.constant)
            if other.value is not None
            else (other.times(one.constant) if one.value is not None else None)
        )
    number = other.value
    if number is None:
        if name == "andi" and one.value is not None:
            return _combined(name, [other, one], width)
        return None
    if number == 0 and name in ("shli", "shrsi", "shrui"):
        return one
    if number <= 0 or (name.startswith("sh") and number >= 64):
        return None
    return _BY_CONSTANT[name](one, number, width) if name in _BY_CONSTANT else None


_CASTS: dict[str, Callable[[Expr, int], Expr]] = {
    "index_cast": _signed,
    "extsi": _signed,
    "trunci": lambda one, width: one,
    "index_castui": _unsigned,
    "extui": _unsigned,
}
_SYMMETRIC: dict[str, Callable[[Expr, Expr, int], Expr]] = {
    "addi": lambda one, other, width: one.plus(other),
    "subi": lambda one, other, width: one.minus(other),
    "minsi": lambda one, other, width: choose(at_least(other, one), one, other),
    "maxsi": lambda one, other, width: choose(at_least(one, other), one, other),
    "minui": lambda one, other, width: choose(at_least(_unsigned(other, width), _unsigned(one, width)), one, other),
    "maxui": lambda one, other, width: choose(at_least(_unsigned(one, width), _unsigned(other, width)), one, other),
}


def _masked(one: Expr, mask: int, width: int) -> Expr | None:
    return one.modulo(mask + 1) if not mask & (mask + 1) else None


_BY_CONSTANT: dict[str, Callable[[Expr, int, int], Expr | None]] = {
    "divsi": lambda one, by, width: _divided(one, by),
    "remsi": lambda one, by, width: one.minus(_divided(one, by).times(by)),
    "floordivsi": lambda one, by, width: one.over(by),
    "ceildivsi": lambda one, by, width: one.times(-1).over(by).times(-1),
    "divui": lambda one, by, width: one if by == 1 else _unsigned(one, width).over(by),
    "remui": lambda one, by, width: _unsigned(one, width).modulo(by),
    "ceildivui": lambda one, by, width: one if by == 1 else _unsigned(one, width).plus(by - 1).over(by),
    "shli": lambda one, by, width: one.times(1 << by),
    "shrsi": lambda one, by, width: one.over(1 << by),
    "shrui": lambda one, by, width: _unsigned(one, width).over(1 << by),
    "andi": _masked,
}


def bind_arguments(numbers: Numbers, args: Sequence[SSAValue]) -> None:
    """Gives each integer argument of a function a symbol."""
    for position, value in enumerate(args):
        width = width_of(value.type)
        if width:
            known = _LAUNCHER.get(LAUNCHER_VALUES.get((value.name_hint or "").rpartition(".")[2], ""))
            if known is not None and width > 1:
                numbers.bind(value, _queried(numbers.launch, known))
                continue
            half = 1 << (width - 1)
            low, high = (0, 1) if width == 1 else (-half, half - 1)
            made = numbers.launch.symbol(value, value.name_hint or f"arg{position}", low, high)
            numbers.bind(value, symbol(made))


def launch_facts(symbols: Sequence[Symbol]) -> Iterator[Condition]:
    """Yields what holds for symbols in each launch."""
    for one in symbols:
        if one.low is not None:
            yield at_least(symbol(one), one.low)
        if one.high is not None:
            yield at_least(Expr(one.high), symbol(one))
        if one.below is not None:
            yield less(symbol(one), symbol(one.below))
