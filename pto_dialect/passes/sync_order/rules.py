"""Rules about flags and barriers of programs that have them. Source: docs/reference/synchronisation.md,
"Judging a program".
"""

from __future__ import annotations

from pto_dialect.verify.engine.rule import read_rules

_RULES = read_rules("passes")
REDUNDANT = _RULES["sync-redundant"]
SERIALISING = _RULES["sync-serialising"]
UNDECIDED = _RULES["sync-undecided"]
REMOVED = _RULES["sync-removed"]
KEPT = _RULES["sync-kept"]
HOISTED = _RULES["sync-hoisted"]
IN_PLACE = _RULES["sync-in-place"]
