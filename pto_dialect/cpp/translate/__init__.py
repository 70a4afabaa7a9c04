"""LLVM IR of a kernel to ``.pto`` text."""
