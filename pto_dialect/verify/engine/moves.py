"""Operations that move data from one memory space into another, for the help about an operand in the wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping

_POINTER_MOVES: dict[tuple[str, str], str] = {
    ("gm", "ub"): "pto.mte_gm_ub",
    ("ub", "gm"): "pto.mte_ub_gm",
    ("gm", "l1"): "pto.mte_gm_l1",
    ("ub", "l1"): "pto.mte_ub_l1",
    ("l1", "ub"): "pto.mte_l1_ub",
    ("l1", "l0a"): "pto.mte_l1_l0a",
    ("l1", "l0b"): "pto.mte_l1_l0b",
    ("l1", "bt"): "pto.mte_l1_bt",
    ("l1", "fb"): "pto.mte_l1_fb",
    ("l0c", "gm"): "pto.mte_l0c_gm",
    ("l0c", "l1"): "pto.mte_l0c_l1",
    ("l0c", "ub"): "pto.mte_l0c_ub",
}
"""Transfers between the memory spaces that pointers name."""

_TILE_MOVES: dict[tuple[str, str], str] = {
    ("gm", "vec"): "pto.tload",
    ("gm", "mat"): "pto.tload",
    ("vec", "gm"): "pto.tstore",
    ("acc", "gm"): "pto.tstore",
    ("mat", "left"): "pto.tmov",
    ("mat", "right"): "pto.tmov",
    ("mat", "bias"): "pto.tmov",
    ("mat", "scaling"): "pto.tmov",
    ("acc", "vec"): "pto.tmov",
    ("acc", "mat"): "pto.tmov",
    ("vec", "mat"): "pto.tmov",
}
"""Moves between the locations of tiles."""

_WRONG_MEMORY = re.compile(r"(\w+) of \S+ must be in (\w+)(?: or (\w+))?, found (\w+)")
_WRITTEN = frozenset(("dst", "destination", "outs"))


def route(moves: Mapping[tuple[str, str], str], found: str, wanted: str) -> list[tuple[str, str]] | None:
    """Returns the shortest chain of (operation, memory it writes) from ``found`` to ``wanted``; ``None`` where there is
    none."""
    chains: list[tuple[str, list[tuple[str, str]]]] = [(found, [])]
    seen = {found}
    for memory, chain in chains:
        for (source, target), op in moves.items():
            if source == memory and target not in seen:
                longer = [*chain, (op, target)]
                if target == wanted:
                    return longer
                seen.add(target)
                chains.append((target, longer))
    return None


def missing_move(message: str) -> str | None:
    """Returns the missing move for an operand that is in another memory than the rule requires.

    ``message`` is a rule's ``NAME of OPERATION must be in MEMORY[ or MEMORY], found MEMORY``.
    """
    told = _WRONG_MEMORY.fullmatch(message)
    if told is None:
        return None
    name, *wanted, found = told.groups()
    for moves in (_POINTER_MOVES, _TILE_MOVES):
        for memory in filter(None, wanted):
            written = name in _WRITTEN
            chain = route(moves, memory, found) if written else route(moves, found, memory)
            if chain:
                steps = ", then ".join(f"with {op} to {target}" for op, target in chain)
                return f"write to {memory}, and move the result on {steps}" if written else f"move it {steps}"
    return None
