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

FILES = files("cpp", "operations", "snapshots")
CALL = re.compile(r"^((?:comm::)?T[A-Z0-9_]+|M(?:GATHER|SCATTER)|SYNCALL|copy_\w+)\b", re.MULTILINE)
OTHER_NAMES = {
    "TFILLPAD_EXPAND": "TFILLPAD",
    "TFILLPAD_INPLACE": "TFILLPAD",
    "TSUBRELU": "TRELU",
    "copy_gm_to_ubuf": "copy_gm_to_ubuf_align_v2",
    "copy_ubuf_to_gm": "copy_ubuf_to_gm_align_v2",
}
"""Calls with the same meaning, which the dialect does not tell apart."""
NO_FORM = ("pto.copy_gm_to_ubuf", "pto.copy_ubuf_to_gm")
"""Moves in bytes, which the compiler of a2a3 does not have."""


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
        assert error.op.name in NO_FORM and block.title.endswith("a2a3"), f"{block.title}: {error.message}"
        return None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_calls_are_printed_as_they_were_written(file: Path) -> None:
    for block in read(file)[1]:
        text = text_of(block)
        for name in CALL.findall(block.program) if text is not None else ():
            known = {name, OTHER_NAMES.get(name, name), f"{name}_FP"}
            assert any(re.search(rf"\b{one}[<(]", text or "") for one in known), f"{block.title}:\n{text}"
