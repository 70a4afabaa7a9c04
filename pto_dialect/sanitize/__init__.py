"""Sanitizers: instrument a run to find missing synchronization, deadlocks, uninitialized memory, and accesses out of
bounds."""
