"""Required alignments of the addresses of vector loads and stores in the unified buffer.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.targets.vector_unit import VLANE_BYTES

_BASES = {
    "pto.vlds": "source",
    "pto.vldsx2": "source",
    "pto.vsldb": "source",
    "pto.vsts": "destination",
    "pto.vstsx2": "destination",
    "pto.vsstb": "destination",
}
"""Operations with a requirement, and the operand with the base of their address."""
_ELEMENT = ("BRC_B", "1PT_B")
"""Distributions that access one element at any address."""


def base_operand(op: Operation) -> str | None:
    """Returns the operand whose address must be aligned; ``None`` for operations without a requirement."""
    return _BASES.get(op.name)


def alignment(op: Operation) -> int:
    """Returns the required alignment of an access in bytes."""
    dist = enumerator(op, "dist")
    for prefix in _ELEMENT:
        bits = dist.removeprefix(prefix)
        if bits.isdecimal():
            return int(bits) // 8
    return VLANE_BYTES
