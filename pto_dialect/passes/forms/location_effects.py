"""Effects of operations that depend on the location of a tile, which values do not have.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp, Shape, op_spec
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.placement import element_of, location
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.targets.tile_layouts import ZZ_SCALE

from .rebuild import RefusedError, name_of


def refuse_placed(op: PtoOp) -> None:
    """Raises :class:`RefusedError` for an operation that converts what leaves an accumulator, or that loads scales in
    the order of their buffer."""
    source, target = find(op, "src"), find(op, "dst")
    if source is None or target is None:
        return
    spec = op_spec(type(op))
    if location(source) == "acc" and spec.shape is Shape.DPS_KEYED:
        converts = element_of(source) != element_of(target) or set(op.attributes) - {"operandSegmentSizes"}
        if converts or find(op, "fp") is not None or find(op, "preQuantScalar") is not None:
            raise RefusedError(op, f"{op.name} converts what leaves acc, and {name_of(source)} would be in no memory")
    type_ = target.type
    if has_role(op, Role.TILE_LOAD) and isinstance(type_, TileBufType) and type_.fractal == ZZ_SCALE.fractal:
        raise RefusedError(op, f"it loads scales in the order of {name_of(target)}, and a value has no layout")
