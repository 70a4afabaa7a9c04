"""Headers that a kernel includes and the compiler does not find: folders of the project that have them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from .outside import project_of

_MOST_FOLDERS = 5_000
_MOST_SHOWN = 3
_MISSING = re.compile(r"'([^'/][^']*)' file not found")


def advice_for(message: str, kernel: str) -> str | None:
    """Returns the option that lets the compiler find the header of a message; ``None`` where no folder has it.

    Only the project of the file ``kernel`` is searched, whose headers the kernel may include.
    """
    missing = _MISSING.fullmatch(message)
    if missing is None or not os.path.isfile(kernel):
        return None
    own = os.path.dirname(os.path.abspath(kernel))
    found = sorted(_folders_with(missing[1], project_of(own)), key=lambda folder: (-_shared(folder, own), folder))
    shown = [f"-I {shlex.quote(os.path.relpath(folder))}" for folder in found[:_MOST_SHOWN] if folder.isprintable()]
    return f"{' or '.join(shown)} finds {missing[1]}" if shown else None


def _folders_with(header: str, project: str) -> Iterator[str]:
    first, _, rest = header.partition("/")
    if ".." in header.split("/"):
        return
    for number, (folder, folders, files) in enumerate(os.walk(project)):
        if number >= _MOST_FOLDERS:
            return
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if first in (folders if rest else files) and os.path.isfile(os.path.join(folder, header)):
            yield folder


def _shared(folder: str, other: str) -> int:
    return len(os.path.commonpath([os.path.realpath(folder), os.path.realpath(other)]))
