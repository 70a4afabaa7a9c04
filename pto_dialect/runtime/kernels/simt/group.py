"""Exchange between the lanes of a group. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.simt import groups
from pto_dialect.targets.work_items import GROUP_ITEMS

from ..registry import kernel, lane_kernel
from .lane_values import ITEMS, invoke, lane, mask_of

_VOTES = {
    "pto.vote_all": groups.vote_all,
    "pto.vote_any": groups.vote_any,
    "pto.vote_uni": groups.vote_uni,
    "pto.vote_ballot": groups.vote_ballot,
}
_SHUFFLES = {f"pto.shuffle_{kind}": kind for kind in groups.SOURCES}
_REDUCTIONS = {f"pto.redux_{kind}": kind for kind in ("add", "max", "min")}


@kernel(*_VOTES)
@lane_kernel(*_VOTES)
def vote(op: PtoOp, g: Generator) -> None:
    """Whether all or any running lanes of a group of 32 hold true, whether they agree, or the bits of those that hold
    true."""
    g.define(op.results[0], invoke(g, _VOTES[op.name], ITEMS, mask_of(g), lane(named(op, "pred"), g)))


@kernel(*_SHUFFLES)
@lane_kernel(*_SHUFFLES)
def shuffle(op: PtoOp, g: Generator) -> None:
    """The value of another lane of the group; a lane whose source is outside of it or inactive has its own value."""
    width = op.attributes.get("width")
    lanes = width.value.data if isinstance(width, IntegerAttr) else GROUP_ITEMS
    value, operand = (lane(v, g) for v in op.operands)
    function = groups.Shuffle(_SHUFFLES[op.name], lanes)
    g.define(op.results[0], invoke(g, function, ITEMS, mask_of(g), value, operand))


@kernel(*_REDUCTIONS)
@lane_kernel(*_REDUCTIONS)
def reduction(op: PtoOp, g: Generator) -> None:
    """Sum, maximum or minimum over the running lanes of the group, in all of them."""
    function = groups.Reduction(_REDUCTIONS[op.name], enumerator(op, "signedness") == "unsigned")
    g.define(op.results[0], invoke(g, function, ITEMS, mask_of(g), lane(named(op, "value"), g)))
