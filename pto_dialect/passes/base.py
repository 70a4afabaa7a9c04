"""What a pass of this package is: an xDSL ``ModulePass`` that reports through a diagnostic engine."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.render import render_text


@dataclass(frozen=True)
class PtoPass(ModulePass):
    """A pass for one ``target`` (``None``: what the module says).

    Inside xDSL's own tools, where there is no engine, errors raise ``PassFailedException`` with the text that
    ``pto-opt`` would show.
    """

    target: str | None = None

    @abstractmethod
    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Does the work; what is wrong goes to ``engine``, and after an error the module is not used any
        more."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs the pass as one of xDSL; raises ``PassFailedException`` with the errors that it finds."""
        engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
        self.run(op, engine)
        if engine.has_errors:
            raise PassFailedException(f"{self.name} failed\n{render_text(engine.diagnostics)}")
