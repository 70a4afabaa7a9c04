"""The user's cache folder, with what can be computed again.

``PTO_CACHE_DIR`` names the folder; otherwise it is ``pto-dialect`` below ``XDG_CACHE_HOME`` or ``~/.cache``, by the
same rule on every system: a start has no time for a library that knows what else is usual.

Nothing is trusted that somebody else could have written. A folder or file that belongs to another user, or that others
may write to, is left alone, and so is everything that is not as it was written.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from contextlib import suppress

VARIABLE = "PTO_CACHE_DIR"
NAME = "pto-dialect"

_FOREIGN_BITS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> str | None:
    """Returns the folder, made if it is not there; ``None`` where there is none that this user alone can write to."""
    folder = _named_folder()
    return None if folder is None else private_folder(folder)


def private_folder(folder: str) -> str | None:
    """Returns ``folder``, made if it is not there; ``None`` where others than this user can write to it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    return folder if stat.S_ISDIR(status.st_mode) and _is_private(status) else None


def is_private(path: str) -> bool:
    """Returns whether ``path`` is a file that this user alone can have written."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and _is_private(status)


def _named_folder() -> str | None:
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The rules say that a relative path is to be ignored.
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, NAME)


def _is_private(status: os.stat_result) -> bool:
    """Returns whether only the user who runs this process can have written a file."""
    # Files on Windows have no owner of this kind; a home directory there is its user's alone.
    if sys.platform == "win32":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & _FOREIGN_BITS


def read_private(path: str) -> bytes | None:
    """Returns what :func:`write_private` has put into a file; ``None`` when there is no such file, it is damaged, or
    others could have written it."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or not _is_private(status):
                return None
            stored = stream.read()
    except (OSError, ValueError):
        return None
    return unsealed(stored)


def _open_without_waiting(path: str, flags: int) -> int:
    # A pipe with this name would keep its reader waiting.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write_private(path: str, data: bytes) -> bool:
    """Replaces a file with ``data``, all or nothing; False when that is not possible, which costs time later and
    nothing else."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    replaced = False
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as stream:
            stream.write(sealed(data))
        os.replace(temporary, path)
        replaced = True
    except OSError:
        pass
    finally:
        # An interrupt leaves no temporary file either.
        if not replaced:
            with suppress(OSError):
                os.unlink(temporary)
    return replaced


def digest(*parts: str | bytes) -> str:
    """Returns a text that differs where one of the parts does."""
    try:
        # That is where hashlib has it from, which loads OpenSSL first.
        from _blake2 import blake2b  # deferred: start-up
    except ImportError:
        from hashlib import blake2b  # deferred: start-up

    found = blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()


def sealed(data: bytes) -> bytes:
    """Returns ``data`` with a checksum, which reveals damage."""
    return zlib.crc32(data).to_bytes(4, "little") + data


def unsealed(stored: bytes) -> bytes | None:
    """Returns what was :func:`sealed`; ``None`` when it has been damaged."""
    data = stored[4:]
    return data if len(stored) >= 4 and zlib.crc32(data).to_bytes(4, "little") == stored[:4] else None
