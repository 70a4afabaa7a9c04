"""The server: loads what a call needs, then copies itself for each call and hands on its signals and its end.

It reads from callers of the same user only, ends when nobody has called for a while, when a source file of the package
or an installed package changes, and when its socket has been removed.
"""

from __future__ import annotations

import fcntl
import gc
import os
import select
import selectors
import signal
import socket
import sys
from contextlib import suppress
from time import monotonic

from . import endpoint
from .caller import Caller, Refused
from .copy import Call, become
from .unchanged import SourceFiles

IDLE_SECONDS = 300.0
TICK_SECONDS = 5.0
"""How often a server checks its socket, and callers that have not sent a request."""

STOP_SECONDS = 5.0
"""How long a call whose caller has ended may take to end in order."""

BACKLOG = 256
_ENDINGS = (signal.SIGTERM, signal.SIGINT)


def serve(identity: str, folder: str) -> bool:
    """Answers calls; False when it is over, True in a copy that carries out a call, which it has become."""
    _detach()
    path = os.path.join(folder, endpoint.socket_name(identity))
    lock = _locked(f"{path}.lock")
    if lock is None:
        return False
    tools = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sources = SourceFiles([tools], sys.path)
    _load()
    server = Server(identity, folder, path, lock, sources)
    call = server.run()
    if call is None:
        return False
    become(call)
    return True


def _detach() -> None:
    """Lets go of everything of the first caller: who waits for the end of a pipe must not wait for a server."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with suppress(OSError):
                os.close(int(name))
    os.chdir("/")


def _locked(path: str) -> int | None:
    """The lock of the socket, which one process has at a time; ``None`` when another has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    # For whoever wants to end it.
    os.ftruncate(lock, 0)
    os.write(lock, b"%d\n" % os.getpid())
    return lock


def _load() -> None:
    """Loads what most calls need: the command, the reader, rules, the printer, reports."""
    from pto_dialect.accel.collector import collect_rarely, put_all_aside  # deferred: start-up

    from .warm import warm_up  # deferred: start-up

    collect_rarely()
    warm_up()
    gc.collect()
    # Copies share what exists now; a collector that looked at it would copy its memory.
    put_all_aside()


class Server:
    """A process that listens at ``path`` and makes a copy of itself for each call."""

    def __init__(self, identity: str, folder: str, path: str, lock: int, sources: SourceFiles) -> None:
        self.identity = identity
        self.path = path
        self.sources = sources
        self.lock = lock
        self.idle = _idle_seconds()
        self.callers: list[Caller] = []
        self.stopping = False
        self.selector = selectors.DefaultSelector()
        self.listener = _listening(folder, os.path.basename(path))
        self.inode = os.lstat(path).st_ino
        self.life, self._alive = os.pipe()
        self.woken, self._waker = os.pipe()
        for end in (self.woken, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in _ENDINGS:
            signal.signal(number, self._stop)
        self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        self.selector.register(self.woken, selectors.EVENT_READ, self._woken)

    def run(self) -> Call | None:
        """Serves until there is nothing to do any more; in a copy, the call that it is for."""
        last = monotonic()
        while not self.stopping or self.callers:
            for key, _ in self.selector.select(min(TICK_SECONDS, self.idle)):
                last = monotonic()
                call = key.data()
                if call is not None:
                    return call
            self._tend()
            if self.stopping or (not self.callers and monotonic() - last >= self.idle) or not self._is_listed():
                self._withdraw()
        return None

    def _is_listed(self) -> bool:
        try:
            return os.lstat(self.path).st_ino == self.inode
        except OSError:
            return False

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _withdraw(self) -> None:
        """Takes no more calls; those that run are waited for."""
        self.stopping = True
        if self.listener.fileno() >= 0:
            if self._is_listed():
                with suppress(OSError):
                    os.unlink(self.path)
            self.selector.unregister(self.listener)
            self.listener.close()

    def _accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
            connection.close()
            return
        caller = Caller(connection, monotonic())
        self.callers.append(caller)
        self.selector.register(connection, selectors.EVENT_READ, lambda: self._read(caller))

    def _read(self, caller: Caller) -> Call | None:
        """What a caller says: its request, then signals, then nothing."""
        if caller.worker is not None:
            numbers = caller.signals()
            for number in numbers or (signal.SIGTERM,):
                os.kill(caller.worker, number)
            if numbers is None:
                # Nobody waits for the result any more.
                self.selector.unregister(caller.connection)
                caller.left = monotonic()
            return None
        try:
            request = caller.request()
            if request is None:
                return None
            call = Call(request, caller.take_descriptors(), self.identity)
            if self.sources.changed():
                self._withdraw()
                call.close()
                raise Refused
            return self._copy(caller, call)
        except (Refused, OSError):
            self._forget(caller)
            return None

    def _copy(self, caller: Caller, call: Call) -> Call | None:
        """Makes the copy for a call; the call in the copy."""
        # Before there is a copy: a caller that does not know of one would do its work as well.
        caller.say(endpoint.STARTED)
        call.blocked = signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        try:
            worker = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, call.blocked)
            call.close()
            caller.say(endpoint.LEFT + b"\0")
            raise Refused from None
        if not worker:
            # Signals wait until the command can take them.
            self._leave(caller)
            call.caller = caller
            call.restore_signals()
            return call
        signal.pthread_sigmask(signal.SIG_SETMASK, call.blocked)
        caller.worker = worker
        call.close()
        return None

    def _leave(self, own: Caller) -> None:
        """In a copy: closes what is the server's, all callers but its ``own``, and ends with it."""
        signal.set_wakeup_fd(-1)
        self.selector.close()
        self.listener.close()
        for caller in self.callers:
            if caller is not own:
                caller.close()
        for number in (self._alive, self.woken, self._waker, self.lock):
            os.close(number)
        self.sources.close()
        # The kernel reports the end of the last writer by a signal that ends a process which does not handle it. The
        # receiver belongs to an opening of the pipe, so each copy has one of its own.
        opened = os.open(f"/proc/self/fd/{self.life}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(opened, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(opened, fcntl.F_SETFL, fcntl.fcntl(opened, fcntl.F_GETFL) | os.O_ASYNC)
        if _has_ended(opened):
            # It did so before the kernel was to report it.
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(self.life)

    def _woken(self) -> None:
        with suppress(BlockingIOError):
            os.read(self.woken, 4096)

    def _tend(self) -> None:
        """Reports to callers the ends of their calls, and drops those that send nothing."""
        now = monotonic()
        for caller in list(self.callers):
            if caller.worker is None:
                if now - caller.since > TICK_SECONDS:
                    self._forget(caller)
                continue
            ended, status = os.waitpid(caller.worker, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                caller.say(endpoint.EXITED + bytes((code,)) if code >= 0 else endpoint.KILLED + bytes((-code,)))
                self._forget(caller)
            elif caller.left is not None and now - caller.left > STOP_SECONDS:
                os.kill(caller.worker, signal.SIGKILL)

    def _forget(self, caller: Caller) -> None:
        self.callers.remove(caller)
        if caller.left is None:
            self.selector.unregister(caller.connection)
        caller.close()


def _has_ended(pipe: int) -> bool:
    """Whether nobody can write to ``pipe`` any more."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))


def _idle_seconds() -> float:
    try:
        seconds = float(os.environ[endpoint.IDLE_VARIABLE])
    except (KeyError, ValueError):
        return IDLE_SECONDS
    return seconds if seconds > 0 else IDLE_SECONDS


def _listening(folder: str, name: str) -> socket.socket:
    """A socket that listens under ``name``; what a server has left there that could not end in order is removed."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, name))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o077)
    try:
        listener.bind(f"/proc/self/fd/{handle}/{name}")
    finally:
        os.umask(mask)
        os.close(handle)
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener
