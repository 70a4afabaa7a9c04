"""Suppressions: findings that the author of a program accepts.

In the program, a comment on the line of one of the two operations, or alone on the line above it::

    // pto-sanitize: allow race-war the buffers are disjoint by construction
    // pto: allow(race-war) because the buffers are disjoint by construction

In a file, one line each: rule, location, reason; ``#`` starts a comment::

    race-war  kernels/gemm.pto:42  the buffers are disjoint by construction
    mem-*     generated/*.pto      checked by the generator
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import NamedTuple

from pto_dialect.diagnostics.allowed import Allowed, allowed_in
from pto_dialect.diagnostics.origins import shown_span
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.verify.engine.rule import REPORTED_AS

from .findings import Finding

_COMMENT = re.compile(r"//\s*pto-sanitize:\s*(?P<rest>.*)")
_ALLOW = re.compile(r"allow\s+(?P<rule>[\w*?-]+)\s+(?P<reason>\S.*)")


class SuppressionError(ValueError):
    """An invalid suppression."""


class Suppression(NamedTuple):
    """Findings of ``rule`` (a pattern) in files called ``file`` (a pattern), at ``line`` (``None``: anywhere)."""

    rule: str
    file: str
    line: int | None
    reason: str

    def covers(self, rule: str, span: Span) -> bool:
        """Returns whether it covers findings of ``rule`` about the operation at ``span``."""
        reported = REPORTED_AS.get(self.rule, self.rule)
        return fnmatchcase(rule, reported) and any(self._names(one) for one in dict.fromkeys((span, shown_span(span))))

    def _names(self, span: Span) -> bool:
        name = PurePath(span.source.name)
        named = fnmatchcase(str(name), self.file) or name.match(self.file)
        return named and (self.line is None or self.line == span.line)


def read_suppressions(text: str, name: str) -> list[Suppression]:
    """Returns the suppressions of a file; ``name`` is for messages.

    Raises :class:`SuppressionError` for a line without rule, location and reason.
    """
    suppressions: list[Suppression] = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition("#")[0].split(None, 2)
        if not content:
            continue
        if len(content) != 3:
            raise SuppressionError(f"{name}:{number}: a suppression is a rule, a source location and a reason")
        rule, where, reason = content
        file, separator, tail = where.rpartition(":")
        at_line = bool(separator) and tail.isdecimal()
        suppressions.append(
            Suppression(rule, file if at_line else where, int(tail) if at_line else None, reason.strip())
        )
    return suppressions


def comments_of(source: SourceFile) -> list[Suppression]:
    """Returns the suppressions in the comments of a program.

    Raises :class:`SuppressionError` for a comment without rule and reason.
    """
    suppressions: list[Suppression] = []
    waiting: list[tuple[str, str]] = []
    for number, line in enumerate(source.text.split("\n"), source.first_line):
        comment = _COMMENT.search(line)
        alone = not line.partition("//")[0].strip()
        if comment is not None:
            allowed = _ALLOW.match(comment["rest"])
            if allowed is None:
                where = f"{source.name}:{number}"
                raise SuppressionError(f"{where}: the form is // pto-sanitize: allow RULE REASON")
            waiting.append((allowed["rule"], allowed["reason"].strip()))
        if not alone:
            suppressions += [Suppression(rule, source.name, number, reason) for rule, reason in waiting]
            waiting.clear()
    for one in allowed_in(source):
        if isinstance(one, Allowed):
            lines = range(one.first, one.last + 1)
            suppressions += [Suppression(rule, source.name, line, one.reason) for rule in one.rules for line in lines]
    return suppressions


def unsuppressed(findings: Iterable[Finding], suppressions: Iterable[Suppression]) -> list[Finding]:
    """Returns the findings that no suppression covers."""
    rules = tuple(suppressions)
    return [finding for finding in findings if not any(_covered(finding, one) for one in rules)]


def _covered(finding: Finding, suppression: Suppression) -> bool:
    spans = [finding.span, *(site.span for site in finding.sites if site is not None)]
    return any(span is not None and suppression.covers(finding.rule, span) for span in spans)
