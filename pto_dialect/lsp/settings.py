"""What a client may choose."""

from __future__ import annotations

from typing import Any, NamedTuple

from pto_dialect.targets.choice import OPTION_ALIASES, PROFILE_NAMES
from pto_dialect.targets.release import release_named


class Settings(NamedTuple):
    """``target``: the chip, where the module does not matter; ``release``: the release of the reference;
    ``inlay_hints`` and ``code_lens``: whether they are shown."""

    target: str | None = None
    release: str | None = None
    inlay_hints: bool = True
    code_lens: bool = True

    @classmethod
    def read(cls, given: Any) -> Settings:
        """Returns the settings in what a client sends; others than these, and values of another kind, are passed
        over."""
        if not isinstance(given, dict):
            return cls()
        target, release = given.get("target"), given.get("release")
        hints, lens = given.get("inlayHints"), given.get("codeLens")
        return cls(
            target if isinstance(target, str) and target in (*PROFILE_NAMES, *OPTION_ALIASES) else None,
            release if isinstance(release, str) and release_named(release) is not None else None,
            hints if isinstance(hints, bool) else True,
            lens if isinstance(lens, bool) else True,
        )
