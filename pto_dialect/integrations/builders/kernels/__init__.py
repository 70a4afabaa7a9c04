"""Kernels that are Python functions: `pto.vkernel`, which translates the body of a function."""
