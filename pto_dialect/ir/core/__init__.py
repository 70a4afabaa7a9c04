"""Shared parts of all families: types, attributes, the base class of operations, and the index of operations."""
