"""Which launch files have points; nothing of a sweep is loaded for those that have none."""

from __future__ import annotations

from collections.abc import Sequence


def has_sweep(paths: Sequence[str]) -> bool:
    """True when one of the launch files has points, as far as they can be read."""
    for path in paths:
        try:
            with open(path, "rb") as stream:
                if b"sweep" in stream.read():
                    return True
        except OSError:
            continue
    return False
