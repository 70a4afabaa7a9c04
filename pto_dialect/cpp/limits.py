"""How a compiler runs: with limits of time and memory, in a temporary folder, without variables that change it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pto_dialect.children import run_limited

SECONDS = 30
MEGABYTES = 6000

_VARIABLES = ("PATH", "HOME", "USERPROFILE", "LOCALAPPDATA", "SYSTEMROOT", "SDKROOT", "DEVELOPER_DIR")


def run_compiler(command: Sequence[str], folder: str) -> tuple[int, str]:
    """Returns the exit code of a compiler that runs in the temporary folder ``folder``, and what it prints."""
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    variables |= {"TMPDIR": folder, "TMP": folder, "TEMP": folder, "LC_ALL": "C"}
    variables |= {"ZIG_LOCAL_CACHE_DIR": folder, "ZIG_GLOBAL_CACHE_DIR": folder}
    return run_limited(command, folder, variables=variables, seconds=SECONDS, megabytes=MEGABYTES)


def is_over(code: int) -> bool:
    """Returns whether a compiler ended by a limit or a crash, not by itself."""
    return code < 0 or code >= 126
