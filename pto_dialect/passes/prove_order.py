"""``prove-order``: the order of the pipes for all arguments and numbers of iterations.

Source: docs/reference/order-proof.md, "Verdicts".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine

from .base import PtoPass


@dataclass(frozen=True)
class ProveOrderPass(PtoPass):
    """Says of every function that no other calls whether its order is proven, refuted or undecided."""

    name: ClassVar[str] = "prove-order"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Reports a verdict for each function and kind of core."""
        from pto_dialect.prove.functions import verdicts  # deferred: start-up
        from pto_dialect.prove.report import diagnostic_of  # deferred: start-up

        for verdict in verdicts(module, self.target):
            engine.report(diagnostic_of(verdict))
