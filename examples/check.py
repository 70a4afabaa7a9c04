"""Runs a case and compares its results with what was computed from its inputs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import pto_dialect
import pto_dialect.api
from examples.case import Array, Case, Data
from examples.expectation import Accumulate, Wanted
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import BindingError, ProgramError

FOLDER = Path(__file__).resolve().parent


class Outcome(NamedTuple):
    """What became of one run; ``message`` says why there is no result.

    ``error`` and ``tolerance`` are those of the output that comes closest to its tolerance, or exceeds it most
    (``Wanted.error``). ``seconds`` is the time of the call, without compiling.
    """

    error: float
    tolerance: float
    seconds: float
    message: str = ""

    @property
    def passed(self) -> bool:
        """True if the results are as expected."""
        return not self.message and self.error <= self.tolerance


def run(example: str, case: Case, target: str, accumulate: Accumulate) -> tuple[dict[str, Array], float]:
    """Runs ``case`` on copies of its arrays; returns its outputs by name and the time of the call in seconds.

    Raises ``ValueError`` for a program with errors or warnings.
    """
    path = FOLDER / example / case.program
    verdict = pto_dialect.check(path, target)
    if verdict.diagnostics:
        raise ValueError(str(verdict))
    kernel = compile_kernel(module_of(path, target), entry_of(case), target, accumulate=accumulate)
    arguments = copied(case.data)
    started = perf_counter()
    returned = kernel(*arguments.values(), blocks=case.blocks)
    seconds = perf_counter() - started
    return outputs(case, arguments, returned), seconds


def module_of(path: Path, target: str) -> pto_dialect.api.Module:
    """The program in a file, in C++ or not."""
    if path.suffix == ".cpp":
        return pto_dialect.compile_cpp(path, target=target).module
    return pto_dialect.parse(path.read_text(encoding="utf-8"), path.name)


def entry_of(case: Case) -> str | None:
    """The function of a case; one in C++ is the only kernel of its file."""
    return None if case.program.endswith(".cpp") else case.entry


def copied(data: Data) -> dict[str, Any]:
    """The arguments with arrays of their own, which a kernel may write."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in data.items()}


def outputs(case: Case, arguments: dict[str, Any], returned: Any) -> dict[str, Array]:
    """What is compared after a run: arguments that were written, and tiles that were returned."""
    tiles = returned if isinstance(returned, (tuple, list)) else (returned,)
    found = arguments | {str(position): tile for position, tile in enumerate(tiles)}
    return {name: found[name] for name in case.outputs}


def outcome(example: str, case: Case, wanted: dict[str, Wanted], target: str, accumulate: Accumulate) -> Outcome:
    """Runs and compares one case."""
    try:
        results, seconds = run(example, case, target, accumulate)
    except (ValueError, BindingError, ProgramError) as error:
        return Outcome(np.inf, 0.0, 0.0, str(error))
    found = [Outcome(wanted[name].error(result), wanted[name].tolerance, seconds) for name, result in results.items()]
    return max(found, key=exhaustion)


def exhaustion(result: Outcome) -> float:
    """Which part of its tolerance an error uses up."""
    if result.tolerance:
        return result.error / result.tolerance
    return np.inf if result.error else 0.0
