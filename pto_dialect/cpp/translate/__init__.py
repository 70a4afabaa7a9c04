"""LLVM IR of a kernel to ``.pto`` text."""

from .module import translate_kernels, translate_module

__all__ = ["translate_kernels", "translate_module"]
