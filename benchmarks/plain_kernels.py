"""Plain matrix products with the same product by hand, in the tiles that the public kernels have.

The plain ones are loops over small tiles or one tile operation for everything. By hand are base tiles of 128 x 256
sums, panels of several steps along k in two buffers of L1, and two halves of L0, on one core (cycle_programs.py);
their scales of microscaling products are loaded once for all. By hand, sizes that are no multiples of these tiles are
padded to such, and one row is computed as 16.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from cycle_programs import Product
from plain_families import Kind
from plain_products import Plain


@dataclass(frozen=True)
class Kernel:
    """A plain program with the elements and shapes of its arguments, and the product by hand."""

    name: str
    chip: str
    text: str
    shapes: dict[str, tuple[str, int, int]]
    hand: Product | None = None

    @property
    def work(self) -> int:
        """Multiplications."""
        (_, rows, depth), (_, cols, _) = self.shapes["a"], (None, self.shapes["c"][2], None)
        return rows * depth * cols

    @property
    def arguments(self) -> list[str]:
        """Options of the commands: contents only where something runs with them."""
        content = "random" if self.work < 2 * 10**9 else "zeros"
        return [
            option
            for name, (element, rows, cols) in self.shapes.items()
            for option in ("--arg", f"{name}={content}:{element.removeprefix('!pto.')}:{rows}x{cols}")
        ]


def kernels() -> list[Kernel]:
    """All of them."""
    found: list[Kernel] = []
    for chip in ("a2a3", "a5"):
        found += [_square(size, element, chip) for element in ("f16", "i8") for size in (512, 1536, 3072, 6144)]
        found += [_ragged(1000, 700, 900, chip), _ragged(333, 1111, 555, chip), _batch(8, 256, 512, 256, chip)]
        found += [_row(4096, 2048, chip), _dequantised(512, 1024, 1024, chip)]
    return [*found, *(_scaled(size) for size in (512, 2048, 4096))]


def _plain(name: str, one: Plain, chip: str, hand: Product | None) -> Kernel:
    shapes = {"a": (one.element, one.m, one.k), "b": (one.element, one.k, one.n), "c": (one.out, one.m, one.n)}
    return Kernel(name, chip, str(one), shapes, hand)


def _square(size: int, element: str, chip: str) -> Kernel:
    out = "i32" if element == "i8" else "f32"
    one = Plain(size, size, size, loops="ijp", tile=64, element=element, out=out, target=chip)
    step = 128 if element == "i8" else 64
    steps = 2 if size == 512 and element == "i8" else 4
    hand = Product(size, size, size, element, out, (1, 1), (128, step, 256), steps, chip=chip)
    return _plain(f"{element} {size}³ in 64³ tiles", one, chip, hand)


def _ragged(m: int, n: int, k: int, chip: str) -> Kernel:
    steps = 4 if k > 640 else 5
    rows, cols, depth = (-(-size // unit) * unit for size, unit in ((m, 128), (n, 256), (k, 128 * steps)))
    hand = Product(rows, depth, cols, "f16", "f32", (1, 1), (128, 64, 256), steps, chip=chip)
    return _plain(f"f16 {m}x{k} · {k}x{n} in one operation", Plain(m, n, k, target=chip), chip, hand)


def _kind(name: str, one: Kind, hand: Product | None) -> Kernel:
    many = max(one.batch, 1)
    shapes = {array: (element, rows * many, cols) for array, (element, rows, cols) in one.shapes.items()}
    return Kernel(name, one.target, str(one), shapes, hand)


def _batch(batch: int, m: int, n: int, k: int, chip: str) -> Kernel:
    tiles = (m // 64, n // 64, k // 64)
    one = Kind(m=64, n=64, k=64, tiles=tiles, batch=batch, target=chip)
    steps = min(4, k // 2 // 64)
    hand = Product(m, k, n, "f16", "f32", (1, 1), (128, 64, 256), steps, chip=chip, batch=batch)
    return _kind(f"f16 {batch} times {m}x{k} · {k}x{n} in 64³ tiles", one, hand)


def _row(n: int, k: int, chip: str) -> Kernel:
    one = Kind("tgemv", m=1, n=64, k=64, tiles=(1, n // 64, k // 64), target=chip)
    hand = Product(16, k, n, "f16", "f32", (1, 1), (16, 64, 256), 4, chip=chip)
    return _kind(f"f16 row of {k} · {k}x{n} in 64² tiles", one, hand)


def _dequantised(m: int, n: int, k: int, chip: str) -> Kernel:
    tiles = (m // 64, n // 64, k // 64)
    one = Kind(m=64, n=64, k=64, tiles=tiles, element="i8", out="f16", table=True, target=chip)
    hand = Product(m, k, n, "i8", "f16", (1, 1), (128, 128, 256), 4, chip=chip, quantised=True)
    return _kind(f"i8 {m}x{k} · {k}x{n}, a scale for each column, in 64³ tiles", one, hand)


def _scaled(size: int) -> Kernel:
    tiles = (size // 64, size // 64, size // 64)
    one = Kind("tmatmul.mx", m=64, n=64, k=64, tiles=tiles, element="f8E4M3FN")
    steps = min(4, size // 2 // 128)
    hand = Product(size, size, size, "f8E4M3FN", "f32", (1, 1), (128, 128, 256), steps, scaled=True, chip="a5")
    return _kind(f"f8 with scales {size}³ in 64³ tiles", one, hand)
