"""Maps names of a program to identifiers of generated Python.

An identifier is the letter of its kind, an underscore, the readable part of the name, and a number where that is taken:
``%acc`` becomes ``v_acc``, a second one ``v_acc_1``. Python compares identifiers after Unicode normalization (NFKC) and
has keywords of its own; identifiers are ASCII, and nothing that Python or the run time defines starts like one, so that
no name of a program can denote anything else.
"""

from __future__ import annotations

import re
from enum import StrEnum

LONGEST = 40
"""Maximum number of characters of a name in its identifier, so that long names do not make long code."""

_UNREADABLE = re.compile(r"[^0-9A-Za-z]+")


class Kind(StrEnum):
    """What an identifier denotes; the value is the prefix of its identifiers."""

    VALUE = "v_"
    ARRAY = "a_"
    LOCAL = "t_"
    FUNCTION = "f_"
    SCOPE_FUNCTION = "s_"
    ITEMS_FUNCTION = "w_"
    CONSTANT = "k_"


class Identifiers:
    """The identifiers of one generated text, all different; ``kinds`` has the kind of each."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def fresh(self, kind: Kind, name: str = "") -> str:
        """Returns a new identifier, close to ``name``, which may be any text."""
        letter = kind._value_
        candidate = base = letter + readable(name)
        if base in self.kinds or base == letter:
            number = self._numbers.get(base, 0)
            stem = base.rstrip("_")
            while candidate in self.kinds or candidate == base:
                number += 1
                candidate = f"{stem}_{number}"
            self._numbers[base] = number
        self.kinds[candidate] = letter
        return candidate


def readable(name: str) -> str:
    """Returns the ASCII letters and digits of ``name``, other characters as underscores between them;
    possibly empty."""
    if name.isascii() and name.isidentifier() and len(name) <= LONGEST:
        return name
    return _UNREADABLE.sub("_", name[:LONGEST]).strip("_")
