"""What a tuning varies: the ``[tune]`` table of a launch file, or the same from a command line.

Source: docs/tune.md, "What varies".
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pto_dialect.passes.registry import PASS_TABLE, PassOptionError, UnknownPassError, parse_pipeline

from ..inputs import CPP_SUFFIXES
from ..launch.cpp_keys import DEFINES
from ..launch.document import Document, LaunchError, Table
from ..sweep.points import SWEEP, Point, at_point, filled_program, points_of, value_text

TUNE = "tune"
PASSES = "passes"
OFF = "off"
"""The value of an option with which its pass is left out."""

ONE = {"double-buffer": "count", "unroll": "factor"}
"""Passes for which one of something is to leave things as they are."""

_LIST = re.compile(r"(?P<option>[a-z-]+)=\[(?P<values>[^\[\]]*)\]")
_PLACE = {False: "${NAME} in the program", True: "the macro NAME of the kernel"}
_LEFT = re.compile(r"\$\{(\w+)\}")


class Candidate(NamedTuple):
    """One way to have the kernel: the values, the launch file with them, and the passes that run over the program."""

    point: Point
    document: Document
    passes: tuple[str, ...]


def candidates(document: Document) -> list[Candidate]:
    """Returns all combinations, the last name varying fastest. Raises ``LaunchError``."""
    top = Table(document, (), document.content)
    if SWEEP in document.content:
        top.fail(SWEEP, "a launch file that is tuned has a table [tune] instead")
    table = top.table(TUNE)
    if not table.content:
        top.fail(TUNE if TUNE in document.content else "", "there is nothing to vary, write a table [tune]")
    names = {name: value for name, value in table.content.items() if name != PASSES}
    varied = copy.copy(document)
    varied.content = {key: value for key, value in document.content.items() if key != TUNE} | {SWEEP: names}
    passes = table.text(PASSES) or ""
    return [
        Candidate(point, at_point(varied, point), _pipeline(_filled(passes, point), table))
        for point in _located(varied, document)
    ]


def _located(varied: Document, document: Document) -> list[Point]:
    """Returns the points; errors are located in the table ``[tune]``."""
    try:
        return points_of(varied)
    except LaunchError as error:
        message = error.diagnostic.message.replace(f"{SWEEP}.", f"{TUNE}.").replace(f"{SWEEP}:", f"{TUNE}:")
        name = message.partition(":")[0].removeprefix(f"{TUNE}.").partition(".")[0]
        raise document.error((TUNE, name), message) from None


def _filled(text: str, point: Point) -> str:
    for name, value in point.items():
        text = text.replace(f"{{{name}}}", value_text(value))
    return text


def _pipeline(text: str, table: Table) -> tuple[str, ...]:
    """Returns the passes of a pipeline, without those that a value leaves out."""
    try:
        calls = [each for each in _calls(text) if not _left_out(each)]
        return parse_pipeline(",".join(calls))
    except (UnknownPassError, PassOptionError) as error:
        table.fail(PASSES, str(error))


def _calls(text: str) -> list[str]:
    return [each.strip() for each in re.split(r",(?![^{]*\})", text) if each.strip()]


def _left_out(call: str) -> bool:
    name, _, options = call.rstrip("}").partition("{")
    given = dict(part.split("=", 1) for part in options.split() if "=" in part)
    option = ONE.get(name)
    one = option in given and given[option] == "1" and "1" not in PASS_TABLE[name].options[option]
    return one or OFF in given.values()


def program_at(text: str, point: Point, document: Document) -> str:
    """Returns the program with the numbers of a point; words do not go into programs. Raises ``LaunchError``."""
    for name, value in point.items():
        if f"${{{name}}}" in text and not (isinstance(value, int) and not isinstance(value, bool)):
            raise document.error((TUNE, name), f"{TUNE}.{name}: ${{{name}}} in a program is an integer, not '{value}'")
    filled = filled_program(text, point)
    left = _LEFT.search(filled)
    if left is not None:
        raise document.error((TUNE,), f"no value is given for ${{{left[1]}}} of the program")
    return filled


def with_passes(document: Document, passes: Sequence[str]) -> Document:
    """Returns a launch file whose ``[tune]`` has these passes as well, after its own. Raises ``LaunchError``."""
    if not passes:
        return document
    given = Table(document, (), document.content).table(TUNE)
    table = dict(given.content)
    template = ",".join(
        [*([given.text(PASSES) or ""] if PASSES in table else []), *(_named(one, table) for one in passes)]
    )
    found = copy.copy(document)
    found.content = document.content | {TUNE: table | {PASSES: template}}
    return found


# ------------------------------------------------------------ command lines


class SpaceError(ValueError):
    """Options that state nothing that can vary."""


def document_of(
    path: str, params: Sequence[str], passes: Sequence[str], launch: Mapping[str, Any]
) -> Document:  # fmt: skip
    """Returns the launch file that a command line stands for: ``params`` are ``NAME=1,2,4``, of a C++ kernel for its
    macros, ``passes`` pipelines whose options may have lists of values, ``rows=[16,32]``; ``launch`` has its other
    keys. Raises :class:`SpaceError`."""
    table: dict[str, Any] = {}
    for text in params:
        name, equal, values = text.partition("=")
        if not equal or not re.fullmatch(r"[A-Za-z_]\w*", name) or name in table or name == PASSES:
            raise SpaceError(f"'{text}' is not written as NAME=16,32,64, each name once")
        table[name] = [_value(each.strip()) for each in values.split(",")]
    template = ",".join(_named(text, table) for text in passes)
    if template:
        table[PASSES] = template
    if not table:
        raise SpaceError(
            f"there is nothing to vary: give --param NAME=16,32 for {_PLACE[path.endswith(CPP_SUFFIXES)]}, or values "
            "of options of passes, as in -p 'double-buffer{count=[1,2]},assign-memory,insert-sync'"
        )
    content = {"program": path, **launch, TUNE: table}
    if path.endswith(CPP_SUFFIXES):
        names = [text.partition("=")[0] for text in params]
        content[DEFINES] = {name: f"{{{name}}}" for name in names}
    return Document("command line", _toml(content))


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _named(pipeline: str, table: dict[str, Any]) -> str:
    """Returns a pipeline whose lists have become names of ``table``."""

    def name(match: re.Match[str]) -> str:
        chosen, number = match["option"], 2
        while chosen in table:
            chosen, number = f"{match['option']}_{number}", number + 1
        table[chosen] = [_value(each.strip()) for each in match["values"].split(",")]
        return f"{match['option']}={{{chosen}}}"

    return _LIST.sub(name, pipeline)


def _toml(content: Mapping[str, Any]) -> str:
    """Keys and tables as TOML; JSON's strings, numbers and arrays are some of its."""
    plain = [f"{key} = {_word(value)}" for key, value in content.items() if not isinstance(value, dict)]
    for table, values in content.items():
        if isinstance(values, dict) and values:
            plain += [f"[{table}]", *(f"{json.dumps(key)} = {_word(value)}" for key, value in values.items())]
    return "\n".join(plain) + "\n"


def _word(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
