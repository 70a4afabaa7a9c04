"""Orchestrations and wrappers of kernels as code of the host: a shared library, made by the system's C++ compiler.

PyPTO generates both from the Python program of its user, and runs whatever that says; so does this module. The headers
beside it declare what generated code uses. Libraries are kept in the cache folder of the package, by their content.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pto_dialect.accel import enabled
from pto_dialect.accel.cache import cache_folder, is_private, private_folder
from pto_dialect.children import run_child

from .assembler import MARK

HEADERS = Path(__file__).parent / "include"
FLAGS = ("-std=c++17", "-O0", "-fPIC", "-shared", "-w", "-D__CPU_SIM")
COMPILERS = ("g++", "clang++", "c++")
_INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.MULTILINE)
_UNUSED = re.compile(r'^\s*#\s*include\s*(?:".*"|<iostream>)\s*$', re.MULTILINE)
"""Headers of an orchestration that ours stand for, and one that takes longer to read than all else."""

_DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)


QUALIFIERS = ("__gm__", "__aicore__")
"""Words that wrappers define unless the headers have done so."""


class HostCodeError(RuntimeError):
    """Generated code that cannot be compiled for the host."""


def source_of(orchestration: str, kernels: Mapping[int, str]) -> str:
    """Returns one C++ text of an orchestration and the wrappers of its kernels, each in a namespace of its own.

    Raises ``HostCodeError`` for a kernel that is no PTO program.
    """
    parts = ["#include <stdio.h>", '#include "pto_orchestration_api.h"', "#include <pto/pto-inst.hpp>"]
    if any("std::" in text for text in (orchestration, *kernels.values())):
        # Generated code has the functions of this header without asking for it.
        parts.insert(0, "#include <algorithm>")
    for number, text in kernels.items():
        if not text.count(MARK):
            raise HostCodeError(f"kernel {number} of the orchestration is C++ of its own, with no PTO program to run")
        defined = dict.fromkeys(name for name in _DEFINE.findall(text) if name not in QUALIFIERS)
        parts += [
            f"namespace kernel_{number} {{",
            f"#define kernel_entry pto_kernel_{number}",
            _INCLUDE.sub("", text),
            *(f"#undef {name}" for name in ["kernel_entry", *defined]),
            "}",
        ]
    cases = "".join(f"    case {number}: return kernel_{number}::pto_kernel_{number};\n" for number in kernels)
    parts += [
        orchestration if "std::cout" in orchestration else _UNUSED.sub("", orchestration),
        f"PtoKernel pto_kernel(int32_t id) {{\n    switch (id) {{\n{cases}    }}\n    return nullptr;\n}}",
    ]
    return "\n".join([*parts, '#include "pto_run.h"', ""])


def library(orchestration: str, kernels: Mapping[int, str]) -> ctypes.CDLL:
    """Returns the shared library of an orchestration and its kernels. Raises ``HostCodeError``."""
    return _loaded(source_of(orchestration, kernels))


@lru_cache(256)
def _loaded(source: str) -> ctypes.CDLL:
    name = sha256("\0".join([*FLAGS, _headers_text(), source]).encode()).hexdigest()[:32]
    folder = cache_folder() if enabled("host-code") else None
    place = private_folder(os.path.join(folder, "host")) if folder else None
    kept = Path(place) / f"{name}.so" if place else None
    if kept is not None and is_private(str(kept)):
        return ctypes.CDLL(str(kept))
    with tempfile.TemporaryDirectory(prefix="pto-host-") as scratch:
        made = _compiled(source, Path(scratch))
        if kept is None:
            return ctypes.CDLL(str(made))
        finished = kept.with_suffix(f".{os.getpid()}")
        shutil.copyfile(made, finished)
        finished.chmod(0o700)
        os.replace(finished, kept)
        return ctypes.CDLL(str(kept))


@lru_cache(1)
def _headers_text() -> str:
    return "\0".join(path.read_text() for path in sorted(HEADERS.rglob("*")) if path.is_file())


def find_host_compiler() -> str | None:
    """Returns the path of the compiler: a relative folder of ``PATH`` is none of the system's."""
    names = [os.environ["CXX"]] if os.environ.get("CXX") else COMPILERS
    folders = os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep)))
    found = next(filter(None, (shutil.which(name, path=folders) for name in names)), None)
    return found and os.path.abspath(found)


def _compiled(source: str, folder: Path) -> Path:
    compiler = find_host_compiler()
    if compiler is None:
        raise HostCodeError(f"no C++ compiler ({', '.join(COMPILERS)}) runs PyPTO's orchestrations; CXX may name one")
    (folder / "host.cpp").write_text(source)
    made = folder / "host.so"
    command = [compiler, *FLAGS, f"-I{HEADERS}", str(folder / "host.cpp"), "-o", str(made)]
    done = run_child(command, str(folder))
    if done.returncode:
        raise HostCodeError(f"an orchestration cannot be compiled for the host:\n{done.stdout.strip()}")
    return made
