"""Pairs of features (j, j + width/2), turned by the angle that belongs to the token's position and j."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_NORMAL, F16_ROUNDING, TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [tokens, heads, width] for ``x`` of that shape, ``cos`` and ``sin`` [positions, width/2] and
    ``positions`` [tokens].

    The pair is a complex number, and turning it a product. The scale is its length: two products of f32 and their
    sum, then the rounding to f16.
    """
    x = data["x"].astype(np.float64)
    half = x.shape[-1] // 2
    pair = x[..., :half] + 1j * x[..., half:]
    turn = (data["cos"].astype(np.float64) + 1j * data["sin"])[data["positions"], None, :]
    turned = pair * turn
    y = np.concatenate([turned.real, turned.imag], axis=-1)
    length = np.maximum(np.abs(turned), F16_NORMAL)
    return {"y": Wanted(y, np.concatenate([length, length], axis=-1), TOLERANCE + F16_ROUNDING)}
