"""Kernels of the scalar unit."""
