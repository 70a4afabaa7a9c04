"""Puts `ptoas` and `bisheng` of this package on the path of programs."""

from __future__ import annotations

import os
import shutil
from types import ModuleType

COMMANDS = {"ptoas": "assemble", "bisheng": "link"}
"""Commands, and the modules of this package that carry them out."""


def change(_: ModuleType) -> None:
    """Adds the commands that are not installed to the path of programs that this process starts, until it ends.

    Called when `subprocess` is imported: most programs start none.
    """
    from pto_dialect.integrations.commands import command_folder  # deferred: start-up

    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if not missing or os.name == "nt":
        return
    folder = command_folder({name: f"{__package__}.{COMMANDS[name]}:main" for name in missing})
    os.environ["PATH"] = os.pathsep.join((folder, os.environ.get("PATH", os.defpath)))
