"""The folder that a server may read and write, and nothing outside of it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.driver.inputs import decode
from pto_dialect.driver.project.settings_path import settings_file

MOST_BYTES = 4 << 20
"""Size of a program, and of the settings of a project."""

ENDING = ".pto"


class RefusedError(ValueError):
    """A call that is refused; the message says why, and what would be accepted."""


class Program(NamedTuple):
    """A program: its ``text``, the ``name`` that answers show, where it lies, and the settings that count for it; of a
    text without a file ``path`` is ``None``."""

    text: str
    name: str
    path: str | None
    settings: str | None


class Folder:
    """A folder. Names of files are relative to it; symbolic links are followed before they are judged."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)

    def resolve(self, name: str) -> str:
        """Returns the path of a file without symbolic links. Raises :class:`RefusedError` for one that is outside."""
        if not name or "\0" in name:
            raise RefusedError("file is the path of a .pto file, relative to the folder of the server")
        if os.path.isabs(name) or name.startswith(("~", "\\")) or os.path.splitdrive(name)[0]:
            raise RefusedError(f"'{name}' is an absolute path; name files relative to the folder of the server")
        if ".." in name.replace("\\", "/").split("/"):
            raise RefusedError(f"'{name}' has '..'; name files below the folder of the server")
        path = os.path.realpath(os.path.join(self.path, name))
        if not self._holds(path):
            raise RefusedError(f"'{name}' leads outside of the folder of the server")
        if not path.endswith(ENDING):
            raise RefusedError(f"'{name}' is no {ENDING} file")
        return path

    def read(self, name: str) -> Program:
        """Returns the program in a file. Raises :class:`RefusedError`."""
        path = self.resolve(name)
        text, remark = decode(_content(path, name), name)
        if remark is not None:
            raise RefusedError(f"'{name}': {remark.message}")
        return Program(text, name, path, self._settings(os.path.dirname(path)))

    def given(self, text: str) -> Program:
        """Returns a program that is no file. Raises :class:`RefusedError`."""
        if len(text.encode(errors="replace")) > MOST_BYTES:
            raise RefusedError(f"the text is larger than {MOST_BYTES >> 20} MiB")
        return Program(text, f"text{ENDING}", None, self._settings(self.path))

    def write(self, source: Program, text: str) -> None:
        """Replaces the program of a file. Raises :class:`RefusedError`."""
        if source.path is None:
            raise RefusedError("write needs file: a text has no file")
        path = self.resolve(source.name)
        if path != source.path or decode(_content(path, source.name), source.name)[0] != source.text:
            raise RefusedError(f"'{source.name}' has changed during the call")
        try:
            atomic_write(path, text)
        except OSError as error:
            raise RefusedError(f"cannot write '{source.name}': {error.strerror or error}") from None

    def _holds(self, path: str) -> bool:
        return os.path.commonpath((self.path, path)) == self.path

    def _settings(self, folder: str) -> str | None:
        """Returns the settings of the nearest folder that has some, if they are inside."""
        settings_file.cache_clear()
        found = settings_file(folder)
        if found is None:
            return None
        path = os.path.realpath(found)
        return path if self._holds(path) and os.path.getsize(path) <= MOST_BYTES else None


def _content(path: str, name: str) -> bytes:
    """Returns the bytes of a regular file. A pipe or a device is refused before it is read."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except OSError as error:
        raise RefusedError(f"cannot read '{name}': {error.strerror or error}") from None
    with os.fdopen(number, "rb") as stream:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode):
            raise RefusedError(f"'{name}' is no regular file")
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RefusedError(f"'{name}' is larger than {MOST_BYTES >> 20} MiB")
    return content
