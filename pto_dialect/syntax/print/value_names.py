"""Names of SSA values in printed text, one scope per region.

A value retains the name it was written with; values without one, or with a number for a name, are numbered in text
order. A name that is taken already gets a suffix ``_0``, ``_1`` and so on. Names end with their region, so that sibling
regions use the same ones; an isolated region does not see the names around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir import Operation, Region, SSAValue

_IDENTIFIER = re.compile(r"[A-Za-z_$.\-][A-Za-z0-9_$.\-]*")
_FOREIGN = re.compile(r"[^A-Za-z0-9_$.\-]")


class _Frame:
    """One open region: the state to restore when it closes."""

    __slots__ = ("counted", "isolated", "names", "number", "outer", "region")

    def __init__(self, region: Region | None, isolated: bool, number: int) -> None:
        self.region = region
        self.isolated = isolated
        self.number = number
        self.names: list[str] = []
        self.counted: list[tuple[str, int]] = []
        self.outer: tuple[set[str], set[str], dict[str, int]] | None = None


class ValueNames:
    """The names given so far; ``texts`` holds them, with ``%``, by the ``id`` of the value."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self._used: set[str] = set()
        self._announced: set[str] = set()
        self._suffixes: dict[str, int] = {}
        self._number = 0
        self._frames = [_Frame(None, True, 0)]

    # ------------------------------------------------------------ regions

    def enter(self, region: Region, isolated: bool = False) -> None:
        """Opens ``region``. With several blocks all its values are named at once, as they may be read earlier."""
        frame = _Frame(region, isolated, self._number)
        if isolated:
            frame.outer = (self._used, self._announced, self._suffixes)
            self._used, self._announced, self._suffixes = set(), set(), {}
            self._number = 0
        self._frames.append(frame)
        first = region.first_block
        if first is not None and first is not region.last_block:
            for block in region.blocks:
                self.define(block.args)
                for op in block.ops:
                    self.define(op.results)
        elif first is not None:
            self.define(first.args)

    def leave(self) -> None:
        """Closes the innermost region."""
        frame = self._frames.pop()
        self._number = frame.number
        if frame.outer is not None:
            self._used, self._announced, self._suffixes = frame.outer
        else:
            self._used.difference_update(frame.names)
            for hint, number in reversed(frame.counted):
                self._suffixes[hint] = number

    # ------------------------------------------------------------ values

    def define(self, values: Sequence[SSAValue]) -> None:
        """Names those ``values`` in the innermost region that have no name yet."""
        for value in values:
            if id(value) not in self.texts:
                self._name(value, self._frames[-1])

    def results(self, values: Sequence[SSAValue]) -> str:
        """Returns the list of results before a statement."""
        texts = self.texts
        return ", ".join([texts[id(value)] for value in values])

    def announce(self, values: Sequence[SSAValue]) -> list[str]:
        """Names results of an operation whose regions do not see them; returns the argument of ``publish``."""
        frame = self._frames[-1]
        names: list[str] = []
        for value in values:
            if id(value) not in self.texts:
                self._name(value, frame)
                name = self.texts[id(value)][1:]
                if name in self._used:
                    names.append(name)
        # Distinct among themselves, but free for the regions.
        self._used.difference_update(names)
        self._announced.update(names)
        return names

    def publish(self, names: list[str]) -> None:
        """Makes names from ``announce`` visible."""
        self._announced.difference_update(names)
        self._used.update(names)

    def late(self, value: SSAValue) -> str:
        """Returns the name of a value used before (or without) its definition: one of the region it belongs to."""
        owner = value.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        region = block.parent if block is not None else None
        depth = len(self._frames) - 1
        while not self._frames[depth].isolated and (region is None or self._frames[depth].region is not region):
            depth -= 1
        self._name(value, self._frames[depth])
        for frame in self._frames[depth + 1 :]:
            # A number given to an outer value stays taken when the regions inside close.
            frame.number = max(frame.number, self._number)
        return self.texts[id(value)]

    def _name(self, value: SSAValue, frame: _Frame) -> None:
        hint = value._name
        if not hint or hint.isdigit():
            self.texts[id(value)] = f"%{self._number}"
            self._number += 1
            return
        hint = name = legal_name(hint)
        if name in self._used or (name in self._announced and frame is not self._frames[-1]):
            name = self._suffixed(hint, frame)
        self._used.add(name)
        frame.names.append(name)
        self.texts[id(value)] = "%" + name

    def _suffixed(self, hint: str, frame: _Frame) -> str:
        number = self._suffixes.get(hint, 0)
        frame.counted.append((hint, number))
        while (name := f"{hint}_{number}") in self._used or name in self._announced:
            number += 1
        self._suffixes[hint] = number + 1
        return name


def legal_name(hint: str) -> str:
    """Returns a hint as a name, with ``_`` for characters that names do not have."""
    if _IDENTIFIER.fullmatch(hint):
        return hint
    hint = _FOREIGN.sub("_", hint)
    return f"_{hint}" if hint[0].isdigit() else hint
