"""Shows the page of a recording to browsers of this machine, and follows the file while a run writes it.

Source: docs/report.md, "While a run is active".
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import compare_digest, token_urlsafe
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pto_dialect.recording import RecordingError, open

from .recorded import page_of_recording

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
"""Host names by which a browser may address this machine; other names mean that a foreign page sends the request."""

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src 'self'; connect-src 'self'"
)

FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>pto report</title>
<meta http-equiv="Content-Security-Policy" content="@POLICY@">
<style>
html, body { margin: 0; height: 100%; font: 14px system-ui, sans-serif; color-scheme: light dark; }
body { display: flex; flex-direction: column; }
header { display: flex; gap: 1em; align-items: center; padding: 4px 10px; }
iframe { flex: 1; border: 0; }
</style></head><body>
<header><span id="state" role="status"></span>
<label><input type="checkbox" id="follow" checked> follow the run</label>
<button id="show" hidden>show what has been added</button></header>
<iframe id="page" title="page of the run"></iframe>
<script>
const [state, follow, show, page] = ["state", "follow", "show", "page"].map((id) => document.getElementById(id));
let shown = null, latest = null;
function load() {
  shown = latest;
  show.hidden = true;
  page.src = "/page" + location.search + "&at=" + encodeURIComponent(latest);
}
async function look() {
  try {
    const run = await (await fetch("/state" + location.search)).json();
    state.textContent = run.text;
    latest = run.token;
    if (latest !== shown) { if (follow.checked || shown === null) load(); else show.hidden = false; }
  } catch { state.textContent = "pto report has ended"; }
  setTimeout(look, 1000);
}
show.onclick = load;
look();
</script></body></html>
""".replace("@POLICY@", _POLICY)


class Pages:
    """The page of the recording in ``path`` as it is now; made again where the file has changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = Lock()
        self._made: tuple[str, str, str] | None = None

    def token(self) -> str:
        """Returns a token that changes with the file; empty where there is none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return ""
        return f"{found.st_mtime_ns}-{found.st_size}"

    def current(self) -> tuple[str, str, str]:
        """Returns the token, the page, and a line about the run. The page reports what cannot be read."""
        with self._lock:
            token = self.token()
            if self._made is None or self._made[0] != token:
                self._made = (token, *self._make(token))
            return self._made

    def _make(self, token: str) -> tuple[str, str]:
        if not token:
            return _reported(f"'{self.path}' is not there yet"), "waiting for the recording"
        try:
            with open(self.path) as recording:
                kind, steps = recording.outcome.kind, len(recording)
                return page_of_recording(recording), f"{_WORDS.get(kind, kind)}, {steps} steps"
        except RecordingError as error:
            return _reported(str(error)), str(error)


_WORDS = {"running": "the run is active", "ended": "the run has ended", "failed": "the run has failed"}


def _reported(text: str) -> str:
    return f"<!doctype html><html lang='en'><meta charset='utf-8'><title>pto report</title><p>{escape(text)}</p></html>"


class Handler(BaseHTTPRequestHandler):
    """Answers requests for a frame, the page in it, and how far the run is."""

    def __init__(self, request: Any, client_address: Any, server: Server) -> None:
        self.pages, self.key = server.pages, server.key
        # The base class answers the request before it returns.
        super().__init__(request, client_address, server)

    def do_GET(self) -> None:
        """Answers a request."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        place = urlsplit(self.path).path
        if name not in _NAMES:
            self._answer(403, "text/plain", "not for other machines")
        elif not self._has_key():
            self._answer(403, "text/plain", "the address that pto report has printed has a token")
        elif place == "/":
            self._answer(200, "text/html", FRAME)
        elif place == "/page":
            self._answer(200, "text/html", self.pages.current()[1])
        elif place == "/state":
            token, _, text = self.pages.current()
            self._answer(200, "application/json", json.dumps({"token": token, "text": text}))
        else:
            self._answer(404, "text/plain", "there is no such page")

    def _has_key(self) -> bool:
        """Returns whether the address has the token of this server, which other users of the machine do not know."""
        given = parse_qs(urlsplit(self.path).query).get("token", [""])
        return compare_digest(given[0].encode(), self.key.encode())

    def _answer(self, code: int, kind: str, text: str) -> None:
        content = text.encode(errors="backslashreplace")
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *_: Any) -> None:
        """Logs nothing."""


class Server(ThreadingHTTPServer):
    """Serves the page of one recording on this machine; port 0 is any that is free. Requests need its ``key``."""

    daemon_threads = True

    def __init__(self, path: str, port: int) -> None:
        self.pages = Pages(path)
        self.key = token_urlsafe()
        super().__init__((HOST, port), Handler)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{HOST}:{self.server_address[1]}/?token={self.key}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A disconnected browser is not an error."""


def serve(path: str, port: int, say: Callable[[str], Any]) -> int:
    """Serves the page of the recording in ``path`` until Ctrl-C; 2 where the port cannot be had."""
    try:
        server = Server(path, port)
    except OSError as error:
        say(f"error: cannot serve at port {port}: {error.strerror or error}")
        return 2
    with server:
        say(f"{server.address} shows {path}; Ctrl-C ends")
        try:
            server.serve_forever(0.2)
        except KeyboardInterrupt:
            say("")
    return 0
