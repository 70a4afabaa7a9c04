"""Rows of the tile-level corpus: one program for many cases of an operation, a folder of files for each case."""

from __future__ import annotations

import re
import shutil
import struct
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
from golden_rows import (
    FAIL,
    NO_GOLDEN,
    PASS,
    REFUSED,
    Row,
    Scratch,
    Verdict,
    last_words,
    launch_text,
    run_launch,
    run_python,
)
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core import types as t
from pto_dialect.passes.run import run_passes
from pto_dialect.runtime.compile.program import functions_of
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.targets.backend import ATTRIBUTE
from pto_dialect.verify.verifier import verify_module

CORPUS = "test/tilelang_st"
BACKEND = "vpto"
"""What the build of the corpus compiles all its programs for."""

_LAUNCH = re.compile(
    r"(?P<entry>\w+)<<<(?P<blocks>.*?)>>>\((?P<args>.*?)\) files: (?P<files>.*?)(?:; kCases: .*)?$", re.S
)
_CONSTANT = re.compile(r"(?:static constexpr|constexpr static|static const)\s+[\w ]+?\s+(\w+)\s*=\s*([^;]+);")
_RESULT = re.compile(r"\[\w+\] (\S+): (?:compare )?(passed|failed)")

OUTPUTS = ("dst_ptr", "output_ptr", "c_ptr", "c_gm")
SCRATCH = ("tmp_ptr", "ex_ptr")
SCRATCH_BYTES = 65536
INPUT_FILES = {
    ("mask_ptr", "src_ptr", "dst_ptr", "scalar"): ("mask.bin", "input1.bin"),
    ("mask_ptr", "src0_ptr", "src1_ptr", "dst_ptr"): ("input3.bin", "input1.bin", "input2.bin"),
    ("src_ptr", "idx_ptr", "dst_ptr"): ("input.bin", "idx.bin"),
    ("key_ptr", "counter_ptr", "output_ptr"): ("key.bin", "counter.bin"),
}
"""Input files by parameter names, where they are not the sorted ones."""
SCALAR_FILES = {
    ("mask_ptr", "src_ptr", "dst_ptr", "scalar"): "input2.bin",
    ("src_ptr", "dst_ptr", "slope"): "slope.bin",
}


class Case(NamedTuple):
    """A row with its parts: parameters are pairs of name and type."""

    row: Row
    name: str
    entry: str
    blocks: int
    parameters: list[tuple[str, str]]
    inputs: list[str]


class Argument(NamedTuple):
    """An argument of an entry: its value, element format (``None``: a number) and the shapes it is viewed in."""

    format: Format | None
    shapes: list[tuple[int, ...]]

    @property
    def bytes(self) -> int:
        """What the static views of the argument need."""
        assert self.format is not None
        return max((prod(shape) * self.format.bytes for shape in self.shapes if min(shape) > 0), default=0)


def run(rows: list[Row], scratch: Scratch) -> list[Verdict]:
    """Runs the cases of one operation, which share a program and a generator."""
    source = (scratch.tree / rows[0].program).parent
    work = scratch.folder / source.name
    shutil.copytree(source, work)
    shutil.copy(source.parent / "st_common.py", scratch.folder)
    path = {"PYTHONPATH": str(scratch.folder)}
    done = run_python("gen_data.py", work, **path)
    if done.returncode:
        return [Verdict(row, NO_GOLDEN, last_words(done)) for row in rows]
    program = scratch.tree / rows[0].program
    engine = DiagnosticEngine()
    module = parse_program(SourceFile(str(program), program.read_text()), engine)
    if module is not None and not engine.has_errors:
        verify_module(module, engine)
    if module is None or engine.has_errors:
        return [Verdict(row, FAIL, f"the program is rejected: {engine.diagnostics[0].message}") for row in rows]
    scratch.programs[str(program.resolve())] = module
    functions = functions_of(module)
    verdicts: dict[str, Verdict] = {}
    cases = [_case(row) for row in rows]
    for case in cases:
        arguments = [_described(value) for value in functions[case.entry].regions[0].blocks[0].args]
        refusal = _lowered(module, case.entry, program, scratch) if scratch.passes else ""
        if refusal:
            verdicts[case.name] = Verdict(case.row, REFUSED, refusal)
            continue
        verdict, reason = _launch(case, arguments, program, source, work / case.name, scratch)
        if verdict != PASS:
            verdicts[case.name] = Verdict(case.row, verdict, reason)
    ran = [case for case in cases if case.name not in verdicts]
    told = _compared(work, path) if ran else {}
    for case in ran:
        if case.name not in told:
            # A comparison that stops at the first file that is missing runs for each case.
            done = run_python("compare.py", work, case.name, **path)
            told[case.name] = last_words(done) if done.returncode else ""
        reason = told[case.name]
        verdicts[case.name] = Verdict(case.row, FAIL, reason) if reason else Verdict(case.row, PASS)
    return [verdicts[case.name] for case in cases]


def _lowered(module: ModuleOp, entry: str, program: Path, scratch: Scratch) -> str:
    """Has one function of ``module`` go through the passes before it runs, by itself if possible; why not."""
    alone = module.clone()
    alone.attributes[ATTRIBUTE] = StringAttr(BACKEND)
    called = any(op.name == "func.call" for op in alone.walk())
    for function in [] if called else [op for name, op in functions_of(alone).items() if name != entry]:
        function.detach()
        function.erase()
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    run_passes(alone, scratch.passes, engine, None)
    scratch.programs[str(program.resolve())] = alone
    return engine.diagnostics[0].message if engine.has_errors else ""


def _case(row: Row) -> Case:
    match = _LAUNCH.match(row.launch)
    assert match is not None, row.launch
    pairs = (text.strip().lstrip("%").partition(":") for text in match["args"].split(";"))
    files = [file.strip().partition("[")[0] for file in match["files"].split(",")]
    return Case(
        row,
        row.case.partition("/")[2],
        match["entry"],
        int(match["blocks"]) if match["blocks"].isdigit() else 3,
        [(name, kind) for name, _, kind in pairs],
        [file for file in files if not file.startswith("golden")],
    )


def _described(value: SSAValue) -> Argument:
    shapes: list[tuple[int, ...]] = []
    for use in value.uses:
        results = use.operation.results
        if results and isinstance(results[0].type, t.TensorViewType):
            shapes.append(tuple(results[0].type.shape))
    return Argument(argument_format(value.type), shapes)


def _compared(work: Path, environment: dict[str, str]) -> dict[str, str]:
    """What the comparison of the operation says: the reason of a failure, or nothing, by case."""
    done = run_python("compare.py", work, **environment)
    told: dict[str, str] = {}
    detail = ""
    for line in map(str.strip, done.stdout.splitlines()):
        match = _RESULT.match(line)
        if match is not None:
            told[match[1]] = "" if match[2] == "passed" else detail.strip() or "compare failed"
            detail = ""
        elif line.startswith("[ERROR]"):
            detail += " " + line
    return told


# ------------------------------------------------------------ one launch


def _launch(
    case: Case, arguments: list[Argument], program: Path, source: Path, folder: Path, scratch: Scratch
) -> tuple[str, str]:
    if case.row.case.startswith("softmax/"):
        values = {
            name: f'"v{i + 1}.bin:f32{":inout" if i >= 3 else ""}"' if i < 7 else f'"v{i + 1}.bin:i32"'
            for i, (name, _) in enumerate(case.parameters)
        }
        path = folder / "run.launch.toml"
        path.write_text(launch_text(program, case.entry, case.blocks, values, BACKEND))
        return run_launch(path, scratch)
    writer = _Files(case, arguments, source, folder)
    path = folder / "run.launch.toml"
    path.write_text(launch_text(program, case.entry, case.blocks, writer.values(), BACKEND))
    verdict, reason = run_launch(path, scratch)
    if verdict == PASS:
        writer.cut_output()
    return verdict, reason


class _Files:
    """The files of one case in the sizes that the program looks at."""

    def __init__(self, case: Case, arguments: list[Argument], source: Path, folder: Path) -> None:
        self.case = case
        self.arguments = arguments
        self.source = source
        self.folder = folder
        self.names = tuple(name for name, _ in case.parameters)
        golden = folder / "golden.bin"
        self.golden = golden.stat().st_size if golden.exists() else 0
        self.partial = case.row.case.startswith("tpart")

    def values(self) -> dict[str, str]:
        inputs = list(INPUT_FILES.get(self.names, sorted(self.case.inputs)))
        outputs = OUTPUTS if self.names[-1] != "b_ptr" else ("b_ptr",)
        values: dict[str, str] = {}
        for index, ((name, kind), argument) in enumerate(zip(self.case.parameters, self.arguments, strict=True)):
            fmt = argument.format
            if fmt is None:
                values[str(index)] = self.scalar(index, name, kind)
            elif name == "tile_ptr":
                shutil.copy(self.folder / "input.bin", self.folder / "output.bin")
                values[str(index)] = f'"output.bin:{fmt.name}:inout"'
            elif name in outputs:
                self.write("output.bin", np.zeros(max(argument.bytes, self.golden), np.uint8))
                values[str(index)] = f'"output.bin:{fmt.name}:inout"'
            elif name in SCRATCH:
                self.write(f"{name}.bin", np.zeros(max(argument.bytes, SCRATCH_BYTES), np.uint8))
                values[str(index)] = f'"{name}.bin:{fmt.name}"'
            else:
                data = np.fromfile(self.folder / inputs.pop(0), np.uint8)
                if self.partial:
                    data = _padded(data, argument)
                missing = max(0, argument.bytes - data.size)
                self.write(f"argument{index}.bin", np.concatenate([data, np.zeros(missing, np.uint8)]))
                values[str(index)] = f'"argument{index}.bin:{fmt.name}"'
        return values

    def write(self, name: str, data: np.ndarray) -> None:
        data.tofile(self.folder / name)

    def cut_output(self) -> None:
        """The columns of the output that the comparison looks at."""
        if not self.partial:
            return
        argument = self.arguments[self.names.index("c_ptr")]
        assert argument.format is not None
        output = np.fromfile(self.folder / "output.bin", argument.format.storage)
        rows = prod(argument.shapes[0][:-1])
        cols = self.golden // output.dtype.itemsize // rows
        self.write("output.bin", np.ascontiguousarray(output.reshape(rows, -1)[:, :cols]))

    def scalar(self, index: int, name: str, kind: str) -> str:
        file = SCALAR_FILES.get(self.names)
        if file is not None:
            data = (self.folder / file).read_bytes()
            return _toml(struct.unpack("<f", data[:4])[0] if name == "slope" else int.from_bytes(data, "little"))
        text = "\n".join(p.read_text() for n in ("launch.cpp", "main.cpp") if (p := self.source / n).exists())
        match = re.search(self.case.entry + r"<<<.*?>>>\s*\((.*?)\);", text, re.S)
        assert match is not None, self.case.entry
        return _toml(_number(_split(match[1])[index], kind, dict(_CONSTANT.findall(text))))


def _padded(data: np.ndarray, argument: Argument) -> np.ndarray:
    """Rows of a file padded to the rows of the view, as the host program does."""
    assert argument.format is not None
    shape = argument.shapes[0]
    rows, cols = prod(shape[:-1]), shape[-1]
    units = data.view(argument.format.storage)
    if units.size % rows or units.size // rows >= cols:
        return data
    wide = np.zeros((rows, cols), argument.format.storage)
    wide[:, : units.size // rows] = units.reshape(rows, -1)
    return wide.reshape(-1).view(np.uint8)


def _split(text: str) -> list[str]:
    """Arguments of a call, commas inside parentheses not counted."""
    depth, parts = 0, [""]
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def _number(text: str, kind: str, constants: dict[str, str]) -> float | int:
    text = re.sub(r"^\(\s*[\w ]+\)\s*", "", constants.get(text, text).strip())
    bits = re.match(r"bits_to_float\((\w+)\)", text)
    if bits is not None:
        return struct.unpack("<f", struct.pack("<I", int(bits[1].rstrip("Uu"), 16)))[0]
    if kind == "f16" and re.match(r"^(0x)?[0-9a-fA-F]+[uU]?$", text):
        return float(np.array(int(text.rstrip("uU"), 0), np.uint16).view(np.float16))
    if kind.startswith("f"):
        return float(text.rstrip("fF"))
    return int(text.rstrip("uUlL"), 0)


def _toml(value: float | int) -> str:
    return repr(value)


__all__ = ["CORPUS", "run"]
