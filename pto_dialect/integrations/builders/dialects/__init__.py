"""The modules of `mlir.dialects` for the dialects of MLIR's core."""
