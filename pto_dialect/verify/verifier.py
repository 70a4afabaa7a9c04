"""Applies the rules: one walk over the module, every selected pass on each operation.

Of several findings about one operation only those of the first pass with an error are reported, because later ones
usually follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import compress
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region

from pto_dialect.accel import enabled
from pto_dialect.accel.collector import paused
from pto_dialect.accel.operations.template import template_of
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import target_choice
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import is_translated
from pto_dialect.diagnostics.remedies.names import target_name
from pto_dialect.families import PROGRAM_RULES
from pto_dialect.ir.core.base import PtoOp, is_pto
from pto_dialect.ir.core.location import is_read, span_of
from pto_dialect.ir.core.types import PartitionViewType, TensorViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.backend import ATTRIBUTE, BACKENDS, backend_named
from pto_dialect.targets.choice import TargetChoice
from pto_dialect.targets.release import ATTRIBUTE as RELEASE_ATTRIBUTE

from .core.check import check_core, check_surroundings, has_surroundings
from .core.control import check_blocks
from .core.symbols import check_symbols
from .core.table import CORE_NAMES
from .engine.checks import CHECKS, NUMERIC, PURE, Check
from .engine.context import Context, is_opaque
from .engine.dominance import check_dominance
from .engine.rule import PASSES, STRUCTURE
from .engine.rule_order import group_ranks
from .engine.structure import check_pto


@cache
def _load_common_rules() -> None:
    for name in PROGRAM_RULES:
        import_module(f"pto_dialect.verify.{name}")


Table = list[tuple[str, list[Check]]]
"""Check functions by pass."""


class CheckTables(NamedTuple):
    """The check functions of one operation: all of them, those that are not pure, and those of these that are not
    numeric either. ``numeric``: some of them are."""

    all: Table
    rest: Table
    other: Table
    numeric: bool


_CONFIGURATIONS: dict[tuple[object, ...], object] = {}
"""One object for each target and selection of passes: the key of the verdicts that hold for it."""

_NON_INTEGER_TYPES = frozenset((TileBufType, PartitionViewType, TensorViewType))
"""Type classes whose values are never integers."""

_SILENT_LIMIT = 64
"""Maximum number of operand tuples for which the absence of reports is cached."""


class Verdict:
    """The remaining checks of operations of one template, whose checks of types and attributes report nothing.

    ``core``: a core operation whose surroundings are checked. ``rest`` are the checks that are not pure, ``other``
    those of them that are not numeric either; ``silent`` are operand integers for which the numeric checks report
    nothing; ``may_be_integer`` selects the operands that can be integers (a tile or a view cannot).
    """

    __slots__ = ("core", "may_be_integer", "other", "rest", "silent")

    def __init__(self, core: bool, tables: CheckTables, operands: Sequence[Attribute] = ()) -> None:
        self.core = core
        self.rest = tables.rest
        self.other = tables.other
        self.may_be_integer = [type(one) not in _NON_INTEGER_TYPES for one in operands]
        self.silent: set[tuple[int | None, ...]] | None = set() if tables.numeric else None


class Verifier:
    """Runs the selected passes over one module."""

    def __init__(self, engine: DiagnosticEngine, target: str | None = None, passes: Iterable[str] = PASSES) -> None:
        """Reports to ``engine``; ``target`` overrides the module's own choice, ``passes`` are names from ``PASSES``."""
        self.context = Context(engine)
        # A pass selected alone still relies on valid operations; earlier passes report to a discarded engine.
        self.discarded = Context(DiagnosticEngine())
        self.target = target
        self.passes = tuple(name for name in PASSES if name in set(passes))
        self.stages = PASSES[: PASSES.index(self.passes[-1]) + 1] if self.passes else ()
        """The selected passes and what they rely on: the passes before the last of them."""
        self.shares = enabled("verdicts")
        """Whether checks of structurally equal operations are applied once."""
        self.silent: set[tuple[object, ...]] = set()
        """Keys of operations about which no pure check reports anything on the present target."""
        self.ordered: set[Region] = set()
        """Regions whose uses were checked against their definitions."""
        self.engine_of: Callable[[Operation], DiagnosticEngine | None] | None = None
        """Returns the engine that receives the reports about an operation of a module and its contents, ``None`` to
        skip it; without a function all go to the engine of the verifier."""

    def run(self, module: ModuleOp) -> None:
        """Checks ``module`` and everything inside it."""
        _load_common_rules()
        span = span_of(module)
        self.context.is_cpp = self.discarded.is_cpp = span is not None and is_translated(span.source)
        self._module(module, nested=False)

    def _enter(self, choice: TargetChoice) -> None:
        for context in (self.context, self.discarded):
            context.enter_target(choice.profile, choice.explicit)
        self.silent.clear()
        key = (choice.profile.name, choice.explicit, self.passes)
        self.configuration = _CONFIGURATIONS.setdefault(key, object())

    def _module(self, module: Operation, nested: bool) -> None:
        choice = target_choice(module, self.target)
        ctx = self.context
        self._enter(choice)
        for warning in choice.warnings:
            if warning.rule != "target-override" or not nested:
                mended = (target_name(warning.unknown),) if warning.unknown is not None else ()
                ctx.report(warning.rule, module, warning.message, remedies=mended)
        if STRUCTURE in self.passes:
            check_symbols(module, ctx)
            _check_backend(module, ctx)
            if RELEASE_ATTRIBUTE in module.attributes:
                from .program.releases import check_release  # deferred: start-up

                check_release(module, ctx)
        self._check(module)
        for op in [op for block in module.regions[0].blocks for op in block.ops]:
            if isinstance(op, ModuleOp):
                self._module(op, nested=True)
                self._enter(choice)
            elif self.engine_of is None:
                self._operation(op)
            elif (engine := self.engine_of(op)) is not None:
                default_engine, ctx.engine = ctx.engine, engine
                self._operation(op)
                ctx.engine = default_engine

    def _operation(self, op: Operation) -> None:
        ctx = self.context
        for current in walk(op):
            # Compare the class: isinstance calls the metaclass, and this runs for every operation of a program.
            if type(current) is FuncOp:
                ctx.function = self.discarded.function = current
            self._check(current)
            for region in reversed(current.regions):
                first = region.first_block
                if first is not None and first.next_block is not None:
                    self._check_blocks(current, region)
        if STRUCTURE in self.passes and not is_read(op):
            for region in op.regions:
                self._check_dominance(region)

    def _check_blocks(self, op: Operation, region: Region) -> None:
        """Checks the dominance of definitions over uses between blocks, which the parser leaves open."""
        if STRUCTURE in self.passes:
            if not isinstance(op, FuncOp):
                check_blocks(op, region, self.context)
            self._check_dominance(region)

    def _check_dominance(self, region: Region) -> None:
        if region not in self.ordered:
            self.ordered.update(check_dominance(region, self.context))

    def _check(self, op: Operation) -> None:
        template = template_of(op) if self.shares else None
        if template is not None:
            verdict: Verdict | None = template.verdicts.get(self.configuration)
            if verdict is not None and template.fits(op):
                self._check_remaining(op, verdict)
                return
        reports = self.context.reports + self.discarded.reports
        sound = self._check_all(op)
        if template is None or not sound or self.context.reports + self.discarded.reports != reports:
            return
        if template.fits(op):
            core = not is_pto(op) and has_surroundings(op.name)
            template.verdicts[self.configuration] = Verdict(
                core, _check_tables(op.name, self.stages), template.types[: template.operands]
            )

    def _check_remaining(self, op: Operation, verdict: Verdict) -> None:
        """Runs the checks of ``op`` that its types and attributes do not decide."""
        ctx, discarded = self.context, self.discarded
        if verdict.core:
            ctx.failed = discarded.failed = False
            if not check_surroundings(op, ctx if STRUCTURE in self.passes else discarded):
                return
        if not verdict.rest:
            return
        ctx.failed = discarded.failed = False
        silent = verdict.silent
        if silent is None:
            self._apply(op, verdict.rest)
            return
        known = [constant_of(value) for value in compress(op._operands, verdict.may_be_integer)]
        numbers = tuple([number if isinstance(number, int) else None for number in known])
        if numbers in silent:
            if verdict.other:
                self._apply(op, verdict.other)
            return
        reports = ctx.reports + discarded.reports
        self._apply(op, verdict.rest)
        if ctx.reports + discarded.reports == reports and len(silent) < _SILENT_LIMIT:
            silent.add(numbers)

    def _check_all(self, op: Operation) -> bool:
        """Runs all checks of ``op``; returns True if the absence of reports holds for structurally equal operations."""
        ctx, discarded = self.context, self.discarded
        ctx.failed = discarded.failed = False
        first = ctx if STRUCTURE in self.passes else discarded
        key: tuple[object, ...] | None = None
        # Compare the class: isinstance is slow when the answer is no.
        if is_pto(op):
            key = _structural_key(op)
            if key in self.silent:
                self._apply(op, _check_tables(op.name, self.stages).rest)
                return True
            if not check_pto(op, first):
                return False
        elif not isinstance(op, UnregisteredOp) and not check_core(op, first):
            return False
        table = _check_tables(op.name, self.stages).all
        if is_opaque(op):
            return False
        reports = ctx.reports + discarded.reports
        self._apply(op, table)
        if key is not None and self.shares and ctx.reports + discarded.reports == reports:
            self.silent.add(key)
        return key is not None or op.name in CORE_NAMES

    def _apply(self, op: Operation, table: Table) -> None:
        for stage, functions in table:
            ctx = self.context if stage in self.passes else self.discarded
            for function in functions:
                function(op, ctx)
            if ctx.failed:
                return


@cache
def _check_tables(name: str, passes: tuple[str, ...]) -> CheckTables:
    """Returns the check functions for one operation; imports the rule groups of its family first. Their order is that
    of the groups, independent of import order."""
    ranks = group_ranks(name)
    for group in ranks:
        import_module(group)
    table = [
        (stage, sorted(CHECKS[stage][name], key=lambda check: ranks.get(check.__module__, -1)))
        for stage in passes
        if name in CHECKS[stage]
    ]
    rest = _without(table, PURE)
    other = _without(rest, NUMERIC)
    return CheckTables(table, rest, other, other != rest)


def _without(table: Table, omitted: Container[Check]) -> Table:
    return [(stage, some) for stage, all in table if (some := [check for check in all if check not in omitted])]


def _structural_key(op: PtoOp) -> tuple[object, ...]:
    """Returns a key that is equal for operations of one class with the same types and attributes. Types count by
    identity, which is stable as long as the module lives."""
    operands = op._operands
    types = [id(value._type) for value in operands]
    types += [id(value._type) for value in op.results]
    return (type(op), len(operands), *types, *op.seen_attributes().items())


def _check_backend(module: Operation, ctx: Context) -> None:
    stated = module.attributes.get(ATTRIBUTE)
    if stated is None or (isinstance(stated, StringAttr) and backend_named(stated.data) is not None):
        return
    found = f"'{stated.data}'" if isinstance(stated, StringAttr) else "another kind of attribute"
    message = f"{ATTRIBUTE} names no backend and is read as emitc, found {found}, expected a string: "
    ctx.report("backend-unknown", module, message + " or ".join(BACKENDS), at=ATTRIBUTE)


def verify_module(
    module: ModuleOp,
    engine: DiagnosticEngine,
    *,
    target: str | None = None,
    passes: Iterable[str] = PASSES,
) -> bool:
    """Checks ``module`` with the named passes and reports to ``engine``; returns True when no error was found.

    ``target`` overrides the module's own choice (``a2a3``, ``a5``, ``cpu-sim``); raises ValueError for another name.
    """
    before = engine.counts().errors
    with paused():
        Verifier(engine, target, passes).run(module)
    return engine.counts().errors == before


def verify_parts(
    module: ModuleOp,
    engine: DiagnosticEngine,
    engine_of: Callable[[Operation], DiagnosticEngine | None],
    *,
    target: str | None = None,
) -> None:
    """Checks as ``verify_module`` with all passes, but of the operations in modules (functions) only those for which
    ``engine_of`` returns an engine, which receives their reports. ``engine`` receives the reports about the modules."""
    verifier = Verifier(engine, target)
    verifier.engine_of = engine_of
    with paused():
        verifier.run(module)
