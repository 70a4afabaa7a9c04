"""Headers that a kernel includes and the compiler does not find: folders of the project that have them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from .compiler import TARGET_MACROS
from .includes import content
from .outside import project_of

_MOST_FOLDERS = 5_000
_MOST_SHOWN = 3
_MISSING = re.compile(r"'([^'/][^']*)' file not found")


def advice_for(message: str, kernel: str, target: str) -> str | None:
    """Returns the option that lets the compiler find the header of a message; ``None`` where no folder has it.

    Only the project of the file ``kernel`` is searched, whose headers the kernel may include. Folders that its build
    files name come first, then those that are not of another chip than ``target``, and those that are near.
    """
    missing = _MISSING.fullmatch(message)
    if missing is None or not os.path.isfile(kernel):
        return None
    own = os.path.dirname(os.path.abspath(kernel))
    project = project_of(own)
    build = _build_files(own, project)

    def rank(folder: str) -> tuple[bool, bool, int, str]:
        parts = os.path.relpath(folder, project).split(os.sep)
        is_other = target not in parts and any(chip in parts for chip in TARGET_MACROS)
        return not _is_named(folder, project, build), is_other, -_shared(folder, own), folder

    found = sorted(_folders_with(missing[1], project), key=rank)
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


def _build_files(folder: str, project: str) -> str:
    """Returns the texts of the build files of a folder and of those above it, up to its project."""
    texts: list[str] = []
    while True:
        listed = os.path.join(folder, "CMakeLists.txt")
        texts.append(content(listed) if os.path.isfile(listed) else "")
        if os.path.realpath(folder) == os.path.realpath(project) or folder == os.path.dirname(folder):
            return "\n".join(texts)
        folder = os.path.dirname(folder)


def _is_named(folder: str, project: str, build: str) -> bool:
    """Returns whether build files name a folder by its path inside the project, after a variable or relative."""
    path = os.path.relpath(folder, project)
    return path != os.curdir and re.search(rf"/{re.escape(path)}/?(?![\w/.-])", build) is not None


def _shared(folder: str, other: str) -> int:
    return len(os.path.commonpath([os.path.realpath(folder), os.path.realpath(other)]))
