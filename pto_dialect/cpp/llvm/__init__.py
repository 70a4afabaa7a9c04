"""Reader of LLVM IR: the subset that compilers emit for kernels, as objects."""
