"""Kernels that scripts compile ahead of time: `ptoas` makes C++, `bisheng` a shared library, `ctypes` loads it.

`tools` puts commands of both names on the path of programs where they are not installed. `assemble` is `ptoas`: it
verifies a program and writes a C++ file that has its text in a comment. `link` is `bisheng`: it writes what the library
would do as data. `library` has `ctypes.CDLL` load that. No code is made. See docs/ptodsl.md, "Compiled ahead of time".
"""
