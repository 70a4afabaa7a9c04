"""How fast `pto optimize` makes the examples, plain vector kernels and plain matrix products, beside the forms that
were written by hand.

Usage: python benchmarks/optimized.py [NAME ...] [--prove]    (names of examples, parts of names of kernels; all)

Each row is a kernel on a chip: the modelled cycles of the plain pipeline (assign-memory, insert-sync), what each step
of the best pipeline saves, the best, the form by hand, and the bound, which is the busiest pipe of the best program.
By hand are the instructions in the folder of the example, the vector kernel with loops and slots (plain_vectors.py) as
tiles or as vector functions, and of matrix products the tiles of the public kernels (plain_kernels.py). Everything goes
through the commands `pto optimize` and `pto-run --cycles`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cycle_programs import product
from plain_kernels import Kernel, kernels
from plain_vectors import BLOCKS, VectorKernel, vector_kernels

from examples.case import Case
from examples.check import FOLDER
from examples.run_all import EXAMPLES, load

NO_KERNELS = {"seed_snippets"}
"""Examples that show single operations."""

PTO = [sys.executable, "-m", "pto_dialect"]
TYPES = {"float16": "f16", "float32": "f32", "bfloat16": "bf16", "int8": "i8", "int32": "i32", "int64": "i64"}


def asked(command: list[str]) -> dict[str, Any]:
    """The document that a command prints; empty where it prints none."""
    ended = subprocess.run([*PTO, *command], capture_output=True, text=True, check=False)
    start = ended.stdout.find("{")
    if start < 0:
        return {"failed": (ended.stderr or ended.stdout).strip().splitlines()[-1:]}
    return json.loads(ended.stdout[start:]) | {"code": ended.returncode}


def arguments(case: Case, folder: Path) -> list[str]:
    """The options with the arguments of a case. Raises KeyError for element types that are not written to files."""
    options = ["--blocks", str(case.blocks)]
    for name, value in case.data.items():
        if isinstance(value, np.ndarray):
            path = folder / f"{name}.bin"
            path.write_bytes(np.ascontiguousarray(value).tobytes())
            text = f"{path}:{TYPES[value.dtype.name]}:{'x'.join(map(str, value.shape))}"
        else:
            text = str(value).lower()
        options += ["--arg", f"{name}={text}"]
    return options


def by_hand(example: str, case: Case, target: str, options: list[str], folder: Path) -> float | None:
    """The cycles of the instructions of an example, where there are some, or of the tiles by hand beside a plain
    program: the shorter one."""
    name = case.program.removesuffix(".pto").removesuffix("_tiles")
    launch = ["--entry", case.entry, "--target", target, "--cycles=json", "--quiet", *options]
    forms = [FOLDER / example / f"{name.removesuffix('_plain')}_instructions.pto"] if target == "a5" else []
    tiles, source = folder / "tiles.pto", FOLDER / example / f"{name}_by_hand.pto"
    if name.endswith("_plain"):
        source = FOLDER / example / f"{name.removesuffix('_plain')}.pto"
    if source.is_file():
        passes = ["-p", "assign-memory,insert-sync", "--target", target]
        subprocess.run([*PTO, "opt", *passes, str(source), "-o", str(tiles)], capture_output=True, check=False)
        forms.append(tiles)
    cycles: list[float] = []
    for form in forms:
        found = asked(["run", str(form), *launch]) if form.is_file() else {}
        programs = found.get("programs")
        cycles += [programs[0]["whole"]["cycles"]] if programs else []
    return min(cycles, default=None)


def row(name: str, found: dict[str, Any], hand: float | None) -> str:
    """The line of a kernel."""
    if "best" not in found:
        reasons = [one["reason"] for one in found.get("candidates", ())]
        return f"| {name} | {found.get('failed') or reasons[:1]} | | | | | | |"
    steps, best = found["steps"], found["best"]
    first = steps[0]
    plain = f"{first['cycles']:.0f}" if first["right"] else first["reason"]
    plain = "does not fit" if "capacity" in plain else plain
    shares, before = [], first
    for one in steps[1:]:
        if one["right"] and before["right"]:
            shares.append(f"{one['step']} {100 * (1 - one['cycles'] / before['cycles']):.0f} %")
        elif one["right"]:
            shares.append(one["step"])
        before = one if one["right"] else before
    against = "" if hand is None else f"{hand:.0f}"
    ratio = "" if hand is None else f"{best['cycles'] / hand:.2f}"
    bound = found["bound"]
    share = f"{bound['pipe'].removeprefix('PIPE_')} {100 * bound['cycles'] / best['cycles']:.0f} %"
    right = "yes" if found["compared"] else "timed only"
    cells = [
        name,
        plain,
        ", ".join(shares),
        f"{best['cycles']:.0f}",
        against,
        ratio,
        f"{bound['cycles']:.0f} ({share})",
    ]
    return f"| {' | '.join([*cells, right])} |"


def main(wanted: set[str], prove: list[str]) -> None:
    """Prints the table of the kernels that ``wanted`` names, all without names."""
    print("| kernel | plain | saved by each step | best | by hand | best / by hand | bound | compared |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for example in EXAMPLES:
            if example in NO_KERNELS or (wanted and example not in wanted):
                continue
            for case in load(example)[0]:
                if not case.program.endswith(".pto") or re.search("_instructions|_by_hand", case.program):
                    continue
                for target in case.targets:
                    try:
                        options = arguments(case, folder)
                    except KeyError:
                        continue
                    path = str(FOLDER / example / case.program)
                    launch = ["--entry", case.entry, "--target", target, *options]
                    found = asked(["optimize", path, *launch, *prove, "--output-format", "json"])
                    hand = by_hand(example, case, target, options, folder)
                    entry = f"{case.entry}_plain" if "_plain" in case.program else case.entry
                    print(row(f"{example}/{entry} {case.shapes}, {target}", found, hand), flush=True)
        vectors(folder, wanted, prove)
        products(folder, wanted, prove)


def vectors(folder: Path, wanted: set[str], prove: list[str]) -> None:
    """The rows of plain vector kernels."""
    path = folder / "plain.pto"
    for one in vector_kernels():
        for target in ("a2a3", "a5"):
            name = f"plain {one.name}, {target}"
            if wanted and not any(word in name for word in wanted):
                continue
            path.write_text(one.text, encoding="utf-8")
            launch = ["--entry", one.entry, "--target", target, "--blocks", str(BLOCKS)]
            found = asked(["optimize", str(path), *launch, *one.arguments, *prove, "--output-format", "json"])
            print(row(name, found, vector_by_hand(one, launch, folder)), flush=True)


def vector_by_hand(kernel: VectorKernel, launch: list[str], folder: Path) -> float | None:
    """The cycles of a vector kernel by hand, as tiles or, on a5, as vector functions: the shorter one."""
    path, form = folder / "hand.pto", folder / "hand_form.pto"
    path.write_text(kernel.hand, encoding="utf-8")
    cycles: list[float] = []
    for passes in ("assign-memory,insert-sync", "assign-memory,insert-sync,lower-vector")[: 1 + ("a5" in launch)]:
        made = [*PTO, "opt", "-p", passes, *launch[2:4], str(path), "-o", str(form)]
        if subprocess.run(made, capture_output=True, check=False).returncode == 0:
            found = asked(["run", str(form), "--cycles=json", "--quiet", *launch, *kernel.arguments, *kernel.more])
            programs = found.get("programs")
            cycles += [programs[0]["whole"]["cycles"]] if programs else []
    return min(cycles, default=None)


def products(folder: Path, wanted: set[str], prove: list[str]) -> None:
    """The rows of plain matrix products."""
    for one in kernels():
        if wanted and not any(word in f"{one.name}, {one.chip}" for word in wanted):
            continue
        path = folder / "plain.pto"
        path.write_text(one.text, encoding="utf-8")
        found = asked(["optimize", str(path), "--target", one.chip, *one.arguments, *prove, "--output-format", "json"])
        print(row(f"{one.name}, {one.chip}", found, product_by_hand(one, folder)), flush=True)


def product_by_hand(kernel: Kernel, folder: Path) -> float | None:
    """The cycles of a product in the tiles of a public kernel, ordered by flags or by the compiler: the shorter one."""
    if kernel.hand is None:
        return None
    path, flags = folder / "hand.pto", folder / "hand_flags.pto"
    path.write_text(product(kernel.hand), encoding="utf-8")
    subprocess.run([*PTO, "opt", "-p", "assign-memory,insert-sync", str(path), "-o", str(flags)], check=False)
    cycles: list[float] = []
    for form in (path, flags):
        found = asked(["run", str(form), "--cycles=json", "--quiet", *kernel.hand.arguments])
        programs = found.get("programs")
        cycles += [programs[0]["whole"]["cycles"]] if programs else []
    return min(cycles, default=None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="example, or part of the name of a kernel")
    parser.add_argument("--prove", action="store_true", help="prove each result")
    given = parser.parse_args()
    main({*given.names}, ["--prove"] if given.prove else [])
