"""Relations between the operands of a tile operation, decided from types and attributes alone.

A relation function receives a ``TileOperands`` and yields findings. Its findings for one combination of operation,
types and attributes are cached, so that a repeated statement costs one lookup. A finding states its severity on each
target; the severity for a program follows from the target it is checked for.

Source: docs/reference/constraints.md, "Severity", "Tile arithmetic", "Tile moves".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, is_pto, op_spec, operand_groups
from pto_dialect.ir.core.types import type_text
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.profile import Profile

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.moves import missing_move
from ..engine.rule import ERROR, LOCATIONS, SHAPES, STRUCTURE, TRIPLES, WARNING, rule_named
from ..engine.rule_order import group_ranks
from .facts import Tile, tile_of


class Cell(NamedTuple):
    """Severity of a violation on each target; ``None`` where there is none."""

    a2a3: Severity | None
    a5: Severity | None


_LETTERS = {"E": ERROR, "W": WARNING, "": None}


def cell(text: str) -> Cell:
    """Parses a cell: ``E`` and ``W`` hold on both targets, ``E/W`` names a2a3 and a5 apart, an empty side allows."""
    a2a3, _, a5 = text.partition("/") if "/" in text else (text, "", text)
    return Cell(_LETTERS[a2a3], _LETTERS[a5])


ALWAYS = cell("E")
ADVICE = cell("W")


def unless(allowed: Callable[[Profile], bool], severity: Severity = ERROR) -> Cell:
    """Returns ``severity`` on the targets that do not allow something."""
    a2a3, a5 = _profiles()
    return Cell(None if allowed(a2a3) else severity, None if allowed(a5) else severity)


@cache
def _profiles() -> tuple[Profile, Profile]:
    return get_profile("a2a3"), get_profile("a5")


class TargetHelp(NamedTuple):
    """Help for each target."""

    a2a3: str
    a5: str


class Finding(NamedTuple):
    """A violated rule; ``operand`` is the position of the operand to point at, or a token of the statement."""

    rule: str
    cell: Cell
    operand: int | str | None
    message: str
    help: str | TargetHelp | None = None
    remedies: tuple[Remedy, ...] = ()


class TileOperands:
    """Operands of one tile operation by declared name; a result takes the role of an absent destination."""

    def __init__(self, op: PtoOp) -> None:
        """Sorts the operands of ``op``, which has those that its class declares."""
        self.op = op
        groups = operand_groups(op)
        self.values: dict[str, tuple[SSAValue, ...]] = {name: values for name, values in groups.items() if values}
        self.positions: dict[str, int] = {}
        position = 0
        for name, values in groups.items():
            self.positions[name] = position
            position += len(values)
        self.value_form = False
        for name, result in zip(op_spec(type(op)).outs, op.results, strict=False):
            if name not in self.values:
                self.values[name] = (result,)
                self.value_form = True
        self._tiles = {name: tile_of(values[0]) for name, values in self.values.items()}

    @property
    def op_name(self) -> str:
        """Full mnemonic."""
        return self.op.name

    def value(self, name: str) -> SSAValue | None:
        """Returns the first value of an operand."""
        values = self.values.get(name)
        return values[0] if values else None

    def tile(self, name: str) -> Tile | None:
        """Returns the facts about an operand; ``None`` when it is absent or not a tile."""
        return self._tiles.get(name)

    def tiles(self, *names: str) -> list[tuple[str, Tile]]:
        """Returns the named operands that are present and tiles."""
        tiles = self._tiles
        return [(name, tile) for name in names if (tile := tiles.get(name)) is not None]

    def type(self, name: str) -> Attribute | None:
        """Returns the type of an operand."""
        value = self.value(name)
        return None if value is None else value.type

    def type_name(self, name: str) -> str:
        """Returns the type of an operand as it is written; empty when it is absent."""
        kind = self.type(name)
        return "" if kind is None else type_text(kind)

    def enumerator(self, name: str) -> str:
        """Returns the enumerator or string of an attribute; empty when it is absent."""
        value = self.op.seen_attributes().get(name)
        if value is None:
            return ""
        if isinstance(value, EnumAttr):
            return value.value
        return value.data if isinstance(value, StringAttr) else ""

    def number(self, name: str) -> int | None:
        """Returns the value of an integer or boolean attribute; ``None`` when it is absent."""
        value = self.op.seen_attributes().get(name)
        return value.value.data if isinstance(value, IntegerAttr) else None

    def finding(
        self,
        rule: str,
        cell: Cell,
        at: str | None,
        message: str,
        help: str | TargetHelp | None = None,
        *,
        index: int = 0,
        remedies: tuple[Remedy, ...] = (),
    ) -> Finding:
        """Returns a violation; ``at`` names an operand (``index`` among its values) or a token of the statement."""
        place: int | str | None = at
        if at is not None and at in self.positions:
            written = self.positions[at] + index
            values = self.values.get(at)
            place = None
            if values is not None and index < len(values) and written < len(self.op.operands):
                place = written if self.op.operands[written] is values[index] else None
        return Finding(rule, cell, place, message, help, remedies)

    def memory_finding(
        self, rule: str, cell: Cell, at: str, found: str | None, *wanted: str, role: str | None = None
    ) -> Finding:
        """Returns the finding that the operand ``at``, or its ``role``, is in ``found`` and not in one of those
        ``wanted``."""
        name = role or at
        help, *moves = missing_move(name, found, wanted)
        message = f"{name} of {self.op_name} must be in {' or '.join(wanted)}, found {found}"
        return self.finding(rule, cell, at, message, help, remedies=tuple(moves))


Relation = Callable[[TileOperands], Iterator[Finding]]

_RELATIONS: dict[str, list[Relation]] = {}
_finding_cache: dict[tuple[object, ...], tuple[Finding, ...]] = {}
_FINDING_CACHE_LIMIT = 50_000
"""Maximum number of cached combinations; the cache is emptied when it is full."""


def relation(*mnemonics: str) -> Callable[[Relation], Relation]:
    """Registers a relation function for the named operations."""

    def register(function: Relation) -> Relation:
        for mnemonic in mnemonics:
            if mnemonic not in _RELATIONS:
                _RELATIONS[mnemonic] = []
                for stage, check in _STAGES.items():
                    checks(stage, mnemonic, pure=True)(check)
            _RELATIONS[mnemonic].append(function)
        return function

    return register


def relations_of(name: str) -> Sequence[Relation]:
    """Returns the relation functions registered for operation ``name``, whose family is imported."""
    return _RELATIONS.get(name, ())


@cache
def _sorted_relations(name: str) -> list[Relation]:
    """Returns the relation functions of an operation, in the order of its family's groups, independent of
    import order."""
    place = group_ranks(name)
    return sorted(_RELATIONS[name], key=lambda function: place.get(function.__module__, -1))


class _Latest:
    """The last operation under check: several passes query its findings in a row."""

    op: Operation | None = None
    context: Context | None = None
    findings: tuple[Finding, ...] = ()


def findings_of(op: Operation, ctx: Context) -> tuple[Finding, ...]:
    """Returns all findings about ``op``, of every pass and target."""
    if _Latest.op is op and _Latest.context is ctx:
        return _Latest.findings
    assert is_pto(op)
    key = (
        type(op),
        *[value._type for value in op._operands],
        None,
        *[result._type for result in op.results],
        *op.seen_attributes().items(),
    )
    found = _finding_cache.get(key)
    if found is None:
        if len(_finding_cache) >= _FINDING_CACHE_LIMIT:
            _finding_cache.clear()
        operands = TileOperands(op)
        found = tuple(f for function in _sorted_relations(op.name) for f in function(operands))
        _finding_cache[key] = found
    _Latest.op, _Latest.context, _Latest.findings = op, ctx, found
    return found


def severity_of(cell: Cell, ctx: Context) -> Severity | None:
    """Returns the severity on the target of the program; without a named target an error requires that every target
    refuses."""
    own = cell.a5 if ctx.profile.arch == "a5" else cell.a2a3
    if own is ERROR and not ctx.explicit and (cell.a2a3 is not ERROR or cell.a5 is not ERROR):
        return WARNING
    return own


def help_for(help: str | TargetHelp | None, ctx: Context) -> str | None:
    """Returns the help for the target of the program, or for both targets where none is named."""
    if not isinstance(help, TargetHelp):
        return help
    if not ctx.explicit and help.a2a3 != help.a5:
        return f"{help.a2a3}; {help.a5}"
    return help.a5 if ctx.profile.arch == "a5" else help.a2a3


def _check(stage: str) -> Callable[[Operation, Context], None]:
    def check(op: Operation, ctx: Context) -> None:
        for finding in findings_of(op, ctx):
            if rule_named(finding.rule).stage == stage:
                severity = severity_of(finding.cell, ctx)
                if severity is not None:
                    place = finding.operand
                    at = op.operands[place] if isinstance(place, int) else place
                    help = help_for(finding.help, ctx)
                    ctx.report(
                        finding.rule,
                        op,
                        finding.message,
                        at=at,
                        help=help,
                        severity=severity,
                        remedies=finding.remedies,
                    )

    return check


_STAGES = {stage: _check(stage) for stage in (STRUCTURE, LOCATIONS, TRIPLES, SHAPES)}
