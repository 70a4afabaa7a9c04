"""Writes the operations that replace one, folding known integers.

An integer is an ``int`` where it is static, else an SSA value of type ``index``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from xdsl.dialects.arith import (
    AddiOp,
    CeilDivSIOp,
    CmpiOp,
    ConstantOp,
    DivSIOp,
    ExtFOp,
    ExtSIOp,
    IndexCastOp,
    MinSIOp,
    MuliOp,
    RemSIOp,
    SubiOp,
    TruncFOp,
    TruncIOp,
)
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, Signedness, f32, i1, i64
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.pointers import AddptrOp, CastptrOp
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, segment_sizes, signature
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PtrType, byte_width, is_float
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.regions import VecscopeOp
from pto_dialect.targets.backend import Backend, backend_of

from .valid_sizes import ValidSizes

Number = int | SSAValue
Constant = int | float

INDEX = IndexType()
_UNROLLED = 4
"""Maximum number of repetitions that are unrolled; more become a loop."""


def enum(name: str, enumerator: str) -> EnumAttr:
    """Returns the attribute of an enumerator."""
    return EnumAttr((name, enumerator))


def is_handle(op: Operation) -> bool:
    """Returns whether ``op`` makes a handle or a number, and nothing else."""
    if isinstance(op, PtoOp):
        return op_spec(type(op)).effect is Effect.HANDLE
    return has_role(op, Role.CONSTANT | Role.SCALAR)


def calls(function: Operation) -> bool:
    """Returns whether functions call each other in the program."""
    module = function.parent_op()
    assert module is not None
    return any(has_role(op, Role.CALL) for op in walk(module))


class Function:
    """What is written into one function: constants at its beginning, and everything, so that it can be taken back."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.entry = op.regions[0].blocks[0]
        self.sums = AffineAnalysis()
        self.valid_sizes = ValidSizes(op)
        self.made: list[Operation] = []
        self.pointers: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        self.replaced: list[tuple[SSAValue, SSAValue]] = []
        """Results of replaced operations, with the values that replace them when all are lowered."""
        self._constants: dict[tuple[Attribute, Constant], SSAValue] = {}
        self._place = span_of(self.entry.first_op) if self.entry.first_op is not None else None
        self._last: Operation | None = None

    @cached_property
    def calls(self) -> bool:
        """Whether functions call each other in the program."""
        return calls(self.op)

    def constant(self, number: Constant, type_: Attribute) -> SSAValue:
        """Returns a constant, written once; integers beyond their type wrap as sums and products do when the program
        runs."""
        number = _wrapped(number, type_)
        known = self._constants.get((type_, number))
        if known is None:
            value = FloatAttr(number, type_) if isinstance(type_, AnyFloat) else IntegerAttr(int(number), type_)  # pyright: ignore
            op = ConstantOp(value)
            name = f"c{number:g}".replace("-", "m").replace(".", "_").replace("+", "")
            if type_ == i1:
                name = "true" if number else "false"
            elif type_ != INDEX:
                name = f"{name}_{type_}"
            op.result.name_hint = name
            point = InsertPoint.at_start(self.entry) if self._last is None else InsertPoint.after(self._last)
            Rewriter.insert_op(op, point)
            self._last = op
            if self._place is not None:
                set_location(op, self._place)
            self.made.append(op)
            known = self._constants[type_, number] = op.result
        return known

    def sweep(self) -> None:
        """Removes handles and numbers that were written and that nobody uses."""
        for op in reversed(self.made):
            if not any(result.uses for result in op.results) and op.results and is_handle(op):
                op.detach()
                op.erase()

    def erase(self) -> None:
        """Removes everything that was written."""
        for op in reversed(self.made):
            op.detach()
            op.drop_all_references()


class Writer:
    """Writes before one operation, with its source location."""

    def __init__(self, function: Function, anchor: Operation) -> None:
        self.function = function
        self.anchor = anchor
        self.point = InsertPoint.before(anchor)
        self._span = span_of(anchor)

    @property
    def backend(self) -> Backend:
        """The library whose results the instructions have."""
        return backend_of(self.function.op, None, "a5")

    def put(self, op: Operation) -> Any:
        """Writes ``op``; returns its result if it has one."""
        Rewriter.insert_op(op, self.point)
        self.function.made.append(op)
        if self._span is not None:
            set_location(op, self._span)
        return op.results[0] if op.results else None

    def pto(
        self,
        cls: type[PtoOp],
        groups: Mapping[str, SSAValue | tuple[SSAValue, ...] | None],
        attributes: Mapping[str, Attribute] | None = None,
        result: Attribute | None = None,
    ) -> Any:
        """Writes an operation of the dialect with operands by name; an absent one is ``None``."""
        declared = signature(cls)
        lists: list[tuple[SSAValue, ...]] = []
        for slot in declared.operands:
            operand = groups.get(slot.name)
            lists.append(() if operand is None else operand if isinstance(operand, tuple) else (operand,))
        own = dict(attributes or {})
        if declared.segmented:
            own["operandSegmentSizes"] = segment_sizes(tuple(map(len, lists)))
        operands = [value for values in lists for value in values]
        return self.put(cls.create(operands=operands, result_types=[result] if result else [], attributes=own))

    def locate(self, op: Operation) -> None:
        """Gives what follows the location of ``op``."""
        self._span = span_of(op)

    # ------------------------------------------------------------ numbers

    def number(self, value: SSAValue) -> Number:
        """Returns the number that an operand is."""
        known = constant_of(value)
        if isinstance(known, int):
            return known
        return value if value.type == INDEX else self.put(IndexCastOp(value, INDEX))

    def converted(self, value: SSAValue, element: Attribute) -> SSAValue | None:
        """Returns a number as one of the type of elements: integers wrap, floats are rounded to the nearest; ``None``
        between both, and for integers that are not of signless types."""
        if value.type == element:
            return value
        if is_float(value.type) and is_float(element):
            width, target_width = byte_width(value.type), byte_width(element)
            assert width is not None and target_width is not None
            if width == target_width:
                return None
            return self.put((TruncFOp if width > target_width else ExtFOp)(value, element))
        if not _signless(value.type) or not _signless(element):
            return None
        wider = element.width.data > value.type.width.data  # pyright: ignore[reportAttributeAccessIssue]
        return self.put((ExtSIOp if wider else TruncIOp)(value, element))  # pyright: ignore[reportArgumentType]

    def index(self, number: Number) -> SSAValue:
        """Returns ``number`` as a value of type index."""
        return self.function.constant(number, INDEX) if isinstance(number, int) else number

    def i64(self, number: Number) -> SSAValue:
        """Returns ``number`` as a value of type i64."""
        if isinstance(number, int):
            return self.function.constant(number, i64)
        return self.put(IndexCastOp(number, i64))

    def i1(self, flag: bool) -> SSAValue:
        """Returns a truth value."""
        return self.function.constant(-1 if flag else 0, i1)

    def f32(self, number: float) -> SSAValue:
        """Returns a constant of type f32."""
        return self.function.constant(number, f32)

    def mul(self, one: Number, other: Number) -> Number:
        """Returns the product."""
        if isinstance(one, int) and isinstance(other, int):
            return one * other
        if 0 in (one, other):
            return 0
        if one == 1:
            return other
        if other == 1:
            return one
        return self.put(MuliOp(self.index(one), self.index(other)))

    def add(self, one: Number, other: Number) -> Number:
        """Returns the sum."""
        if isinstance(one, int) and isinstance(other, int):
            return one + other
        if one == 0:
            return other
        if other == 0:
            return one
        return self.put(AddiOp(self.index(one), self.index(other)))

    def sub(self, one: Number, other: Number) -> Number:
        """Returns the difference."""
        if isinstance(one, int) and isinstance(other, int):
            return one - other
        if other == 0:
            return one
        return self.put(SubiOp(self.index(one), self.index(other)))

    def ceildiv(self, one: Number, unit: int) -> Number:
        """Returns ``one`` divided by ``unit``, rounded up."""
        if isinstance(one, int):
            return -(-one // unit)
        return one if unit == 1 else self.put(CeilDivSIOp(one, self.index(unit)))

    def div(self, one: Number, unit: int) -> Number:
        """Returns ``one``, which is not negative, divided by ``unit``, rounded down."""
        if isinstance(one, int):
            return one // unit
        return one if unit == 1 else self.put(DivSIOp(one, self.index(unit)))

    def rest(self, one: Number, unit: int) -> Number:
        """Returns the non-negative ``one`` modulo ``unit``."""
        if isinstance(one, int) or unit == 1:
            return one % unit if isinstance(one, int) else 0
        return self.put(RemSIOp(one, self.index(unit)))

    def least(self, one: Number, other: Number) -> Number:
        """Returns the smaller one."""
        if isinstance(one, int) and isinstance(other, int):
            return min(one, other)
        return one if self.is_equal(one, other) else self.put(MinSIOp(self.index(one), self.index(other)))

    def is_equal(self, one: Number, other: Number) -> bool:
        """Returns whether both must be equal."""
        if isinstance(one, int) or isinstance(other, int):
            return one == other
        return self.function.sums.expression_of(one) == self.function.sums.expression_of(other)

    # ------------------------------------------------------------ pointers

    def advanced(self, pointer: SSAValue, elements: Number) -> SSAValue:
        """Returns ``pointer`` some elements further on."""
        if elements == 0:
            return pointer
        moved = self.pto(AddptrOp, {"ptr": pointer, "offset": self.index(elements)}, result=pointer.type)
        moved.name_hint = pointer.name_hint
        return moved

    def seen_as(self, pointer: SSAValue, element: Attribute) -> SSAValue:
        """Returns ``pointer`` to elements of another type."""
        assert isinstance(pointer.type, PtrType)
        if pointer.type.element == element:
            return pointer
        return self.pto(CastptrOp, {"input": pointer}, result=PtrType(element, pointer.type.space))

    # ------------------------------------------------------------ control

    def repeat(self, count: Number, body: Callable[[Number], None]) -> None:
        """Writes ``body`` for 0 to ``count`` − 1: a few times, or as the body of a loop."""
        if isinstance(count, int) and count <= _UNROLLED:
            for iteration in range(count):
                body(iteration)
            return
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = "block"
        block.add_op(YieldOp())
        self.put(ForOp(self.index(0), self.index(count), self.index(1), [], Region(block)))
        self._inside(block, lambda: body(block.args[0]))

    def fold(self, count: Number, first: SSAValue, body: Callable[[Number, SSAValue], SSAValue]) -> SSAValue:
        """Writes ``body`` for 0 to ``count`` − 1, each with what the one before gave; returns the last."""
        if isinstance(count, int) and count <= _UNROLLED:
            for iteration in range(count):
                first = body(iteration, first)
            return first
        block = Block(arg_types=[INDEX, first.type])
        block.args[0].name_hint = "block"
        loop = ForOp(self.index(0), self.index(count), self.index(1), [first], Region(block))
        self.put(loop)

        def inside() -> None:
            self.put(YieldOp(body(block.args[0], block.args[1])))

        self._at(InsertPoint.at_end(block), inside)
        return loop.results[0]

    def unless_empty(self, sizes: tuple[Number, ...], body: Callable[[], None]) -> None:
        """Writes ``body``, to be skipped where a size is 0: instructions need at least 1."""
        open_sizes = [size for size in sizes if not isinstance(size, int)]
        if any(size == 0 for size in sizes if isinstance(size, int)):
            return
        if not open_sizes:
            body()
            return
        size, *others = open_sizes
        some = self.put(CmpiOp(size, self.index(0), "sgt"))
        block = Block([YieldOp()])
        self.put(IfOp(some, [], Region(block), Region()))
        self._inside(block, lambda: self.unless_empty(tuple(others), body))

    def scope(self, body: Callable[[], None]) -> None:
        """Writes ``body`` as one vector function."""
        block = Block()
        self.put(VecscopeOp.create(regions=[Region(block)]))
        self._at(InsertPoint.at_end(block), body)

    def _inside(self, block: Block, body: Callable[[], None]) -> None:
        assert block.last_op is not None
        self._at(InsertPoint.before(block.last_op), body)

    def _at(self, point: InsertPoint, body: Callable[[], None]) -> None:
        outer, self.point = self.point, point
        body()
        self.point = outer


def _signless(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType) and type_.signedness.data is Signedness.SIGNLESS and type_.width.data > 1


def _wrapped(number: Constant, type_: Attribute) -> Constant:
    width = type_.width.data if isinstance(type_, IntegerType) else 64
    if isinstance(type_, AnyFloat) or -(1 << (width - 1)) <= number < 1 << width:
        return number
    return (int(number) + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
