"""Sanitizers: watch a run for missing synchronisation, deadlock, unwritten memory, and accesses out of bounds."""
