"""Rules of ``pto-opt --prove`` about the passes that it compares. Source: docs/reference/proving.md, "Reports"."""

from __future__ import annotations

from ..engine.rule import read_rules

_RULES = read_rules("program")
DIFFERENCE = _RULES["prove-difference"]
FINDING = _RULES["prove-finding"]
REREAD = _RULES["prove-reread"]
OPEN = _RULES["prove-open"]
DONE = _RULES["prove-done"]
