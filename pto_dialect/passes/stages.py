"""The stages of ``--lower``, from what people and compilers write to what a chip runs: one row each.

Looking a stage up imports no pass.
"""

from __future__ import annotations

STAGES: dict[str, tuple[str, ...]] = {
    "memory": ("assign-memory",),
    "sync": ("insert-sync",),
}
"""The passes of every stage. The stages run in this order: flags depend on who shares bytes with whom."""

ALL = "all"
"""Stands for every stage."""


class UnknownStageError(ValueError):
    """A list of stages names one that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no stage '{name}'; stages are {', '.join(STAGES)}")


def lowering(text: str) -> tuple[str, ...]:
    """The passes of a list of stages such as ``memory,sync``, in the order in which they run.

    Raises :class:`UnknownStageError`.
    """
    named = {name.strip() for name in text.split(",")}
    for name in sorted(named - STAGES.keys() - {ALL}):
        raise UnknownStageError(name)
    chosen = (name for name in STAGES if name in named or ALL in named)
    return tuple(name for stage in chosen for name in STAGES[stage])
