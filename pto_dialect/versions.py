"""Which versions of other packages are installed, told without loading anything.

``importlib.metadata`` answers the same question in 20 ms: it imports the modules that parse e-mails.
"""

from __future__ import annotations

import os
import sys

_METADATA = ".dist-info"


def installed_version(name: str) -> str:
    """The version of the installed distribution ``name`` (lower case, without hyphens).

    It stands in the name of the folder with the metadata, which lies beside the package. Raises
    ``importlib.metadata.PackageNotFoundError`` where nothing is installed under this name.
    """
    prefix = f"{name}-"
    for folder in sys.path:
        try:
            entries = os.listdir(folder or os.curdir)
        except OSError:
            # An archive, or a folder that is not there.
            continue
        for entry in entries:
            if entry.startswith(prefix) and entry.endswith(_METADATA):
                return entry[len(prefix) : -len(_METADATA)]
    from importlib.metadata import version

    return version(name)


def python_version() -> str:
    """The version of the running Python, as in ``3.11.7``."""
    return sys.version.split()[0]
