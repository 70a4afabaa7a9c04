"""Where the files lie that a launch file names."""

from __future__ import annotations

import os


class PathError(ValueError):
    """A path that a launch file may not name; ``help`` says what to do."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


class Folder:
    """The folder of a launch file: the paths in the file count from here.

    They lie in it, links resolved, unless ``allow_outside``: a launch file that somebody else wrote reads and writes
    nothing else.
    """

    def __init__(self, path: str, allow_outside: bool = False) -> None:
        self.path = path
        self.root = os.path.realpath(path or os.curdir)
        self.allow_outside = allow_outside

    def resolve(self, path: str) -> str:
        """Returns ``path`` as it is from the current folder. Raises ``PathError``."""
        if "\0" in path:
            raise PathError("a path has no NUL character")
        found = os.path.join(self.path, path)
        if self.allow_outside:
            return found
        target = os.path.realpath(found)
        if os.path.commonpath((self.root, target)) != self.root:
            through = "" if os.path.normpath(target) == os.path.normpath(os.path.abspath(found)) else " through a link"
            raise PathError(
                f"'{path}' lies outside of the folder of the launch file{through}",
                "--allow-outside lets launch files name such paths",
            )
        return found
