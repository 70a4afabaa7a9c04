"""Tiles generated from numbers: sequences, triangles, random words. Source: docs/reference/tiles.md, "Irregular
operations"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format

from ..registry import kernel
from .operands import AnyTile, number, store, tile_format


def integer_attribute(op: PtoOp, name: str, default: int) -> int:
    """Returns the value of an integer or boolean attribute."""
    attr = op.attributes.get(name)
    return int(attr.value.data) if isinstance(attr, IntegerAttr) else default


@dataclass(eq=False)
class Sequence:
    """dst(0,c) = start + step·c over the valid columns of row 0."""

    label = "tci"

    fmt: Format
    step: int

    def __call__(self, start: int, dst: AnyTile) -> None:
        """Writes the numbers from ``start`` to the first row of ``dst``."""
        if dst.valid_rows:
            values = start + self.step * np.arange(dst.valid_cols, dtype=np.int64)
            dst.write(values.astype(self.fmt.storage).reshape(1, -1))


class Triangle:
    """dst(r,c) = 1 where c <= r + diagonal (lower) or c >= r + diagonal (upper), else 0."""

    label = "ttri"

    def __init__(self, upper: bool) -> None:
        self.upper = upper

    def __call__(self, diagonal: int, dst: AnyTile) -> None:
        """Writes the triangle of ``diagonal`` to the valid region of ``dst``."""
        rows, cols = dst.valid_rows, dst.valid_cols
        limit = np.arange(rows)[:, None] + diagonal
        inside = np.arange(cols) >= limit if self.upper else np.arange(cols) <= limit
        store(dst, lambda out: np.copyto(out, inside, casting="unsafe"))


_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LANES = 64
_WORD = 0xFFFFFFFF


def philox(counters: Array, keys: tuple[int, int], rounds: int) -> Array:
    """Computes Philox 4x32: words [n, 4] for counters [n, 4], both uint64 arrays of 32-bit values."""
    c0, c1, c2, c3 = (counters[:, i].copy() for i in range(4))
    k0, k1 = keys
    low = np.uint64(_WORD)
    for _ in range(rounds):
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c2 = (second >> np.uint64(32)) ^ c1 ^ np.uint64(k0), (first >> np.uint64(32)) ^ c3 ^ np.uint64(k1)
        c1, c3 = second & low, first & low
        k0, k1 = (k0 + _KEY_STEPS[0]) & _WORD, (k1 + _KEY_STEPS[1]) & _WORD
    return np.stack([c0, c1, c2, c3], axis=1)


def counter_words(base: int, lanes: int) -> Array:
    """Returns the 128-bit counters base, base + 1 … as words [lanes, 4], lowest word first."""
    values = [(base + lane) & ((1 << 128) - 1) for lane in range(lanes)]
    return np.array([[value >> (32 * i) & _WORD for i in range(4)] for value in values], np.uint64)


class RandomWords:
    """Random words in row-major order: lane j of a step uses counter + j and yields columns 4j … 4j+3.

    A step covers 256 columns. The counter advances by 64 after each step, after the last one of a row by ((columns − 1)
    mod 64) + 1.
    """

    label = "trandom"

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def __call__(
        self, key0: int, key1: int, counter0: int, counter1: int, counter2: int, counter3: int, dst: AnyTile
    ) -> None:
        """Writes words for a 64-bit key and a 128-bit counter, both as 32-bit numbers, to the valid region of ``dst``,
        in row-major order."""
        rows, cols = dst.valid_rows, dst.valid_cols
        if not (rows and cols):
            return
        keys = (key0 & _WORD, key1 & _WORD)
        words = (counter0, counter1, counter2, counter3)
        counter = sum((digits & _WORD) << (32 * i) for i, digits in enumerate(words))
        steps = -(-cols // (4 * _LANES))
        result = np.empty((rows, steps * 4 * _LANES), np.uint32)
        for row in range(rows):
            for step in range(steps):
                block = philox(counter_words(counter, _LANES), keys, self.rounds)
                result[row, step * 4 * _LANES : (step + 1) * 4 * _LANES] = block.reshape(-1)
                counter += _LANES if step < steps - 1 else (cols - 1) % _LANES + 1
        dst.write(result[:, :cols].view(dst.fmt.storage))


@kernel("pto.tci")
def tci(op: PtoOp, g: Generator) -> None:
    """dst(0,c) = start + c, or start − c."""
    dst = g.destination(op)
    fmt = tile_format(dst, g)
    step = -1 if integer_attribute(op, "descending", 0) else 1
    g.call(Sequence(fmt, step), number(g, named(op, "S"), fmt), dst, pipe=g.pipe(op))


@kernel("pto.ttri")
def ttri(op: PtoOp, g: Generator) -> None:
    """dst = ones on one side of a diagonal, zeros on the other."""
    dst = g.destination(op)
    tile_format(dst, g)
    triangle = Triangle(bool(integer_attribute(op, "upperOrLower", 0)))
    g.call(triangle, named(op, "diagonal"), dst, pipe=g.pipe(op))


@kernel("pto.trandom")
def trandom(op: PtoOp, g: Generator) -> None:
    """dst = random 32-bit words of the generator Philox for a key and a counter."""
    dst = g.destination(op)
    tile_format(dst, g)
    words = RandomWords(integer_attribute(op, "rounds", 10))
    numbers = (named(op, name) for name in ("key0", "key1", *(f"counter{i}" for i in range(4))))
    g.call(words, *numbers, dst, pipe=g.pipe(op))
