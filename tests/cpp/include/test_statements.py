"""What statements of the C++ interface become in LLVM IR. Each file is one compilation."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cpp_headers import calls_of_all
from snapshots import files, read, render

FILES = files("cpp", "include", "snapshots")
HEADER = Path(__file__).parents[3] / "pto_dialect" / "cpp" / "include" / "pto"
_OPERATION = re.compile(r"\b(?:PTO_\w+)?\(?\b([TM][A-Z0-9]{2,}(?:_[A-Z]+)*|SYNCALL|SET\w+)\b")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_statements_end_in_the_calls_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    comment, blocks = read(file)
    outputs = calls_of_all([block.program for block in blocks], "a5" if file.stem.endswith("a5") else "a2a3")
    compare(file, render(comment, [block._replace(output=out) for block, out in zip(blocks, outputs, strict=True)]))


def test_every_operation_of_the_headers_has_a_statement() -> None:
    declared = set()
    for name in ("common/pto_instr.hpp", "comm/pto_comm_inst.hpp"):
        text = (HEADER / name).read_text(encoding="utf-8")
        declared |= set(re.findall(r"^PTO_\w+\(([TMS][A-Z0-9_]{2,})\b", text, re.MULTILINE))
        declared |= set(re.findall(r"RecordEvent ([TM][A-Z0-9_]{2,})\(", text))
    used = "\n".join(block.program for file in FILES for block in read(file)[1])
    missing = sorted(name for name in declared if not re.search(rf"\b{name}\b", used))
    assert missing == []
