"""Programs printed as C++ text, without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshots import Block, described, files, read, renewed

from pto_dialect.api import check, parse
from pto_dialect.cpp.emit import EmitError, emit_module
from pto_dialect.diagnostics.diagnostic import Severity

FILES = files("cpp", "emit", "snapshots")


def outcome(block: Block) -> str:
    """The C++ text of a program without its first line; or the error."""
    try:
        text = emit_module(parse(block.program))
    except EmitError as error:
        return "\n".join(described(error.diagnostic()))
    return text.partition("using namespace pto;\n")[2].strip("\n")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_programs_become_the_text_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, outcome))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_programs_of_the_snapshot_are_correct(file: Path) -> None:
    for block in read(file)[1]:
        found = check(block.program).diagnostics
        assert not [str(one) for one in found if one.severity is Severity.ERROR], block.title
