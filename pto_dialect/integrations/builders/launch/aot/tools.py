"""Puts `ptoas` and `bisheng` of this package on the path of programs."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import stat
import tempfile
from types import ModuleType

COMMANDS = {"ptoas": "assemble", "bisheng": "link"}
"""Commands, and the modules of this package that carry them out."""


def change(_: ModuleType) -> None:
    """Adds the commands that are not installed to the path of programs that this process starts, until it ends.

    Called when `subprocess` is imported: most programs start none.
    """
    from pto_dialect.children import python_command  # deferred: start-up

    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if not missing or os.name == "nt":
        return
    folder = tempfile.mkdtemp(prefix="pto-dialect-")
    atexit.register(_remove, folder, os.getpid())
    for name in missing:
        path = os.path.join(folder, name)
        command = shlex.join(python_command(f"{__package__}.{COMMANDS[name]}:main"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {command} "$@"\n')
        os.chmod(path, stat.S_IRWXU)
    os.environ["PATH"] = os.pathsep.join((folder, os.environ.get("PATH", os.defpath)))


def _remove(folder: str, process: int) -> None:
    # Forked processes leave the folder to the one that made it.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
