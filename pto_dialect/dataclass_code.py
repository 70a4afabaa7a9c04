"""Compiled functions of dataclasses, kept between processes.

``dataclasses`` writes ``__init__``, ``__eq__`` and others as text and executes it. xDSL has more than a thousand of
such functions, and compiling them is a quarter of a start. While :func:`kept` is in force, the module finds an ``exec``
of ours that compiles a text only once and otherwise takes the code from a file in the user's cache folder. What is
executed is the code of the very text that would have been compiled, so that the classes are the same.

On a Python whose ``dataclasses`` is not known to work this way nothing is done, and whatever is wrong with the file
only costs the time to compile.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .kept_table import KeptTable, table_for

KNOWN = ((3, 11), (3, 14))
"""The first and the last version of Python whose ``dataclasses`` was looked at: it calls ``exec(text, globals,
locals)`` with the text of functions that depend on nothing else."""

MOST_BYTES = 4_000_000
"""Size of the file; a start needs a sixth of it."""

_NAME = "exec"


class KeptCode:
    """Takes the place of ``exec`` in ``dataclasses``."""

    def __init__(self, table: KeptTable) -> None:
        self.table = table

    def __call__(self, text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        """Executes the definition of a function."""
        code = self.table.get(text)
        if code is None:
            code = compile(text, "<string>", "exec", dont_inherit=True)
            self.table.add(text, code)
        builtins.exec(code, globals, locals)


@contextmanager
def kept() -> Iterator[None]:
    """Classes that are made in this block take the code of their functions from the file.

    For processes of our own: others that make classes in the meantime would be helped as well.
    """
    table = table_for("dataclasses", KNOWN, MOST_BYTES)
    if table is None:
        yield
        return
    import dataclasses

    if _NAME in vars(dataclasses):
        # Somebody has had the same thought.
        yield
        return
    codes = KeptCode(table)
    setattr(dataclasses, _NAME, codes)
    try:
        yield
    finally:
        if vars(dataclasses).get(_NAME) is codes:
            delattr(dataclasses, _NAME)
        codes.table.save()
