"""Code of operations on values that may differ between work-items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.simt.scope import LaneScope, Widener, is_number
from pto_dialect.runtime.simt.variance import is_packed

ITEMS = Expr("items")
"""The work-items of the launch."""


def scope_of(g: Generator) -> LaneScope:
    """Returns the code of work-items that is being written.

    Raises the error ``unmodelled`` outside of it.
    """
    if g.lanes is None:
        name = g.emitter.current.name if g.emitter.current is not None else "this"
        raise g.error("unmodelled", f"{name} cannot be executed outside of SIMT bodies")
    return g.lanes


def mask_of(g: Generator) -> Expr:
    """Returns the mask of running work-items."""
    return Expr(scope_of(g).mask)


def lane(value: SSAValue, g: Generator) -> Expr:
    """Returns an operand as the value of each work-item."""
    return scope_of(g).lane(value, g)


def invoke(g: Generator, function: Callable[..., Any], *arguments: Any) -> Expr:
    """Returns a call of ``function``."""
    return Expr(f"{g.argument(function)}({', '.join(g.argument(argument) for argument in arguments)})")


class SharedNumbers:
    """A function of arrays applied to plain numbers: what all work-items share is computed once."""

    def __init__(self, function: Callable[..., Array], sources: tuple[Format, ...], target: Format) -> None:
        self.function = function
        self.wideners = [Widener(source) for source in sources]
        self.target = target
        self.label = getattr(function, "label", None) or getattr(function, "__name__", "shared")

    def __call__(self, *values: Any) -> Any:
        """Returns the result as a plain number."""
        with np.errstate(all="ignore"):
            result = self.function(*(widen(value) for widen, value in zip(self.wideners, values, strict=True)))
        return decode(result, self.target)[0].item()


def define_result(op: Operation, g: Generator, function: Callable[..., Array]) -> None:
    """Defines the result of ``op`` as ``function`` of its operands: for each work-item, or of plain numbers."""
    operands, result = op.operands, op.results[0]
    if g.lanes is not None and g.lanes.concerns(op):
        g.define(result, invoke(g, function, *(lane(value, g) for value in operands)))
        return
    for value in (*operands, result):
        if is_packed(value.type) or not is_number(value.type):
            raise g.error("unmodelled", f"{op.name} of {t.type_text(value.type)} outside of SIMT bodies", op)
    shared = SharedNumbers(function, tuple(g.format(value.type) for value in operands), g.format(result.type))
    g.define(result, invoke(g, shared, *operands))
