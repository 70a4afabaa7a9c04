"""Random chains of vector operations on a2a3, on tiles that share bytes in whole and in part, large enough to be
streamed and not, through handles that loops and branches pass on.

A program is a function of its seed. It has loads before and stores after its chain, so that all is seen.
"""

from __future__ import annotations

from random import Random

import numpy as np

SIZES = ((64, 64), (16, 64), (4, 64))
"""Rows and columns of f32 tiles: 64, 16 and 4 repeats of 256 bytes."""
UNARY, BINARY = ("tabs", "trelu", "tneg"), ("tadd", "tmax", "tmin")


def _tile(size: tuple[int, int]) -> str:
    return f"!pto.tile_buf<vec, {size[0]}x{size[1]}xf32>"


class ChainProgram:
    """The text of a program for ``seed``; its arguments are two buffers of 64 x 64 f32."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.size = self.random.choice(SIZES)
        self.names = 0
        self.body: list[str] = []
        self.text = self._text()

    def _name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _text(self) -> str:
        rows, cols = self.size
        kind, part = _tile(self.size), f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
        view = "!pto.tensor_view<?x?xf32>"
        step = rows * cols * 4
        addresses = [step * self.random.randrange(3) + self.random.choice((0, 0, 0, step // 2)) for _ in range(4)]
        head = [f"%c{number} = arith.constant {number} : index" for number in sorted({0, 1, 2, 3, 64, rows, cols})]
        for name in "xy":
            head += [
                f"%g{name} = pto.make_tensor_view %{name}, shape = [%c64, %c64], strides = [%c64, %c1] : {view}",
                f"%w{name} = pto.partition_view %g{name}, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}] "
                f": {view} -> {part}",
            ]
        for number, address in enumerate(addresses):
            head.append(f"%at{number} = arith.constant {address} : i64")
            head.append(f"%t{number} = pto.alloc_tile addr = %at{number} : {kind}")
        tiles = [f"%t{number}" for number in range(4)]
        head += [f"pto.tload ins(%wx : {part}) outs({tile} : {kind})" for tile in tiles]
        self._chain(tiles, kind, 0)
        tail = [f"pto.tstore ins({tiles[0]} : {kind}) outs(%wy : {part})"]
        lines = "\n".join(f"    {line}" for line in (*head, *self.body, *tail))
        return (
            'module attributes {pto.target_arch = "a2a3"} {\n'
            "  func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {pto.entry} {\n"
            f"{lines}\n    return\n  }}\n}}\n"
        )

    def _chain(self, tiles: list[str], kind: str, depth: int) -> None:
        for _ in range(self.random.randrange(2, 5)):
            if depth < 1 and self.random.random() < 0.35:
                self._loop(tiles, kind)
            else:
                self._operation(tiles, kind)

    def _operation(self, tiles: list[str], kind: str) -> None:
        first, second, target = (self.random.choice(tiles) for _ in range(3))
        if self.random.random() < 0.4:
            self.body.append(f"pto.{self.random.choice(UNARY)} ins({first} : {kind}) outs({target} : {kind})")
        else:
            name = self.random.choice(BINARY)
            self.body.append(f"pto.{name} ins({first}, {second} : {kind}, {kind}) outs({target} : {kind})")

    def _loop(self, tiles: list[str], kind: str) -> None:
        """A loop that swaps two handles, or passes none on."""
        first, second = self.random.sample(tiles, 2)
        index, one, other, result = (self._name() for _ in range(4))
        turns = self.random.choice((1, 2, 3))
        if self.random.random() < 0.3:
            self.body.append(f"scf.for {index} = %c0 to %c{turns} step %c1 {{")
            self._chain(tiles, kind, 1)
            self.body.append("}")
            return
        self.body.append(
            f"{result}:2 = scf.for {index} = %c0 to %c{turns} step %c1 "
            f"iter_args({one} = {first}, {other} = {second}) -> ({kind}, {kind}) {{"
        )
        self._chain([*tiles, one, other], kind, 1)
        self.body += [f"scf.yield {other}, {one} : {kind}, {kind}", "}"]


def chain_arguments(seed: int) -> list[np.ndarray]:
    """Buffers for a program."""
    values = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
    return [values, np.zeros_like(values)]
