"""Conversion of logical vectors. Source: docs/reference/vectors.md, "Conversion", "Logical vectors"."""

from __future__ import annotations

from dataclasses import dataclass

from ..memory.spaces import Array
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format


@dataclass(eq=False)
class Conversion:
    """Every lane in another type, rounded by ``letter``. ``source`` and ``target`` say how the bits are read and
    written; both hold as many numbers."""

    source: Format
    target: Format
    letter: str
    saturate: bool

    @property
    def label(self) -> str:
        """The name in generated code."""
        return f"cvt_{self.source.name}_{self.target.name}"

    def __call__(self, a: Array) -> Array:
        """All lanes in the target format."""
        values = decode(a.view(self.source.storage), self.source)
        return encode(values, self.target, rounding=self.letter, saturate=self.saturate)
