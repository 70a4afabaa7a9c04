"""The Python lines of a program: what diagnostics show first of its statements."""

from __future__ import annotations

import linecache
import re

from pto_dialect.diagnostics.origins import Origins

_FILE = re.compile(r'"((?:[^"\\\n]|\\[^\n])*\.py)":\d+:\d+')


def attach_sources(text: str) -> None:
    """States where the Python lines are that the locations of ``text`` name."""
    names = dict.fromkeys(_FILE.findall(text))
    texts = {name: "".join(lines) for name in names if (lines := linecache.getlines(name))}
    if texts:
        Origins(None, texts).register(text)
