"""The first file that a child process runs, by its path: ``child_start.py FOLDERS MODULE:FUNCTION ARGUMENT...``.

Calls the function of the package that this file belongs to; see :mod:`pto_dialect.children`.
"""

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

_BESIDE = ("tools", "grammar")
"""Parts of the package that lie beside it in a checkout."""


def load_package(name: str, folder: str) -> None:
    """Imports the package in ``folder`` as ``name``, whatever else has that name."""
    spec = spec_from_file_location(name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def add_folders(folders: list[str]) -> None:
    """Lets folders of dependencies come before those of the installation, after the standard library."""
    ends = ("site-packages", "dist-packages")
    first = next((number for number, one in enumerate(sys.path) if one.endswith(ends)), len(sys.path))
    sys.path[first:first] = [folder for folder in folders if folder and folder not in sys.path]


def main() -> None:
    """Calls the function and ends with what it returns."""
    _, folders, function, *arguments = sys.argv
    add_folders(folders.split(os.pathsep))
    own = os.path.dirname(os.path.abspath(__file__))
    load_package("pto_dialect", own)
    for part in _BESIDE:
        beside = os.path.join(os.path.dirname(own), part)
        if not os.path.isdir(os.path.join(own, part)) and os.path.isfile(os.path.join(beside, "__init__.py")):
            load_package(f"pto_dialect.{part}", beside)
    module, _, name = function.partition(":")
    sys.argv = [module, *arguments]
    sys.exit(getattr(import_module(module), name)())


if __name__ == "__main__":
    main()
