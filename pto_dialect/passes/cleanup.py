"""``canonicalize`` and ``cse``: passes of xDSL in pipelines of this package.

Both know the memory effects of the operations of the dialect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.analysis.constants import is_read_unsigned
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for

from .base import PtoPass


@dataclass(frozen=True)
class CanonicalizePass(PtoPass):
    """Removes operations without users and effects, folds constants, and simplifies loops and branches."""

    name: ClassVar[str] = "canonicalize"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes the module in place; reports nothing. Leaves one as it is whose loops read negative constants as
        unsigned numbers, because xDSL would take them as signed."""
        if any(is_for(op) and is_read_unsigned(op) for op in walk(module)):
            return
        from xdsl.dialects import get_all_dialects  # deferred: start-up
        from xdsl.transforms.canonicalize import CanonicalizePass as Canonicalization  # deferred: start-up

        # A folded constant is an operation of the dialect of the folded one.
        context = Context()
        for name, factory in get_all_dialects().items():
            context.register_dialect(name, factory)
        Canonicalization().apply(context, module)


@dataclass(frozen=True)
class CsePass(PtoPass):
    """Computes equal values once."""

    name: ClassVar[str] = "cse"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes the module in place; reports nothing."""
        from xdsl.transforms.common_subexpression_elimination import (  # deferred: start-up
            CommonSubexpressionElimination,
        )

        CommonSubexpressionElimination().apply(Context(), module)
