"""The module `mlir.dialects.scf`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.scf import ForOp as XForOp
from xdsl.ir import Block as XBlock
from xdsl.ir import Region as XRegion

from ..declare import GeneratedOp, build, place
from ..ir.build import assemble
from ..ir.context import need_location
from ..ir.operations import register_view
from ..ir.points import InsertionPoint
from ..ir.structure import Block, Region, value_of, values_of
from ..ir.types import IndexType
from .arith import constant  # pyright: ignore[reportAttributeAccessIssue]
from .tables import add_function, add_ir, add_operations, read_form

_FOR = read_form("scf", "ForOp for @results_* lowerBound upperBound step initArgs*")._replace(regions=1)
_IF = read_form("scf", "IfOp if @results_* condition")._replace(regions=2)
_WHILE = read_form("scf", "WhileOp while @results_* inits*")._replace(regions=2)


@register_view
class ForOp(GeneratedOp):
    """The operation `scf.for`: ForOp(lower bound, upper bound, step, values that are carried)."""

    FORM = _FOR
    OPERATION_NAME = "scf.for"

    def __init__(
        self,
        lower_bound: Any,
        upper_bound: Any,
        step: Any,
        iter_args: Any = None,
        *,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        need_location(loc)
        carried = values_of(iter_args or (), "argument iter_args of ForOp")
        bounds = [
            value_of(lower_bound, "argument lowerBound of ForOp"),
            value_of(upper_bound, "argument upperBound of ForOp"),
            value_of(step, "argument step of ForOp"),
        ]
        types = [one.type for one in carried]
        body = XRegion(XBlock(arg_types=[bounds[0].type, *types]))
        place(self, assemble(XForOp, [*bounds, *carried], types, {}, [body]), loc, ip)

    @property
    def body(self) -> Block:
        """The block."""
        block = self._x.regions[0].first_block
        return self.regions[0].blocks[0] if block is None else Block(block)

    @property
    def induction_variable(self) -> Any:
        """The variable of the loop."""
        return self.body.arguments[0]

    @property
    def inner_iter_args(self) -> Any:
        """The carried values inside the loop."""
        return self.body.arguments[1:]


@register_view
class IfOp(GeneratedOp):
    """The operation `scf.if`: IfOp(condition, result types, hasElse=True)."""

    FORM = _IF
    OPERATION_NAME = "scf.if"

    def __init__(
        self,
        cond: Any,
        results_: Any = None,
        *,
        hasElse: bool = False,
        has_else: bool = False,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        build(self, _IF, (results_ or [], cond), {"loc": loc, "ip": ip})
        self.regions[0].blocks.append()
        if hasElse or has_else:
            self.regions[1].blocks.append()

    @property
    def then_block(self) -> Block:
        """The block for a true condition."""
        return self.regions[0].blocks[0]

    @property
    def else_block(self) -> Any:
        """The block for a false condition; ``None`` without one."""
        blocks = self.regions[1].blocks
        return blocks[0] if len(blocks) else None


@register_view
class WhileOp(GeneratedOp):
    """The operation `scf.while`: WhileOp(result types, initial values); its regions have no blocks yet."""

    FORM = _WHILE
    OPERATION_NAME = "scf.while"

    def __init__(self, results_: Any, inits: Any, *, loc: Any = None, ip: Any = None) -> None:
        build(self, _WHILE, (results_, inits), {"loc": loc, "ip": ip})

    @property
    def before(self) -> Region:
        """The region that computes the condition."""
        return self.regions[0]

    @property
    def after(self) -> Region:
        """The region that is repeated."""
        return self.regions[1]


add_operations(globals(), "scf", "YieldOp yield results_*\nConditionOp condition condition args*")


def for_(
    start: Any,
    stop: Any = None,
    step: Any = None,
    iter_args: Sequence[Any] | None = None,
    *,
    loc: Any = None,
    ip: Any = None,
) -> Iterator[Any]:
    """Makes a loop, and yields its variable, with carried values also these and the results, once inside of it."""
    if stop is None:
        start, stop = 0, start
    bounds = [start, stop, 1 if step is None else step]
    for number, bound in enumerate(bounds):
        if isinstance(bound, float):
            raise ValueError(f"the bounds and the step of a loop are whole numbers, found {bound}")
        if isinstance(bound, int):
            bounds[number] = constant(IndexType.get(), bound)
    first, last, stride = bounds
    made = ForOp(first, last, stride, iter_args, loc=loc, ip=ip)
    carried = tuple(made.inner_iter_args)
    with InsertionPoint(made.body):
        if not carried:
            yield made.induction_variable
        elif len(carried) == 1:
            yield made.induction_variable, carried[0], made.results[0]
        else:
            yield made.induction_variable, carried, made.results


add_function(globals(), WhileOp)
add_ir(globals())
