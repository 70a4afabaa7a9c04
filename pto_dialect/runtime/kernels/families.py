"""Kernel modules by operation family, and the operations that are refused with a reason."""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "builtin": ("core_scalar",),
    "arith": ("core_scalar",),
    "math": ("core_math",),
    "scf": ("core_control",),
    "cf": ("core_control",),
    "func": ("core_control",),
    "memref": ("core_memref",),
    "matmul": ("matmul",),
    "gemv": ("matmul",),
    "cube_mad": ("cube_mad",),
    "fixpipe": ("fixpipe",),
    "mte": ("mte",),
    "dma": ("dma", "mte"),
    "tile_memory": ("tile_memory", "tile_element", "table_gather"),
    "tile_move": ("tile_move", "tile_fill"),
    "tile_elementwise": ("tile_elementwise", "tile_convert", "tile_compare"),
    "tile_scalar": ("tile_scalar", "tile_compare"),
    "tile_expand": ("tile_expand",),
    "tile_reduce": ("tile_reduce",),
    "tile_partial": ("tile_partial",),
    "tile_irregular": ("tile_gather", "tile_sort", "tile_quant", "tile_generate", "tile_histogram"),
    "views": ("views",),
    "pointers": ("pointers", "local_values"),
    "memref_bridge": ("memref_bridge",),
    "pipes": ("pipes",),
    "regions": ("regions",),
    "sync": ("sync", "sync_buffers", "local_values"),
    "cross_core": ("cross_core", "sync"),
    "scalar_query": ("scalar_query",),
    "scalar_config": ("scalar_config",),
    "mte_raw": ("mte_raw",),
}
"""Modules that hold the kernels of a family."""

NOT_EXECUTABLE: dict[str, str] = {}
"""Operations without defined semantics, with the reason."""
