"""Which rule group modules apply to the operations of each family (module names under ``ir`` and ``verify``)."""

from __future__ import annotations

ALWAYS: tuple[str, ...] = ("module_rules", "attribute_names", "parse_rules", "arch_rules", "input_rules")
"""Groups whose rules are not tied to a family."""

RUNTIME: tuple[str, ...] = ("run_rules",)
"""Groups whose rules no pass checks."""

_VMI = ("vmi_rules", "vmi_memory_rules", "vmi_convert_rules", "vmi_layout_rules", "vmi_layout_use_rules")

GROUPS: dict[str, tuple[str, ...]] = {
    "cube_mad": ("mad_rules",),
    "fixpipe": ("fixpipe_rules", "fixpipe_type_rules", "fixpipe_extent_rules", "raw_copy_rules"),
    "mte": ("loader_rules", "l1_load_rules", "dma_rules"),
    "mte_raw": ("loader_rules", "dma_rules", "raw_copy_rules"),
    "dma": ("dma_rules",),
    "matmul": ("matmul_location_rules", "product_place_rules", "matmul_rules", "matmul_mx_rules"),
    "gemv": ("matmul_location_rules", "product_place_rules", "matmul_rules", "matmul_mx_rules", "gemv_rules"),
    "tile_memory": ("tile_memory_rules", "table_gather_rules", "tile_fill_rules"),
    "tile_move": ("tile_move_rules", "tile_window_rules", "tile_arith_rules", "tile_fill_rules"),
    "tile_elementwise": (
        "tile_arith_rules",
        "tile_scalar_rules",
        "tile_scratch_rules",
        "tile_scratch_shape_rules",
        "tile_convert_rules",
    ),
    "tile_scalar": ("tile_arith_rules", "tile_scalar_rules", "tile_scratch_rules", "tile_scratch_shape_rules"),
    "tile_expand": ("tile_arith_rules", "tile_expand_rules", "tile_scratch_rules", "tile_scratch_shape_rules"),
    "tile_reduce": ("tile_arith_rules", "tile_reduce_rules", "tile_scratch_rules", "tile_scratch_shape_rules"),
    "tile_partial": ("tile_arith_rules", "tile_reduce_rules"),
    "tile_irregular": (
        "tile_arith_rules",
        "tile_gather_rules",
        "tile_irregular_rules",
        "tile_scratch_rules",
        "tile_scratch_shape_rules",
        "tile_quant_rules",
    ),
    "views": ("alloc_rules", "placement_rules", "view_rules", "tensor_view_rules"),
    "pointers": ("pointer_rules",),
    "memref_bridge": ("alloc_rules",),
    "regions": ("region_rules", "vector_scope_rules", "simt_rules", "simt_scope_rules"),
    "func": ("function_rules", "function_attribute_rules"),
    "sync": ("sync_rules", "sync_flow_rules"),
    "cross_core": ("sync_rules", "sync_flow_rules"),
    "simt_control": ("simt_rules", "simt_scope_rules"),
    "simt_group": ("simt_rules",),
    "simt_memory": ("simt_rules", "simt_scope_rules"),
    "simt_math": ("simt_rules", "simt_convert_rules"),
    "vmi_load": _VMI,
    "vmi_store": _VMI,
    "vmi_plain": _VMI,
    "vmi_mask": _VMI,
    "vmi_masked": _VMI,
    "vmi_convert": _VMI,
    "vmi_reduce": _VMI,
    "vmi_rearrange": _VMI,
    "comm": ("comm_rules",),
    "pipes": (
        "pipe_rules",
        "pipe_flow_rules",
        "pipe_entry_rules",
        "pipe_free_rules",
        "pipe_epilogue_rules",
        "pipe_peer_rules",
    ),
    "vector_memory": ("vector_rules", "vector_memory_rules", "align_rules", "vector_scope_rules"),
    "vector_arith": ("vector_rules", "vector_element_rules", "vector_scope_rules"),
    "vector_compare": ("vector_rules", "vector_element_rules", "vector_scope_rules"),
    "vector_convert": ("vector_rules", "vector_element_rules", "vector_convert_rules", "vector_scope_rules"),
    "vector_reduce": ("vector_rules", "vector_element_rules", "vector_scope_rules"),
    "vector_rearrange": (
        "vector_rules",
        "vector_element_rules",
        "vector_convert_rules",
        "vector_memory_rules",
        "vector_scope_rules",
    ),
    "predicate": ("predicate_rules", "vector_scope_rules"),
    "predicate_memory": ("predicate_rules", "vector_memory_rules", "align_rules", "vector_scope_rules"),
    "scalar_config": ("vector_scope_rules",),
    "ub_vector": ("ub_vector_rules",),
}
"""Rule groups by operation family."""

TILE_FAMILIES = frozenset(family for family in GROUPS if family.startswith("tile_"))
"""Families of tile operations on the vector unit and of tile transfers."""

MATRIX_FAMILIES = frozenset(("matmul", "gemv"))
"""Families of matrix products of tiles."""

GROUPS |= {family: ("tile_rules", *GROUPS[family]) for family in sorted(TILE_FAMILIES | MATRIX_FAMILIES)}
