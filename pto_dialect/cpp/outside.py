"""Files that a kernel may include: those of its project, of the folders that its user names, and of the compiler.

A kernel of somebody else could include any file of this machine, and the compiler would print its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from pto_dialect.cpp.compilers import Compiler, ask
from pto_dialect.cpp.includes import content

_BUILT = ("pyproject.toml", "CMakeLists.txt")
_SEARCHED = re.compile(r"^ (/.*|[A-Za-z]:.*)$", re.MULTILINE)
_EMBEDDED = re.compile(r"^[ \t]*(?:#|%:)[ \t]*embed\b", re.MULTILINE)
_DEPENDENCY = re.compile(r"\b(?:GCC|clang)\s*(?:/\*|dependency\b)")
_MADE_PRAGMA = re.compile(r"\b_Pragma\b(?!\s*\(\s*\")")
_PASTED_PRAGMA = re.compile(r"(?<![\w.])(?:_Pr?|_Pra|_Prag|_Pragm|_\s*(?:,|##|%:%:)\s*P(?:r|ra|rag|ragm|ragma)?)(?!\w)")
"""A beginning of ``_Pragma`` that ``##`` may complete."""
_LINE_SPLICE = re.compile(r"\\[ \t]*\n")


def outside_file(files: Iterable[str], folder: str, folders: Sequence[str], compiler: Compiler) -> str | None:
    """Returns the first of ``files`` that a kernel in ``folder`` may not include; ``folders`` are those that its user
    names."""
    allowed = [
        os.path.realpath(one) for one in (folder, project_of(folder), *folders, os.path.dirname(compiler.command[0]))
    ]
    unknown = [path for path in files if not _is_below(path, allowed)]
    if not unknown:
        return None
    own = [os.path.realpath(one) for one in compiler_folders(compiler)]
    return next((path for path in unknown if not _is_below(path, own)), None)


def embeds(text: str) -> bool:
    """Returns whether a text has the directive ``#embed``, which includes a file that the compiler does not report."""
    return "embed" in text and _EMBEDDED.search(_LINE_SPLICE.sub("", text)) is not None


def depends(text: str) -> bool:
    """Returns whether a text has the directive ``#pragma GCC dependency``, which shows whether a file exists that the
    compiler does not report."""
    whole = _LINE_SPLICE.sub("", text)
    return "dependency" in whole and _DEPENDENCY.search(whole) is not None


@lru_cache(maxsize=4)
def may_depend(text: str) -> bool:
    """Returns whether macros of a text may make that directive, so that only the compiler can notice it."""
    whole = _LINE_SPLICE.sub("", text)
    pastes = "##" in whole or "%:%:" in whole
    if not pastes and "dependency" not in whole:
        return False
    return bool(_MADE_PRAGMA.search(whole) or (pastes and _PASTED_PRAGMA.search(whole)))


def unread_texts(files: Iterable[str], read: Container[str], compiler: Compiler) -> Iterator[str]:
    """Yields the texts of ``files``, which a compiler has included, but for those that are ``read`` and its own.

    A directive with a comment or a digraph in it, or one that a macro makes, includes files that only a compiler finds.
    """
    unread = [path for path in files if path not in read]
    own = [os.path.realpath(one) for one in compiler_folders(compiler)] if unread else []
    for path in unread:
        if not _is_below(path, own):
            yield content(path)


def project_of(folder: str) -> str:
    """Returns the root of the project of a folder: the nearest repository above it, else the last folder above it with
    a file of a build system, below the home of its user; ``folder`` where there is none.

    Every folder of a tree that CMake builds has such a file, so the nearest one would be too narrow."""
    found, at = folder, os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    while at not in (home, os.path.dirname(at)):
        if os.path.exists(os.path.join(at, ".git")):
            return at
        if any(os.path.exists(os.path.join(at, mark)) for mark in _BUILT):
            found = at
        at = os.path.dirname(at)
    return found


def _is_below(path: str, folders: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


@lru_cache(maxsize=16)
def compiler_folders(compiler: Compiler) -> tuple[str, ...]:
    """Returns the folders in which a compiler looks for the headers that come with it."""
    _, output = ask(compiler.command, "-v", "-E", "-x", "c++", os.devnull)
    searched = output.partition("search starts here:")[2].partition("End of search list")[0]
    return tuple(_SEARCHED.findall(searched))
