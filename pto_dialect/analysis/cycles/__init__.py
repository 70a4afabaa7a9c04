"""Cycle model: formulas ("laws") over types, shapes and layouts, with the parameters of a table.

Source: docs/reference/cycles.md, "What counts".
"""
