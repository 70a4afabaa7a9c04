"""Names that vary without effect: nothing uses them, or ``-D`` gives them one value. Source: docs/tune.md, "What
varies"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from ..inputs import read_text
from ..launch.cpp_keys import DEFINES, CppKeys
from ..launch.document import Document
from ..sweep.points import SETTINGS
from .measure import Tuner
from .space import PASSES, TUNE, Candidate, SpaceError


def check_names(tuner: Tuner, document: Document, found: Sequence[Candidate], is_file: bool) -> None:
    """Complains about names of ``document`` that nothing uses, or that are also given by ``-D``; ``is_file``: it is no
    command line. Raises ``LaunchError`` or :class:`SpaceError`."""
    names = [name for name in document.content[TUNE] if name != PASSES]
    _check_definitions(document, tuner.cpp.keys, names, is_file)
    programs = _programs(tuner, found)
    if programs is None:
        return
    mentioned = {word for text, is_cpp in programs if is_cpp for word in re.findall(r"\w+", text)}
    strings = list(_strings({**document.content, TUNE: document.content[TUNE].get(PASSES)}, mentioned))
    for name in names:
        in_file = name in SETTINGS or any(f"{{{name}}}" in text for text in strings)
        if not in_file and not any(f"${{{name}}}" in text for text, is_cpp in programs if not is_cpp):
            _fail(document, name, f"nothing uses {name}", is_file, _advice(name, programs[0][1], is_file))


def _check_definitions(document: Document, given: CppKeys, names: Sequence[str], is_file: bool) -> None:
    fixed = [text.partition("=")[0] for text in given.defines]
    for table in _tables(document.content):
        for macro in fixed:
            for name in names:
                if f"{{{name}}}" in str(table.get(macro, "")):
                    option = "[tune]" if is_file else "--param"
                    _fail(document, name, f"{macro} is both -D and {option}", is_file, "leave one of them out")


def _fail(document: Document, name: str, message: str, is_file: bool, advice: str) -> NoReturn:
    if is_file:
        raise document.error((TUNE, name), message, advice)
    raise SpaceError(f"{message}; {advice}")


def _advice(name: str, is_cpp: bool, is_file: bool) -> str:
    if is_cpp:
        return f'write defines = {{ {name} = "{{{name}}}" }}' if is_file else f"the kernel has no macro {name}"
    return f"write ${{{name}}} in the program" + (f", or {{{name}}} in a string of this file" if is_file else "")


def _programs(tuner: Tuner, found: Sequence[Candidate]) -> list[tuple[str, bool]] | None:
    """Returns the texts of all programs, of C++ kernels with what they include, and whether they are C++; ``None``
    where one cannot be read."""
    texts: list[tuple[str, bool]] = []
    for one in {repr([one.document.content.get(key) for key in ("program", "launch")]): one for one in found}.values():
        item = tuner.input_of(one)
        text, remark = read_text(item)
        if remark is not None:
            return None
        if item.cpp is not None:
            from pto_dialect.cpp.compiler import included_files  # deferred: start-up

            text = included_files(text, item.path, item.cpp.includes).whole
        texts.append((text, item.is_cpp))
    return texts


def _tables(content: Any) -> Iterator[dict[str, Any]]:
    """Yields all tables of definitions."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == DEFINES and isinstance(value, dict):
                yield value
            else:
                yield from _tables(value)
    elif isinstance(content, list):
        for value in content:
            yield from _tables(value)


def _strings(content: Any, macros: set[str]) -> Iterator[str]:
    """Yields all strings in which names are replaced; definitions only of ``macros``."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for value in content:
            yield from _strings(value, macros)
    elif isinstance(content, dict):
        for key, value in content.items():
            if key == DEFINES and isinstance(value, dict):
                yield from _strings({name: one for name, one in value.items() if name in macros}, macros)
            else:
                yield from _strings(value, macros)
