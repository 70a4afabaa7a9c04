"""Where the server of a call listens, and their protocol.

A call is answered by a process that was forked from the server. That gives the same as a process of its own only where
both start in the same state, so whatever a process is started with, and cannot be passed later, is a part of the
socket's name: calls that differ in it have servers of their own.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib

from pto_dialect.accel.cache import cache_folder
from pto_dialect.version import __version__

from ..constants import SERVER_OPTION, SERVER_VARIABLE

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""Signals that are handed on to the process that does the work."""

IDLE_VARIABLE = "PTO_SERVER_IDLE"

FOLDER = "server"

LENGTH_BYTES = 4
"""Before a request stands its length."""

MOST_BYTES = 1 << 23
"""Linux takes less for arguments and environment together."""

DESCRIPTORS = 4
"""Standard input, output and error, and the working directory come with a request."""

STARTED, EXITED, KILLED, LEFT = b"S", b"X", b"K", b"L"
"""Answers: the call has begun; it has ended with a code, or by a signal, which is the next byte; it could not begin
after all, so that it is left to the caller."""

_INHERITED = ("PYTHON", "LC_", "LD_", "LANG", "MALLOC_")
"""Beginnings of the names of variables that count when a process starts."""

_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


def is_requested(arguments: list[str]) -> bool:
    """Whether the user wants this call of ``pto-opt`` to be answered by a server."""
    if os.environ.get(SERVER_VARIABLE, "") not in ("", "0"):
        return True
    return SERVER_OPTION in (arguments[: arguments.index("--")] if "--" in arguments else arguments)


def private_folder() -> str | None:
    """The folder of the sockets, which nobody but this user may enter; ``None`` where there is none."""
    above = cache_folder()
    if above is None:
        return None
    folder = os.path.join(above, FOLDER)
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
    except (OSError, ValueError):
        return None
    mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return folder if mine and stat.S_IMODE(status.st_mode) == 0o700 else None


def identity() -> str | None:
    """What a process was started with; ``None`` where a copy of another one cannot be the same."""
    if not all(map(os.path.isabs, sys.path)) or (os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()):
        return None
    import resource  # deferred: start-up

    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    root = os.stat("/")
    with open("/proc/self/cgroup", encoding="ascii", errors="replace") as stream:
        groups = stream.read()
    return ascii(
        (
            *(__version__, sys.version, sys.executable, sys.prefix, tuple(sys.flags), sys.path),
            *(sys.warnoptions, sorted(map(str, sys._xoptions.items())), os.path.dirname(__file__)),
            sorted(item for item in os.environ.items() if item[0].startswith(_INHERITED)),
            *(os.getuid(), os.getgid(), sorted(os.getgroups()), os.getpriority(os.PRIO_PROCESS, 0)),
            *(sorted(os.sched_getaffinity(0)), [resource.getrlimit(getattr(resource, name)) for name in names]),
            *(root.st_dev, root.st_ino, groups, [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES]),
        )
    )


def socket_name(identity: str) -> str:
    """The name of the server's socket in its folder. Two identities may have one: a request states its own."""
    return f"{zlib.crc32(identity.encode('ascii')):08x}"
