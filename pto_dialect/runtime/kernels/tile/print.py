"""``tprint``: the valid region of a tile as text. Source: docs/reference/tiles.md, "Irregular operations".

The first line states rows and columns; each row is a line of numbers with a blank between them, floats with a fixed
number of decimals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format

from ..registry import kernel
from .memory import element_format, enum_value

FORMATS = {"width8_precision4": (8, 4), "width8_precision2": (8, 2), "width10_precision6": (10, 6)}


def tile_text(values: Array, width: int, precision: int) -> str:
    """Returns rows of numbers, right-aligned in ``width`` characters."""
    form = f">{width}d" if values.dtype.kind in "iub" else f">{width}.{precision}f"
    rows, cols = values.shape
    lines = (" ".join(format(value, form) for value in row) for row in values.tolist())
    return "".join(f"{line}\n" for line in (f"TPRINT {rows}x{cols}", *lines))


class Print:
    """Prints a tile or a view of global memory on standard output."""

    label = "tprint"

    def __init__(self, fmt: Format, form: str) -> None:
        self.fmt = fmt
        self.width, self.precision = FORMATS[form]

    def __call__(self, source: Any) -> None:
        """Prints the elements of ``source`` row by row."""
        values = source.matrix().read() if isinstance(source, GmTensor) else source.read()
        print(tile_text(np.asarray(decode(values, self.fmt)), self.width, self.precision), end="", flush=True)


@kernel("pto.tprint")
def tprint(op: PtoOp, g: Generator) -> None:
    """Prints a tile or a view on standard output."""
    source = g.operand(op, "src")
    assert source is not None
    if not isinstance(source.type, (t.TileBufType, t.TileType, t.ShapedView)):
        raise g.error("unmodelled", f"{t.type_text(source.type)} cannot be printed", op)
    instruction = Print(element_format(source.type, g), enum_value(op, "printFormat", "width8_precision4"))
    g.call(instruction, source, pipe=g.pipe(op))
