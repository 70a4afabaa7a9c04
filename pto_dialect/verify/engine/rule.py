"""Rules and the registry of all rules.

Source: docs/reference/constraints.md, "Severity".
"""

from __future__ import annotations

from dataclasses import dataclass

from pto_dialect.diagnostics.diagnostic import Severity

from ..examples.commands import COMMANDS, Commands
from ..examples.programs import Example, all_examples

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

    ``source`` names pages of docs/reference with their headings.
    """

    id: str
    severity: Severity
    stage: str
    text: str
    source: str

    @property
    def bad(self) -> str | None:
        """Statements that violate the rule; names ``%cN`` are constants of that value and other undefined names are
        arguments (``example_program``)."""
        return self._example.incorrect

    @property
    def good(self) -> str | None:
        """Similar statements that satisfy the rule."""
        return self._example.correct

    @property
    def target(self) -> str:
        """The target of the programs: a5 or a2a3."""
        return "a2a3" if self._example.note == "a2a3" else "a5"

    @property
    def commands(self) -> Commands | None:
        """The command lines of a rule about inputs and options."""
        return COMMANDS.get(self.id)

    @property
    def _example(self) -> Example:
        examples = all_examples()
        return examples.get(self.id) or examples.get(REPORTED_AS.get(self.id, "")) or Example("", "", None, None)


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


def rule(id: str, severity: Severity, stage: str, text: str, source: str) -> Rule:
    """Declares a rule and returns it; raises ValueError for an id that is already declared."""
    if id in RULES:
        raise ValueError(f"rule {id} is declared twice")
    declared = RULES[id] = Rule(id, severity, stage, text, source)
    return declared
