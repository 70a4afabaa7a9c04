"""The ``[sweep]`` table of a launch file: names with the values that each takes, and what the file says at one point.

Source: docs/cluster.md, "Sweeps".
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

from ..launch.document import Document, Table

SWEEP = "sweep"
MOST_POINTS = 1_000_000
"""Points of one launch file."""

SETTINGS = {
    **{name: name for name in ("target", "backend", "accumulate", "fill", "blocks", "ranks", "entry")},
    "reference_release": "reference-release",
}
"""Names whose values stand for a key of the launch file, and that key."""

_RANGE = ("from", "to", "step", "factor")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("rank", "ranks")

Value = int | float | str | bool
Point = Mapping[str, Value]


def points_of(document: Document) -> list[Point]:
    """Returns all points of the sweep, the last name running fastest; one without names where there is no sweep.

    Raises ``LaunchError``.
    """
    table = Table(document, (), document.content).table(SWEEP)
    values = {name: _values(table, name) for name in table.content}
    total = math.prod(len(one) for one in values.values())
    if total > MOST_POINTS:
        table.fail("", f"{total} points, at most {MOST_POINTS} are run")
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def _values(table: Table, name: str) -> list[Value]:
    if not _NAME.fullmatch(name) or (name in _TAKEN and name not in SETTINGS):
        table.fail(name, "a swept name consists of letters, digits and _, and is not rank")
    given = table.content[name]
    if isinstance(given, dict):
        return _range(table.table(name))
    if not isinstance(given, list) or not given:
        table.fail(name, "expected a list of values, or { from = 1, to = 8, step = 1 }")
    for one in given:
        if not isinstance(one, int | float | str):
            table.fail(name, "expected numbers, strings, true or false in the list")
    if len({repr(one) for one in given}) < len(given):
        table.fail(name, "a value stands twice in the list")
    return given


def _range(table: Table) -> list[Value]:
    table.only(_RANGE)
    for key in ("from", "to"):
        if key not in table.content:
            table.fail("", "a range has from and to, and step or factor")
    numbers: dict[str, int] = {}
    for key, value in table.content.items():
        if not isinstance(value, int) or isinstance(value, bool):
            table.fail(key, "expected an integer")
        numbers[key] = value
    if "step" in numbers and "factor" in numbers:
        table.fail("factor", "a range has a step or a factor, not both")
    start, end, step, factor = numbers["from"], numbers["to"], numbers.get("step", 1), numbers.get("factor")
    if start > end or step < 1 or (factor is not None and (factor < 2 or start < 1)):
        table.fail("", "a range goes up: from is at most to, step at least 1, factor at least 2 and from then positive")
    if factor is None:
        if (end - start) // step >= MOST_POINTS:
            table.fail("to", f"more than {MOST_POINTS} values")
        return list(range(start, end + 1, step))
    found: list[Value] = []
    while start <= end:
        found.append(start)
        start *= factor
    return found


def at_point(document: Document, point: Point) -> Document:
    """The launch file at one point: ``{name}`` in its strings is replaced by the value, and the sweep is removed."""
    found = copy.copy(document)
    content = {key: _filled(value, point) for key, value in document.content.items() if key != SWEEP}
    found.content = content | {key: point[name] for name, key in SETTINGS.items() if name in point}
    return found


def _filled(value: Any, point: Point) -> Any:
    if isinstance(value, str):
        for name, one in point.items():
            value = value.replace(f"{{{name}}}", value_text(one))
        return value
    if isinstance(value, dict):
        return {key: _filled(one, point) for key, one in value.items()}
    return [_filled(one, point) for one in value] if isinstance(value, list) else value


def filled_program(text: str, point: Point) -> str:
    """Returns a program with ``${name}`` as the value."""
    for name, one in point.items():
        text = text.replace(f"${{{name}}}", value_text(one))
    return text


def value_text(value: Value) -> str:
    """Returns a value as it is written in a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def point_text(point: Point) -> str:
    """Returns ``n=16, seed=0``."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in point.items())
