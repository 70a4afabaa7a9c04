"""Rules and the registry of all rules.

Source: docs/reference/constraints.md, "Severity".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.source import Span

from ..rules.commands import COMMANDS, Commands

if TYPE_CHECKING:
    from xdsl.ir import Operation

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

STRUCTURE = "verify-structure"
LOCATIONS = "verify-locations"
TRIPLES = "verify-type-triples"
SHAPES = "verify-shapes"
PARSE = "parse"
SYNC = "check-sync"
MEMORY = "check-memory"
RUN = "run"
PASSES = (STRUCTURE, LOCATIONS, TRIPLES, SHAPES)
"""Verification passes in the order in which they run."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a stable id, its default severity, the pass that checks it, and its requirement.

    ``source`` names pages of docs/reference with their headings. ``programs`` are an incorrect and a correct program
    for ``target`` (a5 or a2a3), as the file of the rule has them.
    """

    id: str
    severity: Severity
    stage: str
    text: str
    source: str
    target: str
    programs: str

    @property
    def bad(self) -> str | None:
        """Statements that violate the rule; names ``%cN`` are constants of that value and other undefined names are
        arguments (``example_program``)."""
        return self._program("incorrect")

    @property
    def good(self) -> str | None:
        """Similar statements that satisfy the rule."""
        return self._program("correct")

    def _program(self, kind: str) -> str | None:
        _, head, rest = self.programs.partition(f"## {kind}\n")
        return rest.partition("\n## ")[0].strip("\n") if head else None

    @property
    def commands(self) -> Commands | None:
        """The command lines of a rule about inputs and options."""
        return COMMANDS.get(self.id)

    def at(
        self,
        place: Operation | Span | None,
        message: str,
        notes: Iterable[Note] = (),
        help: str | None = None,
        *,
        severity: Severity | None = None,
        remedies: tuple[Remedy, ...] = (),
    ) -> Diagnostic:
        """Makes the diagnostic of this rule at an operation or at a part of the source; ``severity`` replaces that of
        the rule."""
        from pto_dialect.ir.core.location import span_of  # deferred: start-up

        span = place if place is None or isinstance(place, Span) else span_of(place)
        level = self.severity if severity is None else severity
        return Diagnostic(self.id, level, message, span, tuple(notes), help, remedies=remedies)


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
    **dict.fromkeys(
        ("cpp-compiler", "cpp-option", "cpp-compile", "cpp-include", "cpp-translate", "cpp-emit"),
        "it is about C++ kernels",
    ),
    "internal": "a known fault of the tools would be fixed, not shown",
    "prove-reread": "a known fault of a pass would be fixed, not shown",
}
"""Rules without an example, each with the reason."""


_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "rules")
_HEAD = re.compile(r"^## (\S+) \((\w+), (.+?)(?:, (a2a3))?\)\n(.+)\nSource: (.+)\n", re.MULTILINE)


_declared: dict[str, dict[str, Rule]] = {}
_declaring = Lock()


def read_rules(name: str) -> dict[str, Rule]:
    """Declares the rules of the file ``rules/name.txt`` and returns them by id; raises ValueError for an id that is
    already declared. Threads that check programs at the same time share the rules.

    A rule starts with a line ``## id (severity, pass)``, or ``## id (severity, pass, a2a3)`` if its programs are for
    that target; then come its text, its source, and the programs below ``## incorrect`` and ``## correct``.
    """
    with _declaring:
        if name not in _declared:
            _declared[name] = _declare(name)
        return _declared[name]


def _declare(name: str) -> dict[str, Rule]:
    with open(os.path.join(_FOLDER, f"{name}.txt"), encoding="utf-8") as file:
        parts = _HEAD.split(file.read())[1:]
    rules: dict[str, Rule] = {}
    for id, severity, stage, target, text, source, programs in zip(*(parts[n::7] for n in range(7)), strict=True):
        if id in RULES:
            raise ValueError(f"rule {id} is declared twice")
        rules[id] = RULES[id] = Rule(id, Severity[severity.upper()], stage, text, source, target or "a5", programs)
    return rules


def rule_named(id: str) -> Rule:
    """Returns the rule called ``id``; raises KeyError for a name that no rule has."""
    if id not in RULES:
        load_all_rules()
    return RULES[id]


def load_all_rules() -> None:
    """Declares the rules of all files, so that ``RULES`` is complete."""
    for file in sorted(os.listdir(_FOLDER)):
        if file.endswith(".txt"):
            read_rules(file.removesuffix(".txt"))
