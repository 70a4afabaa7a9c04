"""What ``--prove`` says about the order that passes make, for all numbers of iterations: runs show a few of them.

Source: docs/reference/proving.md, "Order".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.ir.core.base import symbol_of
from pto_dialect.passes.insert_sync.insert import ordered
from pto_dialect.prove.functions import verdicts
from pto_dialect.prove.reader import entry_functions
from pto_dialect.prove.report import diagnostic_of


def own_order(module: ModuleOp) -> frozenset[str]:
    """Returns the functions that order their pipes themselves, which no pass does for them."""
    return frozenset(symbol_of(one) for one in entry_functions(module) if ordered(one))


def order_verdicts(module: ModuleOp, target: str | None, own: frozenset[str]) -> Iterator[Diagnostic]:
    """Yields a verdict about each function whose order passes have made, that is, which is not in ``own``. A refuted
    order is an error: a pass is wrong. Without the package for sets what needs them is undecided."""
    for verdict in verdicts(module, target):
        if verdict.name not in own:
            yield diagnostic_of(verdict)
