"""The protocol, where the library leaves something open.

Documents are kept here, because the library takes U+2028 and other separators for ends of lines. A request that comes
too early, too late, or with parameters of another form is answered with the error that the protocol has for it, and so
is what is no message at all. ``exit`` without ``shutdown`` ends the process with 1.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from .framing import UNREADABLE
from .kernels import is_kernel
from .program.document import Document

NOT_INITIALIZED, INVALID_REQUEST = -32002, -32600
INVALID_PARAMETERS = types.ErrorCodes.InvalidParams.value
NOT_READ = types.ErrorCodes.ParseError.value


class Unreadable:
    """A message that cannot be processed."""

    jsonrpc = ""


class Documents(typing.Protocol):
    """Who has the documents, and looks at them."""

    documents: dict[str, Document]

    def look_soon(self, uri: str, delay: float = ...) -> None:
        """Looks at a document when nobody has edited it for a moment."""
        ...

    def look_at_kernel(self, uri: str) -> None:
        """Looks at the file of a C++ kernel."""
        ...

    def forget(self, uri: str) -> None:
        """A document is closed."""
        ...


class Protocol(LanguageServerProtocol):
    """The protocol of the server."""

    _server: Documents  # pyright: ignore[reportIncompatibleVariableOverride]
    is_initialized = False
    exit_code = 1
    """Exit code of the process: 1 unless the client requests shutdown first."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Returns the message in ``data``; one with parameters of another form is answered here."""
        try:
            return super().structure_message(data)
        except (JsonRpcException, RecursionError):
            if "method" in data and "id" in data:
                error = types.ResponseError(
                    INVALID_PARAMETERS, f"the parameters of {data['method']} are not understood"
                )
                self._send_response(data["id"], error=error)
            return Unreadable()

    def handle_message(self, message: Any) -> None:
        """Carries out a message, or says why not."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if isinstance(message, Unreadable):
            return
        if not hasattr(message, "jsonrpc"):
            self.refuse(INVALID_REQUEST, "this is no message of JSON-RPC 2.0")
            return
        if number is not None and not isinstance(number, int | str):
            self.refuse(INVALID_REQUEST, "the id of a message is a number or a text")
            return
        if method == UNREADABLE:
            self.refuse(NOT_READ, str(getattr(message.params, "reason", "no message")))
            return
        if method is not None and number is not None:
            error = self._refusal(str(method))
            if error is not None:
                self._send_response(number, error=error)
                return
        elif method is not None and not self.is_initialized and method != types.EXIT:
            return
        super().handle_message(message)

    def refuse(self, code: int, reason: str) -> None:
        """Answers what has no number that could be answered."""
        self._send_data({"jsonrpc": self.VERSION, "id": None, "error": {"code": code, "message": reason}})

    def _refusal(self, method: str) -> types.ResponseError | None:
        if method == types.INITIALIZE:
            if self.is_initialized:
                return types.ResponseError(INVALID_REQUEST, "the server is initialized already")
            self.is_initialized = True
            return None
        if not self.is_initialized:
            return types.ResponseError(NOT_INITIALIZED, "the server is not initialized yet")
        if self._shutdown:
            return types.ResponseError(INVALID_REQUEST, "the server was shut down")
        return None

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Iterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Positions are in units of UTF-16, which every client knows."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Iterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Ends the session; the exit code depends on a prior shutdown request."""
        self.exit_code = 0 if self._shutdown else 1
        yield from super().lsp_exit(*args)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A document is looked at."""
        opened = params.text_document
        if is_kernel(opened.uri):
            self._server.look_at_kernel(opened.uri)
            return
        self._server.documents[opened.uri] = Document(opened.uri, opened.text, opened.version)
        self._server.look_soon(opened.uri, 0)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A document was edited."""
        document = self._server.documents.get(params.text_document.uri)
        if document is None:
            return
        for change in params.content_changes:
            area = change.range if isinstance(change, types.TextDocumentContentChangePartial) else None
            document.change(area, change.text)
        document.version = params.text_document.version
        self._server.look_soon(document.uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A document was closed; its diagnostics are cleared."""
        self._server.forget(params.text_document.uri)
