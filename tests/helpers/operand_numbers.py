"""Numbers for operands of single statements, where any number will not do."""

from __future__ import annotations

from typing import Any

from single_operations import Limits

EVERYWHERE = {"m": 16, "n": 16, "k": 16, "indexRow": 0, "indexCol": 0, "sub_blockid": 0}
SCALARS: dict[str, dict[str, Any]] = {
    "pto.atomic_cas": {"compare": 1, "value": 7},
    "pto.atomic_max": {"value": 1000},
    "pto.atomic_or": {"value": 255},
    "pto.comm.ttest": {"cmpValue": 50},
    "pto.load_cbuf_to_ca_s4": {"transpose": 0},
    "pto.load_cbuf_to_cb_s4": {"transpose": 0},
    "pto.tmrgsort": {"blockLen": 64},
    "pto.vmrgsort4": {"count": 0x0004_0004_0004_0004, "config": 0xF01},
    "pto.mte_l0c_ub": {"n": 32, "src_stride": 16, "dst_stride": 32},
    "pto.tstore": {"preQuantScalar": 0x40800000},
}
"""Numbers for scalar operands; all others are 1, or ``EVERYWHERE`` by their name."""

LIMITS: dict[str, Limits] = {
    "pto.atomic_cas": {"ptr": (0, 2)},
    "pto.comm.ttest": {"signal": (50, 52)},
    "pto.comm.twait": {"signal": (0, 2)},
    "pto.mgather": {"idx": (0, 64)},
    "pto.mscatter": {"idx": (0, 64)},
    "pto.tgather": {"indices": (0, 32), "src": (0, 3)},
    "pto.tscatter": {"indexes": (0, 32)},
    "pto.thistogram": {"src": (0, 512), "idx": (0, 2)},
    "pto.mte_l0c_l1": {"source": (-100, 100)},
}
"""Integers in memory: from the first number to below the second."""
