"""Options of the sanitizers: the checks, and how they work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

CHECKS: dict[str, str] = {
    "race": "accesses of the same bytes that nothing orders",
    "deadlock": "waits that no signal can end",
    "init": "values computed from memory that was never written",
    "bounds": "accesses outside of buffers, memories and tiles; misaligned addresses",
    "overlap": "tiles in use that share bytes; memories too small for the tiles",
    "cache": "stores and loads of global memory that the data cache of a scalar unit loses or hides",
    "sync": "signals, locks and hand-overs without their counterpart",
    "numeric": "infinities and NaNs where they come up first",
}
"""Names of the checks."""

ON_REQUEST = frozenset(("numeric",))
"""Checks that ``all`` excludes: what they report is often intended."""

SyncMode = Literal["auto", "strict", "compiler"]


class UnknownCheckError(ValueError):
    """A list of checks names an unknown one."""


@dataclass(frozen=True)
class SanitizeOptions:
    """``checks``: names from ``CHECKS``. ``sync``: ``strict`` checks the order of pipes in every program, ``auto`` only
    in those that order their pipes themselves, ``compiler`` in none, because a compiler is going to order all."""

    checks: frozenset[str] = field(default_factory=lambda: frozenset(CHECKS) - ON_REQUEST)
    sync: SyncMode = "auto"


def parse_checks(texts: Iterable[str]) -> frozenset[str]:
    """Returns the checks of lists such as ``race,init``; ``all`` means every check but those ``ON_REQUEST``.

    Raises :class:`UnknownCheckError`.
    """
    checks: set[str] = set()
    for text in texts:
        for name in (part.strip() for part in text.split(",")):
            if name == "all":
                checks |= CHECKS.keys() - ON_REQUEST
            elif name in CHECKS:
                checks.add(name)
            else:
                raise UnknownCheckError(f"there is no check '{name}'; checks are {', '.join(CHECKS)}, all")
    return frozenset(checks)
