"""Counted loops: the counter, its bounds and step, from a loop's header and the condition at its end."""

from __future__ import annotations

from collections.abc import Iterator

from ...llvm.model import Constant, Function, Instruction, Operand, Value
from ..linear import Linear, low_bits, width_of
from .cfg import ControlFlow, NaturalLoop
from .tree import Counted

_NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt",
}  # fmt: skip
_SWAPPED = {
    "slt": "sgt",
    "sgt": "slt",
    "sle": "sge",
    "sge": "sle",
    "ult": "ugt",
    "ugt": "ult",
    "ule": "uge",
    "uge": "ule",
}
_MAX_CONDITIONS = 8
"""Conditions on the way to a loop that are compared with its bounds."""


def find_counted(function: Function, flow: ControlFlow) -> dict[str, Counted]:
    """Returns the counted loops by header."""
    finder = _Finder(function, flow)
    found: dict[str, Counted] = {}
    for header, loop in flow.loops.items():
        counted = finder.find(loop)
        if counted is not None:
            found[header] = counted
    return found


class _Finder:
    def __init__(self, function: Function, flow: ControlFlow) -> None:
        self.function = function
        self.flow = flow
        self.blocks_of: dict[Value, str] = {}
        for name in flow.order:
            for instruction in function.blocks[name].instructions:
                self.blocks_of[instruction] = name

    def find(self, loop: NaturalLoop) -> Counted | None:
        """Returns the bounds of a loop with one latch that alone leaves it, ``None`` for other loops."""
        if len(loop.latches) != 1 or self.flow.innermost[loop.latches[0]] is not loop:
            return None
        latch = self.function.blocks[loop.latches[0]].terminator
        leaving = [n for n in loop.blocks if any(t not in loop.blocks for t in self.flow.successors[n])]
        if leaving != loop.latches or latch.opcode != "br" or len(latch.labels) != 2:
            return None
        condition = latch.operands[0]
        if not isinstance(condition, Instruction) or condition.opcode != "icmp":
            return None
        stays = condition.word if latch.labels[0] == loop.header else _NEGATED[condition.word]
        left, right = condition.operands
        if self._is_invariant(left, loop):
            left, right, stays = right, left, _SWAPPED.get(stays, stays)
        if "samesign" in condition.flags:
            stays = stays.replace("u", "s", 1) if stays[0] == "u" else stays
        if not self._is_invariant(right, loop) or not isinstance(left, Value):
            return None
        for phi in self.function.blocks[loop.header].instructions:
            if phi.opcode != "phi":
                return None
            counted = self._with_counter(loop, phi, latch, condition, stays, left, right)
            if counted is not None:
                return counted
        return None

    def _is_invariant(self, operand: Operand, loop: NaturalLoop) -> bool:
        return not isinstance(operand, Value) or self.blocks_of.get(operand, "") not in loop.blocks

    def _with_counter(
        self,
        loop: NaturalLoop,
        phi: Instruction,
        latch: Instruction,
        condition: Instruction,
        stays: str,
        left: Value,
        bound: Operand,
    ) -> Counted | None:
        """Returns the bounds if ``phi`` is the counter that ``left``, compared with ``bound``, is made of."""
        width = width_of(phi.type)
        if width is None or width_of(left.type) != width:
            return None
        entries = {o for o, label in zip(phi.operands, phi.labels, strict=True) if label not in loop.blocks}
        following = phi.operands[phi.labels.index(loop.latches[0])]
        if len(entries) != 1 or not isinstance(following, Instruction):
            return None
        step = self._step(loop, phi, following, width)
        if step is None:
            return None
        tested = low_bits(left, width) - low_bits(phi, width)
        steps_ahead = 1 if left is following else 0 if tested.is_constant else None
        if steps_ahead is None:
            return None
        offset = 0 if left is following else _signed(tested.constant, width)
        amount = _number(step)
        if amount == 0 or (amount is None and offset):
            return None
        if amount is not None and offset == amount:
            steps_ahead, offset = 1, 0
        is_down = amount < 0 if amount is not None else stays in ("sgt", "sge", "ugt", "uge")
        return self._bounds(
            loop, phi, next(iter(entries)), bound, step, stays, is_down, 1 - steps_ahead, -offset, latch, following
        )

    def _step(self, loop: NaturalLoop, phi: Instruction, following: Instruction, width: int) -> Operand | None:
        """Returns what each iteration adds to ``phi``, if it is a constant or a value from outside the loop."""
        if following.opcode == "add" and phi in following.operands:
            other = following.operands[1] if following.operands[0] is phi else following.operands[0]
            if self._is_invariant(other, loop):
                return other
        difference = low_bits(following, width) - low_bits(phi, width)
        difference = self._with_equal_phis(loop, phi, difference, width)
        if difference.is_constant:
            return Constant(phi.type, _signed(difference.constant, width))
        atoms = list(difference.terms.items())
        if len(atoms) == 1 and difference.constant == 0 and atoms[0][1] == 1:
            value = atoms[0][0]
            return value if self._is_invariant(value, loop) else None
        return None

    def _with_equal_phis(self, loop: NaturalLoop, phi: Instruction, form: Linear, width: int) -> Linear:
        """Replaces other phis of the header whose low bits always equal those of ``phi``."""
        for other in list(form.terms):
            if isinstance(other, Instruction) and other.opcode == "phi" and self.blocks_of[other] == loop.header:
                changed = form.replace(other, phi)
                if other is not phi and self._are_equal(phi, other, width):
                    form = changed
        return form

    def _are_equal(self, phi: Instruction, other: Instruction, width: int) -> bool:
        """Returns whether the low bits of two phis are equal on entry, and remain so."""
        if set(phi.labels) != set(other.labels):
            return False
        for operand, label in zip(phi.operands, phi.labels, strict=True):
            mine = low_bits(operand, width)
            theirs = low_bits(other.operands[other.labels.index(label)], width)
            if mine.replace(phi, other) != theirs.replace(phi, other):
                return False
        return True

    def _bounds(
        self,
        loop: NaturalLoop,
        phi: Instruction,
        lower: Operand,
        upper: Operand,
        step: Operand,
        stays: str,
        is_down: bool,
        shift: int,
        addend: int,
        latch: Instruction,
        following: Instruction,
    ) -> Counted | None:
        """Returns the bounds; ``stays`` is the predicate between counter and ``upper`` by which the loop continues."""
        width = width_of(phi.type) or 64
        is_signed = stays[0] != "u" or width == 64
        if stays == "eq":
            return None
        if stays == "ne":
            amount = _number(step)
            never_wraps = width == 64 or "nsw" in following.flags or "nuw" in following.flags
            if not never_wraps and not _is_between(lower, upper, amount):
                return None
            if amount not in (1, -1) and not _divides(lower, upper, amount, addend, shift):
                return None
            is_signed = width == 64 or "nsw" in following.flags or "nuw" not in following.flags
        elif (stays[1] == "g") != is_down:
            return None
        else:
            addend += {"slt": 0, "ult": 0, "sle": 1, "ule": 1, "sgt": 0, "ugt": 0, "sge": -1, "uge": -1}[stays]
        amount = _number(step)
        if shift and amount is not None:
            shift, addend = 0, addend + amount
        number = _number(upper)
        if number is not None:
            upper, addend = Constant(phi.type, number + addend), 0
        counted = Counted(phi, lower, upper, step, shift, addend, is_down, is_signed, latch)
        counted.is_entered = stays == "ne" or _constant_entry(counted)
        self._compare_conditions(loop, counted)
        return counted

    def _compare_conditions(self, loop: NaturalLoop, counted: Counted) -> None:
        """Looks for a condition on the way to the loop that states that the bounds give an iteration."""
        for condition, is_true in self._conditions(loop.header):
            relation = compare(condition, is_true, counted)
            if relation is not None:
                counted.is_entered = True
                counted.guard = condition if relation else None
                return

    def _conditions(self, name: str) -> Iterator[tuple[Instruction, bool]]:
        """Yields the conditions, with their values, of branches that lead to a block."""
        for _ in range(_MAX_CONDITIONS):
            before = self.flow.dominator[name]
            if before == name:
                return
            terminator = self.function.blocks[before].terminator
            if terminator.opcode == "br" and len(set(terminator.labels)) == 2:
                for label, is_true in zip(terminator.labels, (True, False), strict=True):
                    entries = [p for p in self.flow.predecessors[label] if not self.flow.dominates(label, p)]
                    condition = terminator.operands[0]
                    if entries == [before] and self.flow.dominates(label, name) and isinstance(condition, Instruction):
                        yield condition, is_true
            name = before


def compare(condition: Instruction, is_true: bool, counted: Counted) -> bool | None:
    """Returns whether a condition states no more than that ``lower`` is below ``upper`` (above, where the loop counts
    down), ``None`` if it does not state that."""
    if condition.opcode != "icmp" or counted.shift or counted.addend not in (0, 1, -1):
        return None
    predicate = condition.word if is_true else _NEGATED[condition.word]
    left, right = (_narrow(operand) for operand in condition.operands)
    lower, upper = _narrow(counted.lower), _narrow(counted.upper)
    if _same(left, upper):
        left, right, predicate = right, left, _SWAPPED.get(predicate, predicate)
    if not _same(right, upper) or not _may_compare(predicate, lower, counted):
        return None
    left_number, lower_number = _number(left), _number(lower)
    if predicate == "ne":
        return True if left_number == 0 == lower_number and not counted.is_down and not counted.addend else None
    if predicate[1] != ("g" if counted.is_down else "l"):
        return None
    strict, wanted = int(predicate[2] == "t"), int(not counted.addend)
    if left_number is not None and lower_number is not None:
        sign = -1 if counted.is_down else 1
        surplus = sign * (left_number - lower_number) + strict - wanted
        return surplus == 0 if surplus >= 0 else None
    if not _same(left, lower) or strict < wanted:
        return None
    return strict == wanted


def _may_compare(predicate: str, lower: Operand, counted: Counted) -> bool:
    """Returns whether a comparison reads ``upper`` as the loop does: with or without a sign."""
    upper = counted.upper
    if predicate in ("eq", "ne"):
        return predicate == "ne"
    if isinstance(upper, Instruction) and upper.opcode in ("zext", "sext"):
        if "nneg" in upper.flags:
            return True
        is_signed = upper.opcode == "sext"
    elif counted.counter.type == "i64":
        return True
    else:
        is_signed = counted.is_signed
    if (predicate[0] == "s") == is_signed:
        return True
    number = _number(lower)
    return predicate[0] == "s" and number is not None and number >= 0


def _constant_entry(counted: Counted) -> bool:
    lower, upper, step = _number(counted.lower), _number(counted.upper), _number(counted.step)
    if lower is None or upper is None or step is None:
        return False
    bound = upper + counted.addend + counted.shift * step
    return lower > bound if counted.is_down else lower < bound


def _number(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Constant) and isinstance(operand.value, int) else None


def _narrow(operand: Operand) -> Operand:
    """Returns the number that an extension was made of."""
    while isinstance(operand, Instruction) and operand.opcode in ("sext", "zext"):
        operand = operand.operands[0]
    return operand


def _same(a: Operand, b: Operand) -> bool:
    if isinstance(a, Constant) and isinstance(b, Constant):
        return a.value == b.value
    return a is b


def _signed(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def _is_between(lower: Operand, upper: Operand, step: int | None) -> bool:
    low, high = _number(lower), _number(upper)
    return low is not None and high is not None and step is not None and (low < high if step > 0 else low > high)


def _divides(lower: Operand, upper: Operand, step: object, addend: int, shift: int) -> bool:
    low, high = _number(lower), _number(upper)
    if low is None or high is None or not isinstance(step, int):
        return False
    distance = high + addend + shift * step - low
    return distance % step == 0 and distance // step > 0
