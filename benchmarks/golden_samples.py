"""Rows of the sample corpus: generators that learn the sizes from a host program, which is generated here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from golden_rows import FAIL, NO_GOLDEN, PASS, Row, Scratch, Verdict, last_words, launch_text, run_launch, run_python

CORPUS = "test/samples"

HOST_TYPES = {
    "f32": "float", "f16": "aclFloat16", "bf16": "bfloat16_t", "f64": "double", "i1": "bool",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "index": "int32_t",
    "si8": "int8_t", "si16": "int16_t", "si32": "int32_t",
    "ui8": "uint8_t", "ui16": "uint16_t", "ui32": "uint32_t",
}  # fmt: skip
_PARAMETER = re.compile(r"(v\d+)=%(\w+):(.+?):(\w+)$")
_POINTER = re.compile(r"!pto\.ptr<(\w+)")
_DEFAULTS = {"int32_t v4": 0, "int32_t v5": 32}
"""Scalars of programs that take a block index and a block number themselves."""

WORKSPACE = 4096
"""Elements of a buffer that the table names without a size."""

COMPARE = "from validation_runtime import compare_outputs\ncompare_outputs({dtype!r}, {atol})\n"
TOLERANCES = {"float": ("float32", 1e-3), "aclFloat16": ("float16", 1e-2), "bfloat16_t": ("uint16", 1)}
"""For samples without a comparison of their own: type and tolerance (bf16: one unit in the last place)."""


def run(rows: list[Row], scratch: Scratch) -> list[Verdict]:
    """Runs each row in a folder of its own."""
    samples = scratch.tree / CORPUS
    shutil.copy(samples / "validation_runtime.py", scratch.folder)
    return [_run_row(row, scratch, scratch.folder / str(number)) for number, row in enumerate(rows)]


def _run_row(row: Row, scratch: Scratch, folder: Path) -> Verdict:
    program = scratch.tree / row.program
    folder.mkdir()
    for file in program.parent.glob("*.py"):
        shutil.copy(file, folder)
    golden = folder / f"{program.stem}_golden.py"
    text, _, written = row.launch.partition(" outs: ")
    outputs = [name.strip().lstrip("%") for name in written.split(",") if name.strip()]
    parameters = [match.groups() for part in text.split(";") if (match := _PARAMETER.match(part.strip()))]
    if not golden.is_file() or not outputs or any("None" in parameter for parameter in parameters):
        return Verdict(row, NO_GOLDEN, "no generator, or no sizes for it")
    soc = "a5" if "A5" in program.parent.name else "a3"
    entry = re.search(r"func\.func\s+@(\w+)", program.read_text())
    assert entry is not None
    path = folder / "run.launch.toml"
    verdict, reason = NO_GOLDEN, ""
    # The scalars are generated; with 1 some programs look outside buffers of the stated sizes.
    for scalar in (1, 0):
        values = _host_program(folder, parameters, outputs, scalar)
        done = run_python(golden.name, folder, SOC_VERSION=soc, PYTHONPATH=str(scratch.folder))
        if done.returncode:
            reason = reason or last_words(done)
            continue
        path.write_text(launch_text(program, entry[1], 1, values))
        verdict, reason = run_launch(path, scratch)
        if "[mem-oob]" not in reason:
            break
    if verdict != PASS:
        return Verdict(row, verdict, reason)
    compare = folder / f"{program.stem}_compare.py"
    if not compare.is_file():
        kinds = {name: _host_type(kind) for _, name, kind, _ in parameters}
        dtype, atol = TOLERANCES.get(kinds[outputs[0]], (kinds[outputs[0]].removesuffix("_t"), 0))
        compare.write_text(COMPARE.format(dtype=dtype, atol=atol))
    done = run_python(compare.name, folder, SOC_VERSION=soc, PYTHONPATH=str(scratch.folder))
    return Verdict(row, FAIL, last_words(done)) if done.returncode else Verdict(row, PASS)


def _host_type(kind: str) -> str:
    pointer = _POINTER.match(kind)
    return HOST_TYPES[pointer[1] if pointer else kind]


def _host_program(folder: Path, parameters: list, outputs: list[str], scalar: int) -> dict[str, str]:
    """Writes what the generator reads of a host program; the arguments of the launch."""
    lines: list[str] = []
    values: dict[str, str] = {}
    for file, name, kind, size in parameters:
        host = _host_type(kind)
        if size == "scalar":
            value = _DEFAULTS.get(f"{host} {file}", scalar) if "spmd" in name else scalar
            lines.append(f"{host} {file} = {value};")
            # A pointer without a size is a workspace.
            pointer = _POINTER.match(kind)
            values[name] = f'"zeros:{pointer[1]}:{WORKSPACE}"' if pointer is not None else str(value)
            continue
        lines.append(f"size_t elemCount_{file} = {size};")
        lines.append(f"size_t fileSize_{file} = elemCount_{file} * sizeof({host});")
        lines.append(f'ReadFile("./{file}.bin", fileSize_{file}, {file}Host, fileSize_{file});')
        pointer = _POINTER.match(kind)
        assert pointer is not None
        values[name] = f'"{file}.bin:{pointer[1]}{":inout" if name in outputs else ""}"'
    (folder / "main.cpp").write_text("\n".join(lines) + "\n")
    names = [file for file, name, _, _ in parameters if name in outputs]
    (folder / "outputs.txt").write_text("\n".join(names) + "\n")
    return values


__all__ = ["CORPUS", "run"]
