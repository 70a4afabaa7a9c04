"""Programs printed as C++ and compiled again: they give the same results, bit by bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_tile_programs import RandomProgram, arguments
from snapshots import Block, files, read

import pto_dialect
from pto_dialect.api import Module, check, parse
from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.api import compile as compile_function

SEEDS = range(24)
HEAD = re.compile(r"func\.func @f\(")


def renamed(program: RandomProgram, name: str) -> str:
    """The function of a random program under another name, without the module."""
    return HEAD.sub(f"func.func @{name}(", "\n".join(program.text.splitlines()[1:-1]))


def module_of(programs: Sequence[RandomProgram]) -> str:
    """One module with the functions of random programs."""
    functions = "\n".join(renamed(program, f"f{i}") for i, program in enumerate(programs))
    return f'module attributes {{pto.target_arch = "a2a3"}} {{\n{functions}\n}}\n'


def again_text(program: str, target: str) -> str:
    """The program that the C++ text of a program is."""
    text = pto_dialect.emit_cpp(parse(program))
    return compile_kernel(text, "again.cpp", CppOptions(target=target), every=True).text


def results(module: Module, name: str, given: Sequence[Any]) -> list[bytes]:
    """What a function makes of copies of its arguments."""
    copies = [np.array(one) if isinstance(one, np.ndarray) else one for one in given]
    compile_function(module, name)(*copies)
    return [one.tobytes() for one in copies if isinstance(one, np.ndarray)]


@pytest.mark.parametrize("addresses", [True, False], ids=["addresses", "no addresses"])
def test_random_programs_give_the_same_results_after_a_round_trip(addresses: bool) -> None:
    programs = [RandomProgram(seed, "a2a3", addresses=addresses) for seed in SEEDS]
    module = parse(module_of(programs))
    compiled = parse(again_text(module_of(programs), "a2a3"))
    for i, program in enumerate(programs):
        for count in (1, 3):
            given = arguments(program, count)
            assert results(compiled, f"f{i}", given) == results(module, f"f{i}", given), program.text


BLOCKS = [
    block for file in files("cpp", "emit", "snapshots") for block in read(file)[1] if " error: " not in block.output
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.title)
def test_text_of_the_snapshot_compiles(block: Block) -> None:
    target = "a5" if 'target_arch = "a5"' in block.program else "a2a3"
    found = check(again_text(block.program, target)).diagnostics
    assert not [str(one) for one in found if one.severity is Severity.ERROR]


EXAMPLES = Path(__file__).parents[3] / "examples" / "cpp"


def example_arguments(name: str) -> dict[str, Any]:
    """Arguments of an example, the same each time."""
    random = np.random.default_rng(3)
    half = {one: random.standard_normal((64, 64)).astype(np.float16) for one in ("a", "b")}
    match name:
        case "add_exp":
            rows = {one: random.standard_normal(1024).astype(np.float32) for one in ("x", "y")}
            return {**rows, "z": np.zeros(1024, np.float32), "n": 4}
        case "gemm":
            wide = {one: random.standard_normal(64 * 192).astype(np.float16) for one in ("a", "b")}
            return {"c": np.zeros((64, 64), np.float32), **wide}
        case _:
            return {"area": np.zeros(16, np.int64), "c": np.zeros((64, 64), np.float32), **half}


@pytest.mark.parametrize("name", ["add_exp", "gemm", "product_plus_one"])
def test_examples_give_the_same_results_after_a_round_trip(name: str) -> None:
    first = pto_dialect.compile_cpp(str(EXAMPLES / f"{name}.cpp")).module
    second = parse(again_text(pto_dialect.print_module(first), "a2a3"))
    made = []
    for module in (first, second):
        given = example_arguments(name)
        pto_dialect.run(module, given)
        made.append({key: value.tobytes() for key, value in given.items() if isinstance(value, np.ndarray)})
    assert made[0] == made[1]
    assert any(np.frombuffer(made[0][key], np.uint8).any() for key in ("z", "c") if key in made[0])


def test_parameters_keep_their_names() -> None:
    program = """\
module attributes {pto.target_arch = "a2a3"} {
  func.func @k(%__run_time_block: !pto.ptr<i32>, %n__: i32) {
    %c0 = arith.constant 0 : index
    pto.store_scalar %n__, %__run_time_block[%c0] : !pto.ptr<i32>, i32
    return
  }
}
"""
    assert "@k(%__run_time_block: !pto.ptr<i32>, %n__: i32)" in again_text(program, "a2a3")
