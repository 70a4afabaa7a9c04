"""Applies the rules: one walk over the module, every selected pass on each operation.

Of several findings about one operation only those of the first pass with an error are reported, because later ones
usually follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import compress

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import target_choice
from pto_dialect.collector import paused
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.families import PROGRAM_RULES, all_rule_modules
from pto_dialect.ir.core.base import PtoOp, is_pto
from pto_dialect.ir.core.likeness import likeness_of
from pto_dialect.ir.core.location import SourceLoc
from pto_dialect.ir.core.types import PartitionViewType, TensorViewType, TileBufType
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
from .engine.groups import group_places
from .engine.rule import PASSES, STRUCTURE, WARNING, rule
from .engine.structure import check_pto

TARGET_OVERRIDE = rule(
    "target-override",
    WARNING,
    STRUCTURE,
    "tool option and module attribute name the same target; otherwise the option is obeyed",
    source='docs/reference/targets.md, "Choice of the target"',
)
TARGET_UNKNOWN = rule(
    "target-unknown",
    WARNING,
    STRUCTURE,
    "pto.target_arch is a2, a3, a2a3 or a5; anything else is read as a2a3",
    source='docs/reference/targets.md, "Choice of the target"',
)
BACKEND_UNKNOWN = rule(
    "backend-unknown",
    WARNING,
    STRUCTURE,
    "pto.backend of a module is emitc or vpto; anything else is read as emitc",
    source='docs/reference/targets.md, "Choice of the target"',
)
_TARGET_RULES = {r.id: r for r in (TARGET_OVERRIDE, TARGET_UNKNOWN)}


@cache
def _load_common_rules() -> None:
    for name in PROGRAM_RULES:
        import_module(f"pto_dialect.verify.{name}")


Table = list[tuple[str, list[Check]]]
"""Check functions by pass."""

_SITUATIONS: dict[tuple[object, ...], object] = {}
"""One object for each target and selection of passes: the key of verdicts that hold for it."""

_NO_NUMBERS = frozenset((TileBufType, PartitionViewType, TensorViewType))
"""Classes of types of which no value is an integer."""

_SETS_OF_NUMBERS = 64
"""For how many different integers of its operands an operation's silence is remembered."""


class Verdict:
    """What is left to check of operations of one likeness, of which the checks of types and attributes say nothing.

    ``core``: a core operation whose surroundings are looked at. ``rest`` are the checks that are not pure, ``other``
    those of them that are not numeric either; ``silent`` are integers of the operands of which the latter say nothing,
    of those ``asked``: a tile or a view is no integer.
    """

    __slots__ = ("asked", "core", "other", "rest", "silent")

    def __init__(self, core: bool, rest: Table, operands: Sequence[Attribute] = ()) -> None:
        self.core = core
        self.rest = rest
        other = [(stage, some) for stage, all in rest if (some := [check for check in all if check not in NUMERIC])]
        numeric = any(check in NUMERIC for _, all in rest for check in all)
        self.other = other
        self.asked = [type(one) not in _NO_NUMBERS for one in operands]
        self.silent: set[tuple[int | None, ...]] | None = set() if numeric else None


class Verifier:
    """Runs the selected passes over one module."""

    def __init__(self, engine: DiagnosticEngine, target: str | None = None, passes: Iterable[str] = PASSES) -> None:
        """Reports to ``engine``; ``target`` overrides the module's own choice, ``passes`` are names from ``PASSES``."""
        self.context = Context(engine)
        # Later passes alone rely on sound operations as well; what is not is told by the first pass only.
        self.unheard = Context(DiagnosticEngine())
        self.target = target
        self.passes = tuple(name for name in PASSES if name in set(passes))
        self.stages = PASSES[: PASSES.index(self.passes[-1]) + 1] if self.passes else ()
        """The selected passes and what they rely on: the passes before the last of them."""
        self.silent: set[tuple[object, ...]] = set()
        """Likenesses of operations about which no pure check says anything on the present target."""
        self.ordered: set[Region] = set()
        """Regions whose uses were found to follow their definitions, or reported."""
        self.engine_of: Callable[[Operation], DiagnosticEngine | None] | None = None
        """Who is told about an operation of a module and what is inside, ``None`` for one that is not looked at; the
        engine of the verifier where nothing is said."""

    def run(self, module: ModuleOp) -> None:
        """Checks ``module`` and everything inside it."""
        _load_common_rules()
        self._module(module, nested=False)

    def _enter(self, choice: TargetChoice) -> None:
        for context in (self.context, self.unheard):
            context.enter_target(choice.profile, choice.explicit)
        self.silent.clear()
        key = (choice.profile.name, choice.explicit, self.passes)
        self.situation = _SITUATIONS.setdefault(key, object())

    def _module(self, module: Operation, nested: bool) -> None:
        choice = target_choice(module, self.target)
        ctx = self.context
        self._enter(choice)
        for warning in choice.warnings:
            if _TARGET_RULES[warning.rule] is not TARGET_OVERRIDE or not nested:
                ctx.report(_TARGET_RULES[warning.rule], module, warning.message)
        if STRUCTURE in self.passes:
            check_symbols(module, ctx)
            _check_backend(module, ctx)
            if RELEASE_ATTRIBUTE in module.attributes:
                from .program.releases import check_release

                check_release(module, ctx)
        self._check(module)
        for op in [op for block in module.regions[0].blocks for op in block.ops]:
            if isinstance(op, ModuleOp):
                self._module(op, nested=True)
                self._enter(choice)
            elif self.engine_of is None:
                self._operation(op)
            elif (engine := self.engine_of(op)) is not None:
                whole, ctx.engine = ctx.engine, engine
                self._operation(op)
                ctx.engine = whole

    def _operation(self, op: Operation) -> None:
        stack = [op]
        ctx = self.context
        while stack:
            current = stack.pop()
            # Not isinstance, which asks the metaclass: this is every operation of a program.
            if type(current) is FuncOp:
                ctx.function = self.unheard.function = current
            self._check(current)
            for region in reversed(current.regions):
                first = region.first_block
                if first is not None and first.next_block is not None:
                    self._several_blocks(current, region)
                block = region.last_block
                while block is not None:
                    # xDSL's own iterators cost more than most checks.
                    inner = block.last_op
                    while inner is not None:
                        stack.append(inner)
                        inner = inner._prev_op
                    block = block._prev_block
        if STRUCTURE in self.passes and not isinstance(op.location, SourceLoc):
            for region in op.regions:
                self._order(region)

    def _several_blocks(self, op: Operation, region: Region) -> None:
        """What reading a text does not settle: the order of definitions and uses between blocks."""
        if STRUCTURE in self.passes:
            if not isinstance(op, FuncOp):
                check_blocks(op, region, self.context)
            self._order(region)

    def _order(self, region: Region) -> None:
        if region not in self.ordered:
            self.ordered.update(check_dominance(region, self.context))

    def _check(self, op: Operation) -> None:
        likeness = likeness_of(op)
        if likeness is not None:
            verdict: Verdict | None = likeness.verdicts.get(self.situation)
            if verdict is not None and likeness.fits(op):
                self._rest(op, verdict)
                return
        reports = self.context.reports + self.unheard.reports
        sound = self._whole(op)
        if likeness is None or not sound or self.context.reports + self.unheard.reports != reports:
            return
        if likeness.fits(op):
            core = not is_pto(op) and has_surroundings(op.name)
            likeness.verdicts[self.situation] = Verdict(
                core, _tables(op.name, self.stages)[1], likeness.types[: likeness.operands]
            )

    def _rest(self, op: Operation, verdict: Verdict) -> None:
        """The checks of ``op`` that its types and attributes do not answer."""
        ctx, unheard = self.context, self.unheard
        if verdict.core:
            ctx.failed = unheard.failed = False
            if not check_surroundings(op, ctx if STRUCTURE in self.passes else unheard):
                return
        if not verdict.rest:
            return
        ctx.failed = unheard.failed = False
        silent = verdict.silent
        if silent is None:
            self._apply(op, verdict.rest)
            return
        known = [constant_of(value) for value in compress(op._operands, verdict.asked)]
        numbers = tuple([number if isinstance(number, int) else None for number in known])
        if numbers in silent:
            if verdict.other:
                self._apply(op, verdict.other)
            return
        reports = ctx.reports + unheard.reports
        self._apply(op, verdict.rest)
        if ctx.reports + unheard.reports == reports and len(silent) < _SETS_OF_NUMBERS:
            silent.add(numbers)

    def _whole(self, op: Operation) -> bool:
        """All checks of ``op``; True for an operation whose silence says something about others that are like it."""
        ctx, unheard = self.context, self.unheard
        ctx.failed = unheard.failed = False
        first = ctx if STRUCTURE in self.passes else unheard
        key: tuple[object, ...] | None = None
        # Not isinstance, which asks all classes below when the answer is no.
        if is_pto(op):
            key = _likeness(op)
            if key in self.silent:
                self._apply(op, _tables(op.name, self.stages)[1])
                return True
            if not check_pto(op, first):
                return False
        elif not isinstance(op, UnregisteredOp) and not check_core(op, first):
            return False
        table, _ = _tables(op.name, self.stages)
        if is_opaque(op):
            return False
        reports = ctx.reports + unheard.reports
        self._apply(op, table)
        if key is not None and ctx.reports + unheard.reports == reports:
            self.silent.add(key)
        return key is not None or op.name in CORE_NAMES

    def _apply(self, op: Operation, table: Table) -> None:
        for stage, functions in table:
            ctx = self.context if stage in self.passes else self.unheard
            for function in functions:
                function(op, ctx)
            if ctx.failed:
                return


@cache
def _tables(name: str, passes: tuple[str, ...]) -> tuple[Table, Table]:
    """Check functions for one operation, all of them and those that are not pure; imports the rule groups of its family
    first. Their order is that of the groups, whichever another program has imported before."""
    place = group_places(name)
    for group in place:
        import_module(group)
    table = [
        (stage, sorted(CHECKS[stage][name], key=lambda check: place.get(check.__module__, -1)))
        for stage in passes
        if name in CHECKS[stage]
    ]
    return table, [(stage, some) for stage, all in table if (some := [check for check in all if check not in PURE])]


def _likeness(op: PtoOp) -> tuple[object, ...]:
    """Equal for operations of one class with the same types and attributes. Types count by identity, which is theirs
    as long as the module lives."""
    operands = op._operands
    types = [id(value._type) for value in operands]
    types += [id(value._type) for value in op.results]
    return (type(op), len(operands), *types, *op.attributes.items())


def _check_backend(module: Operation, ctx: Context) -> None:
    stated = module.attributes.get(ATTRIBUTE)
    if stated is None or (isinstance(stated, StringAttr) and backend_named(stated.data) is not None):
        return
    found = f"'{stated.data}'" if isinstance(stated, StringAttr) else "another kind of attribute"
    message = f"{ATTRIBUTE} names no backend and is read as emitc, found {found}, expected a string: "
    ctx.report(BACKEND_UNKNOWN, module, message + " or ".join(BACKENDS), at=ATTRIBUTE)


def verify_module(
    module: ModuleOp,
    engine: DiagnosticEngine,
    *,
    target: str | None = None,
    passes: Iterable[str] = PASSES,
) -> bool:
    """Checks ``module`` with the named passes and reports to ``engine``; True when no error was found.

    ``target`` overrides the module's own choice (``a2a3``, ``a5``, ``cpu-sim``); raises ValueError for another word.
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
    """As ``verify_module`` with all passes; of the operations in modules (functions) only those are checked for which
    ``engine_of`` has an engine, and this one is told about them. ``engine`` is told what is wrong with the modules."""
    verifier = Verifier(engine, target)
    verifier.engine_of = engine_of
    with paused():
        verifier.run(module)


def load_all_rules() -> None:
    """Imports every rule group, so that ``RULES`` is complete."""
    for name in all_rule_modules():
        import_module(f"pto_dialect.{name}")
