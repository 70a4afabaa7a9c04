"""Memories between which transfers of bursts copy.

Source: docs/reference/constraints.md, "Transfers".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class Ends(NamedTuple):
    """Memories of source and destination."""

    source: str
    destination: str


BURSTS: Final[Mapping[str, Ends]] = MappingProxyType(
    {
        "pto.mte_gm_ub": Ends("gm", "ub"),
        "pto.mte_ub_gm": Ends("ub", "gm"),
        "pto.mte_ub_ub": Ends("ub", "ub"),
        "pto.mte_gm_l1": Ends("gm", "l1"),
        "pto.mte_l1_ub": Ends("l1", "ub"),
        "pto.mte_ub_l1": Ends("ub", "l1"),
        "pto.copy_gm_to_ubuf": Ends("gm", "ub"),
        "pto.copy_ubuf_to_gm": Ends("ub", "gm"),
        "pto.copy_ubuf_to_ubuf": Ends("ub", "ub"),
        "pto.copy_gm_to_cbuf": Ends("gm", "l1"),
        "pto.copy_cbuf_to_ubuf": Ends("l1", "ub"),
        "pto.copy_ubuf_to_cbuf": Ends("ub", "l1"),
        "pto.copy_cbuf_to_bt": Ends("l1", "bt"),
        "pto.copy_cbuf_to_fbuf": Ends("l1", "fb"),
        "pto.copy_gm_to_cbuf_multi_nd2nz": Ends("gm", "l1"),
        "pto.copy_gm_to_cbuf_multi_dn2nz": Ends("gm", "l1"),
    }
)
MEMORIES: Final[Mapping[str, Ends]] = MappingProxyType({**BURSTS, "pto.mte_gm_l1_frac": Ends("gm", "l1")})
"""Memories that the names of transfers state: those that hardware copies between. ``BURSTS`` are those of bursts."""

_Excluded = Mapping[str, tuple[str, ...]]
_INTO_CORE: _Excluded = {"source": ("ub",), "destination": ("gm",)}
_OUT_OF_CORE: _Excluded = {"source": ("gm",), "destination": ("ub",)}
_FROM_L1: _Excluded = {"source": ("gm", "ub")}
_TO_L1: _Excluded = {"destination": ("gm", "ub")}

_EXCLUDED: Final[Mapping[str, _Excluded]] = MappingProxyType(
    {
        "pto.mte_gm_ub": _INTO_CORE,
        "pto.mte_gm_l1": _INTO_CORE,
        "pto.mte_gm_l1_frac": _INTO_CORE,
        "pto.copy_gm_to_ubuf": _INTO_CORE,
        "pto.copy_ubuf_to_gm": _OUT_OF_CORE,
        "pto.mte_l1_ub": _FROM_L1,
        "pto.copy_cbuf_to_ubuf": _FROM_L1,
        "pto.mte_ub_l1": _TO_L1,
        "pto.copy_ubuf_to_cbuf": _TO_L1,
    }
)
"""Memories that an operand must not be in, for operands that the language restricts by these alone."""


def is_open(operation: str, operand: str, memory: str | None) -> bool:
    """Returns whether the language leaves a ``memory`` that the name of a transfer does not state to compilers of
    boards."""
    excluded = _EXCLUDED.get(operation, {}).get(operand)
    return memory is not None and excluded is not None and memory not in excluded
