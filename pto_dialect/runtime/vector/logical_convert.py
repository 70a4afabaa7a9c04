"""Conversion of logical vectors. Source: docs/reference/vectors.md, "Conversion", "Logical vectors"."""

from __future__ import annotations

from ..memory.spaces import Array
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format


class Conversion:
    """Every lane in another type, rounded by ``letter``. ``source`` and ``target`` say how the bits are read and
    written; both hold as many numbers."""

    def __init__(self, source: Format, target: Format, letter: str, saturate: bool) -> None:
        self.source = source
        self.target = target
        self.letter = letter
        self.saturate = saturate
        self.label = f"cvt_{source.name}_{target.name}"

    def __call__(self, a: Array) -> Array:
        """All lanes in the target format."""
        values = decode(a.view(self.source.storage), self.source)
        return encode(values, self.target, rounding=self.letter, saturate=self.saturate)
