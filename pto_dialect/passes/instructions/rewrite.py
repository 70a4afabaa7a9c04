"""Base of the passes that replace tile operations by instructions: all of a function, or none."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import Rule

from .geometry import NotLoweredError
from .writer import Function, is_handle


@dataclass(frozen=True)
class InstructionPass(PtoPass):
    """Replaces the operations of the pass by instructions."""

    unsupported: ClassVar[Rule]
    """What is broken by an operation that is not lowered."""

    @abstractmethod
    def owns(self, op: Operation) -> bool:
        """Returns whether the pass lowers ``op``."""

    @abstractmethod
    def lower(self, op: Operation, function: Function) -> NotLoweredError | None:
        """Writes the instructions of ``op`` before it; returns what prevents the lowering."""

    def lower_all(self, ops: Sequence[Operation], function: Function) -> list[NotLoweredError]:
        """Writes the instructions of the operations of a function; returns what prevents the lowering."""
        return [error for op in ops if (error := self.lower(op, function)) is not None]

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each operation that is not lowered is an error, and nothing changes then."""
        lowered: list[Operation] = []
        functions: list[Function] = []
        errors: list[NotLoweredError] = []
        empty: list[ForOp] = []
        for op in walk(module):
            if not has_role(op, Role.FUNCTION):
                continue
            owned = [inner for inner in walk(op) if self.owns(inner)]
            around = [_never_run_loop(inner, op) for inner in owned]
            empty += [loop for loop in dict.fromkeys(around) if loop is not None]
            ops = [inner for inner, loop in zip(owned, around, strict=True) if loop is None]
            if ops:
                functions.append(Function(op))
                refused = self.lower_all(ops, functions[-1])
                errors += refused or _results_in_use(ops, functions[-1])
                lowered += ops
        for error in errors:
            engine.report(self._reported(error))
        if errors:
            for function in functions:
                function.erase()
        else:
            for function in functions:
                for old, new in function.replaced:
                    old.replace_all_uses_with(new)
            _remove(lowered)
            for loop in empty:
                for result, start in zip(loop.results, loop.iter_args, strict=True):
                    result.replace_all_uses_with(start)
                loop.detach()
                loop.erase()
            for function in functions:
                function.sweep()

    def _reported(self, error: NotLoweredError) -> Diagnostic:
        message = f"{self.name} cannot lower {error.op.name}: {error.reason}"
        return self.unsupported.at(error.op, message, help=error.help)


def never_runs(loop: ForOp) -> bool:
    """Returns whether the bounds of a loop say that it has no iteration."""
    first, end = constant_of(loop.lb), constant_of(loop.ub)
    return isinstance(first, int) and isinstance(end, int) and first >= end


def _results_in_use(ops: Sequence[Operation], function: Function) -> list[NotLoweredError]:
    """Obstacles to lowering: operations whose results are used but were not replaced."""
    written = {old for old, _ in function.replaced}
    return [
        NotLoweredError(op, "its result is used, and no instruction has one", "use what it writes in place of it")
        for op in ops
        if any(result.uses for result in op.results if result not in written)
    ]


def _never_run_loop(op: Operation, function: Operation) -> ForOp | None:
    """Returns the outermost loop around ``op`` that has no iteration: nothing in it has bytes of its own."""
    inside = takewhile(lambda parent: parent is not function, ancestors(op))
    empty = [parent for parent in inside if isinstance(parent, ForOp) and never_runs(parent)]
    return empty[-1] if empty else None


def _remove(lowered: Sequence[Operation]) -> None:
    """Removes operations and the handles that nobody uses any more."""
    for op in lowered:
        handles = [value.owner for value in op.operands if isinstance(value.owner, Operation)]
        op.detach()
        op.erase()
        for handle in handles:
            _remove_unused(handle)


def _remove_unused(op: Operation) -> None:
    waiting = [op]
    while waiting:
        handle = waiting.pop()
        if handle.parent is None or any(result.uses for result in handle.results) or not is_handle(handle):
            continue
        waiting += [value.owner for value in handle.operands if isinstance(value.owner, Operation)]
        handle.detach()
        handle.erase()
