"""Findings that the author of a program accepts: what the comments of ``diagnostics/allowed.py`` do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pto_dialect.diagnostics.allowed import Allowed, allowed_in
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.remedies.names import remove, replace
from pto_dialect.diagnostics.source import SourceFile, Span

FORM, UNUSED = "suppression-form", "suppression-unused"


class Suppressions:
    """The comments of one text while it is checked; called with each diagnostic, true for those that are allowed."""

    def __init__(self, source: SourceFile) -> None:
        found = list(allowed_in(source))
        self.source = source
        self.broken = [each for each in found if isinstance(each, Span)]
        self.allowed = [each for each in found if isinstance(each, Allowed)]
        self.used: set[tuple[int, str]] = set()
        self.refused: set[tuple[int, str]] = set()

    def __call__(self, diag: Diagnostic) -> bool:
        """Returns True for a diagnostic that a comment allows; what cannot be read stays an error."""
        if diag.span is None or diag.span.source is not self.source or diag.rule in (FORM, UNUSED):
            return False
        line = diag.span.line
        hit = False
        for number, one in enumerate(self.allowed):
            if diag.rule not in one.rules or not one.first <= line <= one.last:
                continue
            if _may_be_allowed(diag):
                self.used.add((number, diag.rule))
                hit = True
            else:
                self.refused.add((number, diag.rule))
        return hit

    def report(self, passes: Collection[str]) -> Iterator[Diagnostic]:
        """Yields what is wrong with the comments themselves, once everything was reported by ``passes``."""
        from pto_dialect.verify.engine.rule import PARSE, RULES, load_all_rules  # deferred: start-up

        load_all_rules()
        form = "// pto: allow(rule) because reason"
        for span in self.broken:
            mended = (replace(None, form),)
            message = "this comment allows nothing"
            yield Diagnostic(FORM, Severity.WARNING, message, span, help=f"write {form}", remedies=mended)
        ran = {PARSE, *(call.partition("{")[0] for call in passes)}
        for number, one in enumerate(self.allowed):
            if not one.reason:
                yield Diagnostic(FORM, Severity.WARNING, "this comment gives no reason", one.span, help=form)
            for rule in one.rules:
                declared = RULES.get(rule)
                if declared is None:
                    from pto_dialect.diagnostics.suggest import (  # deferred: start-up
                        MOST_NAMED,
                        equally_near,
                        near_hint,
                    )

                    near = equally_near(rule, RULES)[:MOST_NAMED]
                    mended = (replace(rule, *near),) if near else ()
                    message = f"unknown rule '{rule}'"
                    yield Diagnostic(FORM, Severity.WARNING, message, one.span, help=near_hint(near), remedies=mended)
                elif declared.stage in ran and (number, rule) not in self.used:
                    message = f"rule {rule} finds nothing here, so nothing is to be allowed"
                    if (number, rule) in self.refused:
                        message = f"errors of {rule} cannot be allowed, as the statement would be missing"
                    help, fixed = "remove the comment", (remove(),) if len(one.rules) == 1 else ()
                    yield Diagnostic(UNUSED, Severity.WARNING, message, one.span, help=help, remedies=fixed)


def _may_be_allowed(diag: Diagnostic) -> bool:
    """False for errors of reading: a statement that could not be read is not in the program."""
    if diag.severity is not Severity.ERROR:
        return True
    from pto_dialect.verify.engine.rule import PARSE, RULES, load_all_rules  # deferred: start-up

    if diag.rule not in RULES:
        load_all_rules()
    declared = RULES.get(diag.rule)
    return declared is not None and declared.stage != PARSE
