"""What functions of LLVM IR become, without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from snapshots import Block, files, read, renewed

from pto_dialect.api import check
from pto_dialect.cpp.errors import TranslationError
from pto_dialect.cpp.translate import translate_module
from pto_dialect.diagnostics.diagnostic import Severity

FILES = files("cpp", "translate", "snapshots")
HEADERS = ("/headers/",)


def outcome(block: Block) -> str:
    """The function of a block as it is translated; or the error."""
    try:
        text = translate_module([("", block.program)], headers=HEADERS)
    except TranslationError as error:
        return f"error: {error}" + (f"\nhelp: {error.help}" if error.help else "")
    return "\n".join(line[2:] for line in text.splitlines()[1:-1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_functions_become_the_text_of_the_snapshot(file: Path, compare: Callable[[Path, str], None]) -> None:
    compare(file, renewed(file, outcome))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_translated_functions_are_correct_programs(file: Path) -> None:
    for block in read(file)[1]:
        if not block.output.startswith("error: "):
            found = check(f"module {{\n{block.output}\n}}").diagnostics
            assert not [str(one) for one in found if one.severity is Severity.ERROR], block.title


def test_a_kernel_that_is_a_template_is_named() -> None:
    source = "template <typename T, int N>\n__global__ AICORE void scale(__gm__ T *x) {}\n"
    with pytest.raises(TranslationError, match="scale is a template") as caught:
        translate_module([("", "")], sources={"k.cpp": source})
    assert caught.value.help == "give its arguments, for example --entry 'scale<float>'"
