"""Kernels of the core dialects."""
