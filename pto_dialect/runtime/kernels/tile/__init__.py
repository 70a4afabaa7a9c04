"""Kernels of tile operations."""
