"""Operations that move data from one memory space into another, for the help about an operand in the wrong one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pto_dialect.diagnostics.remedies.moves import move_to
from pto_dialect.diagnostics.remedy import Remedy

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


def transfer_between(source: str | None, destination: str | None) -> str | None:
    """Returns the transfer between two memories that pointers name; ``None`` where there is none."""
    return _POINTER_MOVES.get((source or "", destination or ""))


def missing_move(name: str, found: str | None, wanted: Sequence[str]) -> tuple[str | None, *tuple[Remedy, ...]]:
    """The move that would help the operand ``name``, which is in the memory ``found`` and not in one of those
    ``wanted``, with its remedy."""
    for moves in (_POINTER_MOVES, _TILE_MOVES):
        for memory in wanted:
            written = name in _WRITTEN
            chain = route(moves, memory, found or "") if written else route(moves, found or "", memory)
            if chain:
                steps = ", then ".join(f"with {op} to {target}" for op, target in chain)
                if written:
                    return (f"write to {memory}, and move the result on {steps}",)
                is_tile_move = moves is _TILE_MOVES and found != "gm" and len(chain) == 1
                mended = (move_to(memory),) if is_tile_move else ()
                return f"move it {steps}", *mended
    return (None,)
