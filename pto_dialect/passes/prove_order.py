"""``prove-order``: the order of the pipes for all arguments and numbers of iterations.

Source: docs/reference/order-proof.md, "Verdicts".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine

from .base import PtoPass


@dataclass(frozen=True)
class ProveOrderPass(PtoPass):
    """Says of every function that no other calls whether its order is proven, refuted or undecided.

    ``assume`` are conditions on arguments that each call satisfies, with commas between: ``n%16==0,n<m``."""

    name: ClassVar[str] = "prove-order"

    assume: str = ""

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Reports a verdict for each function and kind of core; without the library for sets, or with a condition that
        is not understood, an error."""
        from pto_dialect.prove.assumed import AssumptionError, condition_of, unknown_names  # deferred: start-up
        from pto_dialect.prove.functions import EXTRA, names_of_arguments, verdicts  # deferred: start-up
        from pto_dialect.prove.relations import library  # deferred: start-up
        from pto_dialect.prove.report import UNDECIDED, diagnostic_of  # deferred: start-up

        def report(severity: Severity, message: str) -> None:
            engine.report(UNDECIDED.at(module, message, severity=severity))

        assumptions = [text for text in self.assume.split(",") if text.strip()]
        try:
            library()
            for text in assumptions:
                condition_of(text, {})
        except ModuleNotFoundError:
            report(Severity.ERROR, f"prove-order needs the package islpy: {EXTRA}")
            return
        except AssumptionError as error:
            report(Severity.ERROR, str(error))
            return
        for text in unknown_names(assumptions, names_of_arguments(module)):
            report(Severity.WARNING, text)
        for verdict in verdicts(module, self.target, assumptions):
            engine.report(diagnostic_of(verdict))
