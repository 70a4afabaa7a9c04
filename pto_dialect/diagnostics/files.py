"""Writing output files."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from .file_kinds import check_kind

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None


@contextmanager
def folders_locked(paths: Iterable[str]) -> Iterator[None]:
    """Excludes other processes that do the same from the folders of ``paths`` during the block.

    For files that are read, added to and replaced. The folder itself is locked, so nothing remains, however the process
    ends. File systems without locks have no exclusion.
    """
    if fcntl is None:
        yield
        return
    with ExitStack() as held:
        # In one order for all processes, so that no two wait for each other.
        for folder in sorted({os.path.dirname(os.path.realpath(path)) for path in paths}):
            with suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY)
                held.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def atomic_write(path: str | os.PathLike[str], data: bytes | str, kind: str | None = None) -> None:
    """Replace the content of ``path`` with ``data`` (text as UTF-8, line ends untouched), as :func:`replacing` does.

    In pages, bytes of names that are not UTF-8 become escapes, which are those of JSON too.

    Raises ``OSError`` if the file cannot be written, ``UnicodeEncodeError`` for other text that is not Unicode.
    """
    errors = "backslashreplace" if kind == "page" else "strict"
    payload = data.encode("utf-8", errors) if isinstance(data, str) else data
    with replacing(path, kind) as stream:
        stream.write(payload)


@contextmanager
def replacing(path: str | os.PathLike[str], kind: str | None = None) -> Iterator[BinaryIO]:
    """A stream for what is to become the content of ``path``, all or nothing.

    With a ``kind`` of ``file_kinds.KINDS`` a file of another kind stays, and ``OtherKind``, an ``OSError``, is raised.

    The data goes to a new file in the same directory, is flushed to the disk and then renamed over ``path``:
    a reader sees the old or the new content, and a failure leaves the old one and no other file.  The mode of
    an existing file is kept, a symbolic link keeps pointing at its (replaced) target, and what is no regular
    file (a pipe, a device) is written directly.

    Raises ``OSError`` if the file cannot be written.
    """
    target = os.path.realpath(path)
    if kind is not None:
        check_kind(target, kind)
    mode: int | None = None
    try:
        status = os.stat(target)
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(status.st_mode):
            with open(target, "wb") as stream:
                yield stream
            return
        if not os.access(target, os.W_OK):
            # A rename needs no permission on the file itself; write protection must hold all the same.
            raise PermissionError(13, "Permission denied", os.fspath(path))
        mode = stat.S_IMODE(status.st_mode)

    temporary = os.path.join(os.path.dirname(target), f".pto-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    replaced = False
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
        replaced = True
    finally:
        if not replaced:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
