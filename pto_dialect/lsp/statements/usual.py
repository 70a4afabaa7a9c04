"""Which operations usually come next in the program that is written.

`benchmarks/lsp_typing.py --count FOLDER...` counts programs and writes the table, `benchmarks/lsp_fit.py` the weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .features import Here, features
from .history import CONDITION, FUNCTION, History, statements_of
from .names import NAMES
from .network import usual_network
from .shares import usual_shares

_CLOSING = {"func.return": FUNCTION, "scf.yield": "scf.", "pto.yield": "pto."}
"""Operations that end regions, and how the operations of these regions begin."""


def ranking(text: str, aliases: Mapping[str, str] | None = None, title: str = "") -> dict[str, float]:
    """How likely each operation is after ``text``, a part of a program; those that end another kind of region are left
    out. ``aliases`` are the names of types in the program, ``title`` is the name of its file."""
    history, here = History(aliases or {}), Here()
    for statement in statements_of(text):
        here.follow(history, statement)
        history.follow(statement)
    scores = usual_network().scores(features(history, here, usual_shares(), title))
    likely = np.exp(scores - scores.max())
    found = dict(zip(NAMES, (likely / likely.sum()).tolist(), strict=True))
    for name in excluded(history):
        found.pop(name, None)
    return found


def excluded(history: History) -> set[str]:
    """Returns the operations that end regions of other kinds than the one that is open."""
    region = history.regions[-1] if history.regions else ""
    end = history.ends[-1] if history.ends else ""
    other = {name for name, begin in _CLOSING.items() if region and not region.startswith(begin)}
    return (other | {CONDITION}) - {end}
