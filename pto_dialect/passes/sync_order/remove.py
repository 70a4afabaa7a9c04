"""``remove-redundant-sync``: takes out flags and barriers that order nothing which others do not.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.check_sync import entry_functions

from .findings import dispensable, has_signals, judges, report_redundant, report_retained
from .rules import REMOVED


@dataclass(frozen=True)
class RemoveRedundantSyncPass(PtoPass):
    """Takes flags and barriers out of every function that has some; what is taken out, and why, are remarks."""

    name: ClassVar[str] = "remove-redundant-sync"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; functions that cannot be followed stay as they are."""
        going: list[Operation] = []
        entries = set(entry_functions(module))
        for function in walk(module):
            if not has_role(function, Role.FUNCTION) or not function.regions[0].blocks or not has_signals(function):
                continue
            try:
                if function not in entries:
                    raise UnsupportedError(function, "other functions call it and may count on its order")
                removable = [one for judge in judges(function, self.target) for one in dispensable(judge)]
            except UnsupportedError as error:
                engine.report(report_retained(error))
                continue
            for group, reason in removable:
                engine.report(report_redundant(REMOVED, group, reason))
                going += [signal.op for signal in group.signals]
        for op in going:
            op.detach()
            op.erase()
