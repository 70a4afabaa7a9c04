"""Completions of whole statements: which operations are usual, and what their operands are."""
