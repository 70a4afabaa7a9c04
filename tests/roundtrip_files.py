"""The files of `lit-tests/roundtrip/`: one for each family of operations, read back from both forms."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "lit-tests" / "roundtrip"

_READ_BACK = r"\| pto-opt --split-input-file(?: --werror)? \| filecheck %s(?: --match-full-lines)?$"
_READ = "^// RUN: pto-opt %s --split-input-file(?: --werror)?"
_FORMS = {
    "custom": re.compile(rf"{_READ} {_READ_BACK}", re.MULTILINE),
    "generic": re.compile(rf"{_READ} --print-op-generic {_READ_BACK}", re.MULTILINE),
}
_CONTINUED = re.compile(r" *\\\n// RUN: *")
_TARGET = re.compile(r'^module attributes \{pto\.target_arch = "(\w+)"\}', re.MULTILINE)
_CHECK = re.compile(r"^\s*// CHECK(?:-NEXT)?: (.*)$", re.MULTILINE)


@cache
def _text(family: str) -> str:
    return (FOLDER / f"{family}.pto").read_text(encoding="utf-8")


def run_lines(family: str) -> list[str]:
    """The forms, `custom` and `generic`, through which the programs of the file go."""
    text = _CONTINUED.sub(" ", _text(family))
    return [form for form, pattern in _FORMS.items() if pattern.search(text)]


@cache
def checked_lines(family: str, target: str) -> list[str]:
    """What is expected of the programs for `target`, line by line; programs of the micro level that name none are for
    a5."""
    programs = _text(family).split("\n// -----\n")
    return [line for text in programs if (_TARGET.findall(text) or ["a5"]) == [target] for line in _CHECK.findall(text)]
