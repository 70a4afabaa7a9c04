"""Parameters of types that were read before, by their spelling.

Types of a program differ from earlier ones in one or two parameters. What a parameter means does not depend on those
beside it, so a type without brackets among its parameters whose parameters were all read before is put together from
them. The grammar stays the definition: it has read each of them, and reads every type that the rest is wrong about.
"""

from __future__ import annotations

import re

from pto_dialect.accel import enabled
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.types.parameter import Parameter

_FLAT = re.compile(r"(!pto\.\w+)<([^<>\"#{}()!]+)>")
"""A type whose commas separate its own parameters."""

_MOST = 4_096
"""Spellings that are kept."""

_LONGEST = 60
"""Characters of the longest spelling that is kept."""


class TypeParameters:
    """Parameters by spelling; their extents are those of the text in which they were read."""

    def __init__(self) -> None:
        self.known: dict[str, Parameter] = {}

    def of(self, text: str) -> tuple[Tok, list[Parameter]] | None:
        """The name and the parameters of a type; ``None`` where one of them was never read."""
        found = _FLAT.fullmatch(text) if enabled("types") else None
        if found is None:
            return None
        known = self.known
        parameters: list[Parameter] = []
        for spelling in found[2].split(","):
            parameter = known.get(spelling.strip())
            if parameter is None:
                return None
            parameters.append(parameter)
        return Tok("HEAD", found[1], 0), parameters

    def learn(self, text: str, parameters: list[Parameter]) -> None:
        """Remembers the parameters that the grammar has read in ``text``."""
        found = _FLAT.fullmatch(text)
        spellings = found[2].split(",") if found is not None else []
        if len(spellings) != len(parameters):
            return
        if len(self.known) >= _MOST:
            self.known.clear()
        for spelling, parameter in zip(spellings, parameters, strict=True):
            if len(spelling) <= _LONGEST:
                self.known[spelling.strip()] = parameter
