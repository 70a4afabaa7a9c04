"""Diagnostics as the protocol has them."""

from __future__ import annotations

from lsprotocol import types

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import Span
from pto_dialect.driver.inputs import decode

from .program.document import Document

SOURCE = "pto"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostics(document: Document) -> list[types.Diagnostic]:
    """Returns all diagnostics of a document, in the order of its text."""
    text = document.text
    if "\0" in text or not text.strip():
        remark = decode(text.encode("utf-8", "backslashreplace"), document.uri)[1]
        if remark is not None:
            span = remark.span
            return [_at(document, remark, document.range(span.start, span.end) if span else document.range(0, 0))]
    found = [_at(document, one, _range(document, one.span)) for one in heard(document)]
    found += [_at(document, one, document.range(*one.span[1:])) for one in _remarks(document) if one.span is not None]
    return sorted(found, key=lambda one: (one.range.start.line, one.range.start.character))


def heard(document: Document) -> list[Diagnostic]:
    """Returns the diagnostics of a document under the policy of its project, without those that its comments allow."""
    accepted = document.suppressions
    engine = DiagnosticEngine(document.options.policy)
    found: list[Diagnostic] = []
    for one in document.checked.diagnostics():
        severity = engine.severity_of(one.rule, one.severity)
        if severity is None:
            continue
        if accepted is not None and one.span is not None:
            place = document.checked.place(one.span)
            if accepted(one._replace(span=Span(accepted.source, place.start, place.end))):
                continue
        found.append(one._replace(severity=severity))
    return found


def _remarks(document: Document) -> list[Diagnostic]:
    """Diagnostics on the comments that allow findings, with positions in the document."""
    accepted = document.suppressions
    return [] if accepted is None else list(accepted.report(document.options.passes))


def _range(document: Document, span: Span | None) -> types.Range:
    if span is None:
        return document.range(0, 0)
    place = document.checked.place(span)
    return document.range(place.start, place.end)


def shown(document: Document, found: Diagnostic) -> types.Diagnostic:
    """Returns one diagnostic of the present text."""
    return _at(document, found, _range(document, found.span))


def _at(document: Document, found: Diagnostic, area: types.Range) -> types.Diagnostic:
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(document.uri, area if note.span is None else _range(document, note.span)), note.message
        )
        for note in found.notes
    ]
    return types.Diagnostic(
        range=area,
        message=found.message + (f"\nhelp: {found.help}" if found.help else ""),
        severity=SEVERITIES[found.severity],
        code=found.rule,
        source=SOURCE,
        related_information=related or None,
    )
