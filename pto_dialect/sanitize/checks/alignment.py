"""Alignments that vector loads and stores demand of their addresses in the unified buffer.

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
"""Operations with a demand, and the operand with the base of their address."""
_ELEMENT = ("BRC_B", "1PT_B")
"""Distributions that access one element, wherever it stands."""


def base_operand(op: Operation) -> str | None:
    """Name of the operand whose address has to be aligned; ``None`` for operations without a demand."""
    return _BASES.get(op.name)


def alignment(op: Operation) -> int:
    """Bytes of which the address of an access has to be a multiple."""
    dist = enumerator(op, "dist")
    for prefix in _ELEMENT:
        bits = dist.removeprefix(prefix)
        if bits.isdecimal():
            return int(bits) // 8
    return VLANE_BYTES
