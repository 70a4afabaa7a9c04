"""Runs a case and compares its results with what was computed from its inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np

import pto_dialect
from examples.case import Array, Case, Data, Product
from examples.fma_model import sequential_fma
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import BindingError, ProgramError

FOLDER = Path(__file__).resolve().parent
TOLERANCE = 1e-5
"""Largest error of an f32 result, relative to Σ|a·b| + |init| of its element."""

Accumulate = Literal["fast", "exact"]
Formula = Callable[[str, Data, Product], dict[str, Array]]
"""``expected(entry, data, product)`` of an example: its results by name."""


class Outcome(NamedTuple):
    """What became of one run; ``message`` says why there is no result.

    ``error`` is the largest deviation over all outputs: for f32 results relative to Σ|a·b| + |init|, or with
    exact accumulation the number of elements whose bits differ; for integers the difference. ``seconds`` is
    the time of the call, without compiling.
    """

    error: float
    tolerance: float
    seconds: float
    message: str = ""

    @property
    def passed(self) -> bool:
        """True if the results are as expected."""
        return not self.message and self.error <= self.tolerance


def wide_product(a: Array, b: Array, init: Array | None) -> Array:
    """``init + a b`` in float64, whose own error is far below that of any f32 sum."""
    total = a.astype(np.float64) @ b.astype(np.float64)
    return total if init is None else total + init


def magnitude(a: Array, b: Array, init: Array | None) -> Array:
    """Σ|a·b| + |init| of every element: what the error of a sum is compared with."""
    return wide_product(np.abs(a), np.abs(b), None if init is None else np.abs(init))


class Expectation:
    """The results that a case shall have.

    ``fast`` accumulation is compared with the sum in float64, ``exact`` accumulation bit by bit with the
    chain of fused multiply-adds.
    """

    def __init__(self, case: Case, formula: Formula, accumulate: Accumulate) -> None:
        self.exact = accumulate == "exact"
        self.values = formula(case.entry, case.data, sequential_fma if self.exact else wide_product)
        self.scales = formula(case.entry, case.data, magnitude)

    @property
    def tolerance(self) -> float:
        """Largest error of any output: 0 for integers and with exact accumulation."""
        integers = any(value.dtype.kind in "iu" for value in self.values.values())
        return 0.0 if self.exact or integers else TOLERANCE

    def error(self, name: str, result: Array) -> float:
        """Error of output ``name``; infinite for a wrong shape or kind of element and for NaN."""
        value = self.values[name]
        integer = value.dtype.kind in "iu"
        if result.shape != value.shape or (result.dtype.kind in "iu") != integer:
            return np.inf
        if integer:
            return float(np.abs(result.astype(np.int64) - value).max())
        if self.exact:
            return float(np.count_nonzero(result.view(np.uint32) != value.view(np.uint32)))
        distance = np.abs(result - value)
        errors = np.full(value.shape, np.inf)
        np.divide(distance, self.scales[name], out=errors, where=self.scales[name] > 0)
        errors[distance == 0] = 0
        return np.inf if np.isnan(errors).any() else float(errors.max())


def run(example: str, case: Case, target: str, accumulate: Accumulate) -> tuple[dict[str, Array], float]:
    """Runs ``case`` on copies of its arrays; returns its outputs by name and the time of the call in seconds.

    Raises ``ValueError`` for a program with errors or warnings.
    """
    path = FOLDER / example / case.program
    verdict = pto_dialect.check(path, target)
    if verdict.diagnostics:
        raise ValueError(str(verdict))
    module = pto_dialect.parse(path.read_text(encoding="utf-8"), path.name)
    kernel = compile_kernel(module, case.entry, target, accumulate=accumulate)
    arguments = copied(case.data)
    started = perf_counter()
    returned = kernel(*arguments.values(), blocks=case.blocks)
    seconds = perf_counter() - started
    return outputs(case, arguments, returned), seconds


def copied(data: Data) -> dict[str, Any]:
    """The arguments with arrays of their own, which a kernel may write."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in data.items()}


def outputs(case: Case, arguments: dict[str, Any], returned: Any) -> dict[str, Array]:
    """What is compared after a run: arguments that were written, and tiles that were returned."""
    tiles = returned if isinstance(returned, (tuple, list)) else (returned,)
    found = arguments | {str(position): tile for position, tile in enumerate(tiles)}
    return {name: found[name] for name in case.outputs}


def outcome(example: str, case: Case, expectation: Expectation, target: str, accumulate: Accumulate) -> Outcome:
    """Runs and compares one case."""
    try:
        results, seconds = run(example, case, target, accumulate)
    except (ValueError, BindingError, ProgramError) as error:
        return Outcome(np.inf, 0.0, 0.0, str(error))
    error = max(expectation.error(name, result) for name, result in results.items())
    return Outcome(error, expectation.tolerance, seconds)
