"""A session with the language server over its standard input and output, for benchmarks and programs that drive it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tools.pto_lsp"]


class Session:
    """The server as a process. Requests are answered before the next one is sent."""

    def __init__(
        self,
        *,
        initialize: bool = True,
        options: object = None,
        command: Sequence[str] = COMMAND,
        folder: Path = ROOT,
    ) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
        )
        self.number = 0
        self.notes: deque[dict[str, Any]] = deque()
        if initialize:
            params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
            self.capabilities = self.request("initialize", params)["result"]["capabilities"]
            self.notify("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        out = self.process.stdout
        assert out is not None
        length = 0
        while line := out.readline():
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
            if not line.strip():
                return json.loads(out.read(length))
        raise EOFError(self.process.stderr.read().decode() if self.process.stderr else "")

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: object) -> dict[str, Any]:
        """The whole answer, with ``result`` or ``error``."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.number and "method" not in message:
                return message
            self.notes.append(message)

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "pto", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def ask(self, feature: str, uri: str, line: int, character: int, **more: object) -> Any:
        """The result of a request about a position."""
        position = {"line": line, "character": character}
        return self.request(f"textDocument/{feature}", {"textDocument": {"uri": uri}, "position": position, **more})[
            "result"
        ]

    def about(self, feature: str, uri: str, **more: object) -> Any:
        """The result of a request about a document."""
        return self.request(f"textDocument/{feature}", {"textDocument": {"uri": uri}, **more})["result"]

    def diagnostics(self, uri: str, version: int | None) -> list[dict[str, Any]]:
        """What is reported about a version of a document, waited for."""
        while True:
            message = self.notes.popleft() if self.notes else self.receive()
            params = message.get("params", {})
            told = message.get("method") == "textDocument/publishDiagnostics"
            if told and params["uri"] == uri and params.get("version") == version:
                return params["diagnostics"]

    def end(self) -> int:
        """Ends the session in order; what the process ends with."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.ended()

    def ended(self) -> int:
        """What the process, which ends by itself, ends with."""
        self.process.communicate(timeout=60)
        return self.process.returncode
