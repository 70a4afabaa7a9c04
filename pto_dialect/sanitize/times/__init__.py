"""Runs that compute times only: control, addresses and sizes are executed, contents of memory are not.

Source: docs/reference/cycles.md, "Times without contents".
"""
