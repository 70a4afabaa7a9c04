"""Statement plans: what the grammar made of a statement, kept for statements that differ from it in names alone.

The text of a statement between the names of values is its skeleton. A plan says what becomes of a skeleton: the class
of the operation, which name is which operand and of which type, the types of the results, the attributes. Plans are
learnt from what the builder made of a statement that the grammar read, so the grammar stays the definition of the
language. What depends on more than a skeleton and the types of the values has no plan.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.likeness import Likeness

from ..builder.types import POISON
from .tokens import SPACE, SUFFIX_ID

Skeleton = tuple[str, ...]
"""The texts before, between and behind the names of a statement."""

_LINE = r"[^\n]{0,3000}+(?=\n|\Z)"
_CONTINUED = r"\n[ \t]*+(?:[:,(<!\[{-]|ins\b|outs\b)"
EXTENT = re.compile(rf"({_LINE}(?:{_CONTINUED}{_LINE}){{0,20}}+){SPACE}")
"""The lines that look like one statement, in the group, and the space and comments behind them.

That they are one follows from the skeleton, which is that of a statement, and from what stands behind them.
"""

NAMES = re.compile(rf"(%{SUFFIX_ID}(?:\#\d{{1,4}}(?!\d))?)")
"""A name as the lexer finds it in a list of values; ``split`` gives skeleton and names in turns."""

_QUOTED = re.compile(r'"[^"]*"')
_AMBIGUOUS = re.compile(r"[:#]\d|>")
"""What behind a name may belong to the name, depending on it: the size of a pack, a number of a result, an arrow."""

_LONGEST = 4_000
"""Characters of the longest statement that is learnt."""

_MOST = 8_192
"""Plans that are kept."""

_MOST_CHARACTERS = 4_000_000
"""Characters of all skeletons that are kept."""


class Plan:
    """How a statement becomes an operation.

    ``results`` counts the names in front; ``operands`` pairs, for each operand, the place of its name among the parts
    of the split statement with its type; ``same`` are places with the same name.
    """

    __slots__ = ("cls", "likeness", "operands", "result_types", "results", "same")

    def __init__(
        self, op: Operation, operands: tuple[tuple[int, Attribute], ...], same: tuple[tuple[int, int], ...]
    ) -> None:
        """The plan of statements like that of ``op``."""
        self.cls = type(op)
        self.operands = operands
        self.same = same
        self.result_types = tuple([result.type for result in op.results])
        self.results = len(self.result_types)
        self.likeness = Likeness(op)


class Plans:
    """Plans by skeleton, of this process; bounded, so that no text makes them grow without end."""

    def __init__(self) -> None:
        self.known: dict[Skeleton, Plan] = {}
        self.characters = 0

    def keep(self, parts: list[str], plan: Plan) -> None:
        """Remembers ``plan`` for statements split into ``parts``; a full table starts over."""
        skeleton = tuple(parts[::2])
        size = sum(map(len, parts))
        self.characters += size
        if len(self.known) >= _MOST or self.characters > _MOST_CHARACTERS:
            self.known.clear()
            self.characters = size
        self.known[skeleton] = plan

    def forget(self) -> None:
        """Starts over."""
        self.known.clear()
        self.characters = 0


PLANS = Plans()
"""The plans of this process."""


def plan_for(parts: list[str], op: Operation, values: dict[str, SSAValue]) -> Plan | None:
    """The plan that follows from ``op``, which was made of the statement split into ``parts``; ``None`` where the
    statement is more than its skeleton: ``values`` are those that names stand for behind it."""
    if op.regions or op.successors or isinstance(op, UnregisteredOp) or not _is_plain(parts):
        return None
    results = len(op.results)
    names = parts[1::2]
    if len(names) != results + len(op.operands) or any("#" in name for name in names[:results]):
        return None
    if any(values.get(name) is not value for name, value in zip(names, op.results, strict=False)):
        return None
    places: dict[SSAValue, int] = {}
    same: list[tuple[int, int]] = []
    for place in range(2 * results + 1, len(parts), 2):
        value = values.get(parts[place])
        if value is None or value.type is POISON:
            return None
        first = places.setdefault(value, place)
        if first != place:
            # Which operand each of the two is makes no difference only as long as they are the same.
            if parts[first] != parts[place]:
                return None
            same.append((first, place))
    if any(value not in places for value in op.operands):
        return None
    return Plan(op, tuple([(places[value], value.type) for value in op.operands]), tuple(same))


def _is_plain(parts: list[str]) -> bool:
    """True when the parts are tokens by themselves whatever the names are: no comment, no name inside a string, no
    text that a name before it could swallow."""
    if sum(map(len, parts)) > _LONGEST or any("//" in part or "%" in part or "\\" in part for part in parts[::2]):
        return False
    if any(_AMBIGUOUS.match(part) for part in parts[2::2]):
        return False
    return all(_QUOTED.sub("", part).count('"') == 0 for part in parts[::2])
