"""The registry of check functions: which of them look at an operation in a pass.

A module of rules declares its rules with ``rule(...)`` and its check functions with ``@checks(pass, mnemonics...)``; a
check function looks at one operation and reports through its context. Source: docs/reference/constraints.md,
"Severity".
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
"""Checks that look at nothing but an operation's class, types and attributes (and the target): what they do not report
about one operation they do not report about an equal one."""

NUMERIC: set[Check] = set()
"""Checks that look at the integers that operands always are (``Context.constant``) as well, and at nothing else."""


def checks(stage: str, *mnemonics: str, pure: bool = False, numeric: bool = False) -> Callable[[Check], Check]:
    """Registers a check function for the named operations in one pass; ``pure`` as ``PURE`` says, ``numeric`` as
    ``NUMERIC``.

    By name, as kernels are: modules with rules serve several families, whose classes they need not load for it.
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
