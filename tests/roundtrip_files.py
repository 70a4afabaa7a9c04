"""The files of `lit-tests/roundtrip/`: one for each family of operations, read back from both forms."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "lit-tests" / "roundtrip"

_READ_BACK = r"\| pto-opt --split-input-file \| filecheck %s(?: --match-full-lines)?$"
_FORMS = {
    "custom": re.compile(rf"^// RUN: pto-opt %s --split-input-file {_READ_BACK}", re.MULTILINE),
    "generic": re.compile(rf"^// RUN: pto-opt %s --split-input-file --print-op-generic {_READ_BACK}", re.MULTILINE),
}
_TARGET = re.compile(r'^module attributes \{pto\.target_arch = "(\w+)"\}', re.MULTILINE)
_CHECK = re.compile(r"^\s*// CHECK(?:-NEXT)?: (.*)$", re.MULTILINE)


@cache
def _text(family: str) -> str:
    return (FOLDER / f"{family}.pto").read_text(encoding="utf-8")


def run_lines(family: str) -> list[str]:
    """The forms, `custom` and `generic`, through which the programs of the file go."""
    return [form for form, pattern in _FORMS.items() if pattern.search(_text(family))]


@cache
def checked_lines(family: str, target: str) -> list[str]:
    """What is expected of the programs for `target`, line by line."""
    programs = _text(family).split("\n// -----\n")
    return [line for text in programs if _TARGET.findall(text) == [target] for line in _CHECK.findall(text)]
