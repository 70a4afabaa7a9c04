"""Which function answers which request."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from . import actions, calls, completion, formatting, hints, hover, lens, navigation, outline, semantic, signatures
from .server import Handler

FEATURES: tuple[tuple[str, Handler, Any], ...] = (
    (types.TEXT_DOCUMENT_HOVER, hover.hover, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        completion.completion,
        types.CompletionOptions(trigger_characters=completion.TRIGGERS, resolve_provider=True),
    ),
    (
        types.TEXT_DOCUMENT_SIGNATURE_HELP,
        signatures.signature_help,
        types.SignatureHelpOptions(trigger_characters=signatures.TRIGGERS),
    ),
    (types.TEXT_DOCUMENT_DEFINITION, navigation.definition, None),
    (types.TEXT_DOCUMENT_REFERENCES, navigation.references, None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, navigation.highlight, None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, navigation.prepare_rename, None),
    (types.TEXT_DOCUMENT_RENAME, navigation.rename, types.RenameOptions(prepare_provider=True)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, outline.symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, outline.folding, None),
    (types.TEXT_DOCUMENT_FORMATTING, formatting.whole, None),
    (types.TEXT_DOCUMENT_RANGE_FORMATTING, formatting.part, None),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, semantic.whole, semantic.LEGEND),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, semantic.part, semantic.LEGEND),
    (types.TEXT_DOCUMENT_INLAY_HINT, hints.hints, None),
    (types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, calls.prepare, None),
    (types.CALL_HIERARCHY_INCOMING_CALLS, calls.incoming, None),
    (types.CALL_HIERARCHY_OUTGOING_CALLS, calls.outgoing, None),
    (types.TEXT_DOCUMENT_CODE_LENS, lens.lenses, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        actions.actions,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    ),
)
"""Method of the protocol, who answers, what the client is told beforehand."""
