"""The kernels of a test folder: their LLVM IR for the front end, and their launch functions for the host.

A launch function is host code beside its kernel. It is compiled from the same IR, in which the kernels have no bodies;
stubs of the kernels report what each launch passes on. ``kernel<<<blocks, …>>>(…)`` becomes
``(isa_blocks(blocks), kernel)(…)``.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pto_dialect.cpp.compiler import CompileError, compile_to_ir, cores_of
from pto_dialect.cpp.compilers import find_compiler

SECONDS = 120
STANDINS = Path(__file__).parent / "isa_host" / "kernel"
"""Headers for the host parts of kernel files, of which nothing is printed."""

_FUNCTION = re.compile(r"^define [^\n]*?@(?P<name>[\w.$]+)\((?P<parameters>.*?)\)[^\n]*\{\n.*?^\}\n", re.M | re.S)
_ENTRY = re.compile(r"ptr @([\w.$]+), ptr @\.str")
_ANNOTATIONS = re.compile(r"^@llvm\.(?:global\.annotations|compiler\.used|used) = .*\n", re.M)
_NAME_BEFORE = re.compile(r"(?:template\s+)?[\w:.]+\s*\Z")
_TYPES = {
    "ptr": "void*",
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "float": "float",
    "double": "double",
    "half": "_Float16",
}


class NoProgram(Exception):
    """A test folder cannot be built; the text says why."""


class Kernels(NamedTuple):
    """A kernel file: its IR by core, what its launch functions need, as IR and as C++, and its text by its name."""

    texts: list[tuple[str, str]]
    launchers: str
    stubs: str
    sources: dict[str, str]


def compile_kernels(source: Path, target: str) -> dict[str, Kernels]:
    """Compiles the kernel files of a test folder, by their names."""
    found = {}
    for file in sorted(source.glob("*.cpp")):
        if file.name == "main.cpp":
            continue
        text = with_blocks(file.read_text(errors="replace"))
        includes = [str(source), str(STANDINS)]
        try:
            cores = cores_of(text, str(file), includes)
            irs = [compile_to_ir(text, str(file), core=core, target=target, includes=includes) for core in cores]
        except CompileError as error:
            said = [line for line in str(error).splitlines() if "error" in line]
            raise NoProgram(f"the kernel does not compile: {said[0] if said else error}"[:300]) from None
        launchers, stubs = split(irs[0].text, file.name)
        found[file.name] = Kernels([(one.core, one.text) for one in irs], launchers, stubs, {str(file): text})
    return found


def with_blocks(text: str) -> str:
    """A kernel file whose launches report their number of blocks, on the lines that they had."""
    parts: list[str] = []
    done = 0
    for match in re.finditer(r"<<<(.*?)>>>", text, re.S):
        start = _start_of_name(text, match.start())
        if start < done:
            continue
        kernel, blocks = text[start : match.start()], _first_argument(match[1])
        parts += [text[done:start], f"(isa_blocks({blocks}), {kernel})", "\n" * match[1].count("\n")]
        done = match.end()
    declared = 'extern "C" void isa_blocks(long); ' if parts else ""
    return declared + "".join([*parts, text[done:]])


def _start_of_name(text: str, end: int) -> int:
    """Where the name of a kernel begins that ends at ``end``, with its arguments of templates and macros."""
    end = len(text[:end].rstrip())
    depth = 0
    while end > 0 and (text[end - 1] in ">)" or depth):
        end -= 1
        depth += {">": 1, ")": 1, "<": -1, "(": -1}.get(text[end], 0)
    name = _NAME_BEFORE.search(text[:end])
    return name.start() if name else end


def _first_argument(text: str) -> str:
    depth = 0
    for index, letter in enumerate(text):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            return text[:index]
    return text


def split(ir: str, file: str) -> tuple[str, str]:
    """The IR of a kernel file without the bodies of its kernels, and the stubs of these in C++."""
    line = next((one for one in ir.splitlines() if one.startswith("@llvm.global.annotations")), "")
    entries = set(_ENTRY.findall(line))
    stubs: list[str] = []

    def declared(match: re.Match[str]) -> str:
        if match["name"] not in entries:
            return match[0]
        types = parameters(match["parameters"])
        stubs.append(_stub(match["name"], types, file))
        return f"declare void @{match['name']}({', '.join(types)})\n"

    return _FUNCTION.sub(declared, _ANNOTATIONS.sub("", ir)), "".join(stubs)


def parameters(text: str) -> list[str]:
    """Types of the parameters of a function."""
    return [one.split()[0] for one in re.split(r",\s*(?![^()]*\))", text) if one.strip()]


def _stub(name: str, types: list[str], file: str) -> str:
    arguments = ", ".join(f"{_TYPES.get(type_, 'short')} a{i}" for i, type_ in enumerate(types))
    told = "".join(f' << "|" << isa::told(a{i})' for i in range(len(types)))
    head = f'isa::lines << "launch|{file}|{name}|" << isa::blocks{told} << "\\n";'
    return f'extern "C" __attribute__((weak)) void {name}({arguments}) {{ {head} isa::run(); }}\n'


def compile_launchers(kernels: dict[str, Kernels], folder: Path) -> Iterator[str]:
    """Compiles the launch functions; returns the names of the object files."""
    for number, one in enumerate(kernels.values()):
        text, made = folder / f"launch{number}.ll", folder / f"launch{number}.o"
        text.write_text(one.launchers, errors="surrogateescape")
        command = [*find_compiler().command, "-c", "-O0", "-w", "-fno-sanitize=all", text.name, "-o", made.name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            raise NoProgram(f"the launch functions do not compile: {done.stderr.strip()[:200]}")
        yield made.name
