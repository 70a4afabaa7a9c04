"""Test programs of the ISA compiled for a host: their instructions are recorded, their host parts are run as they are.

A test folder has a generator (``gen_data.py``), a host program (``main.cpp``) and kernels. The headers of ``isa_host``
stand in for the device compiler, its runtime and the test framework; tiles and views are those of the tree's own
headers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HOST = Path(__file__).parent / "isa_host"
ARCHITECTURES = {"a2a3": ("2201", "MEMORY_BASE"), "a5": ("3510", "REGISTER_BASE")}
"""What the compiler defines for a target."""

COMPILER = ("g++", "-std=gnu++20", "-O0", "-w", "-fpermissive", "-Winvalid-pch")
COMPILE_SECONDS = 1800
GENERATE_SECONDS = 600

_DECLARED = re.compile(r"\bPTO_INST\b[^;{}]*?\b([A-Z][A-Z0-9_]+)\s*\(")
_LAUNCH = re.compile(r"<<<(.*?)>>>(\s*)\(", re.S)
_ASSEMBLY = re.compile(r"\basm\s*(?:volatile\s*)?\([^;]*\);")
INCLUDED = re.compile(r'#include\s*[<"](pto/(?!common/)[^">]*|securec\.h)[">]')
_OWN = ("TASSIGN", "TGET_SCALE_ADDR", "TRESHAPE", "TSUBVIEW", "TSYNC")
"""Instructions that the headers define themselves."""


class NoProgram(Exception):
    """A test folder cannot be built; the text says why."""


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
    """Writes the list of instructions and compiles the headers once, in ``work``."""
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
    names = set(_DECLARED.findall((common / "pto_instr.hpp").read_text())) - {*_OWN}
    lines = [f"ISA_INSTRUCTION({name})\nISA_INSTRUCTION({name}_IMPL)\n" for name in sorted(names)]
    (folder / "instructions.hpp").write_text("".join(lines))
    includes = ("device.hpp", "pto/common/constants.hpp", "record.hpp", "gtest/gtest.h", "test_common.h")
    (folder / "all.hpp").write_text("".join(f'#include "{name}"\n' for name in includes))
    (folder / "pto/pto-inst.hpp").write_text("#pragma once\n")
    run_compiler(tools, folder, "-x", "c++-header", "all.hpp", "-o", "all.hpp.gch")
    return tools


def built(tools: Tools, source: Path, work: Path) -> Path:
    """The program of a test folder beside its generated files; one that was built before is used again."""
    program = work / "build" / "tests"
    if program.exists() and program.stat().st_mtime > (tools.folder / "all.hpp.gch").stat().st_mtime:
        return program
    if not (work / "generated").exists():
        shutil.rmtree(work, ignore_errors=True)
        generate(source, work)
        (work / "generated").touch()
    shutil.rmtree(work / "build", ignore_errors=True)
    _build(tools, source, work / "build")
    return program


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


def _build(tools: Tools, source: Path, folder: Path) -> None:
    """Compiles the sources of a test folder in ``folder``."""
    folder.mkdir()
    for file in sorted(source.iterdir()):
        if file.suffix in (".h", ".hpp", ".cpp"):
            text = file.read_text(errors="replace")
            for name in INCLUDED.findall(text):
                write_empty(folder / name)
            (folder / file.name).write_text(rewritten(text))
    try:
        _link(tools, folder)
    except NoProgram as error:
        if "undefined reference" not in str(error):
            raise
        _link(tools, folder, "-DISA_HALF_IS_BITS")


def _link(tools: Tools, folder: Path, *definitions: str) -> None:
    objects: list[str] = []
    for file in sorted(folder.glob("*.cpp")):
        objects.append(f"{file.stem}.o")
        main = ("-DISA_MAIN",) if file.name == "main.cpp" else ()
        run_compiler(tools, folder, *definitions, "-include", "all.hpp", *main, "-c", file.name, "-o", objects[-1])
    run_compiler(tools, folder, *objects, "-o", "tests")


def rewritten(text: str) -> str:
    """A source text whose launches are calls that a host compiler understands, without instructions of the device."""
    text = _ASSEMBLY.sub(";", text)
    return _LAUNCH.sub(r" ->* ::isa::Grid(\1)\2(", text)


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
