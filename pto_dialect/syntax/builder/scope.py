"""Visible SSA names, and the blocks and regions under construction.

A name stays visible in nested regions, not outside its own; isolated regions (function bodies) see no outer names. A
use before its definition is allowed between blocks of one region and becomes a placeholder until the definition is
read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, Region, SSAValue


@dataclass
class Forward:
    """A name used before its definition: its placeholder and the locations of its uses."""

    value: SSAValue
    position: int
    length: int


@dataclass
class Frame:
    """One open region."""

    region: Region
    block: Block
    isolated: bool
    outer_values: dict[str, SSAValue]
    names: list[str] = field(default_factory=list)
    forwards: dict[str, Forward] = field(default_factory=dict)
    labels: dict[str, Block] = field(default_factory=dict)
    pending_labels: dict[str, int] = field(default_factory=dict)
    multi_block: bool = False


class Scope:
    """The stack of open regions with the names visible in the innermost one."""

    def __init__(self) -> None:
        self.values: dict[str, SSAValue] = {}
        self.frames: list[Frame] = []

    @property
    def frame(self) -> Frame:
        """Returns the innermost open region."""
        return self.frames[-1]

    def enter(self, region: Region, block: Block, isolated: bool) -> None:
        """Opens ``region`` with its entry block."""
        self.frames.append(Frame(region, block, isolated, self.values))
        if isolated:
            self.values = {}

    def leave(self) -> tuple[Frame, list[tuple[str, Forward]]]:
        """Closes the innermost region; returns it with the names that were used but can no longer be defined."""
        frame = self.frames.pop()
        if frame.isolated or not self.frames:
            self.values = frame.outer_values
            return frame, list(frame.forwards.items())
        for name in frame.names:
            del self.values[name]
        parent = self.frames[-1]
        lost: list[tuple[str, Forward]] = []
        for name, forward in frame.forwards.items():
            known = parent.forwards.setdefault(name, forward)
            if known is not forward:
                forward.value.replace_all_uses_with(known.value)
        return frame, lost

    def define(self, name: str, value: SSAValue) -> SSAValue | None:
        """Makes ``name`` visible; returns the earlier value if the name is already taken here."""
        old = self.values.get(name)
        if old is not None:
            return old
        self.frames[-1].names.append(name)
        self.values[name] = value
        return None
