"""Statements as documentation writes them, brought to what the grammar reads."""
