"""Plain vector kernels in the sizes of real ones, with the same kernel by hand.

The texts are those of the examples, which have sizes that fit the unified buffer as they are; numbers of rows and
columns are replaced.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.check import FOLDER

BLOCKS = 2
"""Blocks of each launch."""


@dataclass(frozen=True)
class VectorKernel:
    """A plain program and the one by hand, with the options that give each its arguments; ``entry`` is a function of
    both."""

    name: str
    entry: str
    text: str
    hand: str
    arguments: tuple[str, ...]
    more: tuple[str, ...] = ()
    """Arguments of the one by hand alone."""


def vector_kernels() -> list[VectorKernel]:
    """All of them."""
    norm = (FOLDER / "rms_norm" / "rms_norm.pto").read_text(encoding="utf-8")
    plain = _resized("rms_norm/rms_norm_plain.pto", (8, 32), (1024, 4096))
    found = [VectorKernel("rms_norm 32x4096, f32", "rms_norm_f32", plain, norm, _arrays(32, 4096), _given(rows=32))]
    for rows, width in ((64, 1024), (256, 1024)):
        files = [f"layer_norm/layer_norm{kind}.pto" for kind in ("_plain", "")]
        texts = [_resized(file, (32, rows), (256, width)) for file in files]
        hand = texts[1].replace("%panels = arith.constant 4", f"%panels = arith.constant {rows // 8}")
        arguments = (*_arrays(rows, width), "--arg", f"bias=random:f32:1x{width}")
        found.append(VectorKernel(f"layer_norm {rows}x{width}, f32", "layer_norm", texts[0], hand, arguments))
    routing = (FOLDER / "topk_routing" / "topk_routing.pto").read_text(encoding="utf-8")
    whole = re.sub(r"(?<![a-wyz0-9.%_])16x(?=128|256|16|8x|1x)", "48x", routing).replace(
        "sizes [16, 16]", "sizes [48, 16]"
    )
    whole = whole.replace("%panel = arith.constant 16", "%panel = arith.constant 48")
    arrays = _given(logits="random:f32:48x128", experts="zeros:i32:48x8", weights="zeros:f32:48x8", tokens=48)
    found.append(VectorKernel("top-k of 48x128, best 8, f32", "topk_routing", whole, routing, arrays))
    return found


def _arrays(rows: int, width: int) -> tuple[str, ...]:
    x, y, weight = f"random:f32:{rows}x{width}", f"zeros:f32:{rows}x{width}", f"random:f32:1x{width}"
    return _given(x=x, y=y, weight=weight, eps="1e-5")


def _given(**values: str | int) -> tuple[str, ...]:
    return tuple(text for name, value in values.items() for text in ("--arg", f"{name}={value}"))


def _resized(file: str, rows: tuple[int, int], width: tuple[int, int]) -> str:
    """The text of an example with other numbers of rows and columns."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    text = re.sub(r"(%per_feature = arith.constant) \S+", rf"\1 {1 / width[1]!r}", text)
    sizes = {str(old): str(new) for old, new in (rows, width)}
    return re.sub(rf"(?<![a-wyz0-9.])({'|'.join(sizes)})(?![0-9])", lambda found: sizes[found.group()], text)
