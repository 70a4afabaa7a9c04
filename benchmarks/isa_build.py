"""The host programs of the ISA's tests, compiled and linked with the launch functions of their kernels.

A test folder has a generator (``gen_data.py``), a host program (``main.cpp``) and kernels. The headers of ``isa_host``
stand in for the runtime and the test framework; enumerations and types are those of the tree's own headers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import isa_kernels
from isa_kernels import Kernels, NoProgram

HOST = Path(__file__).parent / "isa_host"
ARCHITECTURES = {"a2a3": ("2201", "MEMORY_BASE"), "a5": ("3510", "REGISTER_BASE")}
"""What the compiler defines for a target."""

COMPILER = ("g++", "-std=gnu++20", "-O0", "-w", "-fpermissive", "-Winvalid-pch")
COMPILE_SECONDS = 1800
GENERATE_SECONDS = 600

_HALF = re.compile(r"unsigned short|_Float16|half\b")
_BFLOAT = re.compile(r"std::bfloat16_t|__bf16|bfloat16_t")
_LAUNCH = re.compile(r"(?:void )?[\w:]*(?:[Ll]aunch|Call|call_)\w*[<(]")
INCLUDED = re.compile(r'#include\s*[<"](pto/(?!common/)[^">]*)[">]')


@dataclass(frozen=True)
class Tools:
    """Headers prepared for one target."""

    tree: Path
    target: str
    folder: Path

    @property
    def command(self) -> list[str]:
        """The compiler with its definitions and include folders."""
        arch, base = ARCHITECTURES[self.target]
        folders = (".", self.folder, HOST, self.tree / "include")
        return [
            *COMPILER,
            *(f"-D{name}" for name in (f"__NPU_ARCH__={arch}", base, "__DAV_CUBE__", "__DAV_VEC__")),
            *(f"-I{folder}" for folder in folders),
        ]


def prepare(tree: Path, target: str, work: Path) -> Tools:
    """Compiles the headers once, in ``work``."""
    folder = work / "headers"
    tools = Tools(tree, target, folder)
    header = folder / "all.hpp.gch"
    if header.exists() and header.stat().st_mtime > max(file.stat().st_mtime for file in HOST.rglob("*")):
        return tools
    common = tree / "include/pto/common"
    (folder / "pto/common").mkdir(parents=True, exist_ok=True)
    # An attribute that only the device compiler reads.
    text = (common / "type.hpp").read_text().replace("#define AICORE [aicore]", "#define AICORE")
    (folder / "pto/common/type.hpp").write_text(text)
    includes = ("device.hpp", "pto/common/constants.hpp", "host.hpp", "gtest/gtest.h", "test_common.h")
    (folder / "all.hpp").write_text("".join(f'#include "{name}"\n' for name in includes))
    (folder / "pto/pto-inst.hpp").write_text("#pragma once\n")
    run_compiler(tools, folder, "-x", "c++-header", "all.hpp", "-o", "all.hpp.gch")
    return tools


def built(tools: Tools, source: Path, work: Path) -> tuple[Path, dict[str, Kernels]]:
    """The program of a test folder beside its generated files, and its kernels."""
    kernels = isa_kernels.compile_kernels(source, tools.target)
    if not (work / "generated").exists():
        shutil.rmtree(work, ignore_errors=True)
        generate(source, work)
        (work / "generated").touch()
    folder = work / "build"
    folder.mkdir(exist_ok=True)
    for file in sorted(source.iterdir()):
        if file.suffix in (".h", ".hpp") or file.name == "main.cpp":
            text = file.read_text(errors="replace")
            for name in INCLUDED.findall(text):
                write_empty(folder / name)
            (folder / file.name).write_text(text)
    objects = list(isa_kernels.compile_launchers(kernels, folder))
    (folder / "stubs.cpp").write_text("".join(one.stubs for one in kernels.values()))
    if not _link(tools, folder, objects):
        _link(tools, folder, objects, "-DISA_HALF_IS_BITS")
    return folder / "tests", kernels


def generate(source: Path, work: Path) -> None:
    """Copies a test folder to ``work`` and runs its generator there."""
    shutil.copytree(source, work)
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "gen_data.py"]
    try:
        done = subprocess.run(
            command, cwd=work, env=env, capture_output=True, text=True, timeout=GENERATE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoProgram("the generator takes too long") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise NoProgram(f"the generator fails: {said[-1] if said else done.returncode}")


def _link(tools: Tools, folder: Path, objects: list[str], *definitions: str) -> bool:
    """Links the host program; returns whether each launch function that it calls is there."""
    for name in ("main", "stubs"):
        main = ("-DISA_MAIN",) if name == "main" else ()
        run_compiler(tools, folder, *definitions, "-include", "all.hpp", *main, "-c", f"{name}.cpp", "-o", f"{name}.o")
    wanted, offered = _symbols(folder, "main.o", "U"), [_symbols(folder, one, "TW") for one in objects]
    known = {symbol: name for found in offered for symbol, name in found.items()}
    by_name = {_simplified(name): symbol for symbol, name in known.items()}
    aliases: list[str] = []
    is_complete = True
    for symbol, name in wanted.items():
        if symbol in known or not _LAUNCH.match(name):
            continue
        other = by_name.get(_simplified(name))
        # A half is passed in another register than its bits.
        is_complete &= other is not None and not re.search(r"_Float16[,)]", name[name.rindex("(") :])
        aliases.append(f"-Wl,--defsym={symbol}={other or 'isa_missing'}")
    # Launch functions reach no function of the device; the others of their files are never called.
    unresolved = "-Wl,--unresolved-symbols=ignore-all"
    run_compiler(tools, folder, "-no-pie", unresolved, *aliases, "main.o", "stubs.o", *objects, "-o", "tests")
    return is_complete


def _symbols(folder: Path, file: str, kinds: str) -> dict[str, str]:
    """Symbols of an object file of some kinds, with their names in C++."""
    listed = [
        subprocess.run(["nm", "-p", *options, file], cwd=folder, capture_output=True, text=True, check=True).stdout
        for options in ((), ("-C",))
    ]
    found = {}
    for plain, readable in zip(*(text.splitlines() for text in listed), strict=True):
        kind, symbol = plain[17], plain[19:]
        if kind in kinds:
            found[symbol] = readable[19:]
    return found


def _simplified(name: str) -> str:
    """The name of a function, in which a half is the same as its bits; that of a template without its parameters,
    which compilers spell in several ways."""
    name = _BFLOAT.sub("bfloat", _HALF.sub("word", name))
    depth = 0
    for index, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and not depth and ">" in name[:index]:
            return name[:index]
    return name


def write_empty(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#pragma once\n")


def run_compiler(tools: Tools, folder: Path, *arguments: str) -> None:
    try:
        done = subprocess.run(
            [*tools.command, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=COMPILE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoProgram("the program takes too long to compile") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line or "undefined reference" in line]
        raise NoProgram(f"the program does not compile: {errors[0] if errors else done.stderr[-300:]}")
