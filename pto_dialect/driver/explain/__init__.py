"""Explains operations, terms and rules: by name or by search, as text or as pages."""
