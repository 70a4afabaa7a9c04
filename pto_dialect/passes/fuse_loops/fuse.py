"""``fuse-loops``: loops over the same rows become one, so that what one of them stores for the next stays on the chip.

Source: docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.insert_sync.insert import own_flag
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.loops.arrays import Apart, apart_remark
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.engine.rule import read_rules

from .bodies import NotFusedError, check_body, check_order, private_tiles
from .forward import keep_on_chip
from .views import check_views

_RULES = read_rules("passes")
APART = _RULES["fuse-loops-apart"]
ARGUMENTS = _RULES["fuse-loops-arguments"]


@dataclass(frozen=True)
class FuseLoopsPass(PtoPass):
    """Makes one loop of each two that follow each other and run over the same numbers, where no iteration of the second
    depends on a later one of the first; then loads of what the same iteration has stored read its tile instead, and
    stores that are overwritten unread are left out."""

    name: ClassVar[str] = "fuse-loops"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; two neighbouring loops that stay apart get a remark with the reason."""
        for function in [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]:
            for remark in _fuse(function, profile_of(function, self.target)):
                engine.report(remark)


def _fuse(function: Operation, profile: Profile) -> Iterator[Diagnostic]:
    """Fuses the loops of a function; the remarks about those that stay apart."""
    flag = own_flag(function)
    if flag is not None:
        yield APART.at(flag, "fuse-loops leaves this function as it is: its flags order the loops that it has")
        return
    found = False
    fused: dict[ForOp, Apart] = {}
    for block in _blocks(function):
        for first, second in _neighbours(block):
            found = True
            try:
                apart = _merge(first, second, function, profile)
            except NotFusedError as error:
                note = (Note("this operation holds them apart", span_of(error.op)),) if error.op is not second else ()
                yield APART.at(second, f"this loop stays apart from the one before it: {error.reason}", note)
                continue
            fused[second] = fused.pop(first, {}) | apart
    for loop, apart in fused.items():
        for pair in apart | keep_on_chip(loop, function, profile):
            yield apart_remark(ARGUMENTS, "the fused loop", pair, loop)
    if not found:
        yield APART.at(function, "fuse-loops changes nothing: no loop follows another one directly")


def _blocks(function: Operation) -> Iterator[Block]:
    """Yields the blocks of a function, outer ones first, each as it is when its turn comes."""
    waiting = [block for region in function.regions for block in region.blocks]
    for block in waiting:
        yield block
        waiting += [inner for op in block.ops for region in op.regions for inner in region.blocks]


def _neighbours(block: Block) -> Iterator[tuple[ForOp, ForOp]]:
    """Yields each loop of a block with the one before it, where only numbers and handles are made between them."""
    last: ForOp | None = None
    for op in list(block.ops):
        if isinstance(op, ForOp):
            if last is not None:
                yield last, op
            last = op
        elif not is_handle(op):
            last = None


def _merge(first: ForOp, second: ForOp, function: Operation, profile: Profile) -> Apart:
    """Puts the body of ``first`` before that of ``second``. Returns the arguments that have to be different memory for
    that. Raises :class:`NotFusedError`, and nothing changes."""
    _check_range(first, second)
    check_body(first, profile.arch)
    check_body(second, profile.arch)
    check_views(first, second)
    private = private_tiles(first, second, profile.arch)
    before, after = first.body.block, second.body.block
    start, moved = after.first_op, [op for op in before.ops if op is not before.last_op]
    assert start is not None
    uses = [(use.operation, use.index) for use in before.args[0].uses]
    for op in moved:
        op.detach()
        after.insert_op_before(op, start)
    for op, index in uses:
        op.operands[index] = after.args[0]
    try:
        apart = check_order(second, {inner for op in moved for inner in walk(op)}, private, function, profile)
    except (NotFusedError, UnsupportedError) as error:
        assert before.last_op is not None
        for op in moved:
            op.detach()
            before.insert_op_before(op, before.last_op)
        for op, index in uses:
            op.operands[index] = before.args[0]
        if isinstance(error, UnsupportedError):
            raise NotFusedError(error.op, error.reason) from error
        raise
    first.detach()
    first.erase()
    return apart


def _check_range(first: ForOp, second: ForOp) -> None:
    """Raises :class:`NotFusedError` where two loops do not run over the same numbers, or hand on values."""
    for one, other in zip((first.lb, first.ub, first.step), (second.lb, second.ub, second.step), strict=True):
        number = constant_of(one)
        if one is not other and (number is None or number != constant_of(other) or one.type != other.type):
            raise NotFusedError(second, "they do not run over the same numbers")
    for loop in (first, second):
        if loop.results:
            raise NotFusedError(loop, "iterations hand on values")
