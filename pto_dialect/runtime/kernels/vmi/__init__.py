"""Kernels of logical vectors."""
