"""A cache for the code of modules.

A command imports some three hundred modules, and Python looks for the byte code of each in a file of its own. Most of
them come in a few large groups: a module that a command needs, with all that its import brings. :data:`ROOTS` names
these modules. :func:`cached_module_code` reads the code of a group from one file in the user's cache folder.

What was loaded before a root is in none of its modules, and differs from run to run: a module that a group lacks is
added to it by the first run that has to look for its file.

A group is used only while all its sources are what they were. As for byte code, time and size of each file are
compared; also the time of its folder, in which another module of the same name may have come. Modules that are in no
package are left to Python, because another folder of ``sys.path`` may have one of the same name.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, read_private, write_private
from pto_dialect.accel.cache_table import table_file

ROOTS = (
    "pto_dialect.tools.pto_opt",
    "pto_dialect.tools.pto_run",
    "pto_dialect.cpp.kernel",
    "pto_dialect.driver.command",
    "pto_dialect.driver.explore.automatic",
    "pto_dialect.driver.launch.suite",
    "pto_dialect.driver.run.command",
    "pto_dialect.driver.run.memory_budget",
    "pto_dialect.sanitize.launch",
    "pto_dialect.syntax.read.parser",
    "pto_dialect.syntax.print.printer",
    "pto_dialect.verify.verifier",
    "xdsl.dialects.arith",
)
"""Modules whose import brings many others, each imported by a function."""

MOST_FILES = 100
"""Groups in the cache folder. A command has eight at most, in each environment; the oldest ones go."""

_PREFIX = "modules-"

Module = tuple[str, bool, CodeType]
"""Path of the source, whether it is a package, code."""

Stamps = dict[str, tuple[int, int] | None]
"""Time and size of files and folders."""

Group = tuple[Stamps, dict[str, Module]]
"""What is compared before a group is used, and its modules by name."""


class CachedLoader(SourceFileLoader):
    """Loads a module whose code is known."""

    def __init__(self, name: str, path: str, code: CodeType | None) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        """Returns the code, kept until the module is executed."""
        code, self._code = self._code, None
        return super().get_code(fullname) if code is None else code


class RecordingLoader(CachedLoader):
    """Loads one of :data:`ROOTS`, with its code where that is known, and adds to ``loaded`` which modules its import
    has brought."""

    def __init__(self, name: str, path: str, code: CodeType | None, loaded: dict[str, list[str]]) -> None:
        super().__init__(name, path, code)
        self._loaded = loaded

    def exec_module(self, module: ModuleType) -> None:
        """Executes the module."""
        before = set(sys.modules)
        super().exec_module(module)
        name = module.__name__
        self._loaded[name] = [name, *(other for other in list(sys.modules) if other not in before)]


class GroupFinder:
    """A finder in ``sys.meta_path`` for the modules in the groups of a command."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._modules: dict[str, Module] = {}
        self._served: set[str] = set()
        self._loaded: dict[str, list[str]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns how to load a module; ``None`` leaves it to the next finder."""
        if name in ROOTS:
            _, modules = _stored_group(_group_file(self.command, name))
            self._modules.update(modules)
            if name not in modules:
                return self._recorded(name, path)
        found = self._modules.pop(name, None)
        if found is None or path is None:
            return None
        source, is_package, code = found
        own, *_ = folders = _folders(source, is_package)
        if list(path) != folders[-1:]:
            return None
        loader = (
            RecordingLoader(name, source, code, self._loaded) if name in ROOTS else CachedLoader(name, source, code)
        )
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        spec.has_location = True
        self._served.add(name)
        if is_package:
            spec.submodule_search_locations = [own]
        return spec

    def save(self) -> None:
        """Writes the groups that were missing, out of date or not complete."""
        written = False
        # A root whose import is part of another one's has ended first.
        for root, names in self._loaded.items():
            stamps, modules = _group([name for name in names if name not in self._served])
            self._served.update(modules)
            file = _group_file(self.command, root)
            if modules and file is not None:
                stored_stamps, stored = _stored_group(file)
                written |= write_private(file, marshal.dumps((stored_stamps | stamps, stored | modules)))
        if written:
            _remove_oldest()

    def _recorded(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path)
        if spec is not None and type(spec.loader) is SourceFileLoader and spec.origin is not None:
            spec.loader = RecordingLoader(name, spec.origin, None, self._loaded)
        return spec


def _folders(path: str, is_package: bool) -> list[str]:
    """Returns the folder of a source and, if it is a package's, the folder that has the package; the last one is where
    Python has looked for the module."""
    own = os.path.dirname(path)
    return [own, os.path.dirname(own)] if is_package else [own]


def _group_file(command: str, root: str) -> str | None:
    """Returns where the group of a root is. Which modules it brings depends on the command, and on the environment."""
    environment = zlib.crc32(f"{sys.prefix}\0{__file__}".encode(errors="surrogateescape"))
    return table_file(f"{_PREFIX}{environment:08x}-{command}-{root}")


def _stored_group(file: str | None) -> Group:
    """Returns the modules of a group by name; none if a source differs from what it was, or the file is something
    else."""
    data = None if file is None else read_private(file)
    if data is None:
        return {}, {}
    try:
        stamps, modules = marshal.loads(data)
        return (stamps, modules) if all(_stamp(path) == stamp for path, stamp in stamps.items()) else ({}, {})
    except (EOFError, TypeError, ValueError, AttributeError):
        return {}, {}


def _stamp(path: str) -> tuple[int, int] | None:
    """Time in nanoseconds and size in bytes; ``None`` where nothing is."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _group(names: list[str]) -> Group:
    """Stamps of sources and folders, and the modules that have a file of their own in the folder of their package."""
    stamps: Stamps = {}
    modules: dict[str, Module] = {}
    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec is None or spec.name != name or not _is_in_package(spec):
            continue
        stamps[spec.origin] = _stamp(spec.origin)
        is_package = spec.submodule_search_locations is not None
        folder = _folders(spec.origin, is_package)[-1]
        stamps[folder] = _stamp(folder)
        with suppress(ImportError, OSError, SyntaxError, ValueError):
            modules[name] = (spec.origin, is_package, spec.loader.get_code(name))
    return stamps, modules


def _is_in_package(spec: ModuleSpec) -> bool:
    """Returns whether Python finds a module in one folder only, that of its package."""
    if not isinstance(spec.loader, SourceFileLoader) or spec.origin is None or not spec.parent:
        return False
    package = sys.modules.get(spec.name.rpartition(".")[0])
    is_package = spec.submodule_search_locations is not None
    return list(getattr(package, "__path__", ())) == _folders(spec.origin, is_package)[-1:]


def _remove_oldest() -> None:
    """Removes groups beyond :data:`MOST_FILES`."""
    folder = cache_folder()
    if folder is None:
        return
    with suppress(OSError):
        files = [entry for entry in os.scandir(folder) if entry.name.startswith(_PREFIX)]
        files.sort(key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        for entry in files[MOST_FILES:]:
            os.unlink(entry.path)


@contextmanager
def cached_module_code(command: str) -> Iterator[None]:
    """Modules that are imported in this block take their code from the groups of ``command``."""
    if not enabled("module-code") or cache_folder() is None:
        yield
        return
    finder = GroupFinder(command)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.meta_path.remove(finder)
        finder.save()
