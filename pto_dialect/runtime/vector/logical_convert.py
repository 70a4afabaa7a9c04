"""Conversion of logical vectors. Source: docs/reference/vectors.md, "Conversion", "Logical vectors"."""

from __future__ import annotations

from ..memory.spaces import Array
from ..numerics.conversion import FormatConversion
from ..numerics.decode import decode


class Conversion(FormatConversion):
    """Every lane in another type, rounded by ``letter``. ``source`` and ``target`` state how the bits are read and
    written; both hold as many numbers."""

    def __call__(self, a: Array) -> Array:
        """Returns all lanes in the target format."""
        return self.encoded(decode(a.view(self.source.storage), self.source))
