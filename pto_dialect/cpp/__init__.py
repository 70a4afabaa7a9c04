"""C++ kernels: headers, compiler, translation of LLVM IR to `.pto` text."""
