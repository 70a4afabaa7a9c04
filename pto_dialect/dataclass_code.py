"""Compiled functions of dataclasses, kept between processes.

``dataclasses`` writes ``__init__``, ``__eq__`` and others as text and executes it. xDSL has more than a thousand of
such functions, and compiling them is a quarter of a start. While :func:`kept` is in force, the module finds an ``exec``
of ours that compiles a text only once and otherwise takes the code from a file in the user's cache folder. What is
executed is the code of the very text that would have been compiled, so that the classes are the same.

The file is named by the version of Python and by what else compiling depends on. On a Python whose ``dataclasses`` is
not known to work this way nothing is done, and whatever is wrong with the file only costs the time to compile.
"""

from __future__ import annotations

import builtins
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from .cache import cache_folder, read_private, write_private

KNOWN = ((3, 11), (3, 14))
"""The first and the last version of Python whose ``dataclasses`` was looked at: it calls ``exec(text, globals,
locals)`` with the text of functions that depend on nothing else."""

MOST_BYTES = 8_000_000
"""A larger file is begun anew: it has become a collection of many versions."""

_NAME = "exec"


class KeptCode:
    """Takes the place of ``exec`` in ``dataclasses``; what it compiled is in ``added``."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.codes: dict[str, CodeType] | None = None
        self.added: dict[str, CodeType] = {}

    def __call__(self, text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        """Executes the definition of a function."""
        if self.codes is None:
            self.codes = _read(self.path)
        code = self.codes.get(text)
        if code is None:
            code = self.codes[text] = self.added[text] = compile(text, "<string>", "exec", dont_inherit=True)
        builtins.exec(code, globals, locals)

    def save(self) -> None:
        """Adds what was compiled to the file; what other processes have added in the meantime stays."""
        if self.added:
            data = marshal.dumps({**_read(self.path), **self.added})
            write_private(self.path, data if len(data) <= MOST_BYTES else marshal.dumps(self.added))


def _read(path: str) -> dict[str, CodeType]:
    data = read_private(path)
    if data is None:
        return {}
    try:
        codes = marshal.loads(data)
    except (EOFError, TypeError, ValueError):
        return {}
    return codes if type(codes) is dict else {}


def code_file() -> str | None:
    """Where the code of this Python is kept; ``None`` without a cache folder, or where nothing is to be kept."""
    tag = sys.implementation.cache_tag
    if tag is None or not KNOWN[0] <= sys.version_info[:2] <= KNOWN[1]:
        return None
    folder = cache_folder()
    return folder and os.path.join(folder, f"dataclasses-{tag}-{sys.hexversion:x}-{sys.flags.optimize}.code")


@contextmanager
def kept() -> Iterator[None]:
    """Classes that are made in this block take the code of their functions from the file.

    For processes of our own: others that make classes in the meantime would be helped as well.
    """
    path = code_file()
    if path is None:
        yield
        return
    import dataclasses

    if _NAME in vars(dataclasses):
        # Somebody has had the same thought.
        yield
        return
    codes = KeptCode(path)
    setattr(dataclasses, _NAME, codes)
    try:
        yield
    finally:
        if vars(dataclasses).get(_NAME) is codes:
            delattr(dataclasses, _NAME)
        codes.save()
