"""Powers of floats (docs/reference/tiles.md, "Elementwise")."""

from __future__ import annotations

from typing import Any

import numpy as np


def power(base: Any, exponent: Any) -> Any:
    """Returns base^exponent in their common type, with IEEE 754's results for zeros, infinities and NaN.

    numpy takes the root for a single exponent 0.5, which differs: (−0)^0.5 is 0 and (−∞)^0.5 is ∞.
    """
    found = np.power(base, exponent)
    differs = np.equal(exponent, 0.5) & (np.equal(base, 0) | np.isneginf(base))
    return np.where(differs, np.square(base), found) if np.any(differs) else found
