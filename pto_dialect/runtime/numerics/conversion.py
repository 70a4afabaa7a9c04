"""Shared parts of the conversions of tiles, registers and numbers. Source: docs/reference/numerics.md, "Rounding"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .encode import encode
from .formats import Format


@dataclass(eq=False)
class FormatConversion:
    """Converts numbers of one format to another one, rounded by ``letter``; where it saturates, large ones
    are clamped."""

    prefix: ClassVar[str] = "cvt"

    source: Format
    target: Format
    letter: str
    saturate: bool

    @property
    def label(self) -> str:
        """The name in generated code."""
        return f"{self.prefix}_{self.source.name}_{self.target.name}"

    def encoded(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Returns the bits of numbers in the target format."""
        return encode(values, self.target, rounding=self.letter, saturate=self.saturate)
