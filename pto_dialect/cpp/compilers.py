"""Finds a C++ compiler: ``clang++`` of version 15 or newer, or the one of the extra ``[cpp]``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from tempfile import TemporaryDirectory

from pto_dialect.children import child_environment, run_limited

OLDEST = 15
_NEWEST_LISTED = 24
_WITHOUT_CONFIG = 16
"""The version from which on clang can leave its configuration files out."""
_SYSTEM = ("/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include")
_VERSION = re.compile(r"clang version (\d+)")

INSTALL = "install one with `pip install 'pto-dialect[cpp]'`, or name a clang++ with --cxx or $PTO_CXX"


class CompilerMissing(Exception):
    """No compiler that can be used; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a compiler is called: ``command``, then ``options`` that only this kind of compiler has."""

    command: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def identity(self) -> str:
        """A text that changes when the compiler does."""
        try:
            status = os.stat(self.command[0])
        except OSError:
            return repr(self.command)
        return f"{self.command}{status.st_size} {status.st_mtime_ns}"


def find_compiler(named: str | None = None) -> Compiler:
    """Returns the compiler of ``--cxx``, else ``$PTO_CXX``, ``$CXX`` if it is clang, clang++ on the ``PATH``, or
    ziglang."""
    for source, text in (("--cxx", named), ("$PTO_CXX", os.environ.get("PTO_CXX"))):
        if text:
            return _named_compiler(source, text)
    for text in (os.environ.get("CXX"), "clang++", *(f"clang++-{version}" for version in _versions())):
        command = _resolve(text) if text else None
        if command is not None and is_usable(command):
            return Compiler(command, _options(command))
    zig = _installed_zig()
    if zig is not None:
        return Compiler(zig, _options(zig))
    raise CompilerMissing(f"no C++ compiler was found (clang++ {OLDEST} or newer); {INSTALL}")


def _versions() -> range:
    return range(_NEWEST_LISTED, OLDEST - 1, -1)


def _named_compiler(source: str, text: str) -> Compiler:
    command = _installed_zig() if text == "ziglang" else _resolve(text)
    if command is None:
        raise CompilerMissing(f"the compiler '{text}' of {source} was not found; {INSTALL}")
    if not is_usable(command):
        raise CompilerMissing(f"the compiler '{text}' of {source} is not clang++ {OLDEST} or newer; {INSTALL}")
    return Compiler(command, _options(command))


def _resolve(text: str) -> tuple[str, ...] | None:
    """Returns the arguments of a command, the first as an absolute path; relative folders of the ``PATH`` do not
    count."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if not words:
        return None
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    path = shutil.which(words[0], path=os.pathsep.join(folders))
    return None if path is None else (os.path.abspath(path), *words[1:])


def _installed_zig() -> tuple[str, ...] | None:
    spec = find_spec("ziglang")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = os.path.join(folder, "zig.exe" if os.name == "nt" else "zig")
        if os.path.isabs(path) and os.path.isfile(path):
            return path, "c++"
    return None


def is_usable(command: tuple[str, ...]) -> bool:
    """Returns whether a command is clang of a version that knows what the headers need."""
    return clang_version(command) >= OLDEST


@lru_cache(maxsize=64)
def clang_version(command: tuple[str, ...]) -> int:
    """Returns the version of clang that a command is; 0 for other programs."""
    code, output = ask(command, "--version")
    version = _VERSION.search(output)
    return int(version[1]) if code == 0 and version is not None else 0


def ask(command: Sequence[str], *options: str) -> tuple[int, str]:
    """Returns the exit code and what a compiler says about itself; its own caches are left alone."""
    with TemporaryDirectory(prefix="pto-cpp-") as folder:
        caches = {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        return run_limited([*command, *options], None, seconds=30, variables=child_environment() | caches)


def is_zig(command: Sequence[str]) -> bool:
    """Returns whether a command is that of ziglang."""
    return command[-1] == "c++" and "zig" in os.path.basename(command[0])


def system_folders() -> tuple[str, ...]:
    """Returns the options for headers of this machine that the compiler of ziglang does not have itself."""
    return tuple(word for folder in _SYSTEM if os.path.isdir(folder) for word in ("-idirafter", folder))


def _options(command: tuple[str, ...]) -> tuple[str, ...]:
    """Returns what a kind of compiler needs to make the same text on every machine."""
    if is_zig(command):
        return ("-O1", "-target", "x86_64-linux-gnu", "-mcpu=baseline", *system_folders())
    return ("-O1", "--no-default-config") if clang_version(command) >= _WITHOUT_CONFIG else ("-O1",)
