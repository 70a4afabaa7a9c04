"""``to-level1``: replaces buffers by tile values.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.verify.engine.rule import Rule, read_rules

from .contents import Contents, is_buffer
from .level2 import with_buffers
from .plan import Plan
from .rebuild import FormPass, RefusedError
from .sound import stay_sound
from .values import ValueWriter
from .written import ATTRIBUTE, BufferFacts, numbered, write

_RULES = read_rules("passes")
CANNOT_SAY = _RULES["to-level1-unsupported"]


@dataclass(frozen=True)
class ToLevel1Pass(FormPass):
    """Writes the buffers of a program as tile values."""

    name: ClassVar[str] = "to-level1"
    form: ClassVar[str] = "Level 1"
    rule: ClassVar[Rule] = CANNOT_SAY

    def make(self, module: ModuleOp) -> ModuleOp:
        """Returns the program with values."""
        return to_level1(module, self.target)


def to_level1(module: ModuleOp, target: str | None = None) -> ModuleOp:
    """Returns a program of Level 2 with values: what was written to a buffer is a result of the operation.

    Facts on buffers that the values do not state are in the attribute ``pto.buffers`` of their functions, so that
    ``to_level2`` restores ``module``, which is not changed. Raises :class:`RefusedError`.
    """
    writer = _Writer(target)
    fresh = writer.module(module)
    if not writer.kept:
        return fresh
    stay_sound(module, fresh, target)
    text = print_module(module)
    if _back(fresh, target) == text:
        return fresh
    for function, buffers in writer.kept.items():
        function.attributes[ATTRIBUTE] = write(_least(function, buffers, target))
    if _back(fresh, target) == text:
        return fresh
    raise RefusedError(next(iter(writer.kept)), "values cannot express the uses of its buffers")


def _least(function: Operation, buffers: Mapping[str, BufferFacts], target: str | None) -> dict[str, BufferFacts]:
    """Returns what has to be kept of ``buffers``: what a plan that knows the values of each would not find out."""
    function.attributes[ATTRIBUTE] = write(dict.fromkeys(buffers, BufferFacts()))
    try:
        plan = Plan(function, profile_of(function, target))
    except RefusedError:
        return dict(buffers)
    operations = dict(numbered(function))
    facts: dict[str, BufferFacts] = {}
    for name, stated in buffers.items():
        webs = plan.webs_of(name)
        type_ = None if {plan.webs.type_of(web) for web in webs} == {stated.type} else stated.type
        positions = [plan.first.get(web) for web in webs]
        at = None if positions == [operations.get(-1 if stated.at is None else stated.at)] else stated.at
        if type_ is not None or not {*map(plan.webs.web_id, plan.arguments)}.issuperset(webs):
            facts[name] = BufferFacts(type_, at, stated.address)
    return facts


def _back(module: ModuleOp, target: str | None) -> str:
    try:
        return print_module(with_buffers(module, target))
    except RefusedError:
        return ""


class _Writer(ValueWriter):
    """The functions of a program; ``kept`` has the buffers of those that become others."""

    def __init__(self, target: str | None) -> None:
        super().__init__()
        self.target = target
        self.kept: dict[Operation, dict[str, BufferFacts]] = {}

    def operation(self, op: Operation) -> None:
        """Writes ``op`` with values instead of buffers."""
        if not has_role(op, Role.FUNCTION) or not op.regions[0].blocks or not any(_buffers(op)):
            super().operation(op)
            return
        if len(op.regions[0].blocks) != 1:
            raise RefusedError(op, "it goes from block to block; only structured control flow is followed")
        contents = Contents(profile_of(op, self.target))
        fresh = self.function(op, contents)
        self.kept[fresh] = self.buffers_of(fresh)


def _buffers(function: Operation) -> Iterator[object]:
    for op in walk(function):
        blocks = (block for region in op.regions for block in region.blocks)
        values = (*op.operands, *op.results, *(argument for block in blocks for argument in block.args))
        yield from (value for value in values if is_buffer(value) or isinstance(value.type, MultiTileBufType))
