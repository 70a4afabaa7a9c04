"""Which function answers which request."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from . import completion, formatting, hover, navigation, outline, signatures
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
)
"""Method of the protocol, who answers, what the client is told beforehand."""
