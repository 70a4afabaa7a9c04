"""Messages out of a stream of bytes, which a client may have written wrongly.

Whatever is no message is passed on as a notification that :class:`pto_dialect.lsp.protocol.Protocol` answers with an
error, and the next header that can be read begins the next message: no JSON has a line that ends like one.
"""

from __future__ import annotations

import json
import re
from typing import BinaryIO

UNREADABLE = "$/pto/unreadable"
"""The method of a notification that replaces an invalid message; its parameters are the reason."""

MOST_BYTES = 1 << 28
"""Length of a message that is read."""
_LINE = 1 << 13
"""Bytes of a line of a header that are looked at together."""

_LENGTH = re.compile(rb"content-length:[ \t]*(\S*)[ \t]*\r?\n?\Z", re.IGNORECASE)
_FIELD = re.compile(rb"[!#-'*+.^_`|~\w-]+:")


class Framing:
    """Standard input as pygls reads it: lines of a header, then as many bytes as it states."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self._lines: list[bytes] = []
        self._body: bytes | None = None
        self._lost = False
        """Inside of something whose end is not known."""

    def readline(self) -> bytes:
        """Returns the next line of a header; nothing at the end of the stream."""
        if not self._lines and not self._next():
            return b""
        return self._lines.pop(0)

    def read(self, size: int) -> bytes:
        """Returns the bytes after a header; nothing where the stream ends before."""
        body, self._body = self._body, None
        if body is None:
            body = self.stream.read(size)
        return body if len(body) == size else b""

    def _next(self) -> bool:
        """Reads a header; False at the end of the stream."""
        lengths: set[bytes] = set()
        fields = wrong = False
        while True:
            line = self.stream.readline(_LINE)
            if not line:
                return False
            found = _LENGTH.search(line) if self._lost else _LENGTH.match(line)
            if found is not None:
                lengths.add(found[1])
                if self._lost and _is_length(found[1]):
                    # What came before belongs to the message that could not be read.
                    self._lost, lengths, fields, wrong = False, {found[1]}, False, False
            elif line.strip():
                fields, wrong = True, wrong or _FIELD.match(line) is None
            elif (lengths or fields) and not self._lost:
                break
        (length, *others) = lengths or {b""}
        if wrong or others or not _is_length(length):
            self._lost = True
            self._refuse("a header has no Content-Length that can be read")
        elif int(length) == 0:
            self._refuse("a message is empty")
        else:
            self._lines = [b"Content-Length: %d\r\n" % int(length), b"\r\n"]
        return True

    def _refuse(self, reason: str) -> None:
        message = {"jsonrpc": "2.0", "method": UNREADABLE, "params": {"reason": reason}}
        self._body = json.dumps(message).encode("ascii")
        self._lines = [b"Content-Length: %d\r\n" % len(self._body), b"\r\n"]


def _is_length(text: bytes) -> bool:
    return text.isdigit() and len(text) <= 12 and int(text) <= MOST_BYTES
