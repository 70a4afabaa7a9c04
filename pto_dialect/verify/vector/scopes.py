"""Rules about vector scopes: their form, the operations that need one, and those that must be outside."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pto_dialect.diagnostics.diagnostic import Severity, notes_at
from pto_dialect.diagnostics.remedies.statements import vector_scope
from pto_dialect.families import FAMILIES
from pto_dialect.ir.core.base import Effect, op_spec
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import AlignType, MaskType, VRegType, type_text
from pto_dialect.ir.core_dialects.structured import is_for
from pto_dialect.ir.scalar.regions import StrictVecscopeOp, VecscopeOp

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check, is_vector_scope
from ..engine.order import PIPE_ORDER
from ..engine.rule import STRUCTURE

VECTOR_FAMILIES = tuple(name for name, family in FAMILIES.items() if family.level == "micro-vector")
"""Families of vector registers and predicates."""
_SORTS = ("pto.vbitsort", "pto.vmrgsort4")
_VALUES = (VRegType, MaskType, AlignType)


# ------------------------------------------------------------ form


@checks(STRUCTURE, "pto.vecscope", "pto.strict_vecscope")
def check_scope_form(op: Operation, ctx: Context) -> None:
    """Checks body, captures and arguments."""
    blocks = [block for region in op.regions for block in region.blocks]
    if not blocks:
        return
    arguments = [argument.type for argument in blocks[0].args]
    captured = [value.type for value in op.operands]
    if isinstance(op, VecscopeOp) and arguments:
        ctx.report(
            "vecscope-form", op, "pto.vecscope has no block arguments", help="use pto.strict_vecscope to capture values"
        )
    elif isinstance(op, StrictVecscopeOp) and arguments != captured:
        message = f"the body takes {_types(arguments)}, but {_types(captured)} are captured"
        ctx.report("vecscope-form", op, message)


def _types(types: list[Attribute]) -> str:
    return f"({', '.join(type_text(t) for t in types)})"


# ------------------------------------------------------------ nesting


@function_check("regions", *VECTOR_FAMILIES)
def check_nesting(scan: FunctionScan, ctx: Context) -> None:
    """Checks for vector scopes inside vector scopes, and sorts inside them."""
    for op in scan.named("pto.vecscope", "pto.strict_vecscope", "scf.for"):
        if is_vector_scope(op) and scan.enclosing(op, is_vector_scope) is not None:
            what = "a marked loop" if is_for(op) else op.name
            ctx.report("vec-scope-nesting", op, f"{what} is inside another vector scope")
    for op in scan.named(*_SORTS):
        if scan.enclosing(op, is_vector_scope) is not None:
            ctx.report("vec-helper-outside", op, f"{op.name} belongs outside vector scopes")


@function_check("scalar_config", "vector_memory")
def check_special_register(scan: FunctionScan, ctx: Context) -> None:
    """Checks the special register of vector code."""
    for op in scan.named("pto.sprclr", "pto.sprsti", "pto.sprsts"):
        if scan.enclosing(op, is_vector_scope) is None:
            ctx.report("sprclr-ar", op, f"{op.name} belongs inside a vector scope", help="pto.vecscope { ... }")


@function_check(*VECTOR_FAMILIES)
def check_scoped(scan: FunctionScan, ctx: Context) -> None:
    """Checks for vector operations outside every vector scope, and values that cross the border of one."""
    outside: list[Operation] = []
    sorts = set(scan.named(*_SORTS))
    for op in scan.of_families(*VECTOR_FAMILIES):
        if scan.enclosing(op, is_vector_scope) is None and op not in sorts:
            outside.append(op)
    for loop in scan.named("scf.for"):
        if is_vector_scope(loop):
            for result in loop.results:
                if isinstance(result.type, _VALUES):
                    _leaves(loop, result, ctx)
    if not outside:
        return
    _check_crossings(scan, outside, ctx)
    if not _is_scope(scan.function):
        first = min(outside, key=_position)
        count = len(outside)
        mended = (vector_scope(),)
        what = "one vector operation is" if count == 1 else f"{count} vector operations are"
        ctx.report(
            "vec-scope",
            first,
            f"{what} outside pto.vecscope in this function",
            help="pto.vecscope { ... }",
            remedies=mended,
        )


def _position(op: Operation) -> int:
    span = span_of(op)
    return span.start if span is not None else 0


def _is_scope(function: FuncOp) -> bool:
    """Returns whether a vector scope calls the function: a helper to be inlined, or a function of register values."""
    if isinstance(function.attributes.get("pto.tilelang.inline_proc"), UnitAttr):
        return True
    types = function.function_type
    return any(isinstance(t, _VALUES) for t in (*types.inputs.data, *types.outputs.data))


def _leaves(op: Operation, value: SSAValue, ctx: Context) -> None:
    for use in value.uses:
        span = span_of(use.operation)
        notes = notes_at("it is used here", span)
        message = f"a value of type {type_text(value.type)} leaves its vector scope"
        ctx.report("vec-scope", op, message, severity=Severity.ERROR, notes=notes)
        return


_BORDERS = frozenset((*PIPE_ORDER, "pto.vecscope", "pto.strict_vecscope", *_SORTS))
"""Operations that end one vector function when no scope is written."""


def _check_crossings(scan: FunctionScan, outside: list[Operation], ctx: Context) -> None:
    """Reports values used after an operation that separates vector functions, where scopes are left to inference.

    Masks and broadcast scalars are exempt: each vector function can make its own.
    """
    borders = [op for op in scan.named(*_BORDERS) if scan.enclosing(op, is_vector_scope) is None]
    if not borders:
        return
    stretch = _Segments(borders)
    for op in outside:
        if not any(isinstance(value.type, (VRegType, AlignType)) for value in op.operands) and _is_pure(op):
            continue
        for result in op.results:
            if isinstance(result.type, (VRegType, AlignType)) and op.parent is not None:
                for user in (use.operation for use in result.uses):
                    if stretch.separated(op.parent, op, user):
                        _leaves(op, result, ctx)
                        break


def _is_pure(op: Operation) -> bool:
    return op_spec(type(op)).effect is Effect.PURE


class _Segments:
    """Numbers the stretches between borders in each block that contains one."""

    def __init__(self, borders: list[Operation]) -> None:
        self.blocks: set[Block] = set()
        for border in borders:
            block = border.parent
            while block is not None and block not in self.blocks:
                self.blocks.add(block)
                parent = block.parent_op()
                block = parent.parent if parent is not None and not has_role(parent, Role.FUNCTION) else None
        self.borders = {id(op) for op in borders}
        self.numbers: dict[int, int] = {}
        self.numbered: set[Block] = set()

    def separated(self, block: Block, producer: Operation, user: Operation) -> bool:
        """Returns whether a border lies between ``producer`` in ``block`` and ``user``."""
        if block not in self.blocks:
            return False
        ancestor: Operation | None = user
        while ancestor is not None and ancestor.parent is not block:
            ancestor = ancestor.parent_op()
        if ancestor is None:
            return False
        self._number(block)
        return self.numbers[id(ancestor)] != self.numbers[id(producer)] or id(ancestor) in self.borders

    def _number(self, block: Block) -> None:
        if block in self.numbered:
            return
        self.numbered.add(block)
        number = 0
        for op in block.ops:
            border = id(op) in self.borders or any(inner in self.blocks for r in op.regions for inner in r.blocks)
            number += border
            self.numbers[id(op)] = number
            number += border
