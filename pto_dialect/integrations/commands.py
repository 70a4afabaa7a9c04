"""Commands of this package under the names of other tools, for programs that start these."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Mapping

from pto_dialect.children import python_command


def command_folder(functions: Mapping[str, str]) -> str:
    """Returns a folder with an executable of each name, which calls a function (``module:name``), until this process
    ends."""
    folder = tempfile.mkdtemp(prefix="pto-dialect-")
    atexit.register(_remove, folder, os.getpid())
    for name, function in functions.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shlex.join(python_command(function))} "$@"\n')
        os.chmod(path, stat.S_IRWXU)
    return folder


def _remove(folder: str, process: int) -> None:
    # Forked processes leave the folder to the one that made it.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
