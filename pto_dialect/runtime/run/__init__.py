"""Runs compiled functions: arguments, cores, blocks, processes."""
