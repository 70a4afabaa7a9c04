"""Kernels with one fault each, and their correct twins.

A file below ``kernels`` is a correct kernel with marks at the end of lines; each mark names faults::

    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]  //- late     not there with the fault ``late``
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID1"]  //+ late     there with the fault ``late`` only

Comments at its head say how it is launched and what each fault is::

    // launch: blocks=2 a=f32:64 b=f32:64:0 n=5
    // fault late: race-raw: the wait names another flag

Buffers count up, each from another number, or hold what is after the size; numbers are given as they are. A fault
may name several rules, separated by ``|``. A line ``// fault late @warning: …`` has a finding that is a warning.
``// correct alike: …`` is one more correct twin, written with the same marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "faulty" / "kernels"
HAZARDS = Path(__file__).parents[1] / "faulty" / "hazards"
"""Kernels on order and memory, written from the specification alone; a folder for each kind of fault."""
_MARK = re.compile(r"\s*//([-+]) *([\w ]+)$")
_HEAD = re.compile(r"// (fault|correct) (\w+)(?: @(\w+))?: (?:([\w|-]+): )?(.*)")
_STORAGE = {"f32": "f4", "f16": "f2", "i32": "i4", "i16": "i2", "i8": "i1", "ui8": "u1", "i64": "i8"}


@dataclass(frozen=True)
class Kernel:
    """A program: ``label`` is the fault it has, empty for a correct one; ``rules`` may report it."""

    name: str
    label: str
    text: str
    rules: tuple[str, ...] = ()
    severity: str = "error"
    launch: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.label}" if self.label else self.name

    @property
    def blocks(self) -> int:
        return int(self.launch.get("blocks", 1))

    def values(self) -> list[Any]:
        """Fresh arguments."""
        given = [text for name, text in self.launch.items() if name not in ("blocks", "sync")]
        return [_value(text, 7 * position + 1) for position, text in enumerate(given)]


def _value(text: str, first: int) -> Any:
    element, _, rest = text.partition(":")
    if element not in _STORAGE:
        return float(text) if "." in text else int(text)
    size, _, content = rest.partition(":")
    dtype = np.dtype(_STORAGE[element])
    count = int(size)
    return np.full(count, float(content), dtype) if content else (np.arange(count) % 50 + first).astype(dtype)


def variant(text: str, label: str) -> str:
    """The kernel with the fault ``label``; other lines keep their numbers."""
    lines: list[str] = []
    for line in text.split("\n"):
        found = _MARK.search(line)
        if found is not None:
            present = (label in found[2].split()) == (found[1] == "+")
            line = line[: found.start()] if present else ""
        lines.append(line)
    return "\n".join(lines)


def read(path: Path) -> Iterator[Kernel]:
    """The correct kernel of a file, then those with a fault."""
    text = path.read_text()
    launch = dict(part.split("=", 1) for part in re.findall(r"^// launch: (.*)$", text, re.M)[0].split())
    yield Kernel(path.stem, "", variant(text, ""), launch=launch)
    for kind, label, severity, rules, _ in _HEAD.findall(text):
        if not re.search(rf"//[-+][\w ]*\b{label}\b", text):
            raise ValueError(f"{path.name}: no line is marked {label}")
        named = tuple(rules.split("|")) if kind == "fault" else ()
        yield Kernel(
            path.stem, label if named else f"{label}", variant(text, label), named, severity or "error", launch
        )


@cache
def kernels(folder: Path = FOLDER) -> tuple[Kernel, ...]:
    """All kernels of a folder and the folders in it, by path."""
    return tuple(kernel for path in sorted(folder.rglob("*.pto")) for kernel in read(path))


def faulty(folder: Path = FOLDER) -> list[Kernel]:
    """The kernels with a fault."""
    return [kernel for kernel in kernels(folder) if kernel.rules]


def correct(folder: Path = FOLDER) -> list[Kernel]:
    """The correct twins."""
    return [kernel for kernel in kernels(folder) if not kernel.rules]
