"""Flags and barriers for programs without them."""
