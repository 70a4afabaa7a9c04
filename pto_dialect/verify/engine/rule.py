"""Rules and the registry of all rules.

Source: docs/reference/constraints.md, "Severity".
"""

from __future__ import annotations

from dataclasses import dataclass

from pto_dialect.diagnostics.diagnostic import Severity

from ..examples.commands import COMMANDS, Commands
from ..examples.run_errors import FAULT_EXAMPLES
from ..examples.runs import RUN_EXAMPLES
from ..examples.table import EXAMPLES, Example

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

STRUCTURE = "verify-structure"
LOCATIONS = "verify-locations"
TRIPLES = "verify-type-triples"
SHAPES = "verify-shapes"
PARSE = "parse"
SYNC = "check-sync"
MEMORY = "check-memory"
INSERT_SYNC = "insert-sync"
REMOVE_SYNC = "remove-redundant-sync"
ASSIGN_MEMORY = "assign-memory"
PROVE = "prove"
LOWER_CUBE = "lower-cube"
LOWER_VECTOR = "lower-vector"
LOWER_TRANSFERS = "lower-transfers"
TILE_LOOPS = "tile-loops"
FORMS = "to-level1, to-level2, to-assembly"
RUN = "run"
PASSES = (STRUCTURE, LOCATIONS, TRIPLES, SHAPES)
"""Verification passes in the order in which they run."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a stable id, its default severity, the pass that checks it, and its requirement.

    ``bad`` and ``good`` are statements that break and satisfy it on ``target``; names ``%cN`` are constants of that
    value and other names are arguments (``example_program``). ``commands`` are the command lines of rules about inputs
    and options. ``source`` names pages of docs/reference with their headings.
    """

    id: str
    severity: Severity
    stage: str
    text: str
    source: str
    bad: str | None = None
    good: str | None = None
    target: str = "a5"
    commands: Commands | None = None


_PROGRAMS = {**EXAMPLES, **{id: Example(*pair) for id, pair in {**RUN_EXAMPLES, **FAULT_EXAMPLES}.items()}}

RULES: dict[str, Rule] = {}
"""Every declared rule by id."""

REPORTED_AS: dict[str, str] = {
    "mad-handover": "l0c-handover",
    "mad-acc-init": "mem-uninit",
    "dma-oob": "mem-oob",
    "vec-membar": "sync-membar-missing",
    "vbitcast-bits": "vreg-256",
}
"""Rules of single operations that are reported under the id of a wider rule."""

WITHOUT_EXAMPLE: dict[str, str] = {
    "internal": "a known fault of the tools would be fixed, not shown",
    "prove-reread": "a known fault of a pass would be fixed, not shown",
}
"""Rules without an example, each with the reason."""


def rule(
    id: str,
    severity: Severity,
    stage: str,
    text: str,
    *,
    source: str,
    bad: str | None = None,
    good: str | None = None,
    target: str = "a5",
) -> Rule:
    """Declares a rule and returns it; raises ValueError for an id that is already declared."""
    if id in RULES:
        raise ValueError(f"rule {id} is declared twice")
    example = _PROGRAMS.get(id) or _PROGRAMS.get(REPORTED_AS.get(id, ""))
    if bad is None and good is None and example is not None:
        bad, good, target = example
    declared = Rule(id, severity, stage, text, source, bad, good, target, COMMANDS.get(id))
    RULES[id] = declared
    return declared
