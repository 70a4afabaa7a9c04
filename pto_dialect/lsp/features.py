"""Which function answers which request, and the server with all of them."""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types

from . import (
    actions,
    calls,
    completion,
    formatting,
    hints,
    hover,
    lens,
    navigation,
    outline,
    semantic,
    signatures,
)
from .kernels import is_kernel
from .server import Handler, Server
from .settings import Settings
from .statements import fresh

_WARM = 0.3
"""Seconds after which the tables are read that the first completion and the first hover would read."""
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
"""Method of the protocol, its handler, and the capability announced to the client."""


def make_server() -> Server:
    """Returns a server that knows all features."""
    server = Server()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.settings = Settings.read(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:
        given = params.settings
        server.configure(given.get("pto", given) if isinstance(given, dict) else given)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        if is_kernel(params.text_document.uri):
            server.look_at_kernel(params.text_document.uri)

    lens.register(server)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        for number, warm in enumerate((fresh.warm, hover.warm)):
            asyncio.get_running_loop().call_later(_WARM + number * _WARM, warm)

    server.feature(types.COMPLETION_ITEM_RESOLVE)(completion.resolve)
    for feature in FEATURES:
        _register(server, *feature)
    return server


def _register(server: Server, method: str, handler: Handler, options: Any) -> None:
    def answer(params: Any) -> Any:
        item = getattr(params, "item", None)
        uri = params.text_document.uri if item is None else item.uri
        document = server.documents.get(uri)
        return None if document is None else handler(server, document, params)

    server.feature(method, options)(answer)
