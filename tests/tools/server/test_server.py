"""How servers come and go: signals, ends of all kinds, what is odd."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import chdir
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from served_calls import Commands, alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers need Linux")

endpoint = import_module("pto_dialect.tools.server.endpoint")

GOOD = b"func.func @f() {\n  return\n}\n"


def waiting_call(commands: Commands, server: int, **options: object):
    """A call that waits for its standard input, and the process that carries it out."""
    known = set(commands.workers(server))
    call = commands.begin("-", **options)
    return call, until(lambda: set(commands.workers(server)) - known, "nobody carries the call out").pop()


def test_nothing_is_started_without_a_request(commands: Commands) -> None:
    assert commands.plain("-", input=GOOD).returncode == 0
    assert commands.call("-", input=GOOD, variables={"PTO_SERVER": ""}).returncode == 0
    assert not commands.sockets.exists()


def test_a_server_ends_when_it_is_idle(commands: Commands) -> None:
    commands.environment["PTO_SERVER_IDLE"] = "0.3"
    server = commands.start()
    until(lambda: not alive(server), "the server does not end")
    assert commands.servers() == []
    assert [path.suffix for path in commands.sockets.iterdir()] == [".lock"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_reach_the_call(commands: Commands, number: signal.Signals, code: int) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, as nohup has it, and so by whoever is started here")
    server = commands.start()
    call, worker = waiting_call(commands, server)
    call.send_signal(number)
    # Before its standard input ends, after which it would be done by itself.
    call.wait(timeout=60)
    assert call.communicate(timeout=60) == (b"", b"")
    # Before its command can take it the signal ends the worker by itself, which a shell shows as the same number.
    assert call.returncode in (code, -number)
    assert not alive(worker) and alive(server)


SLOW = """
import signal, time
from pto_dialect.tools.server import client, copy
{}
"""
SLOW_CALLER = """
send, wait = client.send, client._wait
client.send = lambda *given: (send(*given), time.sleep(0.5))
client._wait = lambda *given: (time.sleep(0.5), wait(*given))
"""
SLOW_WORKER = """
become = copy.become
copy.become = lambda call: (become(call), time.sleep(1.5))
"""


@pytest.mark.parametrize("slow", [SLOW_CALLER, SLOW_WORKER], ids=["caller", "worker"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_wait_for_whoever_takes_them(commands: Commands, number: signal.Signals, slow: str) -> None:
    """A caller that is slow to have its handlers, and a worker that is slow to begin."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here")
    script = commands.script.read_text()
    commands.script.write_text(
        script.replace("from pto_dialect.tools.start", SLOW.format(slow) + "from pto_dialect.tools.start")
    )
    server = commands.start()
    call, worker = waiting_call(commands, server)
    call.send_signal(number)
    call.wait(timeout=60)
    assert call.communicate(timeout=60) == (b"", b"")
    assert call.returncode in (128 + number, -number)
    assert not alive(worker) and alive(server)


def test_a_signal_that_is_ignored_stays_ignored(commands: Commands) -> None:
    server = commands.start()
    call, _ = waiting_call(commands, server, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    call.send_signal(signal.SIGHUP)
    assert call.communicate(GOOD, timeout=60)[1] == b"" and call.returncode == 0


def test_a_call_that_a_signal_ends_looks_like_that(commands: Commands) -> None:
    server = commands.start()
    call, worker = waiting_call(commands, server)
    os.kill(worker, signal.SIGKILL)
    call.communicate(timeout=60)
    assert call.returncode == -signal.SIGKILL


def test_a_caller_that_is_killed_takes_its_call_along(commands: Commands) -> None:
    server = commands.start()
    call, worker = waiting_call(commands, server)
    # Its standard input stays open here, so the call would wait.
    call.kill()
    until(lambda: not alive(worker), "the call goes on")
    call.communicate(timeout=60)
    assert alive(server) and commands.call("-", input=GOOD).returncode == 0


SLOW_COPY = """
from pto_dialect.tools.server import serve
leave = serve.Server._leave
serve.Server._leave = lambda server, own: (time.sleep(1), leave(server, own))
"""


@pytest.mark.parametrize("slow", ["", SLOW_COPY], ids=["later", "before the copy knows"])
def test_a_server_that_is_killed_takes_its_calls_along(commands: Commands, slow: str) -> None:
    script = commands.script.read_text()
    commands.script.write_text(
        script.replace("from pto_dialect.tools.start", SLOW.format(slow) + "from pto_dialect.tools.start")
    )
    server = commands.start()
    calls = [waiting_call(commands, server) for _ in range(2)]
    os.kill(server, signal.SIGKILL)
    for call, worker in calls:
        # Its standard input is open until then: at its end the call might be quicker than the signal.
        until(lambda worker=worker: not alive(worker), "the call goes on")
        _, errors = call.communicate(timeout=60)
        assert call.returncode == 1
        assert errors == b"error: the server of pto-opt has ended before the call had; PTO_SERVER=0 does without it\n"
    # Its socket is still there; the next call does its work itself, and makes place for another server.
    assert len(list(commands.sockets.iterdir())) == 2
    assert commands.call("-", input=GOOD).returncode == 0
    until(lambda: [pid for pid in commands.servers() if pid != server and alive(pid)], "no new server")
    assert commands.call("-", input=GOOD).returncode == 0


@pytest.mark.parametrize("answers", [b"", b"SL\0"])
def test_a_server_that_cannot_begin_leaves_the_call_to_its_caller(commands: Commands, answers: bytes) -> None:
    """As one does that is ended just then, or that cannot make a process."""
    commands.sockets.mkdir(parents=True)
    for folder in (commands.sockets.parent, commands.sockets):
        folder.chmod(0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, chdir(commands.sockets):
        listener.bind(endpoint.socket_name(commands.identity.decode()))
        listener.listen()
        listener.settimeout(60)
        call = commands.begin("-")
        connection, _ = listener.accept()
        connection.recv(1 << 20)
        connection.sendall(answers)
        connection.close()
        printed, errors = call.communicate(GOOD, timeout=120)
    assert (call.returncode, errors) == (0, b"") and b"func.func @f" in printed


def test_a_server_that_is_requested_to_end_waits_for_calls(commands: Commands) -> None:
    server = commands.start()
    call, _ = waiting_call(commands, server)
    os.kill(server, signal.SIGTERM)
    until(lambda: not commands.servers(), "the socket stays")
    assert alive(server)
    assert call.communicate(GOOD, timeout=60)[1] == b"" and call.returncode == 0
    until(lambda: not alive(server), "the server does not end")


def test_a_change_of_what_would_be_loaded_ends_the_server(commands: Commands) -> None:
    server = commands.start()
    # The folder of the script is searched for modules.
    (commands.script.parent / "another.py").write_text("")
    assert commands.call("-", input=GOOD).returncode == 0
    until(lambda: not alive(server), "the server does not end")


def test_a_socket_that_was_removed_ends_the_server(commands: Commands) -> None:
    server = commands.start()
    for path in commands.sockets.iterdir():
        path.unlink()
    until(lambda: not alive(server), "the server does not end")


def test_what_a_process_was_started_with_has_a_server_of_its_own(commands: Commands) -> None:
    first = commands.start()
    other = {"PYTHONHASHSEED": "7"}
    assert commands.call("-", input=GOOD, variables=other).returncode == 0
    until(lambda: len(commands.servers()) == 2, "no second server")
    assert alive(first)


def test_several_first_calls_start_one_server(commands: Commands) -> None:
    calls = [commands.begin("-") for _ in range(4)]
    assert all(call.communicate(GOOD, timeout=120)[1] == b"" for call in calls)
    until(commands.servers, "no server has come")
    assert len(commands.servers()) == 1


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_may_enter_is_not_used(commands: Commands, mode: int) -> None:
    commands.sockets.mkdir(parents=True)
    commands.sockets.parent.chmod(0o700)
    commands.sockets.chmod(mode)
    assert commands.call("-", input=GOOD).returncode == 0
    assert list(commands.sockets.iterdir()) == []


def test_a_link_to_a_folder_is_not_used(commands: Commands) -> None:
    elsewhere = commands.folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    commands.sockets.parent.mkdir(mode=0o700, exist_ok=True)
    commands.sockets.symlink_to(elsewhere)
    assert commands.call("-", input=GOOD).returncode == 0
    assert list(elsewhere.iterdir()) == []


def say(data: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(data)


REQUESTS = {
    "nothing": say(b""),
    "a part": say(b"\x20\0\0\0abc"),
    "too much": say(b"\xff\xff\xff\xffabc"),
    "other text": say(b"\x07\0\0\0a\0b\0c\0d"),
    "no number": say(b"\x08\0\0\0a\x000\0\0x\0y"),
    "more than it said": say(b"\x01\0\0\0abc"),
}


@pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
def test_requests_that_are_none(served: Commands, request_of: Callable[[socket.socket], None]) -> None:
    (server,) = served.servers()
    (path,) = (path for path in served.sockets.iterdir() if not path.suffix)
    handle = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(f"/proc/self/fd/{handle}/{path.name}")
        request_of(connection)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(60)
        assert connection.recv(1) == b""
    os.close(handle)
    found = served.call("-", input=GOOD)
    assert (found.returncode, found.stderr) == (0, b"") and served.servers() == [server]


class Quick:
    """A connection to a server that has ended the call as soon as it has the request."""

    def __init__(self) -> None:
        self.own, self.other = socket.socketpair()

    def sendmsg(self, *message: Any) -> int:
        sent = self.own.sendmsg(*message)
        self.other.close()
        return sent

    def sendall(self, data: bytes) -> None:
        self.own.sendall(data)


def test_a_call_that_ends_at_once_is_not_executed_here_as_well() -> None:
    """An error of the request leaves the call to its caller, which would execute it a second time."""
    connection = Quick()
    with connection.own:
        import_module("pto_dialect.tools.server.client").send(connection, b"request")


@pytest.mark.parametrize(("code", "told"), [(None, b"X\0"), (1, b"X\1"), (127, b"X\x7f"), (130, None)])
def test_a_call_that_has_written_everything_reports_its_own_end(
    monkeypatch: pytest.MonkeyPatch, code: int | None, told: bytes | None
) -> None:
    """Not one that a signal has ended: whoever has sent it may count on the end of the process."""
    copy = import_module("pto_dialect.tools.server.copy")
    said: list[object] = []
    call = SimpleNamespace(caller=SimpleNamespace(say=said.append))
    monkeypatch.setattr(copy._Carried, "call", call)
    monkeypatch.setattr(os, "_exit", said.append)
    copy.finish(SystemExit(code))
    assert said == [*([told] if told is not None else []), code or 0]
