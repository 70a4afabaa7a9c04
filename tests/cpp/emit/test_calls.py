"""Calls of C++ that became operations of the dialect become the same calls again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cpp_calls import translated
from snapshots import Block, files, read

from pto_dialect.api import parse
from pto_dialect.cpp.emit import EmitError, emit_module
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions

FILES = files("cpp", "operations", "snapshots")
CALL = re.compile(r"^((?:comm::)?T[A-Z0-9_]+|M(?:GATHER|SCATTER)|SYNCALL|copy_\w+)\b", re.MULTILINE)
OTHER_NAMES = {
    "TFILLPAD_EXPAND": "TFILLPAD",
    "TFILLPAD_INPLACE": "TFILLPAD",
    "TSUBRELU": "TRELU",
    "copy_cbuf_to_gm": "TSTORE",
    "copy_gm_to_ubuf": "copy_gm_to_ubuf_align_v2",
    "copy_ubuf_to_gm": "copy_ubuf_to_gm_align_v2",
}
"""Calls with the same meaning, which the dialect does not tell apart."""
NO_FORM = {
    "pto.copy_gm_to_ubuf": "a2a3",
    "pto.copy_ubuf_to_gm": "a2a3",
    "pto.tgather": "TGATHER(dst, src, kValue, cdst, tmp, offset) a2a3 TGATHER(dst, src, indices) a5",
}
"""Operations without a function in C++, and titles of blocks that have them: moves in bytes on a2a3; gathers that
compare with a number; gathers without a scratch tile."""


def text_of(block: Block) -> str | None:
    """The C++ text of what the calls of a block become; nothing where they have no translation."""
    try:
        emitter = translated(block.program, "a5" if block.title.endswith(" a5") else "a2a3")
    except TranslationError:
        return None
    core = next((core for core in ("vector", "cube") if f"{core} core" in block.title), "")
    try:
        return emit_module(parse(emitter.text(core)))
    except EmitError as error:
        known = NO_FORM.get(error.op.name, "")
        assert known and (block.title in known or block.title.endswith(known)), f"{block.title}: {error.message}"
        return None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_calls_are_printed_as_they_were_written(file: Path) -> None:
    for block in read(file)[1]:
        text = text_of(block)
        for name in CALL.findall(block.program) if text is not None else ():
            known = {name, OTHER_NAMES.get(name, name), f"{name}_FP"}
            assert any(re.search(rf"\b{one}[<(]", text or "") for one in known), f"{block.title}:\n{text}"


INCLUDES = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_printed_calls_compile(target: str) -> None:
    whole = INCLUDES
    for number, block in enumerate(block for file in FILES for block in read(file)[1]):
        text = text_of(block)
        if text is not None and block.title.endswith(" a5") == (target == "a5") and "cube core" not in block.title:
            body = text.partition(INCLUDES)[2].replace(" kernel(", f" k{number}(")
            whole += f"namespace n{number} {{\n{body}}}\n"
    compile_kernel(whole, "all.cpp", CppOptions(target=target), every=True)
