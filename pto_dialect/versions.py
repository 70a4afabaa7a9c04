"""Versions of this package's surroundings, found without loading anything.

``importlib.metadata`` answers the same question in 20 ms: it imports the modules that parse e-mails.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

NEWEST_RELEASE = "0.64"
"""The newest release of the reference implementation that is known here; ``--version`` states it without the table of
changes (:mod:`pto_dialect.targets.release`)."""

_METADATA = ".dist-info"


def installed_version(name: str) -> str:
    """Returns the version of the installed distribution ``name`` (lower case, without hyphens).

    It is part of the name of the folder with the metadata, next to the package. Raises
    ``importlib.metadata.PackageNotFoundError`` where nothing is installed under this name.
    """
    prefix = f"{name}-"
    for folder in sys.path:
        try:
            entries = os.listdir(folder or os.curdir)
        except OSError:
            # An archive, or a folder that is not there.
            continue
        for entry in entries:
            if entry.startswith(prefix) and entry.endswith(_METADATA):
                return entry[len(prefix) : -len(_METADATA)]
    from importlib.metadata import version  # deferred: start-up

    return version(name)


_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_UNUSED = frozenset(
    (
        *("debug", "integrations", "lsp", "plugin", "recording", "report", "runtime", "sanitize", "__pycache__"),
        *("certify", "explain", "optimize", "reduce", "reference", "tune", "which"),
    )
)
"""Folders whose modules have no say when a program is read, checked or printed: they run programs, call commands, or
write pages."""

_SOURCES = (".py", ".lark", ".h", ".hpp")


def roots() -> tuple[str, str]:
    """Returns the folders with sources of this package; in a checkout the grammar is next to it."""
    return _PACKAGE, os.path.join(os.path.dirname(_PACKAGE), "grammar")


def sources(*folders: str) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Returns the source files of this package that have a say when a program is read, checked or printed, and those
    below ``folders``: path, size and time of change of each; and all folders that were looked through.
    """
    files: list[tuple[str, int, int]] = []
    seen: list[str] = []
    for folder in (*roots(), *folders):
        _collect(folder, files, seen)
    return files, seen


def sources_identity(*folders: str) -> str:
    """Returns what differs as soon as one of the :func:`sources` does."""
    return ascii(sorted(sources(*folders)[0]))


@lru_cache(maxsize=1)
def process_identity() -> str:
    """Returns what :func:`sources_identity` returns first in this process, whose modules stay as they are."""
    return sources_identity()


def folder_identity(folder: str) -> str:
    """Returns what differs as soon as a source file below ``folder`` does."""
    found: list[tuple[str, int, int]] = []
    _collect(folder, found, [])
    return ascii(sorted(found))


def _collect(folder: str, found: list[tuple[str, int, int]], seen: list[str]) -> None:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    seen.append(folder)
    for entry in entries:
        if entry.name.endswith(_SOURCES):
            status = entry.stat()
            found.append((entry.path, status.st_size, status.st_mtime_ns))
        elif "." not in entry.name and entry.name not in _UNUSED and entry.is_dir():
            _collect(entry.path, found, seen)


def python_build() -> str:
    """Returns all that identifies the running Python."""
    return f"{sys.implementation.name} {sys.version} {sys.platform}"


def python_version() -> str:
    """Returns the version of the running Python, as in ``3.11.7``."""
    return sys.version.split()[0]
