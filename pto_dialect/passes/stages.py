"""The stages of ``--lower``, from what people and compilers write to what a chip runs: one row each.

Looking a stage up imports no pass.
"""

from __future__ import annotations

from typing import NamedTuple


class Stage(NamedTuple):
    """``passes`` as a pipeline has them; ``usual`` stages run where none is named."""

    passes: tuple[str, ...]
    usual: bool = True


STAGES: dict[str, Stage] = {
    "sums": Stage(("sums-in-place", "repeat-sums"), usual=False),
    "memory": Stage(("assign-memory",)),
    "sync": Stage(("insert-sync",)),
    "cube": Stage(("lower-cube",), usual=False),
    "vector": Stage(("lower-vector",), usual=False),
    "transfers": Stage(("lower-transfers",), usual=False),
}
"""Every stage. They run in this order: flags depend on who shares bytes with whom, and instructions on both."""

USUAL = "usual"
"""Stands for the stages that run where none is named."""
ALL = "all"
"""Stands for every stage."""


class UnknownStageError(ValueError):
    """A list of stages names one that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no stage '{name}'; stages are {', '.join(STAGES)}")


def lowering(text: str) -> tuple[str, ...]:
    """Returns the passes of a list of stages such as ``memory,sync``, in the order in which they run.

    Raises :class:`UnknownStageError`.
    """
    named = {name.strip() for name in text.split(",")}
    for name in sorted(named - STAGES.keys() - {USUAL, ALL}):
        raise UnknownStageError(name)
    if ALL in named:
        named |= STAGES.keys()
    chosen = (stage for name, stage in STAGES.items() if name in named or (stage.usual and USUAL in named))
    return tuple(name for stage in chosen for name in stage.passes)
