"""The registry of check functions by pass and operation name.

A module registers its check functions with ``@checks(pass, mnemonics...)``; a check function checks one operation and
reports rules by their ids through its context. Source: docs/reference/constraints.md, "Severity".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from .context import Context
from .rule import PASSES

Check = Callable[[Operation, Context], None]
CHECKS: dict[str, dict[str, list[Check]]] = {name: {} for name in PASSES}
"""Check functions by pass and operation name."""

PURE: set[Check] = set()
"""Checks that depend on an operation's class, types and attributes (and the target) alone: structurally equal
operations have equal reports."""

NUMERIC: set[Check] = set()
"""Checks that also depend on the constant integers among the operands (``Context.constant``), and on nothing else."""


def checks(stage: str, *mnemonics: str, pure: bool = False, numeric: bool = False) -> Callable[[Check], Check]:
    """Registers a check function for the named operations in one pass; ``PURE`` and ``NUMERIC`` explain ``pure`` and
    ``numeric``.

    Operations are given by name: a module of rules serves several families, whose classes it need not load.
    """

    def register(function: Check) -> Check:
        if pure:
            PURE.add(function)
        if numeric:
            NUMERIC.add(function)
        for mnemonic in mnemonics:
            CHECKS[stage].setdefault(mnemonic, []).append(function)
        return function

    return register
