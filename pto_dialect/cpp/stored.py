"""Programs of C++ kernels that were translated before, and what decides whether they are still right."""

from __future__ import annotations

import os

from pto_dialect.versions import process_identity

from .compilers import find_compiler
from .includes import INCLUDE, IncludedFiles, included_files
from .ir_cache import IrCache
from .options import CppOptions

VARIABLES = ("PATH", "PTO_CXX", "CXX")
"""Variables that decide which compiler is found."""


def stored_program(text: str, name: str, options: CppOptions, every: bool) -> IrCache | None:
    """Returns the entry of the program of a kernel, or of all kernels of the file where ``every`` is set and the
    options name none; ``None`` where nobody knows which files the text includes. Raises ``CompilerMissing``."""
    return _entry(included_files(text, name, options.includes), name, options, every)


def _entry(included: IncludedFiles, name: str, options: CppOptions, every: bool) -> IrCache | None:
    found = included.lookups(_given(options))
    if found is None:
        return None
    there = filter(os.path.exists, found)
    read = (part for file in included.files.items() for part in file)
    how = (find_compiler(options.cxx).identity, included.folder, repr(options), str(every and options.entry is None))
    return IrCache(("program", process_identity(), *how, name, included.text, *read, *there))


def looked_at(text: str, name: str, options: CppOptions, every: bool) -> list[str] | None:
    """Returns the files and folders, there or not, that decide which program a kernel has, but for the sources of this
    package; ``None`` where that is not known, or the program is not kept."""
    included = included_files(text, name, options.includes)
    entry = _entry(included, name, options, every)
    made = None if entry is None else entry.read()
    if made is None:
        return None
    searched = filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))
    headers = (os.path.join(folder, file) for folder, _, files in os.walk(INCLUDE) for file in files)
    compiler = find_compiler(options.cxx).command[0]
    return [*headers, *searched, compiler, *included.files, *made.files, *(included.lookups(_given(options)) or ())]


def _given(options: CppOptions) -> tuple[str, ...]:
    return (*options.defines, options.entry or "")
