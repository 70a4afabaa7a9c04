"""The files of `lit-tests/roundtrip/`: one for each family of operations, read back from both forms."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pto_dialect.families import FAMILIES, level_of
from pto_dialect.targets.op_availability import MICRO_LEVELS
from run_lines import parse_run_lines

FOLDER = Path(__file__).parents[2] / "lit-tests" / "roundtrip"

_TARGET = re.compile(r'^module attributes \{pto\.target_arch = "(\w+)"\}', re.MULTILINE)
_CHECK = re.compile(r"^\s*// CHECK(?:-NEXT)?: (.*)$", re.MULTILINE)


def file_of(family: str) -> Path:
    """The file of a family; it lies as the module of its operations does."""
    return FOLDER / f"{str(FAMILIES[family].operations).replace('.', '/')}.pto"


@cache
def _text(family: str) -> str:
    return file_of(family).read_text(encoding="utf-8")


def forms(family: str) -> set[str]:
    """The forms, `custom` and `generic`, in which the programs of the file are printed, read and compared in full."""
    found: set[str] = set()
    for line in parse_run_lines(_text(family), file_of(family)):
        written, read, checked = (part.split() for part in line.text.split("|"))
        if written[:2] == ["pto-opt", "%s"] and read[0] == "pto-opt" and "--match-full-lines" in checked:
            found.add("generic" if "--print-op-generic" in written else "custom")
    return found


@cache
def checked_lines(family: str, target: str) -> list[str]:
    """What is expected of the programs for `target`, line by line."""
    default = "a5" if level_of(family) in MICRO_LEVELS else "a2a3"
    programs = _text(family).split("\n// -----\n")
    chosen = [text for text in programs if (_TARGET.findall(text) or [default]) == [target]]
    return [line for text in chosen for line in _CHECK.findall(text)]
