"""Execution of PTO programs over numpy: memory, numerics, kernels, compilation and launch."""
