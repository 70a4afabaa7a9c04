"""Rules of the core dialects. ``table`` states the constraints of each operation. Source:
docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from ..engine.rule import read_rules

_RULES = read_rules("core")
OPERAND = _RULES["core-operand"]
SAME_TYPE = _RULES["core-same-type"]
CAST = _RULES["core-cast"]
CONSTANT = _RULES["core-constant"]
YIELD = _RULES["region-yield"]
REGION = _RULES["region-form"]
PARENT = _RULES["op-parent"]
BRANCH = _RULES["branch-arguments"]
ENTRY = _RULES["entry-block"]
SWITCH = _RULES["switch-cases"]
LOOP = _RULES["loop-bounds"]
FUNCTION = _RULES["function-form"]
SIZES = _RULES["memref-sizes"]
INDICES = _RULES["memref-indices"]
MEMREF_CAST = _RULES["memref-cast"]
VIEW = _RULES["memref-view"]
AFFINE_MAP = _RULES["affine-map"]
AFFINE_IDENTIFIER = _RULES["affine-identifier"]
