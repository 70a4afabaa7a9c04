"""docs/reference/operations.md: every operation by family, from the declarations."""

from __future__ import annotations

import re

from pto_dialect.families import level_of
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import family_of, op_class
from pto_dialect.runtime.kernels.refusals import reason
from pto_dialect.targets.choice import get_profile

from .markdown import WRITTEN_BY, cell, table

TITLES = {
    "tile_elementwise": "Tiles: elementwise",
    "tile_scalar": "Tiles: with a number",
    "tile_expand": "Tiles: broadcasts",
    "tile_reduce": "Tiles: reductions",
    "tile_partial": "Tiles: partial sources",
    "tile_move": "Tiles: moves and conversion",
    "tile_memory": "Tiles: loads and stores",
    "tile_irregular": "Tiles: irregular",
    "matmul": "Tiles: matrix products",
    "gemv": "Tiles: matrix-vector products",
    "views": "Tiles and views: handles",
    "memref_bridge": "Tiles and memrefs",
    "cube_mad": "Cube: products on pointers",
    "mte": "Cube: loads",
    "mte_raw": "Cube: raw transfers",
    "fixpipe": "Cube: write-back of accumulators",
    "dma": "Transfers between global memory and the unified buffer",
    "vector_memory": "Vector: loads and stores",
    "vector_arith": "Vector: arithmetic",
    "vector_compare": "Vector: comparison and choice",
    "vector_convert": "Vector: conversion",
    "vector_reduce": "Vector: reductions",
    "vector_rearrange": "Vector: rearrangement",
    "predicate": "Vector: predicates",
    "predicate_memory": "Vector: predicates in memory",
    "ub_vector": "Vector instructions of a2a3",
    "vmi_load": "Logical vectors: loads",
    "vmi_store": "Logical vectors: stores",
    "vmi_plain": "Logical vectors: arithmetic without a mask",
    "vmi_masked": "Logical vectors: arithmetic with a mask",
    "vmi_convert": "Logical vectors: conversion",
    "vmi_reduce": "Logical vectors: reductions",
    "vmi_rearrange": "Logical vectors: rearrangement",
    "vmi_mask": "Logical vectors: predicates",
    "simt_control": "Work-items: launches and barriers",
    "simt_query": "Work-items: queries",
    "simt_group": "Work-items: groups",
    "simt_math": "Work-items: arithmetic",
    "simt_memory": "Work-items: memory",
    "sync": "Flags, barriers, events",
    "cross_core": "Signals between cores, caches",
    "pipes": "Queues between cores",
    "comm": "Communication",
    "pointers": "Pointers, arrays, structs",
    "regions": "Sections and scopes",
    "scalar_query": "Queries of the launch",
    "scalar_config": "Registers of a core",
}
"""Heading of each family, in the order of the page."""

_CITATION = re.compile(r"\s*\((?:docs/reference/|numerics|layouts|execution|language|targets)[^()]*\)(?=\.?$)")
_EFFECTS = {Effect.REGION: "region", Effect.HANDLE: "handle", Effect.QUERY: "query"}


def computes(cls: type[PtoOp]) -> str:
    """Returns what the docstring says, without its source."""
    return _CITATION.sub("", " ".join((cls.__doc__ or "").split())).removesuffix(".")


def targets(cls: type[PtoOp]) -> str:
    """Targets that have an operation."""
    name = cls.name.removeprefix("pto.")
    level = level_of(family_of(cls)) or ""
    found = [
        target
        for target in ("a2a3", "a5")
        if (profile := get_profile(target)).available(name) and not profile.is_foreign(name, level)
    ]
    return ", ".join(found)


def pipe(cls: type[PtoOp]) -> str:
    """Returns the pipes of an operation; where they depend on its operands, that of the usual ones with a mark."""
    spec = op_spec(cls)
    pipes = [each.value.removeprefix("PIPE_") for each in dict.fromkeys((spec.pipe, *spec.pipes)) if each is not None]
    if spec.pipe_from or any(case.pipe is not None for case in spec.forms):
        pipes.append("by its operands")
    return ", ".join(pipes) or (_EFFECTS.get(spec.effect, "–") if spec.effect is not None else "–")


def shape(cls: type[PtoOp]) -> str:
    """Returns the name of its shape as docs/reference/language.md has it."""
    return op_spec(cls).shape.name.lower().replace("_", " ")


def row(cls: type[PtoOp]) -> tuple[str, ...]:
    """Returns one line of a family's table."""
    runs = "" if reason(cls.name) is None else " (does not run)"
    return f"`{cls.name}`", cell(computes(cls)) + runs, pipe(cls), targets(cls), shape(cls)


def page() -> str:
    """Returns the whole page."""
    families: dict[str, list[type[PtoOp]]] = {name: [] for name in TITLES}
    for mnemonic in OPS:
        cls = op_class(mnemonic)
        families[family_of(cls)].append(cls)
    lines = [
        "# Operations",
        "",
        f"The {len(OPS)} operations by family. Their semantics are in [tiles.md](tiles.md),",
        "[vectors.md](vectors.md), [work-items.md](work-items.md), [numerics.md](numerics.md) and",
        "[execution.md](execution.md); the form is a shape of [language.md](language.md#shapes). A pipe",
        "marked *by its operands* follows from the memories of tiles. `cpu-sim` has the operations of a5.",
        "",
        WRITTEN_BY,
        "",
    ]
    for name, title in TITLES.items():
        lines += [f"## {title}", ""]
        lines += table(("operation", "computes", "pipe", "targets", "form"), map(row, families[name]))
    return "\n".join(lines).rstrip("\n") + "\n"
