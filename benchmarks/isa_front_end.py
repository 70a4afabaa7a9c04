"""Runs the instruction set's own tests through the C++ front end, against their results and tolerances.

Usage: python benchmarks/isa_front_end.py ISA_TREE [--target a2a3|a5] [--case REGEX] [--json FILE] [--keep FOLDER]
    [--work FOLDER]

As ``isa_cases.py``, but the kernels are compiled and translated by ``pto_dialect.cpp``; only the host program is
compiled by ``g++``. A launch function that the host program calls is a stub which hands its arguments to the
benchmark; the launch function of the kernel file says, in LLVM IR, which kernel it launches with which of them.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import isa_build
import isa_session
import numpy as np
from isa_cases import NOT_BUILT, Verdict, declared, matches, report
from isa_session import NOT_MAPPED, RAISES, REJECTED, Failure, Outcome, names_of, run_test

from pto_dialect.api import ParseError, VerifyError, parse
from pto_dialect.cpp.compiler import INCLUDE, CompileError, compile_to_ir
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.launches import find_cores
from pto_dialect.cpp.translate import translate_module
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import BindingError, ProgramError

_DEFINED = re.compile(r"^define .*?@(\w+)\((.*?)\).*?\{\n(.*?)^\}", re.M | re.S)
_CALL = re.compile(r"call [\w ]*?@(\w+)\((.*?)\)(?: #\d+)?(?:, !dbg.*)?$", re.M)
_CAST = re.compile(
    r"\s*(%\S+) = (?:trunc|sext|zext|fptrunc|fpext|sitofp|fptosi|uitofp|fptoui|bitcast)(?: n\w+)* \w+ (%\S+) to "
)
_TYPES = {
    "ptr": "void*",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "float": "float",
    "half": "_Float16",
}
_STUB_HEAD = """
#include <cstdarg>
#include "acl/acl.h"
static std::string told(void* value) { return value ? "p," + isa::place(value) : std::string("p,-1,0"); }
template <class T> static std::string told(T value)
{
    std::ostringstream out;
    out.precision(17);
    out << "n," << static_cast<double>(value);
    return out.str();
}
"""


class Kernels(NamedTuple):
    """The kernel files of a test folder: their IR by core, and their launch functions."""

    texts: list[tuple[str, str]]
    functions: dict[str, tuple[str, str]]
    """Parameters and body of each function that the IR defines."""
    blocks: dict[int, str]


def compile_kernels(source: Path, target: str) -> list[tuple[Path, Kernels]]:
    """Compiles the kernel files of a test folder."""
    found = []
    for file in sorted(source.glob("*.cpp")):
        if file.name == "main.cpp":
            continue
        text = file.read_text(errors="replace")
        includes = [str(source)]
        try:
            parts = [
                compile_to_ir(text, file.name, core=core, target=target, includes=includes) for core in find_cores(text)
            ]
        except CompileError as error:
            said = [line for line in str(error).splitlines() if "error" in line]
            raise isa_build.NoProgram(f"the kernel does not compile: {said[0] if said else error}"[:300]) from None
        functions = {name: (args, body) for name, args, body in _DEFINED.findall(parts[0].text)}
        blocks = {launch.line: launch.blocks for launch in parts[0].launches}
        found.append((file, Kernels([(one.core, one.text) for one in parts], functions, blocks)))
    return found


def build(tools: isa_build.Tools, source: Path, work: Path) -> tuple[Path, list[tuple[Path, Kernels]]]:
    """The host program of a test folder and its kernels."""
    kernels = compile_kernels(source, tools.target)
    if not (work / "generated").exists():
        shutil.rmtree(work, ignore_errors=True)
        isa_build.generate(source, work)
        (work / "generated").touch()
    folder = work / "build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in sorted(source.iterdir()):
        if file.suffix in (".h", ".hpp") or file.name == "main.cpp":
            text = file.read_text(errors="replace")
            for name in isa_build.INCLUDED.findall(text):
                isa_build.write_empty(folder / name)
            (folder / file.name).write_text(isa_build.rewritten(text))
    try:
        _link(tools, folder, kernels)
    except isa_build.NoProgram as error:
        if "no launch function" not in str(error):
            raise
        _link(tools, folder, kernels, "-DISA_HALF_IS_BITS")
    return folder / "tests", kernels


def _link(tools: isa_build.Tools, folder: Path, kernels: list[tuple[Path, Kernels]], *definitions: str) -> None:
    common = ("-include", "all.hpp", *definitions)
    isa_build.run_compiler(tools, folder, *common, "-DISA_MAIN", "-c", "main.cpp", "-o", "main.o")
    undefined = subprocess.run(["nm", "-u", "main.o"], cwd=folder, capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in undefined.splitlines()]
    stubs = [_STUB_HEAD]
    wanted = [
        name for name in names if re.match(r"_Z\d+\w*(?:[Ll]aunch|[Cc]all)", name) and not name.startswith("_ZSt")
    ]
    for name in names:
        for file, one in kernels:
            if name in one.functions:
                stubs.append(_stub(name, one.functions[name][0], file.name))
                wanted = [w for w in wanted if w != name]
    if wanted:
        raise isa_build.NoProgram(f"no launch function {wanted[0]}")
    (folder / "stubs.cpp").write_text("\n".join(stubs))
    isa_build.run_compiler(tools, folder, *common, "-c", "stubs.cpp", "-o", "stubs.o")
    isa_build.run_compiler(tools, folder, "main.o", "stubs.o", "-o", "tests")


def _parameters(text: str) -> list[tuple[str, str]]:
    """Types and names of parameters."""
    found = []
    for one in filter(None, re.split(r",\s*(?![^()]*\))", text)):
        words = one.split()
        found.append((words[0], words[-1]))
    return found


def _stub(name: str, parameters: str, file: str) -> str:
    listed = _parameters(parameters)
    arguments = ", ".join(f"{_TYPES[type_]} a{i}" for i, (type_, _) in enumerate(listed))
    told = "".join(f' << "|" << told(a{i})' for i in range(len(listed)))
    return f'extern "C" void {name}({arguments}) {{ isa::lines << "launch|{file}|{name}"{told} << "\\n"; isa::run(); }}'


class Launch(NamedTuple):
    """A kernel with the arguments that a launch function passes on: what the host program gave, or constants."""

    kernel: str
    arguments: list[str | int | float]


_ASSIGNED = re.compile(r"\s*(%\S+) = (.*)")
_BRANCH = re.compile(r"\s*br (?:i1 (\S+), label (%\S+), label (%\S+?)|label (%\S+?))(?:,|$)")
_SWITCH = re.compile(r"\s*switch \w+ (\S+), label (%\S+) \[(.*?)\]", re.S)
_COMPARE = re.compile(r"icmp (?:samesign )?(\w+) \w+ (\S+), (\S+?)(?:,|$)")
_PREDICATES = {"eq": "__eq__", "ne": "__ne__", "sgt": "__gt__", "slt": "__lt__", "ugt": "__gt__", "ult": "__lt__"}


def launches_of(kernels: Kernels, name: str, given: list[str]) -> list[Launch]:
    """What a launch function launches with given arguments."""
    parameters, body = kernels.functions[name]
    values: dict[str, str | int | float] = {known: given[i] for i, (_, known) in enumerate(_parameters(parameters))}

    def number(text: str) -> float:
        value = values.get(text, text)
        if isinstance(value, str):
            value = value.removeprefix("n,")
        try:
            return {"true": 1.0, "false": 0.0}[str(value)] if str(value) in ("true", "false") else float(value)
        except ValueError:
            raise isa_session.NotMapped(f"a launch function that computes {str(value)[9:60]}") from None

    joined = re.sub(r"\[\s*\n(.*?)\n\s*\]", lambda m: "[" + m[1].replace("\n", " ") + "]", body, flags=re.S)
    blocks: dict[str, list[str]] = {"": []}
    label = ""
    for line in joined.splitlines():
        if head := re.match(r"([\w.]+):", line):
            label = "%" + head[1]
            blocks[label] = []
        else:
            blocks[label].append(line)
    found: list[Launch] = []
    block: str | None = next(one for one, lines in blocks.items() if lines)
    steps = 0
    while block is not None:
        steps += 1
        lines, block = blocks[block], None
        if steps > 1000:
            raise isa_session.NotMapped("a launch function with a long loop")
        for line in lines:
            if match := _BRANCH.match(line):
                block = match[4] or (match[2] if number(match[1]) else match[3])
            elif match := _SWITCH.match(line):
                cases = dict(re.findall(r"i\d+ (-?\d+), label (%\S+)", match[3]))
                block = cases.get(str(int(number(match[1]))), match[2])
            elif (match := _CALL.search(line)) and not match[1].startswith("llvm"):
                arguments = [values.get(value, 0 if value == "null" else value) for _, value in _parameters(match[2])]
                found.append(Launch(match[1], arguments))
            elif match := _ASSIGNED.match(line):
                if compared := _COMPARE.match(match[2]):
                    test = getattr(number(compared[2]), _PREDICATES.get(compared[1], "__eq__"))
                    values[match[1]] = int(test(number(compared[3])))
                elif cast := _CAST.match(line):
                    values[match[1]] = values.get(cast[2], 0)
                else:
                    values[match[1]] = f"computed {match[2]}"
    if not found:
        raise isa_session.NotMapped("a launch function without a launch")
    for launch in found:
        for value in launch.arguments:
            if str(value).startswith("computed"):
                raise isa_session.NotMapped(f"a launch function that computes {str(value)[9:60]}")
    return found


class Session:
    """Runs the launches of one folder; translations are made once."""

    def __init__(self, kernels: list[tuple[Path, Kernels]], target: str) -> None:
        self.kernels = {file.name: one for file, one in kernels}
        self.target = target
        self.translated: dict[str, str] = {}

    def launch(self, folder: Path, target: str, keep: Path | None) -> str:
        """Runs what a host program recorded; returns what the rules say against it."""
        lines = (folder / "record.txt").read_text().splitlines()
        memories = {int(line.split("|")[1]) for line in lines if line.startswith("memory|")}
        files = {number: folder / f"memory{number}.bin" for number in memories}
        buffers = {
            number: np.frombuffer(bytearray(file.read_bytes() + isa_session.SLACK), np.uint8)
            for number, file in files.items()
        }
        rejection = ""
        for line in lines:
            if line.startswith("launch|"):
                _, file, name, *given = line.split("|")
                rejection = self._run(self.kernels[file], name, given, buffers, keep) or rejection
        for number, file in files.items():
            buffers[number][: -len(isa_session.SLACK)].tofile(file)
        return rejection

    def _run(
        self, kernels: Kernels, name: str, given: list[str], buffers: dict[int, np.ndarray], keep: Path | None
    ) -> str:
        try:
            launches = launches_of(kernels, name, given)
        except isa_session.NotMapped as error:
            raise Failure(NOT_MAPPED, str(error)) from None
        rejection = ""
        for launch in launches:
            text = self.translated.get(launch.kernel)
            if text is None:
                try:
                    text = translate_module(
                        kernels.texts, entry=launch.kernel, target=self.target, headers=[str(INCLUDE)]
                    )
                except TranslationError as error:
                    raise Failure(NOT_MAPPED, str(error)) from None
                self.translated[launch.kernel] = text
            if keep is not None:
                keep.write_text(text)
            rejection = _execute(text, launch, buffers, _blocks(kernels)) or rejection
        return rejection


def _blocks(kernels: Kernels) -> int:
    numbers = {int(text) for text in kernels.blocks.values() if text.isdigit()}
    return max(numbers, default=1)


_DTYPES = {
    "f32": np.float32, "f16": np.float16, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16,
    "i32": np.int32, "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "bf16": np.uint16, "f64": np.float64,
}  # fmt: skip


def constant_of(text: str) -> float:
    """A number of LLVM IR: bits of a half, of a double, or digits."""
    if text.startswith("0xH"):
        return float(np.uint16(int(text[3:], 16)).view(np.float16))
    return float(np.uint64(int(text, 16)).view(np.float64)) if text.startswith("0x") else float(text)


def _execute(text: str, launch: Launch, buffers: dict[int, np.ndarray], blocks: int) -> str:
    signature = re.search(r"func\.func (?:public )?@[\w.$]+\((.*?)\)", text, re.S)
    types = re.findall(r"%\w+: (!pto\.ptr<[^>]*>|\w+)", signature[1]) if signature else []
    arguments: list[object] = []
    for type_, value in zip(types, launch.arguments, strict=True):
        told = value.split(",") if isinstance(value, str) and value[:2] in ("p,", "n,") else None
        if told is not None and told[0] == "p":
            element = re.sub(r"!pto\.ptr<|[,>].*", "", type_)
            memory, offset = int(told[1]), int(told[2])
            if memory < 0:
                arguments.append(np.zeros(64, np.uint8).view(_DTYPES.get(element, np.uint8)))
                continue
            array = buffers[memory][offset:]
            dtype = np.dtype(_DTYPES.get(element, np.uint8))
            arguments.append(array[: len(array) // dtype.itemsize * dtype.itemsize].view(dtype))
        elif type_.startswith("!"):
            arguments.append(np.zeros(4096, np.uint8))
        else:
            number = constant_of(str(value)) if told is None else float(told[1])
            number = float(np.float16(number)) if type_ == "f16" else number
            arguments.append(number if type_.startswith(("f", "bf")) else int(number))
    rejection = ""
    try:
        module = parse(text, filename="test.pto")
        try:
            kernel = compile_kernel(module, backend="emitc")
        except VerifyError as error:
            first = error.diagnostics[0]
            rejection = f"{first.message} [{first.rule}]"
            kernel = compile_kernel(parse(text, filename="test.pto"), backend="emitc", verify=False)
        kernel(*arguments, **({"blocks": blocks} if blocks > 1 else {}))
    except ParseError as error:
        raise Failure(REJECTED, f"{error.diagnostics[0].message} [{error.diagnostics[0].rule}]") from None
    except (ProgramError, BindingError) as error:
        rule = f" [{error.rule}]" if isinstance(error, ProgramError) else ""
        raise Failure(
            REJECTED if rejection else RAISES, rejection or f"{str(error).splitlines()[0][:200]}{rule}"
        ) from None
    return rejection


def run_folder(tools: isa_build.Tools, source: Path, work: Path, case: str, keep: Path | None) -> list[Verdict]:
    """Runs the tests of one folder."""
    target = tools.target

    def verdict(name: str, outcome: Outcome) -> Verdict:
        return Verdict(target, source.name, name, *outcome)

    try:
        program, kernels = build(tools, source, work)
        names = names_of(program)
    except isa_build.NoProgram as error:
        names = [test for test in declared(source / "main.cpp") if matches(case, target, source, test)]
        return [verdict(name, Outcome(NOT_BUILT, str(error))) for name in names]
    session = Session(kernels, target)
    kept = [None if keep is None else keep / f"{target}_{source.name}_{name}.pto" for name in names]
    return [
        verdict(name, run_test(program, name, target, file, session.launch))
        for name, file in zip(names, kept, strict=True)
        if matches(case, target, source, name)
    ]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="root of an unpacked source tree of the instruction set")
    parser.add_argument("--target", choices=tuple(isa_build.ARCHITECTURES), help="the tests of one target")
    parser.add_argument("--case", default="", metavar="REGEX", help="tests whose 'target/folder/Suite.test' matches")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcome of each test to this file")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the programs to this folder")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="build here, and use what was built here before")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory() as scratch:
        base = (options.work or Path(scratch)).resolve()
        for target in [options.target] if options.target else list(isa_build.ARCHITECTURES):
            tree = options.tree.resolve()
            tools = isa_build.prepare(tree, target, base / target)
            for main_file in sorted((tree / f"tests/npu/{target}/src/st/testcase").glob("*/main.cpp")):
                source = main_file.parent
                if not any(matches(options.case, target, source, test) for test in declared(main_file)):
                    continue
                found = run_folder(tools, source, base / target / source.name, options.case, options.keep)
                verdicts += found
                for one in found:
                    print(f"  {one.outcome:10} {one.target}/{one.folder}/{one.test}: {one.reason}", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([one._asdict() for one in verdicts], indent=0))
    return report(verdicts, time.perf_counter() - started)


if __name__ == "__main__":
    sys.exit(main())
