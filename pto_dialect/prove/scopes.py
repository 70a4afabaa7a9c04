"""Vector functions as one operation each: what all their iterations together may touch.

Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if

from .accesses import accesses_of
from .carried import Bounds, bind_carried
from .carried_handles import bind_handles
from .expressions import TRUE, Condition, Expr, Ordinal, Quotient, Symbol, Varying, symbols_of
from .model import Access, Interval, Rectangle
from .places import MEMORY, Places
from .substitute import substituted
from .values import Numbers


def summary(scope: Operation, numbers: Numbers, places: Places) -> tuple[Access, ...]:
    """Returns what a vector function touches. What runs in every execution of it, in its first iterations, is
    certain."""
    reader = _ScopeReader(places)
    block = scope.regions[0].block
    for argument, value in zip(block.args, scope.operands, strict=False):
        if isinstance(argument.type, MEMORY):
            places.bind(argument, places.of(value))
        else:
            numbers.bind(argument, numbers.number(value))
    reader.block(block, numbers, True)
    return tuple(dict.fromkeys(reader.found))


class _ScopeReader:
    def __init__(self, places: Places) -> None:
        self.places = places
        self.found: list[Access] = []
        self.trips: dict[Symbol, Expr | None] = {}
        """How often the loops inside of the scope run."""

    def block(self, block: Block, numbers: Numbers, certain: bool) -> None:
        """Collects the accesses of a block; ``certain`` states that it runs."""
        for op in block.ops:
            if is_for(op):
                bounds = Bounds(numbers, op)
                bind_carried(numbers, op, bounds)
                bind_handles(self.places, op, bounds)
                self.trips[bounds.ordinal] = bounds.trips
                trips = None if bounds.trips is None else bounds.trips.value
                self.block(op.regions[0].block, numbers, certain and trips is not None and trips > 0)
            elif is_if(op):
                for region in op.regions:
                    if region.blocks:
                        self.block(region.block, numbers, False)
            elif op.regions and not has_role(op, Role.SCALAR):
                self.unknown(op)
            elif isinstance(op, PtoOp) or has_role(op, Role.ELEMENT_LOAD | Role.ELEMENT_STORE):
                self.found += [self.widened(access, certain) for access in accesses_of(op, self.places)]

    def unknown(self, op: Operation) -> None:
        """An operation with regions of which nothing is known but what it touches."""
        for inner in walk(op):
            if inner is not op:
                for access in accesses_of(inner, self.places):
                    self.found.append(Access(inner, access.writes, access.space, None, None, TRUE, False))

    def widened(self, access: Access, certain: bool) -> Access:
        """Returns an access of all iterations together."""
        part = access.part
        if isinstance(part, Rectangle):
            part = part.bytes
        condition: Condition = access.condition
        if any(one in self.trips for one in symbols_of(condition)):
            condition, certain = TRUE, False
        if part is None:
            return Access(access.op, access.writes, access.space, access.root, None, condition, False)
        low, high = self.bound(part.low, False), None if part.high is None else self.bound(part.high, True)
        if low is None:
            return Access(access.op, access.writes, access.space, access.root, None, condition, False)
        sure = None
        if certain and access.certain and part.sure is not None:
            sure = (self.first(part.sure[0]), self.first(part.sure[1]))
        interval = Interval(low, high, sure)
        return Access(access.op, access.writes, access.space, access.root, interval, condition, sure is not None)

    def first(self, expr: Expr) -> Expr:
        """Returns an expression in the first iterations."""
        return substituted(expr, dict.fromkeys(self.trips, Expr(0)))

    def bound(self, expr: Expr, upper: bool) -> Expr | None:
        """Returns the largest, or the smallest, value in all iterations; ``None`` where it is not known."""
        result = Expr(expr.constant)
        for atom, factor in expr.terms:
            inner = {atom} if isinstance(atom, Symbol) else set(symbols_of(Expr(0, frozenset({(atom, 1)}))))
            varying = [one for one in inner if one in self.trips]
            if not varying and not any(isinstance(one, Varying) for one in inner):
                result = result.plus(Expr(0, frozenset({(atom, factor)})))
                continue
            limits = self._limits(atom)
            chosen = None if limits is None else limits[upper == (factor > 0)]
            if chosen is None:
                return None
            result = result.plus(chosen, factor)
        return result

    def _limits(self, atom: object) -> tuple[Expr | None, Expr | None] | None:
        """Returns the smallest and the largest value of an atom; ``None`` in a pair for one that is not known."""
        if isinstance(atom, Ordinal):
            trips = self.trips.get(atom)
            return Expr(0), None if trips is None else trips.plus(-1)
        if isinstance(atom, Quotient):
            low, high = self.bound(atom.dividend, False), self.bound(atom.dividend, True)
            return (
                None if low is None else low.over(atom.divisor),
                None if high is None else high.over(atom.divisor),
            )
        return None
