"""What a transfer copies, as nested repetitions with a distance on either side.

Source: docs/reference/layouts.md, "Transfers", "Tile layouts".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Tile
from pto_dialect.passes.instructions.views import Step
from pto_dialect.passes.instructions.writer import Number, Writer


class Repetition(NamedTuple):
    """``times`` times, ``outside`` elements apart in global memory and ``inside`` elements apart on the chip."""

    times: Number
    outside: Number
    inside: int


class Lines(NamedTuple):
    """How rows and columns of a tile lie in its memory, each as nested steps, outermost first."""

    rows: tuple[Step, ...]
    cols: tuple[Step, ...]


def lines_of(writer: Writer, tile: Tile, rows: Number, cols: Number) -> Lines:
    """Returns the steps of ``rows`` x ``cols`` elements of a tile. Raises :class:`NotLoweredError`."""
    if tile.kind == "ND":
        return Lines((Step(rows, tile.base_type.cols),), (Step(cols, 1),))
    if tile.kind == "DN":
        return Lines((Step(rows, 1),), (Step(cols, tile.base_type.rows),))
    if tile.kind != "NZ" or tile.width * tile.bytes != ROW_BYTES:
        raise NotLoweredError(writer.anchor, f"no transfer makes the layout {tile.kind}")
    width = tile.width
    if not isinstance(cols, int):
        raise NotLoweredError(writer.anchor, "only a run knows how many columns of blocks it copies")
    if cols % width and cols > width:
        raise NotLoweredError(writer.anchor, f"the last of its columns of blocks has less than {width} elements")
    blocks = (Step(cols // width, tile.height * width), Step(width, 1)) if cols > width else (Step(cols, 1),)
    return Lines((Step(rows, width),), blocks)


def paired(writer: Writer, outside: Sequence[Step], inside: Sequence[Step], size: Number) -> list[Repetition]:
    """Returns both sides of one direction of ``size`` elements, outermost first. Raises :class:`NotLoweredError` where
    one begins a new line in the midst of one of the other."""
    if len(outside) == 1 and len(inside) == 1:
        return [Repetition(size, outside[0].stride, _known(writer, inside[0].stride))]
    left = [Step(size, outside[0].stride)] if len(outside) == 1 else list(outside)
    right = [Step(size, inside[0].stride)] if len(inside) == 1 else list(inside)
    pairs: list[Repetition] = []
    while left:
        one, other = left.pop(), right.pop()
        outermost = not left and not right
        count = (
            one.size if outermost or writer.is_equal(one.size, other.size) else _shorter(writer, one.size, other.size)
        )
        pairs.append(Repetition(count, one.stride, _known(writer, other.stride)))
        if not outermost and not writer.is_equal(one.size, other.size):
            stack, step = (left, one) if not writer.is_equal(one.size, count) else (right, other)
            stack.append(_rest(writer, step, count))
    assert not right
    return pairs[::-1]


def _known(writer: Writer, stride: Number) -> int:
    if not isinstance(stride, int):
        raise NotLoweredError(writer.anchor, "only a run knows how its view and its tile go together")
    return stride


def _shorter(writer: Writer, one: Number, other: Number) -> int:
    """Returns the shorter one of two sizes, of which one at most is known in a run only: it has more lines in it."""
    known = [size for size in (one, other) if isinstance(size, int)]
    if not known:
        raise NotLoweredError(writer.anchor, "only a run knows how its view and its tile go together")
    return min(known)


def _rest(writer: Writer, step: Step, taken: Number) -> Step:
    """Returns what is left of a step when ``taken`` of its elements are one inner step."""
    assert isinstance(taken, int)
    if isinstance(step.size, int) and step.size % taken:
        raise NotLoweredError(writer.anchor, "lines of its view end in the midst of lines of its tile")
    return Step(writer.div(step.size, taken), writer.mul(step.stride, taken))
