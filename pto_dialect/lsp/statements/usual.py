"""Which operations usually come next in the program that is written.

`benchmarks/lsp_typing.py --count FOLDER...` counts programs and writes the table, `benchmarks/lsp_fit.py` the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from xdsl.ir import Attribute

from .features import Here, features
from .history import CONDITION, FUNCTION, History, statements_of
from .names import NAMES, needed
from .network import usual_network
from .shares import usual_shares

_CLOSING = {"func.return": FUNCTION, "scf.yield": "scf.", "pto.yield": "pto."}
"""Operations that end regions, and how the operations of these regions begin."""


def ranking(text: str, aliases: Mapping[str, str] | None = None) -> dict[str, float]:
    """How likely each operation is after ``text``, a part of a program; those that end another kind of region are left
    out. ``aliases`` are the names of types in the program."""
    history, here = History(aliases or {}), Here()
    for statement in statements_of(text):
        here.follow(history, statement)
        history.follow(statement)
    scores = usual_network().scores(features(history, here, usual_shares()))
    likely = np.exp(scores - scores.max())
    found = dict(zip(NAMES, (likely / likely.sum()).tolist(), strict=True))
    for name in excluded(history):
        found.pop(name, None)
    return found


def excluded(history: History) -> set[str]:
    """The operations that end regions of other kinds than the one that is open."""
    region = history.regions[-1] if history.regions else ""
    end = history.ends[-1] if history.ends else ""
    other = {name for name, begin in _CLOSING.items() if region and not region.startswith(begin)}
    return (other | {CONDITION}) - {end}


def applicable(types: Iterable[Attribute]) -> frozenset[str] | None:
    """The operations of this dialect whose operands can all have one of ``types``; ``None`` without types."""
    given = frozenset(types)
    return _applicable(given) if given else None


@lru_cache(maxsize=256)
def _applicable(types: frozenset[Attribute]) -> frozenset[str]:
    fitting = {id(kind): any(kind.accepts(one) for one in types) for kinds in needed().values() for kind in kinds}
    return frozenset(name for name, kinds in needed().items() if all(fitting[id(kind)] for kind in kinds))
