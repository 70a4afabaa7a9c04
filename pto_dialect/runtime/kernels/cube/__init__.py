"""Kernels of the cube core."""
