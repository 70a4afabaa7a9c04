"""How a mistake is fixed, as data of its diagnostic."""

from __future__ import annotations

from typing import NamedTuple

Argument = str | int | bool | None | tuple[str, ...]


class Remedy(NamedTuple):
    """The remedy ``name`` with its arguments; ``remedies`` turns it into changes of the text on demand."""

    name: str
    arguments: tuple[Argument, ...] = ()
