"""Reductions of the grammar to operations: one method for each grammar rule."""
