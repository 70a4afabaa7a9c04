"""Locations of the operands of ``pto.tmatmul`` and ``pto.tgemv`` whose types do not state them: at Level 1 and in
assembly the location of a tile follows from its producer.

Source: docs/reference/constraints.md, "Matrix products of tiles"; docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from pto_dialect.diagnostics.remedies.moves import move_to
from pto_dialect.ir.buffers.views import BitcastOp, SubviewOp, TAssignOp, TReshapeOp
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileType
from pto_dialect.ir.core_dialects.structured import is_for, is_if

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS
from .product_roles import ALL, roles_of

_VECTOR_FAMILIES = frozenset(
    ("tile_elementwise", "tile_scalar", "tile_expand", "tile_reduce", "tile_partial", "tile_irregular")
)
_SHOWN: dict[type[Operation], str] = {
    TReshapeOp: "src",
    BitcastOp: "src",
    SubviewOp: "source",
    TAssignOp: "tile",
}
"""Operations whose result is one of their operands under another type, with the name of the operand."""
_STEPS = 64
"""Maximum length of the use-def chain that is followed; the location is unknown beyond it."""

_WANTED: dict[str, tuple[str, str]] = {
    "lhs": ("left", "matmul-loc"),
    "rhs": ("right", "matmul-loc"),
    "c_in": ("acc", "matmul-acc-in-loc"),
    "bias": ("bias", "matmul-bias-loc"),
    "scale of lhs": ("scaling", "matmul-mx-scale-loc"),
    "scale of rhs": ("scaling", "matmul-mx-scale-loc"),
}
"""Role of an operand -> required location, and the rule that requires it."""


@checks(LOCATIONS, *ALL)
def check_made_elsewhere(op: Operation, ctx: Context) -> None:
    """Checks operands without a stated location whose producer leaves them in the wrong one."""
    for role, name in roles_of(op.name).items():
        value = ctx.operand(op, name)
        if value is None or type(value.type) is not TileType:
            continue
        wanted, broken = _WANTED[role]
        maker = maker_of(value)
        found = location_made_by(maker) if maker is not None else None
        if maker is not None and found is not None and found != wanted:
            rule = "matmul-mx-bias-f32" if role == "bias" and "scale of lhs" in roles_of(op.name) else broken
            message = f"{role} of {op.name} must be in {wanted}, but {maker.name} leaves its result in {found}"
            ctx.report(
                rule, op, message, at=value, help="move it there with pto.tmov first", remedies=(move_to(wanted),)
            )


def location_made_by(maker: Operation) -> str | None:
    """Returns the location of a tile that ``maker`` yields; ``None`` where the use decides, as for loads and moves."""
    # Matched by name: a program without products does not load the module of their class.
    if maker.name in ALL:
        return "acc"
    return "vec" if maker.name in OPS and OPS[maker.name][0] in _VECTOR_FAMILIES else None


def maker_of(value: SSAValue) -> Operation | None:
    """Returns the producer of a tile, followed through views and values that loops and branches carry."""
    seen: set[SSAValue] = set()
    for _ in range(_STEPS):
        if value in seen:
            return None
        seen.add(value)
        if isinstance(value, BlockArgument):
            before = _carried(value)
            if before is None:
                return None
            value = before
            continue
        assert isinstance(value, OpResult)
        op = value.op
        shown = _SHOWN.get(type(op))
        if shown is not None:
            value = named(op, shown)
        elif is_for(op):
            value = op.iter_args[value.index]
        elif is_if(op):
            yielded = _yielded(op.regions[0].blocks[0] if op.regions[0].blocks else None, value.index)
            if yielded is None:
                return None
            value = yielded
        elif has_role(op, Role.SELECT):
            _, value, _ = op.operands
        else:
            return op
    return None


def _carried(value: BlockArgument) -> SSAValue | None:
    """Returns the initial value of a loop-carried value."""
    loop = value.block.parent_op()
    if loop is None or not is_for(loop) or value.index == 0 or len(loop.operands) <= 2 + value.index:
        return None
    return loop.iter_args[value.index - 1]


def _yielded(block: Block | None, index: int) -> SSAValue | None:
    last = block.last_op if block is not None else None
    return last.operands[index] if last is not None and index < len(last.operands) else None
