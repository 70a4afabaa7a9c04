"""Cache folders of tests that begin with what loading the package and its headers has left in the user's cache.

Without it, the first command in a new folder compiles modules, expressions and headers again, which takes longer than
what these tests are about. Verdicts and other answers are not taken along, and a cache that has nothing is no fault.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from pto_dialect.accel.cache import cache_folder

FILES = ("class-*", "modules-*", "regex-*", "*.tables", "cpp-headers/*")


def warm(folder: Path) -> Path:
    """The folder, with links to files of the user's cache; nothing writes to these in place."""
    known = Path(cache_folder() or folder)
    for pattern in FILES:
        for file in known.glob(pattern):
            target = folder / file.relative_to(known)
            for parent in (folder, target.parent):
                parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Others may remove the oldest files meanwhile.
            with suppress(FileNotFoundError, FileExistsError):
                try:
                    os.link(file, target)
                except OSError:
                    shutil.copyfile(file, target)
    return folder
