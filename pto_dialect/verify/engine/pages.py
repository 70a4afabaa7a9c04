"""Pages that rules of several files cite as their source. Source: docs/reference/README.md, "Citations"."""

from __future__ import annotations

ALLOCATION = 'docs/reference/constraints.md, "Allocation, views and scalars"'
FINDINGS = 'docs/reference/instrumentation.md, "Findings"'
LOGICAL_VECTORS = 'docs/reference/constraints.md, "Logical vectors"'
MATRIX_LOADS = 'docs/reference/constraints.md, "Loads into matrix memories"'
MODULES = 'docs/reference/language.md, "Modules and functions"'
QUEUES = 'docs/reference/constraints.md, "Queues and communication"'
SYNCHRONISATION = 'docs/reference/constraints.md, "Synchronisation rules"'
TILE_ARITHMETIC = 'docs/reference/constraints.md, "Tile arithmetic"'
TILE_MOVES = 'docs/reference/constraints.md, "Tile moves"'
TILE_PRODUCTS = 'docs/reference/constraints.md, "Matrix products of tiles"'
TRANSFERS = 'docs/reference/constraints.md, "Transfers"'
VECTOR_REGISTERS = 'docs/reference/constraints.md, "Vector registers"'
WORK_ITEMS = 'docs/reference/constraints.md, "Work-items and groups"'
WRITE_BACK = 'docs/reference/constraints.md, "Write-back of accumulators"'
