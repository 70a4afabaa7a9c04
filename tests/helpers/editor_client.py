"""A debug adapter and a client of it as editors have them, for tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Any

from dap_schema import mistakes

SECONDS = 60
COMMAND = (sys.executable, "-m", "tools.pto_debug_adapter")


class RequestFailed(Exception):
    """The adapter has answered that a request has failed."""


class Editor:
    """A client of an adapter that runs in a process of its own; ``events`` are those that nobody has waited for."""

    def __init__(self, command: Sequence[str] = COMMAND, folder: Path | None = None) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.timer = Timer(SECONDS, self.process.kill)
        self.timer.start()
        self.sequence = 0
        self.events: list[dict[str, Any]] = []
        self.capabilities = self.ask("initialize", adapterID="pto", linesStartAt1=True, columnsStartAt1=True)

    def write(self, content: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def ask(self, command: str, **arguments: Any) -> Any:
        """The answer to a request. Raises ``RequestFailed``."""
        self.sequence += 1
        number = self.sequence
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        content = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        while True:
            found = self.receive()
            if found["type"] == "event":
                self.events.append(found)
                continue
            assert (found["request_seq"], found["command"]) == (number, command)
            if not found["success"]:
                raise RequestFailed(found["message"])
            return found.get("body")

    def wait(self, name: str) -> Any:
        """What the next event of a kind says; those before it are dropped."""
        while True:
            event = self.events.pop(0) if self.events else self.receive()
            if event["event"] == name:
                return event.get("body")

    def receive(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout is not None
        header = self.process.stdout.readline()
        if not header:
            raise EOFError
        name, _, length = header.partition(b":")
        assert name == b"Content-Length"
        assert self.process.stdout.readline() == b"\r\n"
        found = json.loads(self.process.stdout.read(int(length)))
        assert mistakes(found) == [], found
        return found

    def close(self) -> int:
        """Goes away without a message; the exit code of the adapter."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        self.process.stdout.close()
        self.timer.cancel()
        return code
