"""Who has called the server: the connection, what has come over it, and the process that carries the call out."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from . import endpoint


class Refused(Exception):
    """A request that the server does not take; its caller does the work itself."""


class Caller:
    """One connection. ``worker`` is the process that executes the call, ``left`` is set when the caller has ended."""

    def __init__(self, connection: socket.socket, since: float) -> None:
        self.connection = connection
        self.since = since
        self.worker: int | None = None
        self.left: float | None = None
        self._received = b""
        self._descriptors: list[int] = []

    def request(self) -> bytes | None:
        """The request, ``None`` as long as it is not complete. Raises :class:`Refused` for what is none."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.connection, 1 << 16, endpoint.DESCRIPTORS)
        except BlockingIOError:
            return None
        self._descriptors += descriptors
        self._received += data
        head = self._received[: endpoint.LENGTH_BYTES]
        size = int.from_bytes(head, "little")
        body = self._received[endpoint.LENGTH_BYTES :]
        if not data or size > endpoint.MOST_BYTES or len(body) > size:
            raise Refused
        return body if len(head) == endpoint.LENGTH_BYTES and len(body) == size else None

    def take_descriptors(self) -> list[int]:
        """The files that came with the request, which somebody else closes from now on."""
        taken, self._descriptors = self._descriptors, []
        return taken

    def signals(self) -> list[int] | None:
        """Numbers of signals to pass on; ``None`` when the caller has ended."""
        try:
            return list(self.connection.recv(64)) or None
        except BlockingIOError:
            return []
        except OSError:
            return None

    def say(self, answer: bytes) -> None:
        """Sends an answer to whoever is still there."""
        with suppress(OSError):
            self.connection.send(answer)

    def close(self) -> None:
        """Ends the connection."""
        self.connection.close()
        for number in self.take_descriptors():
            os.close(number)
