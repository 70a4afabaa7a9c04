"""The server: its documents, when they are looked at, and which function answers which request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from json import JSONDecodeError
from typing import Any, BinaryIO, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from pto_dialect.version import __version__

from .diagnostics import diagnostics
from .framing import Framing
from .kernels import check_kernel, is_kernel
from .program.document import Document
from .protocol import NOT_READ, Protocol
from .settings import Settings

DELAY = 0.025
"""Seconds between an edit and the analysis of the text; another edit restarts the delay."""

log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A language server for ``.pto`` files."""

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self) -> None:
        super().__init__("pto-lsp", __version__, protocol_cls=Protocol)
        self.documents: dict[str, Document] = {}
        self.settings = Settings()
        self.proofs: dict[str, tuple[str, list[types.Diagnostic]]] = {}
        """Text and verdicts of documents that somebody had proven."""
        self._pending: dict[str, asyncio.TimerHandle] = {}
        self._worker = ThreadPoolExecutor(1, "check")

    def start(self, stream: BinaryIO) -> None:
        """Serves the client that writes to ``stream``, until it goes."""
        self.start_io(cast("BinaryIO", Framing(stream)))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What is no JSON, or is nested too deeply, is answered; what else goes wrong is shown."""
        if isinstance(error, (JSONDecodeError, UnicodeDecodeError)):
            self.protocol.refuse(NOT_READ, f"a message is no JSON: {error}")
        elif isinstance(error, RecursionError):
            self.protocol.refuse(NOT_READ, "a message is nested too deeply")
        else:
            super().report_server_error(error, source)

    def look_soon(self, uri: str, delay: float = DELAY) -> None:
        """Looks at a document when nobody has edited it for a moment."""
        pending = self._pending.pop(uri, None)
        if pending is not None:
            pending.cancel()
        self._pending[uri] = asyncio.get_running_loop().call_later(delay, self.look, uri)

    def look(self, uri: str) -> None:
        """Publishes the diagnostics of a document as soon as its analysis is complete; other requests are answered
        meanwhile."""
        self._pending.pop(uri, None)
        document = self.documents.get(uri)
        if document is None:
            return
        document.set_target(self.settings.target, self.settings.release)
        if document.is_checked:
            self._publish(document)
        elif (running := document.check(self._worker)) is not None:
            loop, text = asyncio.get_running_loop(), document.text
            running.add_done_callback(lambda done: loop.call_soon_threadsafe(self._looked, document, text, done))

    def _looked(self, document: Document, text: str, done: Future[Any]) -> None:
        """The worker is through with a text of a document."""
        document.finish(done)
        uri, fault = document.uri, done.exception()
        if fault is not None:
            # An internal error must not end the session; the next edit retries.
            log.error("%s could not be checked", uri, exc_info=fault)
        if self.documents.get(uri) is not document:
            return
        if document.is_checked:
            self._publish(document)
        elif uri not in self._pending and (fault is None or document.text != text):
            # It has changed meanwhile.
            self.look(uri)

    def _publish(self, document: Document) -> None:
        uri = document.uri
        try:
            found = diagnostics(document)
        except Exception:
            # An internal error must not end the session; the next edit retries.
            log.exception("%s could not be checked", uri)
            return
        text, proven = self.proofs.get(uri, ("", []))
        if text == document.text:
            found = [*found, *proven]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, document.version))

    def look_at_kernel(self, uri: str) -> None:
        """Publishes the diagnostics of a C++ kernel, from its file; a compiler does not see what is not saved."""
        loop = asyncio.get_running_loop()
        running = self._worker.submit(check_kernel, uri, self.settings.target)
        running.add_done_callback(lambda done: loop.call_soon_threadsafe(self._publish_kernel, uri, done))

    def _publish_kernel(self, uri: str, done: Future[list[types.Diagnostic]]) -> None:
        fault = done.exception()
        if fault is not None:
            # An internal error must not end the session; the next save retries.
            log.error("%s could not be checked", uri, exc_info=fault)
        found = [] if fault is not None else done.result()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def forget(self, uri: str) -> None:
        """A document is closed."""
        if is_kernel(uri):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        pending = self._pending.pop(uri, None)
        if pending is not None:
            pending.cancel()
        self.proofs.pop(uri, None)
        if self.documents.pop(uri, None) is not None:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def configure(self, given: object) -> None:
        """Applies settings, and analyzes all documents again."""
        self.settings = Settings.read(given)
        for uri in self.documents:
            self.look_soon(uri, 0)


Handler = Callable[[Server, Document, Any], Any]
