"""Code actions: the fixes of diagnostics, each tried before it is offered."""

from __future__ import annotations

from lsprotocol import types

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.source import Span
from pto_dialect.driver.fixes.offer import with_fixes

from .diagnostics import heard, shown
from .program.document import Document

_MOST = 8
"""Maximum number of diagnostics at one position whose fixes are tried."""


def actions(server: object, document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Returns the fixes of the diagnostics between two positions."""
    wanted = params.context.only
    if wanted is not None and not any(types.CodeActionKind.QuickFix.value.startswith(str(_value(k))) for k in wanted):
        return []
    start, end = document.offset(params.range.start), document.offset(params.range.end)
    found: list[types.CodeAction] = []
    near = [one for one in heard(document) if _touches(document, one, start, end)]
    options = document.options
    for one in with_fixes(near[:_MOST], options):
        found += _fixes(document, one)
    return found


def _value(kind: object) -> object:
    return getattr(kind, "value", kind)


def _touches(document: Document, one: Diagnostic, start: int, end: int) -> bool:
    if one.span is None:
        return False
    place = document.checked.place(one.span)
    return place.start <= end and place.end >= start


def _fixes(document: Document, one: Diagnostic) -> list[types.CodeAction]:
    assert one.span is not None
    told = shown(document, one)
    found: list[types.CodeAction] = []
    for fix in one.fixes:
        edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit] = []
        for edit in fix.edits:
            place = document.checked.place(Span(one.span.source, edit.start, edit.end))
            edits.append(types.TextEdit(document.range(place.start, place.end), edit.text))
        changes = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        found.append(
            types.CodeAction(
                fix.title,
                types.CodeActionKind.QuickFix,
                [told],
                is_preferred=fix.safe and not found,
                edit=types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(changes, edits)]),
            )
        )
    return found
