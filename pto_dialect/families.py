"""The families of operations: the only list of them.

A family has a name, which statistics show, and a module below ``ir`` that declares its operations. Its rules and its
kernels are in folders of the same name below ``verify`` and ``runtime/kernels``; modules that several families share
are listed with each. All of them are imported when the first operation of the family occurs.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """Modules of one family: below ``ir`` (``None`` for operations of xDSL), below ``verify``, and below
    ``runtime.kernels``.

    ``level`` is the part of the catalogue that the family belongs to, for families that not every target has.
    """

    operations: str | None
    rules: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    level: str | None = None


_VMI_RULES = ("vmi.common", "vmi.memory", "vmi.convert", "vmi.layout", "vmi.layout_use")
_TILES, _SCRATCH = ("tile.common", "tile.arith"), ("tile.scratch", "tile.scratch_shape")
_LANES = ("vector.common", "vector.elements", "vector.scopes")
"""Rules that families of operations on vector registers share."""

FAMILIES: dict[str, Family] = {
    "builtin": Family(None, kernels=("core.scalar",)),
    "arith": Family(None, kernels=("core.scalar",)),
    "math": Family(None, kernels=("core.math",)),
    "scf": Family(None, kernels=("core.control",)),
    "cf": Family(None, kernels=("core.control",)),
    "func": Family(None, rules=("engine.functions", "program.function_attributes"), kernels=("core.control",)),
    "memref": Family(None, kernels=("core.memref",)),
    "llvm": Family(None, kernels=("simt.llvm_pointers", "simt.lane_arith")),
    "views": Family(
        "buffers.views",
        rules=("buffers.alloc", "buffers.placement", "buffers.views", "buffers.tensor_views"),
        kernels=("buffers.views",),
    ),
    "pointers": Family(
        "buffers.pointers",
        rules=("buffers.pointers",),
        kernels=("buffers.pointers", "buffers.local_values"),
    ),
    "memref_bridge": Family("buffers.memref_bridge", rules=("buffers.alloc",), kernels=("buffers.memref_bridge",)),
    "tile_memory": Family(
        "tile.memory",
        rules=("tile.common", "tile.memory", "tile.table_gather", "tile.fill"),
        kernels=("tile.memory", "tile.element", "tile.print", "tile.table_gather"),
    ),
    "tile_move": Family(
        "tile.move",
        rules=("tile.common", "tile.move", "tile.window", "tile.arith", "tile.fill"),
        kernels=("tile.move", "tile.fill"),
    ),
    "tile_elementwise": Family(
        "tile.elementwise",
        rules=(*_TILES, "tile.scalar", *_SCRATCH, "tile.convert"),
        kernels=("tile.elementwise", "tile.convert", "tile.compare"),
    ),
    "tile_scalar": Family(
        "tile.scalar",
        rules=(*_TILES, "tile.scalar", *_SCRATCH),
        kernels=("tile.scalar", "tile.compare"),
    ),
    "tile_expand": Family("tile.expand", rules=(*_TILES, "tile.expand", *_SCRATCH), kernels=("tile.expand",)),
    "tile_reduce": Family("tile.reduce", rules=(*_TILES, "tile.reduce", *_SCRATCH), kernels=("tile.reduce",)),
    "tile_partial": Family(
        "tile.partial",
        rules=("tile.common", "tile.arith", "tile.reduce"),
        kernels=("tile.partial",),
    ),
    "tile_irregular": Family(
        "tile.irregular",
        rules=(
            *("tile.common", "tile.arith", "tile.gather"),
            *("tile.irregular", "tile.scratch", "tile.scratch_shape", "tile.quant", "tile.quant_capacity"),
        ),
        kernels=("tile.gather", "tile.sort", "tile.quant", "tile.generate", "tile.histogram"),
    ),
    "matmul": Family(
        "cube.matmul",
        rules=("tile.common", "cube.matmul_locations", "cube.product_locations", "cube.matmul", "cube.matmul_mx"),
        kernels=("cube.matmul", "buffers.views"),
    ),
    "gemv": Family(
        "cube.gemv",
        rules=(
            *("tile.common", "cube.matmul_locations", "cube.product_locations"),
            *("cube.matmul", "cube.matmul_mx", "cube.gemv"),
        ),
        kernels=("cube.matmul",),
    ),
    "cube_mad": Family("cube.mad", level="micro-cube", rules=("cube.mad",), kernels=("cube.mad",)),
    "fixpipe": Family(
        "cube.fixpipe",
        level="micro-cube",
        rules=("cube.fixpipe", "cube.fixpipe_types", "cube.fixpipe_extents", "cube.raw_copies"),
        kernels=("cube.fixpipe",),
    ),
    "mte": Family(
        "cube.mte", level="micro-cube", rules=("cube.l0_loads", "cube.l1_loads", "vector.dma"), kernels=("cube.mte",)
    ),
    "mte_raw": Family(
        "cube.mte_raw",
        level="micro-cube",
        rules=("cube.l0_loads", "vector.dma", "cube.raw_copies"),
        kernels=("cube.mte_raw", "vector.dma_raw"),
    ),
    "dma": Family(
        "vector.dma", level="micro-dma", rules=("vector.dma",), kernels=("vector.dma", "cube.mte", "vector.dma_raw")
    ),
    "vector_arith": Family(
        "vector.arith",
        level="micro-vector",
        rules=_LANES,
        kernels=("vector.arith", "vector.convert"),
    ),
    "vector_compare": Family("vector.compare", level="micro-vector", rules=_LANES, kernels=("vector.arith",)),
    "vector_convert": Family(
        "vector.convert",
        level="micro-vector",
        rules=("vector.common", "vector.elements", "vector.convert", "vector.scopes"),
        kernels=("vector.arith", "vector.convert"),
    ),
    "vector_reduce": Family(
        "vector.reduce", level="micro-vector", rules=(*_LANES, "vector.ranges"), kernels=("vector.collect",)
    ),
    "vector_rearrange": Family(
        "vector.rearrange",
        level="micro-vector",
        rules=(
            *("vector.common", "vector.elements", "vector.convert"),
            *("vector.memory", "vector.ranges", "vector.scopes"),
        ),
        kernels=("vector.collect",),
    ),
    "vector_memory": Family(
        "vector.memory",
        level="micro-vector",
        rules=(
            *("vector.common", "vector.memory", "vector.align"),
            *("vector.streams", "vector.ranges", "vector.scopes"),
        ),
        kernels=("vector.memory",),
    ),
    "ub_vector": Family(
        "vector.ub_vector", level="micro-ub", rules=("vector.ub_vector",), kernels=("vector.ub_vector",)
    ),
    "predicate": Family(
        "vector.predicate",
        level="micro-vector",
        rules=("vector.predicate", "vector.scopes"),
        kernels=("vector.predicate",),
    ),
    "predicate_memory": Family(
        "vector.predicate_memory",
        level="micro-vector",
        rules=("vector.predicate", "vector.memory", "vector.align", "vector.streams", "vector.scopes"),
        kernels=("vector.predicate",),
    ),
    "vmi_plain": Family("vmi.plain", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.arith",)),
    "vmi_masked": Family("vmi.masked", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.arith",)),
    "vmi_mask": Family("vmi.mask", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.mask", "vmi.arith")),
    "vmi_convert": Family(
        "vmi.convert",
        level="micro-vmi",
        rules=_VMI_RULES,
        kernels=("vmi.convert", "vmi.collect", "vmi.mask", "vmi.arith", "vmi.registers"),
    ),
    "vmi_reduce": Family("vmi.reduce", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.collect",)),
    "vmi_rearrange": Family("vmi.rearrange", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.collect",)),
    "vmi_load": Family("vmi.load", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.load",)),
    "vmi_store": Family("vmi.store", level="micro-vmi", rules=_VMI_RULES, kernels=("vmi.store",)),
    "simt_control": Family(
        "simt.control", level="simt", rules=("simt.common", "simt.scopes"), kernels=("simt.launch", "simt.state")
    ),
    "simt_query": Family("simt.query", level="simt", kernels=("simt.query",)),
    "simt_group": Family("simt.group", level="simt", rules=("simt.common",), kernels=("simt.group",)),
    "simt_math": Family("simt.math", level="simt", rules=("simt.common", "simt.convert"), kernels=("simt.math",)),
    "simt_memory": Family(
        "simt.memory",
        level="simt",
        rules=("simt.common", "simt.scopes"),
        kernels=("simt.memory", "buffers.pointers"),
    ),
    "pipes": Family(
        "sync.pipes",
        rules=(
            *("sync.pipes", "sync.pipe_flow", "sync.pipe_entries"),
            *("sync.pipe_free", "sync.pipe_epilogue", "sync.pipe_ends"),
        ),
        kernels=("sync.pipes",),
    ),
    "sync": Family(
        "sync.flags",
        rules=("sync.flags", "sync.flow"),
        kernels=("sync.flags", "sync.buffers", "buffers.local_values"),
    ),
    "cross_core": Family(
        "sync.cross_core",
        rules=("sync.flags", "sync.flow"),
        kernels=("sync.cross_core", "sync.flags"),
    ),
    "comm": Family("sync.comm", rules=("sync.comm",), kernels=("sync.comm",)),
    "regions": Family(
        "scalar.regions",
        rules=("scalar.regions", "vector.scopes", "simt.common", "simt.scopes"),
        kernels=("scalar.regions", "simt.launch"),
    ),
    "scalar_query": Family("scalar.query", kernels=("scalar.query",)),
    "scalar_config": Family(
        "scalar.config",
        rules=("vector.scopes",),
        kernels=("scalar.config", "vector.dma_raw", "vector.memory"),
    ),
}
"""Families by name, those of the core dialects first."""

PROGRAM_RULES: tuple[str, ...] = (
    *("program.module", "program.attribute_names", "program.arch", "program.releases", "program.capacity"),
)
"""Modules below ``verify`` with rules that belong to no family."""


PASSES_WITH_RULES: tuple[str, ...] = (
    "passes.check_sync",
    "passes.check_memory",
    "passes.assign_memory.assign",
    "passes.insert_sync.insert",
    "passes.sync_order.rules",
    "passes.lower_cube.lower",
    "passes.lower_vector.lower",
    "passes.lower_transfers.lower",
    "passes.loops.tile",
    "passes.forms.level1",
    "passes.forms.level2",
    "passes.forms.assembly",
)
"""Passes that declare the rules that they check."""

LANE_MODULES: tuple[str, ...] = (
    *("simt.lane_arith", "simt.lane_control", "simt.lane_memory", "simt.llvm_pointers"),
    *("simt.state", "simt.query", "simt.group", "simt.math", "simt.memory"),
)
"""Modules below ``runtime.kernels`` with the kernels of values that differ between work-items."""

TILE_FAMILIES = frozenset(name for name in FAMILIES if name.startswith("tile_"))
"""Families of tile operations on the vector unit and of tile transfers."""

MATRIX_FAMILIES = frozenset(("matmul", "gemv"))
"""Families of matrix products of tiles."""


def level_of(family: str) -> str | None:
    """Catalogue level of a family; ``None`` for families that every target has."""
    return FAMILIES[family].level


def rule_modules(family: str) -> tuple[str, ...]:
    """Returns the modules below ``verify`` with the rules of a family; none for a name that is no family."""
    return FAMILIES[family].rules if family in FAMILIES else ()


def kernel_modules(family: str) -> tuple[str, ...]:
    """Returns the modules below ``runtime.kernels`` with the kernels of a family; none for a name that is no family."""
    return FAMILIES[family].kernels if family in FAMILIES else ()


def all_rule_modules() -> tuple[str, ...]:
    """Returns the modules of the package that declare rules."""
    rules = (*PROGRAM_RULES, *(module for family in FAMILIES.values() for module in family.rules))
    return (*PASSES_WITH_RULES, *dict.fromkeys(f"verify.{module}" for module in rules))
