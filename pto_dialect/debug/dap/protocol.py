"""Messages of the Debug Adapter Protocol: a header with a length, then JSON. Source: docs/debugger.md, "Editors"."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

MOST_BYTES = 1 << 26
"""Length of a message that is read."""


class ProtocolError(Exception):
    """What was received is no message."""


class Connection:
    """Messages over two streams; ``closed`` once the peer has disconnected."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self.incoming = incoming
        self.outgoing = outgoing
        self.closed = False
        self._sequence = 0

    def receive(self) -> dict[str, Any] | None:
        """Returns the next message; ``None`` at the end. Raises ``ProtocolError``."""
        length: int | None = None
        while True:
            line = self.incoming.readline(4096)
            if not line:
                return None
            text = line.strip()
            if not text and length is not None:
                break
            name, _, value = text.partition(b":")
            if name.lower() == b"content-length":
                stated = value.strip()
                if not stated.isdigit() or len(stated) > 12 or int(stated) > MOST_BYTES:
                    raise ProtocolError("a message has no length that can be read")
                length = int(stated)
            elif not text:
                raise ProtocolError("a message has no length")
        content = self.incoming.read(length)
        if len(content) < length:
            return None
        try:
            message = json.loads(content)
        except (ValueError, RecursionError):
            raise ProtocolError("a message is no JSON, or is nested too deeply") from None
        if not isinstance(message, dict):
            raise ProtocolError("a message is no object")
        return message

    def send(self, kind: str, **fields: Any) -> None:
        """Sends a message; nothing where nobody listens any more."""
        self._sequence += 1
        content = json.dumps({"seq": self._sequence, "type": kind, **fields}).encode()
        try:
            self.outgoing.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
            self.outgoing.flush()
        except (OSError, ValueError):
            self.closed = True

    def event(self, name: str, **body: Any) -> None:
        """Sends an event."""
        self.send("event", event=name, **({"body": body} if body else {}))
