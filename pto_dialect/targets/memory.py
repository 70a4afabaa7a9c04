"""On-chip memories: sizes, base alignments, names.  Source: docs/reference/targets.md, "Memories".

All figures are bytes.  A space is named by its pointer name (``ub``, ``l0c``); the tile locations (``vec``,
``acc``) are accepted as aliases.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

SPACES: Final = ("gm", "ub", "l1", "l0a", "l0b", "l0c", "bt", "fb", "scale_left", "scale_right")

A2A3_CAPACITY: Final[Mapping[str, int | None]] = MappingProxyType(
    {
        "gm": None,
        "ub": 192 * 1024,
        "l1": 512 * 1024,
        "l0a": 64 * 1024,
        "l0b": 64 * 1024,
        "l0c": 128 * 1024,
        "bt": 1024,
        "fb": 2 * 1024,
        "scale_left": 0,
        "scale_right": 0,
    }
)
A5_CAPACITY: Final[Mapping[str, int | None]] = MappingProxyType(
    {
        "gm": None,
        "ub": 256 * 1024,
        "l1": 512 * 1024,
        "l0a": 64 * 1024,
        "l0b": 64 * 1024,
        "l0c": 256 * 1024,
        "bt": 4 * 1024,
        "fb": 4 * 1024,
        "scale_left": 4 * 1024,
        "scale_right": 4 * 1024,
    }
)
"""Bytes per space; ``None`` means the size of the buffers passed to the launch (global memory)."""

A2A3_PLANNER_LIMIT: Final[Mapping[str, int]] = MappingProxyType({})
A5_PLANNER_LIMIT: Final[Mapping[str, int]] = MappingProxyType({"ub": 248 * 1024})
"""Bytes a memory planner may use where that is less than the capacity (``capacity-ub-planner``)."""


class BaseAlignment(NamedTuple):
    """Required and advised alignment of a base address, in bytes.

    An address that is no multiple of ``error`` is refused; no multiple of ``warning`` is reported.
    """

    error: int
    warning: int


# L0 buffers: the generic 32-byte rule is the hard limit, the fractal size the advice (align-fractal).  The
# bias and fixpipe tables get the same treatment; their unit is a property of the loading operation.
BASE_ALIGNMENT: Final[Mapping[str, BaseAlignment]] = MappingProxyType(
    {
        "gm": BaseAlignment(1, 32),
        "ub": BaseAlignment(32, 32),
        "l1": BaseAlignment(32, 32),
        "l0a": BaseAlignment(32, 512),
        "l0b": BaseAlignment(32, 512),
        "l0c": BaseAlignment(32, 1024),
        "bt": BaseAlignment(32, 64),
        "fb": BaseAlignment(32, 64),
        "scale_left": BaseAlignment(1, 16),
        "scale_right": BaseAlignment(1, 16),
    }
)

LOC_TO_SPACE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vec": "ub",
        "mat": "l1",
        "left": "l0a",
        "right": "l0b",
        "acc": "l0c",
        "bias": "bt",
        "scaling": "fb",
    }
)
"""Memory of a tile location. An MX scale tile has location ``scaling`` too; :func:`tile_space` distinguishes them."""

MX_SCALE_FRACTAL: Final = 32
"""Bytes in a block of MX scales."""


def mx_scale_side(blayout: str) -> str:
    """Returns ``left`` or ``right``: the operand whose scales have blocks in this order (docs/reference/layouts.md, "MX
    scales").
    """
    return "left" if blayout == "row_major" else "right"


def tile_space(loc: str, blayout: str, fractal: int, arch: str) -> str:
    """Memory of a tile on a chip: that of its location, for MX scales of a5 the scale memory of their side."""
    if loc == "scaling" and fractal == MX_SCALE_FRACTAL and arch == "a5":
        return f"scale_{mx_scale_side(blayout)}"
    return LOC_TO_SPACE[loc]


SPACE_ALIASES: Final[Mapping[str, str]] = MappingProxyType({**{space: space for space in SPACES}, **LOC_TO_SPACE})
"""Every accepted spelling of a space -> its pointer name."""

SPACE_OWNER: Final[Mapping[str, str]] = MappingProxyType(
    {
        "gm": "device",
        "ub": "aiv",
        **dict.fromkeys(("l1", "l0a", "l0b", "l0c", "bt", "fb", "scale_left", "scale_right"), "aic"),
    }
)
"""The core whose private memory a space is: the vector core (aiv), the cube core (aic), or the device."""

MX_SCALE_ADDRESS_DIVISOR: Final = 16
"""The address of an MX scale in its scale memory is the byte address of its data operand divided by 16."""
