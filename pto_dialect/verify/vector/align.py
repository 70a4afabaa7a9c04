"""Rules of unaligned vector streams: their state is used linearly. Source: docs/reference/constraints.md, "Vector
registers".

A load stream starts with ``vldas``, a store stream with ``init_align``; each state value is used once, loops carry it
through their iteration arguments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue, Use

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import AlignType
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_while
from pto_dialect.ir.vector.memory import VLdusOp

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check
from ..engine.rule import STRUCTURE
from .common import mnemonics

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp


_STREAMS = {
    **dict.fromkeys(mnemonics("vldas vldus"), "load"),
    **dict.fromkeys(mnemonics("init_align vstus vstur pstu"), "store"),
}
"""Operations that yield the state of a stream, and its kind."""
_CONSUMED = {
    "pto.vldus": "align",
    **dict.fromkeys(mnemonics("vstus vstur pstu"), "align_in"),
    **dict.fromkeys(mnemonics("vstas vstar"), "value"),
}
"""The operand with the state."""


@checks(STRUCTURE, *_CONSUMED)
def check_consumed_state(op: Operation, ctx: Context) -> None:
    """Checks the definition of the state of a stream."""
    state = named(op, _CONSUMED[op.name])
    loop = _crossed_loop(state, op)
    if loop is not None:
        message = "a stream state from outside a loop is carried through its iter_args"
        ctx.report("align-chain", op, message, at=state)
        return
    origin = _origin(state)
    if origin == "unknown":
        return
    wanted = "load" if isinstance(op, VLdusOp) else "store"
    if origin != wanted:
        start = "pto.vldas" if wanted == "load" else "pto.init_align"
        found = f"it starts a {origin} stream" if origin else "its start is not visible here"
        ctx.report("align-chain", op, f"{op.name} continues a stream that {start} starts, but {found}", at=state)


@checks(STRUCTURE, "pto.vldas", "pto.init_align", "pto.vldus", "pto.vstus", "pto.vstur", "pto.pstu")
def check_produced_state(op: Operation, ctx: Context) -> None:
    """Checks that the state of a stream is used once."""
    for result in op.results:
        if isinstance(result.type, AlignType):
            _check_linear(result, op, ctx)


@function_check("vector_memory", "predicate_memory")
def check_carried_state(scan: FunctionScan, ctx: Context) -> None:
    """Checks states that loops carry."""
    for loop in scan.named("scf.for"):
        # A loop has one block; one that has several was reported.
        if is_for(loop) and len(loop.operands) > 3 and len(loop.regions[0].blocks) == 1:
            for value in (*loop.regions[0].block.args, *loop.results):
                if isinstance(value.type, AlignType):
                    _check_linear(value, loop, ctx)
            _same_streams(loop, ctx)


def _same_streams(loop: ForOp, ctx: Context) -> None:
    """Checks that each iteration passes on a state of the stream that it received."""
    last = loop.regions[0].block.last_op
    if last is None or not has_role(last, Role.YIELD) or len(last.operands) != len(loop.iter_args):
        return
    for state, passed in zip(loop.iter_args, last.operands, strict=True):
        if isinstance(state.type, AlignType) and isinstance(passed.type, AlignType):
            kinds = _origin(state), _origin(passed)
            if "unknown" not in kinds and kinds[0] != kinds[1]:
                message = f"the loop starts a {kinds[0]} stream, but hands on the state of a {kinds[1]} stream"
                ctx.report("align-chain", last, message, at=passed)


def _check_linear(value: SSAValue, op: Operation, ctx: Context) -> None:
    uses = list(value.uses)
    if len(uses) > 1 and not _are_exclusive(value, uses):
        message = f"the stream state is used {len(uses)} times; each state continues one stream once"
        ctx.report("align-chain", op, message)


def _are_exclusive(value: SSAValue, uses: Iterable[Use]) -> bool:
    """Returns whether at most one of the uses is executed on every path."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return home is not None and _one_per_path([use.operation for use in uses], home)


def _one_per_path(users: list[Operation], home: Block) -> bool:
    if len(users) <= 1:
        return True
    branches: dict[Operation, dict[Block, list[Operation]]] = {}
    for user in users:
        block_holding = user.parent
        while block_holding is not None and block_holding is not home:
            outer = block_holding.parent_op()
            if outer is None:
                return True
            if outer.parent is home:
                branches.setdefault(outer, {}).setdefault(block_holding, []).append(user)
            block_holding = outer.parent
    if sum(len(group) for blocks in branches.values() for group in blocks.values()) != len(users):
        return False
    if len(branches) != 1:
        return False
    branch, blocks = next(iter(branches.items()))
    return is_if(branch) and all(_one_per_path(group, block) for block, group in blocks.items())


def _crossed_loop(value: SSAValue, user: Operation) -> Operation | None:
    """Returns the loop around ``user`` that does not contain the definition of ``value``."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    block_holding = user.parent
    while block_holding is not None and block_holding is not home:
        outer = block_holding.parent_op()
        if outer is None or has_role(outer, Role.FUNCTION):
            return None
        if is_for(outer) or is_while(outer):
            return outer
        block_holding = outer.parent
    return None


def _origin(value: SSAValue) -> str:
    """Returns ``load`` or ``store``, ``unknown`` where the use-def chain cannot be followed, empty where no stream
    starts."""
    for _ in range(64):
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            if parent is None or not is_for(parent):
                return "" if parent is not None and has_role(parent, Role.FUNCTION) else "unknown"
            value = parent.iter_args[value.index - 1]
            continue
        assert isinstance(value, OpResult)
        owner = value.op
        if (stream := _STREAMS.get(owner.name)) is not None:
            return stream
        if is_for(owner):
            value = owner.iter_args[value.index]
        elif is_if(owner):
            last = owner.regions[0].block.last_op
            if last is None or len(last.operands) <= value.index:
                return "unknown"
            value = last.operands[value.index]
        else:
            return "" if isinstance(owner, PtoOp) else "unknown"
    return "unknown"
