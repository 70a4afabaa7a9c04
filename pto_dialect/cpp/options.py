"""What a user says about the compilation of a C++ kernel."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

_DEFINITION = re.compile(r"[A-Za-z_]\w*(=[^\n\0]*)?\Z")


class BadOption(Exception):
    """A definition or an entry that cannot be handed to a compiler."""


@dataclass(frozen=True)
class CppOptions:
    """How a kernel is compiled: ``entry`` is a function, or a template with its arguments such as ``kernel<half, 128>``
    (``None``: what the text says), ``defines`` and ``includes`` are those of the compiler, ``cxx`` is its command
    (``None``: one that is found). ``core`` is the core to compile for, ``vector`` or ``cube`` (``None``: those that the
    text has code for)."""

    entry: str | None = None
    target: str | None = None
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    cxx: str | None = None
    core: str | None = None

    @property
    def chip(self) -> str:
        """Returns the target that the headers know."""
        return "a5" if self.target in ("a5", "cpu-sim") else "a2a3"


def with_target(options: CppOptions, target: str | None) -> CppOptions:
    """Returns ``options`` for a chip, unless they state one."""
    return options if options.target is not None or target is None else replace(options, target=target)


def check_options(defines: Sequence[str], includes: Sequence[str]) -> None:
    """Raises :class:`BadOption` where a compiler cannot get these definitions or folders of headers."""
    for folder in includes:
        if not os.path.isdir(folder):
            raise BadOption(f"-I names '{folder}', which is no folder")
    for definition in defines:
        if not _DEFINITION.match(definition):
            raise BadOption(f"'{definition}' is no definition; write NAME or NAME=VALUE")


def macros_of(defines: Mapping[str, object]) -> tuple[str, ...]:
    """Returns definitions of macros as a command line has them. Raises ``TypeError`` for anything but a mapping."""
    if not isinstance(defines, Mapping):
        raise TypeError(f"defines are macros with their values, as in {{'N': 4}}, not {defines!r}")
    return tuple(f"{name}={value}" for name, value in defines.items())
