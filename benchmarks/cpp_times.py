"""Times kernels of the ISA's tests from source to result: this front end beside the ISA's CPU simulator, in one run.

    python benchmarks/cpp_times.py [--build Release|Fastest] PTO-ISA [NAME...]

Both get the kernel function with the same template arguments and the same input files, compile it with nothing kept of
earlier compilations of it, and write its output, in processes of their own, one after the other, with the same
compiler. What a compiler keeps for all programs is there for both: libraries for the simulator, headers for this
package. The simulator is compiled as its own script does by default (Release), or without optimisation, which takes it
the least time (Fastest). The outputs are compared. The exit code is 1 if one differs or if the median ratio is below 5.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, perf_counter_ns

import numpy as np

WANTED = 5.0
BUILDS = {
    "Release": ("-std=c++23", "-O2", "-DNDEBUG", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"),
    "Fastest": ("-std=c++23", "-O0"),
}
C_TYPES = {"f32": "float", "i8": "int8_t"}
TYPES = {"f32": np.float32, "i8": np.int8}


@dataclass(frozen=True)
class Case:
    """A kernel function of a test folder: its template arguments, and its parameters with their element types and
    numbers of elements, the output first."""

    name: str
    entry: str
    parameters: tuple[tuple[str, str, int], ...]

    @property
    def path(self) -> str:
        """Where its file is in the tree of the ISA."""
        return f"tests/cpu/st/testcase/{self.name}/{self.name}_kernel.cpp"


def unary(name: str, function: str, arguments: str = "float, 64, 64, 64, 64", out: int = 4096) -> Case:
    return Case(name, f"{function}<{arguments}>", (("out", "f32", out), ("src", "f32", 4096)))


def binary(name: str, function: str, arguments: str = "float, 64, 64, 64, 64") -> Case:
    inputs = (("src0", "f32", 4096), ("src1", "f32", 4096))
    return Case(name, f"{function}<{arguments}>", (("out", "f32", 4096), *inputs))


CASES = (
    binary("tadd", "runTAdd"),
    binary("tdiv", "runTDiv"),
    binary("tmax", "runTMax"),
    binary("tpartadd", "runTPARTADD", "64, 64, 64, 64"),
    unary("texp", "runTEXP"),
    Case("tlog", "runTLog<float, 64, 64, 64, 64>", (("out", "f32", 4096), ("src0", "f32", 4096))),
    unary("trsqrt", "runTRSqrt", "float, 64, 64, 64, 64, 64, 64"),
    unary("trowmax", "runTROWMAX"),
    unary("tcolmin", "runTCOLMIN"),
    unary("tcolexpand", "runTCOLEXPAND"),
    unary("trowexpand", "runTROWEXPAND", "64, 64"),
    unary("ttrans", "runTTRANS"),
    Case(
        "tmatmul",
        "RunTMATMUL<float, float, float, int8_t, 32, 32, 32, false>",
        (("out", "f32", 1024), ("src0", "f32", 1024), ("src1", "f32", 1024), ("src2", "i8", 32)),
    ),
)


def harness(case: Case, tree: Path, folder: Path) -> str:
    """The host program for the simulator."""
    lines = [f'#include "{tree / case.path}"', "#include <cstdio>", "#include <vector>", "int main() {"]
    for name, element, count in case.parameters:
        lines.append(f"  std::vector<{C_TYPES[element]}> {name}({count});")
        file = f'std::FILE *f = std::fopen("{folder / name}.bin", "rb")'
        lines.append(f"  {{ {file}; std::fread({name}.data(), sizeof {name}[0], {count}, f); std::fclose(f); }}")
    arguments = ", ".join(f"{name}.data()" for name, *_ in case.parameters)
    lines.append(f"  {case.entry}({arguments});")
    out, _, count = case.parameters[0]
    lines.append(f'  std::FILE *f = std::fopen("{folder / "simulated.bin"}", "wb");')
    lines.append(f"  std::fwrite({out}.data(), 4, {count}, f);\n  std::fclose(f);\n}}")
    return "\n".join(lines) + "\n"


def simulate(case: Case, tree: Path, folder: Path, build: str) -> None:
    """Compiles and runs a kernel with the CPU simulator."""
    (folder / "main.cpp").write_text(harness(case, tree, folder), encoding="utf-8")
    folders = ("include", "include/common", "tests/cpu/stubs", "tests/common")
    command = [sys.executable, "-m", "ziglang", "c++", *BUILDS[build], "-fno-sanitize=all", "-w", "-D__CPU_SIM"]
    command += [f"-I{tree / one}" for one in folders]
    execute([*command, "main.cpp", "-o", "main", "-lpthread"], folder)
    execute(["./main"], folder)


def translate(case: Case, tree: Path, folder: Path, _build: str) -> None:
    """Compiles, translates and runs a kernel with this package."""
    out, _, _ = case.parameters[0]
    command = [sys.executable, "-m", "pto_dialect.tools.pto_run", str(tree / case.path), "--entry", case.entry]
    for name, element, count in case.parameters:
        command += ["--arg", f"{name}={folder / name}.bin:{element}:{count}"]
    command += ["--out", f"{out}={folder / 'translated.bin'}", "--quiet", "--force"]
    # A definition of its own: no earlier compilation is used.
    execute([*command, "--cxx", "ziglang", "-D", f"TIMED_{perf_counter_ns()}"], folder)


def execute(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}"[:3000])


def compare(case: Case, tree: Path, build: str) -> tuple[dict[str, float], dict[str, float], bool]:
    """Seconds of both by the clock and of the processor, and whether their outputs agree."""
    rng = np.random.default_rng(1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for parameter, element, count in case.parameters:
            rng.uniform(0.5, 2.0, count).astype(TYPES[element]).tofile(folder / f"{parameter}.bin")
        seconds: dict[str, float] = {}
        processor: dict[str, float] = {}
        for one in (simulate, translate):
            started, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
            one(case, tree, folder, build)
            seconds[one.__name__], after = perf_counter() - started, getrusage(RUSAGE_CHILDREN)
            processor[one.__name__] = sum(after[:2]) - sum(before[:2])
        results = [
            np.fromfile(folder / f"{one}.bin", TYPES[case.parameters[0][1]]) for one in ("simulated", "translated")
        ]
    return seconds, processor, np.allclose(*results, rtol=1e-5, atol=1e-5)


def main(arguments: Sequence[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", type=Path, metavar="PTO-ISA")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--build", choices=BUILDS, default="Release")
    args = parser.parse_args(arguments)
    tree = args.tree.resolve()
    ratios: list[float] = []
    by_processor: list[float] = []
    wrong = 0
    for case in {case.name == "tmatmul": case for case in CASES}.values():
        compare(case, tree, args.build)  # What the compilers keep for all programs of a core.
    print("            simulator       pto-run         ratio")
    print("kernel      clock    cpu    clock    cpu    clock    cpu  results")
    for case in CASES:
        if args.names and case.name not in args.names:
            continue
        *times, is_equal = compare(case, tree, args.build)
        columns = [(one["simulate"], one["translate"]) for one in times]
        ratios.append(columns[0][0] / columns[0][1])
        by_processor.append(columns[1][0] / columns[1][1])
        wrong += not is_equal
        shown = "".join(f"{seconds:6.2f}s" for pair in zip(*columns, strict=True) for seconds in pair)
        text = "agree" if is_equal else "DIFFER"
        print(f"{case.name:<10} {shown} {ratios[-1]:7.1f}x {by_processor[-1]:5.1f}x  {text}", flush=True)
    print(f"median {median(ratios):.1f}x, of the processor {median(by_processor):.1f}x")
    return int(wrong > 0 or median(ratios) < WANTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
