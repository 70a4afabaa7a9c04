"""The canonical PTO text as an output of ``xdsl-opt``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from pto_dialect.syntax.print.printer import print_module


@dataclass(frozen=True)
class PtoTarget(Target):
    """What ``pto-opt`` prints: ``pto`` for the custom form, ``pto{generic=true}`` for the generic one."""

    name = "pto"

    generic: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes ``module`` as PTO text."""
        output.write(print_module(module, generic=self.generic))
