"""Writing output files."""

import os
import stat


def atomic_write(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Replace the content of ``path`` with ``data`` (text as UTF-8, line ends untouched), all or nothing.

    The data goes to a new file in the same directory, is flushed to the disk and then renamed over ``path``:
    a reader sees the old or the new content, and a failure leaves the old one and no other file.  The mode of
    an existing file is kept, a symbolic link keeps pointing at its (replaced) target, and what is no regular
    file (a pipe, a device) is written directly.

    Raises ``OSError`` if the file cannot be written, ``UnicodeEncodeError`` for text that is not Unicode.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    target = os.path.realpath(path)
    mode: int | None = None
    try:
        status = os.stat(target)
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(status.st_mode):
            with open(target, "wb") as stream:
                stream.write(payload)
            return
        if not os.access(target, os.W_OK):
            # A rename needs no permission on the file itself; write protection must hold all the same.
            raise PermissionError(13, "Permission denied", os.fspath(path))
        mode = stat.S_IMODE(status.st_mode)

    temporary = os.path.join(os.path.dirname(target), f".pto-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    replaced = False
    try:
        with open(descriptor, "wb") as stream:
            stream.write(payload)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
        replaced = True
    finally:
        if not replaced:
            os.unlink(temporary)
