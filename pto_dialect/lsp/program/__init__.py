"""A document as its lines, functions, names and operations."""
