"""Regions that say where their operations run."""

from __future__ import annotations

from xdsl.irdl import attr_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, I32_ATTR
from ..core.roles import Role


class SectionOp(PtoOp, shape=Shape.REGION, effect=Effect.REGION):
    """One block without a spelled terminator."""

    traits = traits_def(NoTerminator())
    body = region_def()


class SectionCubeOp(SectionOp, section="cube"):
    """The body runs on the cube core (docs/reference/execution.md, "Which core runs what")."""

    name = "pto.section.cube"


class SectionVectorOp(SectionOp, section="vector"):
    """The body runs on both vector cores (docs/reference/execution.md, "Which core runs what")."""

    name = "pto.section.vector"


class VecscopeOp(SectionOp, pipe=Pipe.V, roles=Role.SCOPE):
    """The body is one vector function: the only place for register, mask and align values
    (docs/reference/constraints.md, "Vector registers").
    """

    name = "pto.vecscope"


class SectionSimtOp(PtoOp, shape=Shape.REGION, effect=Effect.REGION, since="august", section="simt"):
    """The body runs once per work item of a dimX x dimY x dimZ grid (docs/reference/work-items.md, "Operations")."""

    name = "pto.section.simt"
    traits = traits_def(NoTerminator())
    dimX = dimY = dimZ = attr_def(I32_ATTR)
    body = region_def()


class StrictVecscopeOp(PtoOp, shape=Shape.REGION, pipe=Pipe.V, effect=Effect.REGION, roles=Role.SCOPE):
    """As ``vecscope``, the body sees outer values only as block arguments (docs/reference/constraints.md, "Vector
    registers").
    """

    name = "pto.strict_vecscope"
    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    captures = var_operand_def(ANY)
    body = region_def()


class FusionRegionOp(
    PtoOp,
    shape=Shape.REGION,
    effect=Effect.REGION,
    since="august",
    unexecuted="it is a mark that compilers leave between passes, and programs with it are not complete",
):
    """Groups operations that a compiler treats as one; results are the yielded values
    (docs/reference/execution.md, "Which core runs what").
    """

    name = "pto.fusion_region"
    body = region_def()
    outputs = var_result_def(ANY)


class YieldOp(
    PtoOp,
    shape=Shape.REGION_YIELD,
    effect=Effect.REGION,
    since="august",
    unexecuted="it ends a fusion region, which is not executed",
):
    """Ends a ``fusion_region`` with its results (docs/reference/execution.md, "Which core runs what")."""

    name = "pto.yield"
    traits = traits_def(IsTerminator())
    values = var_operand_def(ANY)
