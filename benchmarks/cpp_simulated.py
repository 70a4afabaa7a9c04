"""Runs kernels of the run time's form, ``kernel_entry(int64_t *args)``, and compares them with the ISA's CPU simulator.

    python benchmarks/cpp_simulated.py LIST.csv TREES PTO-ISA [--case TEXT...] [--json FILE [--continue]]

For kernels that no test compares with a reference. The list and ``TREES`` are those of ``cpp_translations.py``. Each
kernel gets the same random arguments here and in the simulator, which compiles the same file. Kernels whose programs
are equal but for names are compared once. Kernels that need a second core, a peer or a run time are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from cpp_launch import DTYPES, Memory, NoRun, Program, Programs, Value
from cpp_translations import Kernel, folders_of, kernels_of

SIZES = tuple(1 << n for n in (18, 21, 24, 27, 28))
"""Bytes of a tensor; a kernel that accesses more gets the next one."""
BLOCKS = 2
SECONDS = 150
"""For one step of the simulator."""
SHAPE, FRACTION = 16, 0.5
"""What a kernel reads of shapes, and the value of its fractions."""
NUMBERS = (1, 16, 0)
"""The value of its integers: the first with which it runs and writes something."""
_POINTER = re.compile(r"!pto\.ptr<([\w!.]+)")
_TENSOR = re.compile(r"args_(\d+)$")
_TOLERANCE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}
_LEFT_OUT = (
    (
        "needs a peer",
        re.compile(r"\b(TPUT|TGET|TNOTIFY|TWAIT|TTEST)\b|\bCommContext\s*\*\s*(\w+)\b(?=.*\b\2\b)", re.DOTALL),
    ),
    ("needs a second core", re.compile(r"\b(TPUSH|TPOP|TALLOC|TFREE|ffts_cross_core_sync|wait_flag_dev)\b")),
    ("needs the run time", re.compile(r"\b(get_dma_workspace|get_async_ctx|TPREFETCH_ASYNC|Sdma|Urma)\b")),
)
_HEADERS = """
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"
"""
"""What kernels include; compiled once."""
_STDFLOAT = """
#pragma once
namespace std { using bfloat16_t = __bf16; using float16_t = _Float16; using float32_t = float; }
"""
"""A header of newer C++ libraries."""
_HARNESS = """
#undef __CPU_SIM
#undef __aicore__
#define __aicore__
#include "{file}"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
extern "C" __attribute__((weak)) __bf16 __truncsfbf2(float value)
{{
    uint32_t bits = __builtin_bit_cast(uint32_t, value);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;
    uint16_t upper = nan ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __builtin_bit_cast(__bf16, upper);
}}
extern "C" __attribute__((weak)) __bf16 __truncdfbf2(double value) {{ return __truncsfbf2((float)value); }}
static std::vector<char> content(const char *name)
{{
    std::FILE *file = std::fopen(name, "rb");
    std::fseek(file, 0, SEEK_END);
    std::vector<char> all(std::ftell(file) + 64);
    std::rewind(file);
    all.resize(std::fread(all.data(), 1, all.size(), file));
    std::fclose(file);
    return all;
}}
int main()
{{
    alignas(64) static int64_t args[64];
    alignas(64) static unsigned char told[48][256];
    static int32_t local[64], global[64];
    std::vector<std::vector<char>> data(48);
    args[48] = (int64_t)local;
    args[49] = (int64_t)global;
    local[1] = {blocks};
{setup}
    for (int n = 0; n < {blocks}; ++n) {{
        local[0] = n;
        kernel_entry(args);
    }}
{results}
    std::_Exit(0);
}}
"""
_TELL = """    data[{n}] = content("{n}.in");
    {{
        uint64_t words[2] = {{(uint64_t)data[{n}].data(), data[{n}].size()}};
        uint32_t shape[5] = {{{shape}, {shape}, {shape}, {shape}, {shape}}};
        std::memcpy(told[{n}], words, 16);
        std::memcpy(told[{n}] + 44, shape, 20);
        std::memcpy(told[{n}] + 72, shape, 20);
        args[{n}] = (int64_t)told[{n}];
    }}"""
_STORE = """    {{
        std::FILE *file = std::fopen("{n}.out", "wb");
        std::fwrite(data[{n}].data(), 1, data[{n}].size(), file);
        std::fclose(file);
    }}"""


def left_out(text: str) -> str:
    """Why a kernel cannot run alone, by its text."""
    return next((reason for reason, pattern in _LEFT_OUT if pattern.search(text)), "")


def same(program: str) -> str:
    """A digest of a program without its names and locations."""
    text = re.sub(r"loc\([^)]*\)|#loc\d*.*|\"[^\"]*\"", "", program)
    names: dict[str, str] = {}
    text = re.sub(r"%[\w.$]+(:\d+)?", lambda found: names.setdefault(found[0], f"%{len(names)}"), text)
    return hashlib.sha256(text.encode()).hexdigest()


def tensors_of(program: Program) -> dict[int, str]:
    """The element types of a program's tensors, by the number of the argument."""
    found = {}
    for name, type_ in program.kernel.types:
        pointer, tensor = _POINTER.match(str(type_)), _TENSOR.match(name)
        if pointer and tensor:
            found[int(tensor[1])] = pointer[1]
    return found


def random_values(element: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Elements of a tensor of ``size`` bytes; 65536 of them repeat."""
    dtype = np.dtype(DTYPES.get(element, np.uint8))
    if element == "bf16":
        some = (rng.uniform(-1, 1, 1 << 16).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    elif dtype.kind == "f":
        some = rng.uniform(-1, 1, 1 << 16).astype(dtype)
    else:
        some = rng.integers(0, 4, 1 << 16).astype(dtype)
    return np.resize(some, size // dtype.itemsize)


def run_here(program: Program, arrays: dict[int, np.ndarray], integer: int) -> None:
    """Runs a program on arrays; raises ``NoRun``."""
    values: dict[str, Value] = {}
    for name, type_ in program.kernel.types:
        found = _TENSOR.match(name)
        if found and int(found[1]) in arrays:
            array = arrays[int(found[1])]
            values[name] = Memory(array.ctypes.data, array.nbytes)
        elif "shape" in name or "stride" in name:
            values[name] = SHAPE
        else:
            values[name] = FRACTION if str(type_).startswith(("f", "bf")) else integer
    program.run(values, BLOCKS, watch=False)


def simulate(
    kernel: Kernel, isa: Path, program: Program, inputs: dict[int, np.ndarray], integer: int, folder: Path
) -> dict[int, Any]:
    """What the simulator makes of arrays; raises ``NoRun``."""
    tree = Path(kernel["tree"])
    path = tree / kernel["path"]
    setup, results = [], []
    for n, array in inputs.items():
        array.tofile(folder / f"{n}.in")
        setup.append(_TELL.format(n=n, shape=SHAPE))
        results.append(_STORE.format(n=n))
    for name, type_ in program.kernel.types:
        found = _TENSOR.match(name)
        if found and int(found[1]) not in inputs:
            bits = int(np.float32(FRACTION).view(np.uint32)) if str(type_) == "f32" else integer
            setup.append(f"    args[{found[1]}] = {bits};")
    text = _HARNESS.format(file=path, blocks=BLOCKS, setup="\n".join(setup), results="\n".join(results))
    (folder / "main.cpp").write_text(text)
    compile_harness(kernel, isa, folder)
    try:
        done = subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoRun("simulator does not end", f"{SECONDS} s") from None
    if done.returncode:
        raise NoRun("simulator fails", (done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1][:300])
    return {n: np.fromfile(folder / f"{n}.out", array.dtype) for n, array in inputs.items()}


def compile_harness(kernel: Kernel, isa: Path, folder: Path) -> None:
    """Compiles ``main.cpp`` in a folder; the headers are compiled once, beside it. Raises ``NoRun``."""
    tree = Path(kernel["tree"])
    includes = [isa / one for one in ("include", "include/common", "tests/cpu/stubs", "tests/common")]
    includes += [Path(one) for one in folders_of(tree, tree / kernel["path"], kernel["target"])]
    core = "__DAV_CUBE__" if "aic" in Path(kernel["path"]).parts else "__DAV_VEC__"
    command = [sys.executable, "-m", "ziglang", "c++", "-std=c++23", "-O0", "-w", "-fno-sanitize=all", "-D__CPU_SIM"]
    command += [
        "-DPTO_CPU_SIM_ENABLE_BF16",
        "-D__STDCPP_BFLOAT16_T__=1",
        f"-I{folder.parent}",
        f"-D{core}",
        *(f"-I{one}" for one in includes),
    ]
    digest = hashlib.sha256(" ".join(command).encode()).hexdigest()[:16]
    headers = folder.parent / f"{digest}.pch"
    steps = [["-include-pch", str(headers), "-c", "main.cpp", "-o", "main.o"]]
    if not headers.exists():
        stdfloat = folder.parent / "stdfloat"
        if not stdfloat.exists():
            stdfloat.write_text(_STDFLOAT)
        # A header that is written again is no longer the one that was compiled.
        headers.with_suffix(".hpp").write_text(_HEADERS)
        steps.insert(0, ["-x", "c++-header", str(headers.with_suffix(".hpp")), "-o", str(headers)])
    for words in steps:
        execute([*command, *words], folder)
    execute([*command[:4], "main.o", "-o", "main", "-lpthread"], folder)


def execute(command: list[str], folder: Path) -> None:
    """Executes a compiler; raises ``NoRun``."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoRun("simulator does not compile it", f"{SECONDS} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise NoRun("simulator does not compile it", (errors or [done.stderr])[0][-300:])


def difference(element: str, here: np.ndarray, there: np.ndarray, before: np.ndarray) -> str:
    """The difference of two results as text."""
    if here.tobytes() == there.tobytes():
        return ""
    tolerance = _TOLERANCE.get(element, 0.0)
    numbers = [(one.astype(np.uint32) << 16).view(np.float32) if element == "bf16" else one for one in (here, there)]
    first, second = (one.astype(np.float64) for one in numbers)
    scale = np.where(np.isfinite(second), np.maximum(np.abs(second), 1.0), 1.0)
    with np.errstate(invalid="ignore"):
        wrong = ~(
            (np.abs(first - second) <= tolerance * scale) | (first == second) | (np.isnan(first) & np.isnan(second))
        )
    if not wrong.any():
        return ""
    n = int(np.flatnonzero(wrong)[0])
    changed = int((here != before).sum())
    where = f"{int(wrong.sum())} of {changed} changed elements, first {n}"
    return f"{where}: {first[n]:g} here, {second[n]:g} in the simulator"


def _run_to_write(program: Program, elements: dict[int, str]) -> tuple[dict[int, Any], dict[int, Any], int]:
    """Runs a program with integers until it writes something; returns the tensors before and after, and the integer.
    Raises ``NoRun`` where it runs with none of them."""
    failure, last = None, None
    for integer in NUMBERS:
        try:
            inputs, arrays = _run_with_enough(program, elements, integer)
        except NoRun as error:
            failure = failure or error
            continue
        last = inputs, arrays, integer
        if any((arrays[n] != inputs[n]).any() for n in arrays):
            break
    if last is None:
        assert failure is not None
        raise failure
    return last


def _run_with_enough(program: Program, elements: dict[int, str], integer: int) -> tuple[dict[int, Any], dict[int, Any]]:
    """Runs a program on random tensors, larger ones where it accesses more; returns them before and after."""
    rng = np.random.default_rng(1)
    size = SIZES[0]
    while True:
        inputs = {n: random_values(element, size, rng) for n, element in elements.items()}
        arrays = {n: array.copy() for n, array in inputs.items()}
        try:
            run_here(program, arrays, integer)
        except NoRun as error:
            is_small = "outside" in error.reason or "mem-oob" in error.reason
            if not is_small or size == SIZES[-1]:
                raise
            size = next(one for one in SIZES if one > size)
        else:
            return inputs, arrays


def compare(kernel: Kernel, program: Program, isa: Path, work: Path) -> Kernel:
    """A row with ``kind`` and ``reason`` of its outcome."""
    elements = tensors_of(program)
    outcome: Kernel = {"result": "agrees", "detail": ""}
    try:
        inputs, arrays, integer = _run_to_write(program, elements)
        with tempfile.TemporaryDirectory(dir=work) as folder:
            there = simulate(kernel, isa, program, inputs, integer, Path(folder))
        changed = sum(int((arrays[n] != inputs[n]).sum()) for n in arrays)
        outcome["detail"] = f"{changed} elements"
        if not changed:
            outcome["result"] = "writes nothing"
        for n, element in elements.items():
            found = difference(element, arrays[n], there[n], inputs[n])
            if found:
                outcome |= {"result": "differs", "detail": f"args[{n}]: {found}"}
    except NoRun as error:
        outcome |= {"result": error.kind, "detail": error.reason}
    return kernel | outcome


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("isa", type=Path)
    parser.add_argument("--case", nargs="*", default=[""], help="only kernels whose path has one of these texts")
    parser.add_argument("--json", type=Path, help="writes all results")
    parser.add_argument("--continue", dest="continues", action="store_true", help="keeps the results of that file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as work:
        found = outcomes_of(options, Path(work))
    for kind, count in Counter(one["result"] for one in found).most_common():
        print(f"{count:5} kernels: {kind}")


def _order(kernel: Kernel) -> tuple[int, str]:
    """Copies of a kernel, which a number at the end of the name tells apart, come last."""
    number = re.search(r"_(\d+)(_ai[cv])?$", Path(kernel["path"]).stem)
    return (int(number[1]) if number else -1, kernel["path"])


def outcomes_of(options: argparse.Namespace, work: Path) -> list[Kernel]:
    """The results of all kernels of a selection."""
    known: dict[str, Kernel] = {}
    kept: dict[str, Kernel] = {}
    if options.continues and options.json.exists():
        kept = {one["path"]: one for one in json.loads(options.json.read_text())}
        known |= {one["digest"]: one for one in kept.values() if "digest" in one}
    found: list[Kernel] = []
    for kernel in sorted(kernels_of(options.list, options.trees, ""), key=_order):
        tree = Path(kernel["tree"])
        path = tree / kernel["path"]
        if not (tree / "simpler_setup").is_dir() or not any(one in kernel["path"] for one in options.case):
            continue
        if kernel["path"] in kept:
            found.append(kept[kernel["path"]])
            continue
        kernel["target"] = "a5" if "a5" in path.parts else "a2a3"
        reason = left_out(re.sub(r"//.*|\(void\)\s*\w+;", "", path.read_text(errors="replace")))
        if reason:
            found.append(kernel | {"result": reason, "detail": ""})
        else:
            found.append(outcome_of(kernel, path, known, options.isa.resolve(), work))
        last = found[-1]
        print(f"{last['result']:20} {kernel['path']}  {last['detail']}", flush=True)
        if options.json is not None:
            later = kept.keys() - {one["path"] for one in found}
            options.json.write_text(json.dumps([*found, *(kept[path] for path in later)], indent=1))
    return found


def outcome_of(kernel: Kernel, path: Path, known: dict[str, Kernel], isa: Path, work: Path) -> Kernel:
    """The result of a kernel, or of an equal one before."""
    try:
        folders = folders_of(Path(kernel["tree"]), path, kernel["target"])
        programs = Programs(kernel["target"], folders, ("MEMORY_BASE",) if kernel["target"] == "a2a3" else ())
        digest = same(programs.text(path))
        if digest in known:
            first = known[digest]
            return kernel | {"result": first["result"], "detail": f"equal to {Path(first['path']).name}"}
        known[digest] = compare(kernel, programs.program([(path, None)]), isa, work) | {"digest": digest}
        return known[digest]
    except NoRun as error:
        return kernel | {"result": error.kind, "detail": error.reason}


if __name__ == "__main__":
    main(sys.argv[1:])
