"""Builders of operations: one method for each grammar rule."""
