"""``to-assembly``: a function of tile values as PTO-AS assembly.

Source: docs/reference/language.md, "PTO-AS assembly".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.base import Effect, is_pto, op_spec
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.print.assembly import print_assembly
from pto_dialect.syntax.print.printer import ASSEMBLY, FORM, print_module
from pto_dialect.syntax.print.writer import Inexpressible
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.engine.rule import Rule, read_rules

from .level1 import to_level1
from .operands import is_tile_operation
from .rebuild import FormPass, Rebuild, RefusedError

_RULES = read_rules("passes")
CANNOT_SAY = _RULES["to-assembly-unsupported"]
_ENTRY = frozenset(("pto.entry",))
"""Attributes that go without saying: the function of an assembly text is the one that a launch starts."""


@dataclass(frozen=True)
class ToAssemblyPass(FormPass):
    """Writes a program as assembly. ``attributes``: ``keep`` refuses attributes that the form cannot represent,
    ``drop`` leaves them out."""

    name: ClassVar[str] = "to-assembly"
    form: ClassVar[str] = "assembly"
    rule: ClassVar[Rule] = CANNOT_SAY
    attributes: str = "keep"

    def make(self, module: ModuleOp) -> ModuleOp:
        """Returns the program as it prints as assembly."""
        return to_assembly(module, self.target, self.attributes == "drop")


def to_assembly(module: ModuleOp, target: str | None = None, drop_attributes: bool = False) -> ModuleOp:
    """Returns the program as one that prints as assembly and reads as itself, its function under the name ``main``.
    ``module``, whose tiles may be buffers, stays as it is. Raises :class:`RefusedError`."""
    fresh = _Plain(drop_attributes).module(to_level1(module, target))
    function = _function(fresh)
    if len(function.regions[0].blocks) != 1:
        raise RefusedError(function, "it goes from block to block, and the form has statements only")
    for op in function.regions[0].block.ops:
        _check(op)
    fresh.attributes[FORM] = ASSEMBLY
    try:
        text = print_assembly(function.regions[0].block)
    except Inexpressible:
        raise RefusedError(function, "one of its statements has a form with a destination only") from None
    engine = DiagnosticEngine(DiagnosticOptions())
    again = parse_program(SourceFile("assembly", text), engine)
    if not engine.has_errors:
        assert again is not None
        if _normal(again) == _normal(fresh):
            return fresh
    raise RefusedError(function, "what it returns, or a number in it, reads as something else")


def _function(module: ModuleOp) -> Operation:
    """Returns the one function of a program."""
    operations = [op for block in module.body.blocks for op in block.ops]
    function = next((op for op in operations if has_role(op, Role.FUNCTION) and op.regions[0].blocks), None)
    other = next((op for op in operations if op is not function), None)
    if function is None or other is not None:
        raise RefusedError(other or module, "the form has one function")
    for op in (module, function):
        for name in op.attributes:
            if name not in _ENTRY:
                raise RefusedError(op, f"the form cannot express {name}; to-assembly{{attributes=drop}} leaves it out")
    return function


def _check(op: Operation) -> None:
    """Refuses what is no statement of the form."""
    if op.regions or op.successors:
        raise RefusedError(op, f"{op.name} has regions or goes to blocks, and the form has statements only")
    if has_role(op, Role.CONSTANT | Role.PART | Role.RETURN | Role.TILE_ALLOCATION):
        return
    if not is_tile_operation(op) and not (is_pto(op) and op_spec(type(op)).effect is Effect.SYNC):
        raise RefusedError(op, f"the form has no {op.name}")


class _Plain(Rebuild):
    """Copies a program, without the attributes of modules and functions if these are dropped."""

    def __init__(self, drop: bool) -> None:
        super().__init__()
        self.drop = drop

    def operation(self, op: Operation) -> None:
        """Writes ``op``."""
        super().operation(op)
        last = self.into.last_op
        assert last is not None
        if has_role(op, Role.FUNCTION):
            last.properties["sym_name"] = StringAttr("main")
            if self.drop:
                last.attributes.clear()

    def module(self, old: ModuleOp) -> ModuleOp:
        """Returns the whole program."""
        fresh = super().module(old)
        if self.drop:
            fresh.attributes.clear()
        return fresh


class _Numbers(Rebuild):
    """Copies a program with each number once, where it is used first; numbers and parts of memory lose their names."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[object, SSAValue] = {}

    def operation(self, op: Operation) -> None:
        """Writes ``op``."""
        if has_role(op, Role.CONSTANT):
            return
        for value in op.operands:
            maker = value.owner
            if isinstance(maker, Operation) and has_role(maker, Role.CONSTANT):
                key = (value.type, *maker.properties.values())
                if key not in self.numbers:
                    copy = self.copied(maker, (), [value.type])
                    self.emit(copy)
                    self.numbers[key] = copy.results[0]
                self.values[value] = self.numbers[key]
        super().operation(op)
        if has_role(op, Role.PART):
            self.values[op.results[0]]._name = None


def _normal(module: ModuleOp) -> str:
    fresh = _Numbers().module(module)
    for op in walk(fresh):
        op.attributes.pop("pto.entry", None)
    return print_module(fresh)
