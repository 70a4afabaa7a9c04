"""The page of a recording in a browser of this machine, while the file changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from click.testing import CliRunner
from recorded_runs import recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.recording.save import save
from pto_dialect.report.serve import HOST, Server, serve
from tools.pto_report import main

COPY = program(ub("x", 128), "scf.for %i = %i0 to %i3 step %i1 {", load("%x"), store("%x"), "}")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(str(tmp_path / "run.pto-rec"), 0) as found:
        thread = Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def record(path: str | Path, running: bool) -> None:
    kernel = recording_kernel(pto_dialect.parse(COPY, "k.pto"), None, None)
    kernel.run([np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    save(path, kernel, 1, running=running)


def ask(server: Server, place: str, host: str | None = None, key: str | None = None) -> tuple[int, str]:
    connection = HTTPConnection(HOST, server.server_address[1], timeout=60)
    token = f"?token={server.key}" if key is None else key
    connection.request("GET", place + token, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_the_page_follows_the_file(server: Server) -> None:
    def state() -> dict[str, str]:
        return json.loads(ask(server, "/state")[1])

    assert state() == {"token": "", "text": "waiting for the recording"}
    assert "is not there yet" in ask(server, "/page")[1]
    record(server.pages.path, running=True)
    running = state()
    assert running["text"].startswith("the run is active, ")
    assert '"complete":false' in ask(server, "/page")[1].replace(" ", "")
    record(server.pages.path, running=False)
    ended = state()
    assert ended["text"].startswith("the run has ended, ")
    assert ended["token"] != running["token"]
    assert "k.pto" in ask(server, "/page", key=f"?token={server.key}&at=x")[1]
    Path(server.pages.path).write_bytes(b"no recording")
    assert "is no recording" in state()["text"]


def test_nobody_else_gets_anything(server: Server) -> None:
    assert ask(server, "/")[0] == 200
    assert ask(server, "/", "localhost:80")[0] == 200
    assert ask(server, "/", "evil.example")[0] == 403
    assert ask(server, "/../../etc/passwd")[0] == 404


@pytest.mark.parametrize("key", ["", "?", "?token=", "?token=guess", "?other=1", "?token=%ff"])
def test_other_users_of_the_machine_get_nothing(server: Server, key: str) -> None:
    record(server.pages.path, running=False)
    for place in ("/", "/page", "/state", "/other"):
        code, text = ask(server, place, key=key)
        assert (code, "k.pto" in text, "has a token" in text) == (403, False, True)
    assert server.address.endswith(server.key) and len(server.key) > 40


def test_a_port_that_is_taken_is_reported(server: Server) -> None:
    said: list[str] = []
    assert serve("run.pto-rec", server.server_address[1], said.append) == 2
    assert said == [f"error: cannot serve at port {server.server_address[1]}: Address already in use"]


def test_ctrl_c_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Server, _: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupted)
    said: list[str] = []
    assert serve("run.pto-rec", 0, said.append) == 0
    assert said[0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("run.pto-rec",), 0, "run.html"),
        (("-o", "page.html", "run.pto-rec"), 0, "page.html"),
        (("run.pto-rec", "--port", "80"), 2, "--port has no meaning without --serve"),
        (("run.pto-rec", "--serve", "-o", "x.html"), 2, "nothing for --out"),
        (("missing.pto-rec",), 2, "error: cannot read 'missing.pto-rec': No such file or directory"),
        (("page.html",), 2, "Missing argument"),
    ],
)
def test_pto_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    record("run.pto-rec", running=False)
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, says in result.output) == (code, True), result.output
    if not code:
        assert "k.pto" in Path(says).read_text(encoding="utf-8")
