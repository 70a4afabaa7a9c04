"""The command `bisheng`: writes which kernel each function of a C++ file launches, instead of a shared library.

    bisheng [OPTIONS] CALLER.cpp -o LIBRARY.so

The C++ file includes one that `ptoas` of this package has made, and has functions with one launch each:
`extern "C" void call(uint32_t n, void *stream, uint8_t *x) { kernel<<<n, nullptr, stream>>>((float *)x); }`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .assemble import Assembled, programs_in

KIND = "pto-dialect-library"
_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|(\w+))', re.MULTILINE)
_DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)\s+(\S.*?)\s*$", re.MULTILINE)
_FUNCTION = re.compile(r'extern\s+"C"\s+[\w\s]*?\b(\w+)\s*\(([^()]*)\)\s*\{')
_LAUNCH = re.compile(r"(\w+)\s*<<<\s*([^,<>]+),[^<>]*>>>\s*\(")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_NAME = re.compile(r"(\w+)[\s)]*\Z")
DEPTH = 8
"""Files that include one another."""


class LinkError(Exception):
    """A C++ file that cannot be made a library without a device compiler."""


class Called(NamedTuple):
    """A function of a library: its ``parameters``, the ``kernel`` that it launches, on how many ``blocks``, and with
    which ``arguments``: names of parameters; others are 0."""

    parameters: list[str]
    kernel: str
    blocks: str
    arguments: list[str]


class Library(NamedTuple):
    """What a library has."""

    programs: list[Assembled]
    functions: dict[str, Called]

    @property
    def text(self) -> str:
        """The file."""
        functions = {name: one._asdict() for name, one in self.functions.items()}
        return json.dumps({"kind": KIND, "programs": [one._asdict() for one in self.programs], "functions": functions})


def read_library(text: str) -> Library | None:
    """Returns a library of this package; ``None`` for other files."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        return None
    return Library(
        [Assembled(**one) for one in found["programs"]],
        {name: Called(**one) for name, one in found["functions"].items()},
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Carries the command out. Exits with code 1 for a file that it cannot link."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    defines: dict[str, str] = {}
    sources: list[str] = []
    output = ""
    while given:
        word = given.pop(0)
        if word == "-o" and given:
            output = given.pop(0)
        elif word == "-mllvm" and given:
            given.pop(0)
        elif word.startswith("-D"):
            name, _, value = word[2:].partition("=")
            defines[name] = value
        elif not word.startswith("-"):
            sources.append(word)
    try:
        if len(sources) != 1 or not output:
            raise LinkError("exactly one C++ file is linked, and -o names the library")
        Path(output).write_text(link(Path(sources[0]), defines).text, encoding="utf-8")
    except (LinkError, OSError, UnicodeDecodeError) as error:
        sys.exit(f"bisheng of pto-dialect: error: {error}")


def link(source: Path, defines: dict[str, str]) -> Library:
    """Returns the library of a C++ file. Raises ``LinkError``."""
    text, programs = _included(source, defines, DEPTH)
    if not programs:
        raise LinkError(f"{source} includes no program of ptoas; C++ kernels run with pto run KERNEL.cpp")
    plain = _COMMENT.sub(" ", text)
    # What the command defines comes before what a file defines where that is missing.
    known = dict(_DEFINE.findall(plain)) | defines
    functions: dict[str, Called] = {}
    for match in _FUNCTION.finditer(plain):
        launch = _LAUNCH.search(plain, match.end(), _end_of(plain, match.end() - 1))
        if launch is None:
            continue
        names = [part.split()[-1].lstrip("*&") for part in _parts(match[2]) if part.split()]
        inside = plain[launch.end() : _end_of(plain, launch.end() - 1) - 1]
        arguments = [_name_in(part, names) for part in _parts(inside)]
        kernel = known.get(launch[1], launch[1])
        functions[match[1]] = Called(names, kernel, launch[2].strip(), arguments)
    if not functions:
        raise LinkError(f'{source} has no extern "C" function with a launch <<<..>>>')
    return Library(programs, functions)


def _included(source: Path, defines: dict[str, str], depth: int) -> tuple[str, list[Assembled]]:
    """Returns the text of a file without those of programs, and the programs in files that it includes."""
    text = source.read_text(encoding="utf-8")
    programs = programs_in(text)
    if not depth:
        return text, programs
    known = dict(_DEFINE.findall(text)) | defines
    for quoted, word in _INCLUDE.findall(text):
        name = quoted or known.get(word, "").strip('\\"')
        path = source.parent / name if name else None
        if path is not None and path.is_file():
            more, found = _included(path, defines, depth - 1)
            programs += found
            text = f"{more}\n{text}" if not found else text
    return text, programs


def _end_of(text: str, start: int) -> int:
    """Returns the position after the bracket that closes the one at ``start``."""
    opened = {"{": "}", "(": ")"}[text[start]]
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == text[start]) - (text[position] == opened)
        if not depth:
            return position + 1
    return len(text)


def _parts(text: str) -> list[str]:
    """Parts of a list, which commas in parentheses or angle brackets do not end."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[") - (letter in ")>]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _name_in(expression: str, names: list[str]) -> str:
    """Returns the parameter that an argument passes on; ``0`` for other expressions."""
    found = _LAST_NAME.search(expression)
    return found[1] if found is not None and found[1] in names else "0"
