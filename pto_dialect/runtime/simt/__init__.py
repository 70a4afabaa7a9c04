"""Execution of SIMT work-items: all of a launch at once, as numpy arrays."""
