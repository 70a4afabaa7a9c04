"""Kernels of SIMT work-items."""
