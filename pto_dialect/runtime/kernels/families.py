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
    "matmul": ("matmul", "views"),
    "gemv": ("matmul",),
    "cube_mad": ("cube_mad",),
    "fixpipe": ("fixpipe",),
    "mte": ("mte",),
    "dma": ("dma", "mte", "dma_raw"),
    "tile_memory": ("tile_memory", "tile_element", "tile_print", "table_gather"),
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
    "regions": ("regions", "simt_launch"),
    "sync": ("sync", "sync_buffers", "local_values"),
    "cross_core": ("cross_core", "sync"),
    "scalar_query": ("scalar_query",),
    "scalar_config": ("scalar_config", "dma_raw", "vector_memory"),
    "mte_raw": ("mte_raw", "dma_raw"),
    "vector_arith": ("vector_arith", "vector_convert"),
    "vector_compare": ("vector_arith",),
    "vector_convert": ("vector_arith", "vector_convert"),
    "vector_reduce": ("vector_collect",),
    "vector_rearrange": ("vector_collect",),
    "vector_memory": ("vector_memory",),
    "comm": ("comm",),
    "predicate": ("predicate",),
    "predicate_memory": ("predicate",),
    "simt_control": ("simt_launch", "simt_state"),
    "simt_query": ("simt_query",),
    "simt_group": ("simt_group",),
    "simt_math": ("simt_math",),
    "simt_memory": ("simt_memory", "pointers"),
    "llvm": ("lane_memory", "lane_arith"),
}
"""Modules that hold the kernels of a family."""

LANE_MODULES: tuple[str, ...] = (
    *("lane_arith", "lane_control", "lane_memory"),
    *("simt_state", "simt_query", "simt_group", "simt_math", "simt_memory"),
)
"""Modules that hold the kernels of values that differ between work-items."""
