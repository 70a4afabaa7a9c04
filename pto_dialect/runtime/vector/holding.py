"""Key of the chooser that may hold stores back, in the control state of a core. Source: docs/reference/execution.md,
"Scheduling"."""

HOLDER = "holder"
"""Key of the chooser that decides whether a store that hardware may complete later is held back."""
