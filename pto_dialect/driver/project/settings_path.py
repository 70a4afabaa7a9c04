"""Locates the file with the settings of a folder. Every start needs it, so it imports nothing else."""

from __future__ import annotations

import os
from functools import lru_cache

OWN = "pto.toml"
SHARED = "pyproject.toml"
_TABLE = b"[tool.pto"


@lru_cache(maxsize=4096)
def settings_file(folder: str) -> str | None:
    """Returns the `pto.toml`, or the `pyproject.toml` with a table `[tool.pto]`, of ``folder`` (an absolute path) or of
    the nearest folder above it that has one; of both in one folder the first."""
    own = os.path.join(folder, OWN)
    if os.path.isfile(own):
        return own
    shared = os.path.join(folder, SHARED)
    if _has_table(shared):
        return shared
    above = os.path.dirname(folder)
    return settings_file(above) if above != folder else None


def _has_table(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return _TABLE in stream.read()
    except OSError:
        return False


def folder_of(path: str) -> str:
    """Returns the folder whose settings count for the input ``path``; for standard input the current one."""
    if path == "-":
        return os.getcwd()
    whole = os.path.abspath(path)
    return whole if os.path.isdir(whole) else os.path.dirname(whole)
