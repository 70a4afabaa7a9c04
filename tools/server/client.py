"""A call that a server answers: sends what the call is about, waits, ends as the call has ended.

This is what a start costs, so nothing is imported that is not needed: neither ``socket``, which makes enumerations, nor
anything of the package that checks programs. Whatever is odd leads to the normal way.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from . import endpoint
from .endpoint import FORWARDED

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

_LOST = "error: the server of pto-opt has ended before the call had; PTO_SERVER=0 does without it\n"


def call_server() -> bool:
    """Ends this process as a server has ended the call, if there is one; starts one otherwise.

    Returns when the call is to be executed here: False in the process of the caller, True in each copy of the server,
    which executes a call of another process.
    """
    if sys.platform != "linux":
        return False
    blocked: set[int] | None = None
    try:
        for number in range(3):
            os.fstat(number)
        identity, folder = endpoint.identity(), endpoint.private_folder()
        if identity is None or folder is None:
            return False
        connection = _connected(folder, endpoint.socket_name(identity))
        if connection is not None:
            # From the request on signals are for whoever carries it out; they wait until there is somebody to hand
            # them on.
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in FORWARDED])
            send(connection, _request(identity))
    except (OSError, ValueError, ImportError):
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return False
    if connection is not None:
        _wait(connection, blocked or set())
        return False
    return _start(identity, folder)


def _connected(folder: str, name: str):
    """A connection to the server; ``None`` where none listens."""
    import _socket  # deferred: start-up

    # The path of a socket has a hundred characters at most; the folder's may have more.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(f"/proc/self/fd/{handle}/{name}")
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    finally:
        os.close(handle)
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
        raise PermissionError("a server of another user")
    return connection


def _request(identity: str) -> bytes:
    """Everything that the call is about but its files, none of which holds a zero byte."""
    ignored = [name for name in FORWARDED if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN]
    mask = os.umask(0o077)
    os.umask(mask)
    head = (identity, str(mask), " ".join(ignored), str(len(sys.argv)))
    variables = [name + b"=" + value for name, value in os.environb.items()]
    body = b"\0".join([*(os.fsencode(text) for text in (*head, *sys.argv)), *variables])
    return len(body).to_bytes(endpoint.LENGTH_BYTES, "little") + body


def send(connection, request: bytes, streams: tuple[int, int, int] = (0, 1, 2)) -> None:
    """Sends a request with standard streams and the working directory.

    Raises ``OSError`` if the server does not get all of it, so that the call is to be executed here.
    """
    import _socket  # deferred: start-up

    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in (*streams, here))
        sent = connection.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
        rest = request[sent:]
        if rest:
            # To send nothing fails as well where the call has already ended.
            connection.sendall(rest)
    finally:
        os.close(here)


def _wait(connection, blocked: set[int]) -> None:
    """Ends as the call ends; returns when the server does not take it. ``blocked`` are the signals that are not
    listened to."""

    def forward(number: int, _: object) -> None:
        # When it has ended, the answer is on its way.
        with suppress(OSError):
            connection.send(bytes((number,)))

    handled: list[tuple[int, object]] = []
    for name in FORWARDED:
        number = getattr(signal, name)
        old = signal.getsignal(number)
        if old in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, forward)
            handled.append((number, old))
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    begun = _received(connection, 1) == endpoint.STARTED
    answer = _received(connection, 2) if begun else endpoint.LEFT
    if answer[:1] == endpoint.LEFT:
        for number, old in handled:
            signal.signal(number, old)  # pyright: ignore[reportArgumentType]
        return
    if answer[:1] == endpoint.EXITED and len(answer) == 2:
        os._exit(answer[1])
    if answer[:1] == endpoint.KILLED and len(answer) == 2:
        _end_by(answer[1])
    os.write(2, _LOST.encode("ascii"))
    os._exit(1)


def _received(connection, size: int) -> bytes:
    """``size`` bytes, or fewer when the server has ended."""
    found = b""
    try:
        while len(found) < size and (part := connection.recv(size - len(found))):
            found += part
    except OSError:
        pass
    return found


def _end_by(number: int) -> NoReturn:
    """Ends this process by a signal."""
    # SIGKILL cannot be handled, so it needs no reset.
    with suppress(OSError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def _start(identity: str, folder: str) -> bool:
    """Makes a copy of this process the server of later calls; True in the copies that carry calls out."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    # The server belongs to no terminal and to no parent that would wait for it.
    os.setsid()
    if os.fork():
        os._exit(0)
    try:
        from .serve import serve  # deferred: start-up

        carries_out = serve(identity, folder)
    except BaseException:
        # Nobody would see what is wrong; calls are carried out without a server.
        os._exit(1)
    if not carries_out:
        os._exit(0)
    return True
