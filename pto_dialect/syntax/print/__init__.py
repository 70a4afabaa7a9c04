"""Printing of operations as text."""
