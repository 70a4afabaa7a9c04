"""Comparison modes of tiles and vector registers. Source: docs/reference/tiles.md, "Elementwise";
docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""By mode; NaN compares false except for ``ne``."""
