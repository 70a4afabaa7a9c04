"""C++ texts through the compiler: their LLVM IR, and the messages about them."""

from __future__ import annotations

import pytest

from pto_dialect.cpp.compiler import CompileError, compile_to_ir

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"


def compiled(text: str, **options: str) -> str:
    """The IR of a text that follows ``HEAD``."""
    return compile_to_ir(HEAD + text, "kernel.cpp", cached=False, **options).text


def message(text: str, **options: str) -> str:
    """What the compiler says about a kernel, the lines with text and marks left out."""
    with pytest.raises(CompileError) as error:
        compiled(text, **options)
    lines = str(error.value).splitlines()
    return "\n".join(line for line in lines if line.startswith(("kernel.cpp:", "--entry:", "In file", "fatal")))
