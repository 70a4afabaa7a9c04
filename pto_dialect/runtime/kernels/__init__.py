"""The code generators of operations: one module for each family of operations."""
