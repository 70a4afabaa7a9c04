"""Atomic updates of memory by work-items, and by cores. Source: docs/reference/work-items.md, "Operations".

Loads and stores with cache policies are the plain ones: policies change no value.
"""

from __future__ import annotations

from typing import Any

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.simt.access import Combine, Element, update
from pto_dialect.runtime.simt.combining import combination
from pto_dialect.runtime.simt.items import WorkItems, geometry_of
from pto_dialect.runtime.simt.scope import Widener, element_of, number_format
from pto_dialect.runtime.simt.variance import is_packed

from ..registry import kernel, lane_kernel
from .lane_memory import pointer_text
from .lane_values import ITEMS, invoke, lane, mask_of

_KINDS = ("add", "and", "cas", "exch", "max", "min", "or", "sub", "xor")
_ATOMICS = {f"pto.atomic_{kind}": kind for kind in _KINDS}


def _parts(op: PtoOp, g: Generator) -> tuple[Element, Combine, list[Any]]:
    groups = g.operands(op)
    value = groups["value"][0]
    function = combination(_ATOMICS[op.name], number_format(value.type, g), enumerator(op, "signedness") == "unsigned")
    return element_of(value.type, g), function, [*groups.get("compare", ()), value]


@lane_kernel(*_ATOMICS)
def update_each(op: PtoOp, g: Generator) -> None:
    """Combines the value of each running work-item with an element of memory, in the order of their ids, and returns
    the previous content."""
    element, function, operands = _parts(op, g)
    pointer = pointer_text(g.operands(op)["ptr"][0], g)
    values = [lane(value, g) for value in operands]
    g.define(op.results[0], invoke(g, update, element, function, ITEMS, mask_of(g), pointer, *values))


class SingleUpdate:
    """An atomic update by a core."""

    def __init__(self, element: Element, function: Combine, fmt: Format) -> None:
        self.element = element
        self.function = function
        self.fmt = fmt
        self.label = "atomic"

    def __call__(self, pointer: Pointer, *operands: Any) -> Any:
        """Returns the previous content of the memory."""
        widen = Widener(self.fmt)
        item = WorkItems(geometry_of((1, 1, 1)))
        old = update(self.element, self.function, item, None, pointer, *(widen(operand) for operand in operands))
        return decode(old, self.fmt)[0].item()


@kernel(*_ATOMICS)
def update_one(op: PtoOp, g: Generator) -> None:
    """Combines one value with an element of memory and returns the previous content. Raises ``ProgramError`` for packed
    pairs."""
    element, function, operands = _parts(op, g)
    if is_packed(op.results[0].type):
        raise g.error("unmodelled", "atomic updates of packed pairs cannot be executed outside of SIMT bodies", op)
    single = SingleUpdate(element, function, g.format(op.results[0].type))
    pointer = Expr(f"core.pointer_of({g.name(g.operands(op)['ptr'][0])})")
    g.define(op.results[0], invoke(g, single, pointer, *operands))
