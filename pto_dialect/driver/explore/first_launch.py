"""A first launch file with synthesized arguments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..inputs import Input
from ..run.files import FileError
from ..run.value_text import Given
from .listing import ListedFunction

SUFFIX = ".launch.toml"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class FirstLaunch:
    """A function, and the arguments that were made up for it, by name."""

    function: ListedFunction
    arguments: Sequence[tuple[str, Given]]


def launch_path(program: str) -> str:
    """Returns where the launch file of a program lies by default."""
    return os.path.splitext(program)[0] + SUFFIX


def launch_text(item: Input, path: str, launches: Sequence[FirstLaunch], target: str | None, blocks: int) -> str:
    """Returns the launch file ``path`` for the program ``item``."""
    program = item.path
    lines = ["# Generated; change it to what is to be run. Keys and values: docs/launch-files.md."]
    if launch_path(os.path.basename(program)) != os.path.basename(path) or len(launches) > 1:
        lines.append(f"program = {_quoted(os.path.relpath(program, os.path.dirname(path) or os.curdir))}")
    if target is not None:
        lines.append(f"target = {_quoted(target)}")
    if blocks != 1:
        lines.append(f"blocks = {blocks}")
    lines += _compiled(item, os.path.dirname(path) or os.curdir)
    for launch in launches:
        lines += _tables(launch, "launch." if len(launches) > 1 else "", item.is_cpp)
    return "\n".join(lines) + "\n"


def _compiled(item: Input, folder: str) -> list[str]:
    """How a C++ kernel is compiled; its functions are found by its entry."""
    if item.cpp is None:
        return []
    lines: list[str] = []
    if item.cpp.entry is not None:
        lines.append(f"entry = {_quoted(item.cpp.entry)}")
    if item.cpp.defines:
        pairs = [one.partition("=") for one in item.cpp.defines]
        values = (f"{name} = {_quoted(value) if equal else 'true'}" for name, equal, value in pairs)
        lines.append(f"defines = {{ {', '.join(values)} }}")
    if item.cpp.includes:
        places = (_quoted(os.path.relpath(one, folder)) for one in item.cpp.includes)
        lines.append(f"includes = [{', '.join(places)}]")
    return lines


def _tables(launch: FirstLaunch, prefix: str, is_cpp: bool) -> list[str]:
    lines = ["", "[[launch]]"] if prefix else []
    if not is_cpp:
        lines.append(f"entry = {_quoted(launch.function.name)}")
    known = {one.name: one for one in launch.function.arguments}
    if launch.arguments:
        lines += ["", f"[{prefix}arguments]"]
    for name, given in launch.arguments:
        listed = known.get(name)
        note = f"  # {_comment(listed.type)}, {listed.direction}" if listed is not None else ""
        lines.append(f"{_key(name)} = {_value(given)}{note}")
    written = [one.name for one in launch.function.arguments if one.direction in ("out", "inout")]
    if written:
        names = ((name, _file_name(name)) for name in written)
        lines += ["", f"[{prefix}expect]"]
        lines += [f"# {_key(name)} = {_quoted(f'{file}.npy')}" for name, file in names]
        lines += ["", f"[{prefix}outputs]"]
        lines += [f"# {_key(name)} = {_quoted(f'{_file_name(name)}.npy')}" for name in written]
    return lines


def _value(given: Given) -> str:
    text = given.content.text
    number = re.fullmatch(r"-?\d+(\.\d+)?|true|false", text)
    return text if number else _quoted(text)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # What JSON escapes, TOML escapes in the same way.
    return json.dumps(text, ensure_ascii=True)


def _comment(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def _file_name(name: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in name) or "result"


def write_new(path: str, text: str) -> None:
    """Writes a file that is not there yet. Raises ``FileError`` for one that is, and where it cannot be written."""
    try:
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise FileError(f"'{path}' exists, and a launch file is never overwritten") from None
    except OSError as error:
        raise FileError(f"cannot write '{path}': {error.strerror or error}") from None
