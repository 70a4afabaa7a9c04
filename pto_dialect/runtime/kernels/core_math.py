"""``math``: scalar functions, computed in double precision and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ..generator import Generator
from .core_scalar import rounded
from .registry import kernel

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "absf": np.abs,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "powf": np.power,
    "roundeven": np.rint,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "fma": lambda a, b, c: a * b + c,
}
"""Functions of float64 by name."""


def _scalar(function: Callable[..., Any]) -> Callable[..., float]:
    def apply(*arguments: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(a) for a in arguments)))

    return apply


_SCALAR = {name: _scalar(function) for name, function in FUNCTIONS.items()}


@kernel(*(f"math.{name}" for name in _SCALAR))
def math_function(op: Operation, g: Generator) -> None:
    function = _SCALAR[op.name.removeprefix("math.")]
    arguments = ", ".join(g.name(v) for v in op.operands)
    g.define(op.results[0], rounded(f"{g.argument(function)}({arguments})", op.results[0].type, g))


@kernel("math.absi")
def absolute(op: Operation, g: Generator) -> None:
    g.define(op.results[0], f"abs({g.name(op.operands[0])})")
