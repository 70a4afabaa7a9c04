"""Sections for both kinds of cores that touch the same bytes of global memory, in a function that never orders cores.

Only what the text says for certain: parts of one pointer with constant sizes, whose offsets and strides are constants
or sums of values that are equal on both kinds of cores (arguments of the function, the block index). Source:
docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.queues import action_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity, notes_at
from pto_dialect.ir.core.base import PtoOp, operand_groups, section_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.scalar.query import GetBlockIdxOp, GetBlockNumOp
from pto_dialect.verify.engine.rule import read_rules

RULE = read_rules("run")["race-cross-core"]
_ORDERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL | Role.CALL


class Part(NamedTuple):
    """A rectangle of global memory: its pointer, the strides, and offset and size in each dimension."""

    pointer: SSAValue
    strides: tuple[AffineExpr, ...]
    extents: tuple[tuple[AffineExpr, int], ...]

    def meets(self, other: Part) -> bool:
        """Returns whether the two parts must share elements."""
        if self.pointer is not other.pointer or self.strides != other.strides:
            return False
        pairs = zip(self.extents, other.extents, strict=True)
        gaps = ((b.minus(a).constant_value, m, n) for (a, m), (b, n) in pairs)
        return all(gap is not None and -n < gap < m for gap, m, n in gaps)


class _Access(NamedTuple):
    op: Operation
    part: Part
    writes: bool
    is_known: bool


def unordered_cores(function: Operation) -> Iterator[Diagnostic]:
    """Yields the accesses of the cube core and of the vector cores to the same bytes, one of them a write."""
    sections = [op for op in walk(function) if section_of(op) in ("cube", "vector")]
    if len({section_of(op) for op in sections}) < 2:
        return
    if any(has_role(op, _ORDERS) or action_of(op) is not None for op in walk(function)):
        return
    sides: dict[str, list[_Access]] = {"cube": [], "vector": []}
    affine = AffineAnalysis()
    for section in sections:
        sides[section_of(section)] += _accesses(section, affine)
    reported: set[tuple[Operation, Operation]] = set()
    for first in sides["vector"]:
        for second in sides["cube"]:
            if (
                (first.writes or second.writes)
                and first.part.meets(second.part)
                and (first.op, second.op) not in reported
            ):
                reported.add((first.op, second.op))
                yield _diagnostic(first, second)


def _accesses(section: Operation, affine: AffineAnalysis) -> Iterator[_Access]:
    for op in walk(section):
        loads, stores = has_role(op, Role.TILE_LOAD), has_role(op, Role.TILE_STORE)
        if not isinstance(op, PtoOp) or not (loads or stores):
            continue
        groups = operand_groups(op)
        (view, *_) = groups.get("src" if loads else "dst", ()) or (None,)
        part = None if view is None else _part(view, affine)
        if part is not None:
            yield _Access(op, part, stores, op.parent_op() is section)


def _part(view: SSAValue, affine: AffineAnalysis) -> Part | None:
    op = view.owner
    if not isinstance(op, PtoOp) or not has_role(op, Role.PART):
        return None
    view_op = operand_groups(op)["source"][0].owner
    pointer = find(view_op, "ptr") if isinstance(view_op, PtoOp) else None
    if not isinstance(view_op, PtoOp) or pointer is None:
        return None
    strides, offsets = (_common(owner, name, affine) for owner, name in ((view_op, "strides"), (op, "offsets")))
    sizes = _numbers(op, "sizes")
    if strides is None or offsets is None or sizes is None or not len(strides) == len(offsets) == len(sizes):
        return None
    return Part(pointer, strides, tuple(zip(offsets, sizes, strict=True)))


def _common(op: PtoOp, name: str, affine: AffineAnalysis) -> tuple[AffineExpr, ...] | None:
    """Returns the numbers that are the same on all cores of a block; ``None`` where one may differ."""
    expressions = tuple(affine.expression_of(value) for value in operand_groups(op).get(name, ()))
    sources = (source for one in expressions for term, _ in one.terms for source in affine.sources(term))
    return expressions if all(map(_is_common, sources)) else None


def _is_common(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        function = owner.parent_op()
        return function is not None and has_role(function, Role.FUNCTION)
    return isinstance(owner, GetBlockIdxOp | GetBlockNumOp)


def _numbers(op: PtoOp, name: str) -> tuple[int, ...] | None:
    numbers = [constant_of(value) for value in operand_groups(op).get(name, ())]
    return (
        tuple(number for number in numbers if isinstance(number, int))
        if all(isinstance(x, int) for x in numbers)
        else None
    )


def _diagnostic(first: _Access, second: _Access) -> Diagnostic:
    verbs = ["writes" if one.writes else "reads" for one in (first, second)]
    message = f"the cube core {verbs[1]} what the vector cores {verbs[0].removesuffix('s')}, and the function has no "
    message += "signal or queue between them: no compiler orders cores"
    certain = first.is_known and second.is_known
    span = span_of(first.op)
    notes = notes_at(f"{first.op.name} of the vector cores is here", span)
    advice = "pto.sync.set after the first access and pto.sync.wait before the second one"
    severity = RULE.severity if certain else Severity.WARNING
    return RULE.at(second.op, message, notes, advice, severity=severity)
