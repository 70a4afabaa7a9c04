"""Headers that a kernel includes and the compiler does not find: folders of the project that have them, or scripts that
write them."""

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
_SCRIPTS = (".py", ".sh")
_MISSING = re.compile(r"'([^'/][^']*)' file not found")


def advice_for(message: str, kernel: str, target: str) -> str | None:
    """Returns the option that lets the compiler find the header of a message, or the scripts below the folder of the
    kernel that name a header which no folder has; ``None`` without either.

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
    if shown:
        return f"{' or '.join(shown)} finds {missing[1]}"
    scripts = [
        shlex.quote(os.path.relpath(script)) for script in _scripts_with(missing[1], own) if script.isprintable()
    ]
    if not scripts:
        return None
    return f"no folder has it; {' and '.join(scripts)} may write it: run that, and name its folder with -I"


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


def _scripts_with(header: str, folder: str) -> list[str]:
    """Returns the first scripts below a folder whose text has the name of a header."""
    name = re.compile(rf"(?<![\w.-]){re.escape(os.path.basename(header))}(?![\w.-])")
    found: list[str] = []
    for number, (inner, folders, files) in enumerate(os.walk(folder)):
        if number >= _MOST_FOLDERS:
            break
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        scripts = (os.path.join(inner, file) for file in sorted(files) if file.endswith(_SCRIPTS))
        found += [script for script in scripts if os.path.isfile(script) and name.search(content(script))]
    return found[:_MOST_SHOWN]


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
