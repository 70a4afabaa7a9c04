"""Fits the cycle model to measurements of a user: ``pto cycles``. Source: docs/cycles.md, "Your own measurements"."""
