"""Products with and without a start, and the write-back with a leaky relu."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import Accumulate, Product, Wanted, sums

F16_MAX = 65504.0


def leaky(a: Array, b: Array) -> Array:
    """Nearest f16 of q = ``a b`` where q ≥ 0 and of q / 4 elsewhere, saturated; exact sums (docs/reference/numerics.md,
    "Write-back").
    """
    total = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    active = np.where(total >= 0, total, total * np.float32(0.25))
    return np.clip(active, -F16_MAX, F16_MAX).astype(np.float16)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """The outputs of a function of the four programs."""
    return sums(lambda product: products(entry, data, product), accumulate)


def products(entry: str, data: Data, product: Product) -> dict[str, Array]:
    """Results by name: ``c`` or ``y`` where there is such an argument, else the returned tiles by
    position."""
    a, b = data["a"], data["b"]
    if entry == "main":
        x = data["x"]
        starts = ((a, None), (a, data["acc0"]), (x, None), (x, data["row0"]), (x, data["bias"]))
        return {str(position): product(left, b, start) for position, (left, start) in enumerate(starts)}
    if entry == "mte_l0c_l1":
        # The way back is a product with the identity, so its f32 results are the f16 values.
        return {"y": product(leaky(a, b), np.eye(32, dtype=np.float16), None)}
    start = product(data["a0"], data["b0"], None) if "a0" in data else data.get("init")
    return {"c" if "c" in data else "0": product(a, b, start)}
