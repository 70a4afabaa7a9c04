"""What a pass of this package is: an xDSL ``ModulePass`` that reports through a diagnostic engine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from pto_dialect.accel.collector import paused
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.render import render_text


class ObstacleError(Exception):
    """The operation ``op`` prevents what a pass does; ``reason`` says how."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


@dataclass(frozen=True)
class PtoPass(ModulePass):
    """A pass for one ``target`` (``None``: what the module says).

    Inside xDSL's own tools, where there is no engine, errors raise ``PassFailedException`` with the text that
    ``pto-opt`` would show.
    """

    target: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "run" in vars(cls):
            cls.run = _without_collections(cls.run)

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


def _without_collections(run: Callable[[Any, ModuleOp, DiagnosticEngine], None]) -> Callable[..., None]:
    """Returns ``run`` with the collector paused: what a pass keeps of a program is as large as the program, and is
    looked at again and again otherwise."""

    @wraps(run)
    def quietly(self: Any, module: ModuleOp, engine: DiagnosticEngine) -> None:
        with paused():
            run(self, module, engine)

    return quietly
