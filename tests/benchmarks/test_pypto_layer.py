"""The script that runs a decoder layer: its reference."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import pypto_layer  # noqa: E402


def test_norm_and_error() -> None:
    values = np.array([[3.0, 4.0]])
    assert np.allclose(pypto_layer.normed(values, np.array([[1.0, 2.0]]), 0.0), [[3 / 12.5**0.5, 8 / 12.5**0.5]])
    assert pypto_layer.relative(np.array([3.0, 5.0]), np.array([3.0, 4.0])) == 0.2
