"""What one run of an example kernel consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

Data = Mapping[str, Any]
"""Arguments of a kernel by name, in the order of its parameters: arrays (inputs and initial outputs) and
numbers."""


@dataclass(frozen=True)
class Case:
    """One kernel with its arguments.

    ``entry`` is the function, ``program`` the file in the folder of the example, ``shapes`` the text shown
    for it, ``targets`` the targets it is legal for. ``outputs`` names what is compared: arguments, or
    ``"0"``, ``"1"`` for tiles that the function returns. ``blocks`` is the number of blocks of the launch.
    """

    entry: str
    program: str
    shapes: str
    data: Data
    outputs: tuple[str, ...]
    targets: tuple[str, ...] = ("a5",)
    blocks: int = 1
