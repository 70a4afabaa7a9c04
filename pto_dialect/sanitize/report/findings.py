"""The findings of a run, one for each program location."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.source import Span
from pto_dialect.verify.engine.rule import RULES, load_all_rules

if TYPE_CHECKING:
    from .fixes import Change
    from .race_text import Conflict
    from .sites import Site


@dataclass
class Finding:
    """One finding: its rule, what happened, the operations concerned, and the help.

    ``notes`` are pairs of text and span. ``count`` is the number of occurrences, ``event`` the id of the event that
    showed it first (0: none), ``severity`` that of this finding where it is not that of the rule. ``same_bytes`` states
    that conflicting writes all left the same bytes, which is a warning, or nothing where the program ``meant`` it;
    ``differs`` that some did not. ``fix`` applies ``help``, where that is possible mechanically. ``words`` computes the
    texts on demand, because that takes most of the time. ``conflict`` are the two accesses of a race.
    """

    rule: str
    message: str
    sites: tuple[Site | None, ...]
    span: Span | None
    notes: Sequence[tuple[str, Span | None]] = ()
    help: str | None = None
    count: int = 1
    event: int = 0
    severity: Severity | None = None
    same_bytes: bool = False
    meant: bool = False
    differs: bool = False
    fix: tuple[Change, ...] = ()
    text: Callable[[Finding], None] | None = None
    conflict: Conflict | None = None

    @property
    def silent(self) -> bool:
        """Returns whether nothing is wrong: all bytes are equal, as the program means it."""
        return self.same_bytes and self.meant

    def diagnostic(self) -> Diagnostic:
        """Returns the finding as a diagnostic."""
        notes = [Note(text, span) for text, span in self.notes]
        if self.count > 1:
            notes.append(Note(f"this happened {self.count} times"))
        severity = self.severity
        if self.same_bytes:
            notes.append(Note("the bytes are the same each time, so no result depends on the order"))
            severity = Severity.WARNING
        if severity is None:
            if self.rule not in RULES:
                load_all_rules()
            severity = RULES[self.rule].severity if self.rule in RULES else Severity.ERROR
        return Diagnostic(self.rule, severity, self.message, self.span, tuple(notes), self.help)


class Findings:
    """Findings in order, one for each rule and pair of operations."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Finding] = {}
        self.by_cause: dict[tuple[object, ...], Finding | None] = {}
        """Cached findings by their cause, for checks that have the same result often; ``None`` where
        nothing is wrong."""

    @staticmethod
    def _key(rule: str, sites: Sequence[Site | None]) -> tuple[object, ...]:
        return (rule, *(site.number if site is not None else 0 for site in sites))

    def known(self, rule: str, *sites: Site | None) -> Finding | None:
        """Returns the finding of a rule and operations, if there is one."""
        return self._found.get(self._key(rule, sites))

    def repeated(self, rule: str, *sites: Site | None) -> bool:
        """Counts one more of a known finding; returns False for a new one."""
        known = self.known(rule, *sites)
        if known is None:
            return False
        known.count += 1
        return True

    def add(self, finding: Finding) -> None:
        """Adds a finding; a repetition is only counted."""
        if not self.repeated(finding.rule, *finding.sites):
            self._found[self._key(finding.rule, finding.sites)] = finding

    def clear(self) -> None:
        """Removes all findings: they were reported."""
        self._found.clear()
        self.by_cause.clear()

    @property
    def any(self) -> bool:
        """Returns whether there are findings."""
        return any(not finding.silent for finding in self._found.values())

    @property
    def all(self) -> list[Finding]:
        """Returns all findings."""
        findings = [finding for finding in self._found.values() if not finding.silent]
        for finding in findings:
            words, finding.text = finding.text, None
            if words is not None:
                words(finding)
        return findings
