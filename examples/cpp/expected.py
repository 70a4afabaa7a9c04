"""Exponentials of sums, and products of matrices."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import TOLERANCE, Accumulate, Product, Wanted, sums


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``z`` = exp(x + y) for ``add_exp``; ``c`` = a b, plus 1 for ``product_plus_one``.

    The scale of an exponential is itself: an error of its argument is one of the same size, relative to it.
    """
    if entry == "add_exp":
        z = np.exp(data["x"].astype(np.float64) + data["y"])
        return {"z": Wanted(z, z, TOLERANCE)}

    def product(multiply: Product) -> dict[str, np.ndarray]:
        c = multiply(data["a"], data["b"], None)
        return {"c": c + c.dtype.type(1) if entry == "product_plus_one" else c}

    return sums(product, accumulate)
