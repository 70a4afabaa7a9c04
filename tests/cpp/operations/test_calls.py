"""What calls of the C++ interface become, without a compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cpp_calls import translated
from snapshots import Block, files, read, renewed

from pto_dialect.api import check
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.kernel import origins_of_kernel
from pto_dialect.diagnostics.diagnostic import Severity

FILES = files("cpp", "operations", "snapshots")


def outcome(block: Block) -> str:
    """The lines that the calls of a block become, without constants; or the error."""
    target = "a5" if block.title.endswith(" a5") else "a2a3"
    core = next((core for core in ("vector", "cube") if f"{core} core" in block.title), "")
    try:
        emitter = translated(block.program, target, core)
    except TranslationError as error:
        return f"error: {error.message}" + (f"\nhelp: {error.help}" if error.help else "")
    return "\n".join((*emitter.lines, *_errors(emitter.text(core))))


def _errors(text: str) -> Iterator[str]:
    """The rules that a program breaks as one of a C++ kernel."""
    origins_of_kernel("", "calls.cpp").register(text)
    for one in check(text).diagnostics:
        if one.severity is Severity.ERROR:
            yield f"invalid: {one.message} [{one.rule}]"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_calls_become_the_lines_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, outcome))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_calls_become_is_a_correct_program(file: Path) -> None:
    assert not [block.title for block in read(file)[1] if "invalid: " in block.output]
