"""``tprint``: what is on standard output, on each target."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import TileData, run


def printed(capfd: pytest.CaptureFixture[str], element: str, data: np.ndarray, clause: str = "", **options) -> str:
    found = []
    for target in ("a2a3", "a5"):
        run(f"pto.tprint ins(%a : {{a}}){clause}", TileData("a", element, data, **options), target=target)
        found.append(capfd.readouterr().out)
    assert found[0] == found[1]
    return found[0]


def test_floats_have_fixed_decimals(capfd: pytest.CaptureFixture[str]) -> None:
    data = np.zeros((2, 8), np.float32)
    data[0, :3] = [1.5, -2.25, 1000.125]
    data[1, :3] = [np.inf, np.nan, -0.00004]
    assert printed(capfd, "f32", data, valid=(2, 3)) == (
        "TPRINT 2x3\n  1.5000  -2.2500 1000.1250\n     inf      nan  -0.0000\n"
    )


@pytest.mark.parametrize(("word", "line"), [("width8_precision2", "    0.33"), ("width10_precision6", "  0.333252")])
def test_formats(capfd: pytest.CaptureFixture[str], word: str, line: str) -> None:
    data = np.zeros((1, 16), np.float16)
    data[0, 0] = 1 / 3
    clause = f" {{printFormat = #pto<print_format {word}>}}"
    assert printed(capfd, "f16", data, clause, valid=(1, 1)) == f"TPRINT 1x1\n{line}\n"


def test_integers(capfd: pytest.CaptureFixture[str]) -> None:
    data = np.arange(-1, 31, dtype=np.int8).reshape(1, 32)
    assert printed(capfd, "i8", data, valid=(1, 2), dynamic=True) == "TPRINT 1x2\n      -1        0\n"
