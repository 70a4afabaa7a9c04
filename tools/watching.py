"""``--watch``: a command again and again, whenever files change."""

from __future__ import annotations

import os
import sys

from .command_line import write_stderr

MISSING = 2
"""Exit code: what watches files is not installed."""

SUFFIXES = (".pto", ".toml", ".cpp", ".cc", ".cxx", ".cce", ".h", ".hpp")
"""Files that matter: programs, launch files and settings, C++ kernels and what they include."""


def watch(paths: tuple[str, ...], command: str = "opt") -> None:
    """Runs this command line of ``pto COMMAND`` without ``--watch`` now and after every change below ``paths``, until
    Ctrl-C."""
    from pto_dialect.children import python_command, run_child  # deferred: start-up

    try:
        from watchfiles import watch as changes  # deferred: optional
    except ModuleNotFoundError:
        write_stderr("error: --watch needs watchfiles, which is not installed: pip install 'pto-dialect[watch]'\n")
        sys.exit(MISSING)
    missing = [path for path in paths if not os.path.exists(path)]
    if missing or not paths:
        what = f"no such file or folder: '{missing[0]}'" if missing else "name the files or folders to watch"
        write_stderr(f"error: {what}\n")
        sys.exit(MISSING)
    arguments = [argument for argument in sys.argv[1:] if argument != "--watch"]
    # A process of its own each time: what it keeps in memory is never out of date.
    call = python_command("pto_dialect.tools.start:pto", command, *arguments)
    run_child(call, shown=True)
    # Editors replace files, so their folders are observed.
    folders = {path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path)) for path in paths}
    for found in changes(*folders, watch_filter=lambda _, path: path.endswith(SUFFIXES), step=20, debounce=200):
        names = ", ".join(sorted({os.path.relpath(path) for _, path in found}))
        write_stderr(f"-- {names} changed\n")
        run_child(call, shown=True)
