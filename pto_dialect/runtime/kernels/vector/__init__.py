"""Kernels of vector registers, predicates and the unified buffer."""
