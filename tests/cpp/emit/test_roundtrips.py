"""Programs printed as C++ and compiled again: they give the same results, bit by bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from random_tile_programs import RandomProgram, arguments

import pto_dialect
from pto_dialect.api import Module, parse
from pto_dialect.cpp.kernel import CppOptions, compile_kernel
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


def again(module: Module, target: str = "a2a3") -> Module:
    """The module that the C++ text of a module is."""
    text = pto_dialect.emit_cpp(module)
    return parse(compile_kernel(text, "again.cpp", CppOptions(target=target), every=True).text)


def results(module: Module, name: str, given: Sequence[Any]) -> list[bytes]:
    """What a function makes of copies of its arguments."""
    copies = [np.array(one) if isinstance(one, np.ndarray) else one for one in given]
    compile_function(module, name)(*copies)
    return [one.tobytes() for one in copies if isinstance(one, np.ndarray)]


@pytest.mark.parametrize("addresses", [True, False], ids=["addresses", "no addresses"])
def test_random_programs_give_the_same_results_after_a_round_trip(addresses: bool) -> None:
    programs = [RandomProgram(seed, "a2a3", addresses=addresses) for seed in SEEDS]
    module = parse(module_of(programs))
    compiled = again(module)
    for i, program in enumerate(programs):
        for count in (1, 3):
            given = arguments(program, count)
            assert results(compiled, f"f{i}", given) == results(module, f"f{i}", given), program.text
