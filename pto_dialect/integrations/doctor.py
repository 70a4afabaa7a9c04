"""What is installed of everything that this package works with, which versions, and what brings the rest.

Nothing is imported or started, except compilers for their version: packages are recognized by their files. See
docs/pto.md, "What is installed".
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal, NamedTuple

from pto_dialect.cpp.compilers import CompilerMissing, ask, find_compiler
from pto_dialect.version import __version__
from pto_dialect.versions import python_version

from .pypto.host_code import find_host_compiler

State = Literal["ok", "missing", "wrong"]


class Part(NamedTuple):
    """One thing that may be installed: ``name``, its ``version`` and ``place``, what it is ``use``d for, what is
    ``wrong`` with it, and the ``command`` that brings it."""

    name: str
    use: str
    state: State
    version: str = ""
    place: str = ""
    wrong: str = ""
    command: str = ""


EXTRAS = {
    "lsp": ("pygls", "the language server, pto lsp"),
    "mcp": ("mcp", "the server for coding agents, pto mcp"),
    "watch": ("watchfiles", "--watch"),
    "cluster": ("distributed", "sweeps on several machines"),
    "plot": ("matplotlib", "plots of sweeps"),
    "prove": ("islpy", "proofs of the order of pipes, pto prove"),
    "notebook": ("ipykernel", "%%pto in notebooks"),
    "man": ("click-man", "man pages"),
}
"""Extras of this package: the distribution that each brings, and what it is for."""

TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
PTODSL = "git clone https://github.com/hw-native-sys/PTOAS && export PYTHONPATH=$PWD/PTOAS/ptodsl"
CSL = "git clone https://github.com/huawei-csl/pto-dsl && pip install ./pto-dsl"
PYPTO = "docs/pypto.md has the commands that build it"


def parts() -> dict[str, list[Part]]:
    """Returns all parts, by the title of their section."""
    sections: dict[str, Callable[[], Iterator[Part]]] = {
        "This package": _own,
        "Python programs that build kernels": _builders,
        "PyTorch": _torch,
        "PyPTO": _pypto,
        "C++ kernels": _cpp,
        "Extras": _extras,
    }
    return {title: list(find()) for title, find in sections.items()}


def is_complete(found: dict[str, list[Part]]) -> bool:
    """Returns whether everything is there that this package cannot do without, and nothing is wrong."""
    own = all(part.state == "ok" for part in found["This package"])
    return own and not any(part.state == "wrong" for section in found.values() for part in section)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _place(module: str, path: list[str] | None = None) -> str:
    """Returns the folder or file of a module; empty where there is none. The module is not imported."""
    spec = PathFinder.find_spec(module, path)
    if spec is None:
        return ""
    if spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations))
    return spec.origin or ""


def _package(name: str, use: str, command: str, *, module: str = "", distribution: str = "") -> Part:
    """Returns a package that is used as it is."""
    place = _place(module or name)
    if not place:
        return Part(name, use, "missing", command=command)
    return Part(name, use, "ok", _version(distribution or name), place)


def _own() -> Iterator[Part]:
    yield Part("pto-dialect", "everything", "ok", __version__, str(Path(__file__).parents[1]))
    yield Part("Python", "3.11 or newer", "ok", python_version(), sys.executable)
    for requirement in requires("pto-dialect") or ():
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        if ";" not in requirement:
            yield _dependency(name, requirement)


def _dependency(name: str, requirement: str) -> Part:
    command = f"pip install '{requirement}'"
    part = _package(name, requirement, command, module=name.replace("-", "_"))
    if part.state == "ok" and not satisfies(part.version, requirement.removeprefix(name)):
        return part._replace(state="wrong", wrong=f"needs {requirement}", command=command)
    return part


def satisfies(number: str, wanted: str) -> bool:
    """Returns whether a version is one of those that a requirement allows, as in ``<3,>=1.26`` or ``==1.3.*``."""
    have = _numbers(number)
    for bound in wanted.split(","):
        limit = _numbers(bound)
        if bound.startswith("==") and have[: len(limit)] != limit:
            return False
        if bound.startswith(">=") and have < limit:
            return False
        if bound.startswith("<") and have >= limit:
            return False
    return True


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


_KINDS = {"_runtime/launch.py": "PTODSL of PTOAS", "compiler/jit.py": "ptodsl of huawei-csl"}
"""The two packages `ptodsl`, by a file that only one of them has."""


def _builders() -> Iterator[Part]:
    yield _ptoas()
    places = [place for folder in dict.fromkeys(sys.path) if (place := _place("ptodsl", [folder or os.curdir]))]
    kinds = {place: kind for place in places for file, kind in _KINDS.items() if (Path(place) / file).is_file()}
    for kind, command in zip(_KINDS.values(), (PTODSL, CSL), strict=True):
        own = [place for place in places if kinds.get(place) == kind]
        use = "kernels decorated with jit"
        if not own:
            yield Part(kind, use, "missing", command=command)
        elif own[0] == places[0]:
            yield Part(kind, use, "ok", _version("pto-dsl" if "csl" in kind else "ptodsl"), own[0])
        else:
            before = f"{kinds.get(places[0], 'another package ptodsl')} comes before it: {places[0]}"
            yield Part(kind, use, "wrong", place=own[0], wrong=before, command="PYTHONPATH decides which is imported")
    if places and places[0] not in kinds:
        yield Part("ptodsl", "unknown", "wrong", place=places[0], wrong="neither of the known packages of that name")


def _ptoas() -> Part:
    use = "the compiled bindings; this package replaces them"
    place = _place("ptoas")
    if not place:
        return Part("ptoas", use, "missing", place=shutil.which("ptoas") or "", command="not needed")
    return Part("ptoas", use, "ok", _version("ptoas"), place)


def _torch() -> Iterator[Part]:
    yield _package("torch", "tensors as arguments", TORCH)
    place = _place("torch_npu")
    use = "the device npu; this package replaces it where it is missing"
    if place:
        yield Part("torch_npu", use, "ok", _version("torch-npu"), place)
    else:
        yield Part("torch_npu", use, "missing", command="not needed")
    yield _package("tilelang", "emits programs for PTODSL", "docs/tilelang.md has the branch that does")


def _pypto() -> Iterator[Part]:
    use = "programs of PyPTO"
    place = _place("pypto")
    if not place:
        yield Part("pypto", use, "missing", command=PYPTO)
    elif (Path(place) / "backend" / "pto_backend.py").is_file():
        yield Part("pypto", use, "ok", _version("pypto"), place)
    else:
        other = "another project of this name, which `pip install pypto` brings"
        yield Part("pypto", use, "wrong", _version("pypto"), place, other, f"pip uninstall pypto; {PYPTO}")
    use = "compiles the orchestrations of PyPTO"
    compiler = find_host_compiler()
    if compiler is None:
        yield Part("C++ compiler of the host", use, "missing", command="install g++ or clang++, or name one in CXX")
    else:
        yield Part("C++ compiler of the host", use, "ok", _compiler_version((compiler,)), compiler)


def _cpp() -> Iterator[Part]:
    use = "translates C++ kernels"
    try:
        found = find_compiler()
    except CompilerMissing:
        yield Part("clang++", use, "missing", command="pip install 'pto-dialect[cpp]', or name a clang++ in PTO_CXX")
    else:
        yield Part("clang++", use, "ok", _compiler_version(found.command), " ".join(found.command))


def _compiler_version(command: tuple[str, ...]) -> str:
    _, output = ask(command, "--version")
    number = re.search(r"\d+\.\d+(\.\d+)*", output)
    return number[0] if number else ""


def _extras() -> Iterator[Part]:
    for extra, (distribution, use) in EXTRAS.items():
        name = _version(distribution)
        command = f"pip install 'pto-dialect[{extra}]'"
        state: State = "ok" if name else "missing"
        yield Part(distribution, use, state, name, command="" if name else command)


def as_text(found: dict[str, list[Part]]) -> str:
    """Returns the parts as a table for each section."""
    width = max(len(part.name) for section in found.values() for part in section)
    lines: list[str] = []
    for title, section in found.items():
        lines += ["", f"{title}"]
        for part in section:
            facts = [part.version, part.place] if part.state != "missing" else [part.command]
            lines.append(f"  {part.state:<7}  {part.name:<{width}}  {'  '.join(filter(None, facts)) or part.use}")
            if part.state == "wrong":
                lines += [f"  {'':<7}  {'':<{width}}  {text}" for text in (part.wrong, part.command) if text]
    return "\n".join(lines[1:]) + "\n"
