"""Regions that select the core of their operations. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from xdsl.irdl import attr_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.facts.unexecuted import FUSION, FUSION_END
from ..core.kinds import ANY, I32_ATTR
from ..core.roles import Role


class SectionOp(PtoOp, shape=Shape.REGION, effect=Effect.REGION):
    """One block without a spelled terminator."""

    traits = traits_def(NoTerminator())
    body = region_def()


class SectionCubeOp(SectionOp, name="pto.section.cube", section="cube"):
    """The body runs on the cube core."""


class SectionVectorOp(SectionOp, name="pto.section.vector", section="vector"):
    """The body runs on both vector cores."""


class VecscopeOp(SectionOp, name="pto.vecscope", pipe=Pipe.V, roles=Role.SCOPE):
    """The body is one vector function; only there register, mask and align values exist (docs/reference/constraints.md,
    "Vector registers")."""


class SectionSimtOp(
    PtoOp, name="pto.section.simt", shape=Shape.REGION, effect=Effect.REGION, since="august", section="simt"
):
    """The body runs once per work item of a dimX x dimY x dimZ grid (docs/reference/work-items.md, "Operations")."""

    traits = traits_def(NoTerminator())
    dimX = dimY = dimZ = attr_def(I32_ATTR)
    body = region_def()


class StrictVecscopeOp(
    PtoOp, name="pto.strict_vecscope", shape=Shape.REGION, pipe=Pipe.V, effect=Effect.REGION, roles=Role.SCOPE
):
    """As ``vecscope``, the body sees outer values only as block arguments (docs/reference/constraints.md, "Vector
    registers").
    """

    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    captures = var_operand_def(ANY)
    body = region_def()


class FusionRegionOp(
    PtoOp, name="pto.fusion_region", shape=Shape.REGION, effect=Effect.REGION, since="august", unexecuted=FUSION
):
    """Groups operations that a compiler treats as one; results are the yielded values."""

    body = region_def()
    outputs = var_result_def(ANY)


class YieldOp(
    PtoOp, name="pto.yield", shape=Shape.REGION_YIELD, effect=Effect.REGION, since="august", unexecuted=FUSION_END
):
    """Ends a ``fusion_region`` with its results."""

    traits = traits_def(IsTerminator())
    values = var_operand_def(ANY)
