"""Addresses for tiles without them."""
