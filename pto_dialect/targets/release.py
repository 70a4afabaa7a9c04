"""Releases of the reference implementation, and the changes between them.

A program has the meaning of one release: that of the option, else ``pto.release`` of the nearest module, else the
newest known release. ``CHANGES`` is the only table of differences. Source: docs/reference/releases.md, "Changes".
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from pto_dialect.versions import NEWEST_RELEASE

ATTRIBUTE: Final = "pto.release"
"""Attribute of a module that names its release."""
OLDEST: Final = "0.27"
NEWEST: Final = NEWEST_RELEASE
"""The releases with known behaviour; those in between were not all published."""

_SPELLING = r"v?0\.(\d{1,3})(?:\.0)?"


class Release(NamedTuple):
    """A release by its minor number; the major number is 0."""

    minor: int

    def __str__(self) -> str:
        return f"0.{self.minor}"

    def has(self, key: str) -> bool:
        """Returns whether the change ``key`` of the table is part of this release."""
        return self >= CHANGES[key].release


class Change(NamedTuple):
    """One change in a ``release``: a ``default``, something that is accepted since (``accepted``) or no longer is
    (``refused``). ``operations`` are the ones concerned; ``evidence`` states how the release is known."""

    release: Release
    kind: Literal["default", "accepted", "refused"]
    operations: tuple[str, ...]
    before: str
    after: str
    evidence: str


CHANGES: Final[dict[str, Change]] = {
    "tcvt-saturation": Change(
        Release(63),
        "default",
        ("pto.tcvt",),
        "without sat_mode the narrowing pairs keep the low bits, and what hif8 cannot hold is infinity",
        "without sat_mode every conversion of the backend emitc saturates",
        "a client's notes on its change from 0.61 to 0.63",
    ),
    "tcmp-packed-mask": Change(
        Release(63),
        "accepted",
        ("pto.tcmp",),
        "on a5 the mask has the shape of the sources",
        "on a5, too, the mask may be packed: as many rows, and a bit for each column",
        "0.60 refuses it; reported and fixed in September 2026",
    ),
    "live-pops": Change(
        Release(63),
        "accepted",
        ("pto.tpop", "pto.tpop_from_aic", "pto.tpop_from_aiv"),
        "an entry is freed before the next one of the queue is popped",
        "two entries of a queue may be in use at once",
        "0.44 and 0.60 refuse it",
    ),
    "scalar-memory": Change(
        Release(64),
        "refused",
        ("pto.load_scalar", "pto.store_scalar"),
        "numbers in memory are read by pto.load_scalar and written by pto.store_scalar",
        "pto.load and pto.store do that",
        "a client's notes on its change to 0.64",
    ),
    "gather-mode": Change(
        Release(60),
        "refused",
        ("pto.mgather",),
        "one row or column of indices gathers rows, one for each element of the destination gathers elements",
        "pto.mgather states its coalesce mode",
        "0.27 and 0.44 have no such mode; tests of 0.60 refuse programs without it",
    ),
    "expand-scratch": Change(
        Release(60),
        "accepted",
        ("pto.trowexpandexpdif", "pto.trowexpandmax", "pto.trowexpandmin"),
        "on a5 they have no scratch",
        "on a5, too, they may have one",
        "0.27 and 0.44 refuse it, 0.60 does not",
    ),
    "product-scratch": Change(
        Release(44),
        "accepted",
        ("pto.trowprod",),
        "the scratch has the valid region of the source",
        "the scratch may have another valid region",
        "0.27 refuses it, 0.44 does not",
    ),
    "newer-dialect": Change(
        Release(60),
        "accepted",
        (),
        "operations of the newer dialect are unknown",
        "those of the older dialect only are unknown",
        "the sources of 0.44 and 0.60; which release between them has which operation is not known",
    ),
}
"""Every known difference by its key."""


def newest() -> Release:
    """Returns the newest release known."""
    return Release(int(NEWEST[2:]))


def release_named(text: str) -> Release | None:
    """Returns the release called ``text`` (``0.63`` or ``v0.63``); ``None`` for unknown ones."""
    found = re.fullmatch(_SPELLING, text)
    release = Release(int(found[1])) if found is not None else None
    return release if release is not None and int(OLDEST[2:]) <= release.minor <= int(NEWEST[2:]) else None


def known_releases() -> str:
    """Returns the known releases, as text for messages."""
    return f"{OLDEST} to {NEWEST}"


def unknown_release(text: str) -> str:
    """Returns the message for an unknown release."""
    return f"'{text}' is no known release of the reference; known are {known_releases()}"
