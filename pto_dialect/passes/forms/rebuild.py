"""Rebuilds a program operation by operation; the original is not changed.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core.base import PtoOp, segment_sizes, signature
from pto_dialect.ir.core.location import span_of, span_of_value
from pto_dialect.passes.base import PtoPass
from pto_dialect.syntax.print.printer import FORM
from pto_dialect.verify.engine.dominance import postorder
from pto_dialect.verify.engine.rule import Rule


class RefusedError(Exception):
    """A construct that the other form cannot represent: an operation or one of its values, and the reason; ``span`` is
    its source location where it is not that of the operation."""

    def __init__(self, op: Operation, reason: str, value: SSAValue | None = None, span: Span | None = None) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason
        self.value = value
        self.span = span


def replace_body(module: ModuleOp, fresh: ModuleOp) -> None:
    """Gives ``module`` the operations and attributes of ``fresh``, of which nothing is left."""
    module.attributes = dict(fresh.attributes)
    region = fresh.detach_region(0)
    old = module.detach_region(0)
    module.add_region(region)
    old.erase()


@dataclass(frozen=True)
class FormPass(PtoPass):
    """Writes a program in another form; what that form cannot say is an error of ``rule``."""

    form: ClassVar[str]
    rule: ClassVar[Rule]

    @abstractmethod
    def make(self, module: ModuleOp) -> ModuleOp:
        """Returns the program in the other form. Raises :class:`RefusedError`."""

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; after an error nothing changes."""
        try:
            fresh = self.make(module)
        except RefusedError as error:
            span = error.span or span_of(error.op)
            if error.value is not None:
                span = span_of_value(error.value) or span
            message = f"{self.form} cannot say this: {error.reason}"
            engine.report(self.rule.at(span, message))
            return
        replace_body(module, fresh)


def name_of(value: SSAValue) -> str:
    """How a message names a value."""
    return f"%{value._name}" if value._name else "a tile without a name"


def _in_order(region: Region) -> list[Block]:
    """Returns the blocks of a region so that values are made before they are used. Raises :class:`RefusedError`."""
    blocks = list(region.blocks)
    if len(blocks) < 2:
        return blocks
    ordered = postorder(blocks[0])[::-1]
    reached = set(ordered)
    unreached = next((block for block in blocks if block not in reached), None)
    around = region.parent
    if unreached is not None and around is not None:
        raise RefusedError(unreached.first_op or around, "it is in an unreachable block")
    return ordered


class Rebuild:
    """Copies operations; ``values`` maps values of the old program to those of the new one."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, SSAValue] = {}
        self.blocks: dict[Block, Block] = {}
        self.into = Block()

    def module(self, old: ModuleOp) -> ModuleOp:
        """Returns the whole program. Raises :class:`RefusedError`."""
        fresh = self.copied(old, (), (), [self.region(region) for region in old.regions])
        assert isinstance(fresh, ModuleOp)
        fresh.attributes.pop(FORM, None)
        return fresh

    # ------------------------------------------------------------ for the forms to decide

    def operation(self, op: Operation) -> None:
        """Writes what ``op`` is in the new program."""
        self.emit(self.copied(op, self.mapped(op.operands), [r.type for r in op.results], self.regions(op)), op)

    # ------------------------------------------------------------ parts

    def mapped(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns what stands for ``values`` in the new program."""
        return [self.values[value] for value in values]

    def regions(self, op: Operation) -> list[Region]:
        """Returns the copies of the regions of ``op``."""
        return [self.region(region) for region in op.regions]

    def region(self, region: Region) -> Region:
        """Returns a copy of a region."""
        fresh = Region()
        before = self.into
        for block in region.blocks:
            # Type of the argument of a block in the new program.
            self.blocks[block] = Block(arg_types=[argument.type for argument in block.args])
            fresh.add_block(self.blocks[block])
            for old, new in zip(block.args, self.blocks[block].args, strict=True):
                self.bind(old, new)
        for block in _in_order(region):
            self.into = self.blocks[block]
            self.block(block)
        self.into = before
        return fresh

    def block(self, block: Block) -> None:
        """Writes the operations of ``block`` at the insertion point."""
        for op in block.ops:
            self.operation(op)

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """``new`` stands for ``old``, under its name."""
        new._name = old._name
        self.values[old] = new

    def emit(self, op: Operation, old: Operation | None = None) -> None:
        """Writes ``op``; its results stand for those of ``old``."""
        self.into.add_op(op)
        if old is not None:
            for before, after in zip(old.results, op.results, strict=True):
                self.bind(before, after)

    def copied(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        results: Sequence[Attribute],
        regions: Sequence[Region] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Operation:
        """Returns an operation of the same kind with the same source location."""
        copy = type(op).create(
            operands=operands,
            result_types=results,
            attributes=dict(op.attributes if attributes is None else attributes),
            properties=dict(op.properties),
            successors=[self.blocks[block] for block in op.successors],
            regions=regions,
        )
        copy.location = op.location
        return copy

    def regrouped(self, op: PtoOp, groups: Mapping[str, Sequence[SSAValue]], results: Sequence[Attribute]) -> Operation:
        """Returns ``op`` with other operands, given by their declared names."""
        declared = signature(type(op))
        operands = [value for slot in declared.operands for value in groups.get(slot.name, ())]
        attributes = {name: value for name, value in op.attributes.items() if name != "operandSegmentSizes"}
        if declared.segmented:
            sizes = tuple(len(groups.get(slot.name, ())) for slot in declared.operands)
            attributes["operandSegmentSizes"] = segment_sizes(sizes)
        return self.copied(op, operands, results, (), attributes)
