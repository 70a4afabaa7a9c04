"""Rules about a function as a whole: one walk collects its operations for the checks of all families in it.

Rule groups register such checks with ``@function_check(families...)``; they receive a ``FunctionScan`` and report at
the operation concerned. They run before the operations themselves are checked, so attributes and operands may be
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import import_module

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from pto_dialect.analysis.type_facts import is_simt_entry, kernel_kind
from pto_dialect.families import rule_modules
from pto_dialect.ir.core.base import PtoOp, section_of, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for

from .checks import checks
from .context import Context
from .rule import STRUCTURE


class FunctionScan:
    """The operations of one function, by name and by family, in program order."""

    def __init__(self, function: FuncOp) -> None:
        """Collects the operations of ``function`` in one walk."""
        self.function = function
        self.by_name: dict[str, list[Operation]] = {}
        by_name = self.by_name
        for op in walk(function):
            found = by_name.get(op.name)
            if found is None:
                by_name[op.name] = [op]
            else:
                found.append(op)
        self.families = frozenset(OPS[name][0] for name in by_name if name in OPS)
        self._positions: dict[Block, dict[Operation, int]] = {}
        self._carriers: dict[tuple[Block, int], Operation | None] = {}

    def named(self, *names: str) -> Iterator[Operation]:
        """Returns the operations with these names, grouped by name."""
        for name in names:
            yield from filter(_has_results, self.by_name.get(name, ()))

    def contains(self, name: str) -> bool:
        """Returns whether the function has an operation of this name."""
        return name in self.by_name

    def of_families(self, *families: str) -> Iterator[Operation]:
        """Returns the operations of these families, grouped by name."""
        for name, operations in self.by_name.items():
            if name in OPS and OPS[name][0] in families:
                yield from filter(_has_results, operations)

    def enclosing(self, op: Operation, test: Callable[[Operation], bool]) -> Operation | None:
        """Returns the innermost operation around ``op`` in this function for which ``test`` holds; cached by block."""
        block = op.parent
        if block is None:
            return None
        key = (block, id(test))
        if key not in self._carriers:
            parent = block.parent_op()
            if parent is None or parent is self.function:
                self._carriers[key] = None
            elif test(parent):
                self._carriers[key] = parent
            else:
                self._carriers[key] = self.enclosing(parent, test)
        return self._carriers[key]

    def precedes(self, first: Operation, second: Operation) -> bool:
        """Returns whether ``first`` is executed on every path to ``second``, by the nesting of structured regions."""
        home = first.parent
        ancestor: Operation | None = second
        while ancestor is not None and ancestor.parent is not home:
            ancestor = ancestor.parent_op()
        return (
            ancestor is not None and home is not None and self._position(home, first) < self._position(home, ancestor)
        )

    def _position(self, block: Block, op: Operation) -> int:
        if block not in self._positions:
            self._positions[block] = {inner: index for index, inner in enumerate(block.ops)}
        return self._positions[block][op]

    @property
    def has_vector_scope(self) -> bool:
        """Returns whether the function contains a vector scope."""
        scopes = self.named("pto.vecscope", "pto.strict_vecscope", "scf.for")
        return any(is_vector_scope(op) for op in scopes)

    def core_of(self, op: Operation) -> str | None:
        """Returns ``cube`` or ``vector`` when a section or the kernel kind determines the core of ``op``."""
        section = self.enclosing(op, is_section)
        return section_of(section) if section is not None else self.kernel_kind

    @property
    def kernel_kind(self) -> str | None:
        """Returns ``cube`` or ``vector`` as the attribute of the function, or of a module around it, states."""
        return kernel_kind(self.function)

    @property
    def is_simt_entry(self) -> bool:
        """Returns whether the function is the body of SIMT launches."""
        return is_simt_entry(self.function)


def _has_results(op: Operation) -> bool:
    """Returns False for an operation in generic form that lacks a result, which its own checks report."""
    return len(op.results) >= _least_results(type(op))


@cache
def _least_results(cls: type[Operation]) -> int:
    return sum(slot.arity == "1" for slot in signature(cls).results) if issubclass(cls, PtoOp) else 0


def is_section(op: Operation) -> bool:
    """Returns whether ``op`` is a section of the cube core or of the vector cores."""
    return section_of(op) in ("cube", "vector")


def is_simt_section(op: Operation) -> bool:
    """Returns whether ``op`` is a section that runs once for each work item."""
    return section_of(op) == "simt"


def is_vector_scope(op: Operation) -> bool:
    """Returns whether ``op`` is a vector scope, which becomes one vector function; marked loops are included."""
    if has_role(op, Role.SCOPE):
        return True
    return is_for(op) and "llvm.loop.aivector_scope" in op.attributes


FunctionCheck = Callable[[FunctionScan, Context], None]
FUNCTION_CHECKS: list[tuple[frozenset[str], FunctionCheck]] = []
"""Whole-function checks with the families of which one must occur in the function."""


def function_check(*families: str) -> Callable[[FunctionCheck], FunctionCheck]:
    """Registers a check that runs once for each function with operations of one of ``families``."""

    def register(check: FunctionCheck) -> FunctionCheck:
        FUNCTION_CHECKS.append((frozenset(families), check))
        return check

    return register


@cache
def _load_rules(family: str) -> None:
    for group in rule_modules(family):
        import_module(f"pto_dialect.verify.{group}")


@checks(STRUCTURE, "func.func")
def check_whole_function(op: Operation, ctx: Context) -> None:
    """Runs the whole-function checks of the families that occur in ``op``."""
    if not isinstance(op, FuncOp) or not op.body.blocks:
        return
    scan = FunctionScan(op)
    for family in scan.families:
        _load_rules(family)
    for check in _checks_of(scan.families, len(FUNCTION_CHECKS)):
        check(scan, ctx)


@lru_cache(1_024)
def _checks_of(families: frozenset[str], number: int) -> tuple[FunctionCheck, ...]:
    """Returns the checks of functions with operations of ``families``, of the first ``number`` registered checks."""
    return tuple([check for some, check in FUNCTION_CHECKS[:number] if some & families])
