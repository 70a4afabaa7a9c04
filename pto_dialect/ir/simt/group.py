"""Exchange between the 32 lanes of a SIMT group. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_attr_def, result_def

from ..core.base import Shape
from ..core.kinds import I1, I32, I32_ATTR, INT_OR_FLOAT, SHUFFLE_VALUE, enum
from ..core.rows import rows
from .forms import GroupValueOp


class VoteOp(GroupValueOp):
    """Predicate seen by the whole group."""

    pred = operand_def(I1)
    result = result_def(I1)


rows(__name__, VoteOp)("""
VoteAllOp pto.vote_all: Whether pred holds in all active lanes.
VoteAnyOp pto.vote_any: Whether pred holds in some active lane.
VoteUniOp pto.vote_uni: Whether pred is the same in all active lanes.
""")


class VoteBallotOp(VoteOp, name="pto.vote_ballot"):
    """Bit i is set where pred holds in lane i."""

    result = result_def(I32)


class ReductionOp(GroupValueOp, shape=Shape.FLAT_SUFFIX):
    """Reduction over the active lanes, result in each of them."""

    value = operand_def(INT_OR_FLOAT)
    signedness = opt_attr_def(enum("signedness"))
    result = result_def(INT_OR_FLOAT)


class ReduxAddOp(ReductionOp, name="pto.redux_add"):
    """Sum over the active lanes."""


class ReduxMaxOp(ReductionOp, name="pto.redux_max"):
    """Maximum over the active lanes."""


class ReduxMinOp(ReductionOp, name="pto.redux_min"):
    """Minimum over the active lanes."""


class ShuffleOp(GroupValueOp):
    """Value of another lane in the same group of ``width``."""

    width = opt_attr_def(I32_ATTR.by_default("32 : i32"))
    result = result_def(SHUFFLE_VALUE)


class ShuffleIdxOp(ShuffleOp, name="pto.shuffle_idx"):
    """Value of the lane ``index`` in its group of ``width``."""

    value = operand_def(SHUFFLE_VALUE)
    index = operand_def(I32)


class ShuffleBflyOp(ShuffleOp, name="pto.shuffle_bfly"):
    """Value of the lane whose index differs by the bits of ``mask``."""

    value = operand_def(SHUFFLE_VALUE)
    mask = operand_def(I32)


class ShiftShuffleOp(ShuffleOp):
    """Value of a lane at a distance."""

    value = operand_def(SHUFFLE_VALUE)
    offset = operand_def(I32)


class ShuffleUpOp(ShiftShuffleOp, name="pto.shuffle_up"):
    """Value of the lane ``offset`` below."""


class ShuffleDownOp(ShiftShuffleOp, name="pto.shuffle_down"):
    """Value of the lane ``offset`` above."""
