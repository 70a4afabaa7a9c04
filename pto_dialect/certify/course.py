"""A function as the checker of certificates reads it: work and signals, in loops and branches.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation, Region, SSAValue

from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, section_of
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_while

from .places import Access, Places, natural

_OTHERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL | Role.LAUNCH | Role.CALL
_SIGNALS = Role.LOCK | Role.PIPES | Role.JOINS
_MEMORY = Role.ELEMENT_LOAD | Role.ELEMENT_STORE | Role.ATOMIC | Role.COPY
_DEEPEST, _MOST = 64, 4_000


class NotCoveredError(Exception):
    """Something that certificates do not cover: the reason, and the operation."""

    def __init__(self, reason: str, op: Operation | None = None) -> None:
        super().__init__(reason if op is None else f"{op.name}: {reason}")


def _require(holds: bool, op: Operation, reason: str = "it is not covered") -> None:
    if not holds:
        raise NotCoveredError(reason, op)


@dataclass(eq=False)
class Work:
    """An operation that accesses memory; ``number`` counts those of the function, ``loops`` surround it."""

    number: int
    op: Operation
    pipe: Pipe
    accesses: list[Access]
    loops: tuple[Loop, ...]


@dataclass(eq=False)
class Signal:
    """``set``, ``wait``, ``get``, ``release``, ``barrier`` of one pipe, or ``join`` of ``drains``. Waits for the
    scalar unit have a ``bit``, after those of all work."""

    op: Operation
    kind: str
    source: Pipe = Pipe.S
    target: Pipe = Pipe.S
    number: int = 0
    drains: frozenset[Pipe] = frozenset()
    bit: int = 0


@dataclass(eq=False)
class Loop:
    """A loop that runs any number of times; ``step`` is 0 where it is no constant, ``counter`` ``None`` where there is
    none."""

    number: int
    counter: SSAValue | None = None
    step: int = 0
    body: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Branch:
    """Bodies of which one runs."""

    bodies: list[list[Any]]


class Course:
    """What one kind of core runs. Raises :class:`NotCoveredError`."""

    def __init__(self, function: Operation, target: str | None) -> None:
        profile = profile_of(function, target)
        self.function, self.arch = function, profile.arch
        self.places = Places(function, profile)
        self.work: list[Work] = []
        self.waits: dict[tuple[Pipe, int], int] = {}
        """The waits for flags of the scalar unit, as bits, by pipe and id."""
        self.loops: list[Loop] = []
        self.around: tuple[Loop, ...] = ()
        self.sections: set[str] = set()
        self.count = _MOST
        self.body = self._region(function.regions[0])

    def _region(self, region: Region, *inside: Loop) -> list[Any]:
        if not region.blocks:
            return []
        one_block = len(region.blocks) == 1 and len(self.around) <= _DEEPEST
        _require(one_block, self.function, "only structured loops and branches are covered")
        around, self.around = self.around, (*self.around, *inside)
        found = [item for op in region.block.ops for item in self._items(op)]
        self.around = around
        return found

    def _items(self, op: Operation) -> list[Any]:
        if is_for(op):
            return self._counted(op)
        if is_while(op):
            return self._repeated(op)
        if is_if(op):
            return [Branch([self._region(region) for region in op.regions])]
        if has_role(op, Role.SCOPE):
            return self._scope(op)
        if section_of(op) in ("cube", "vector"):
            self.sections.add(section_of(op))
            _require(len(self.sections) == 1, self.function, "it runs on two kinds of cores")
            return self._region(op.regions[0])
        self._follows(op)
        return self._leaf(op) if isinstance(op, PtoOp) else []

    def _follows(self, op: Operation) -> None:
        """Refuses operations of which the checker does not know what they do."""
        _require(not op.regions and not has_role(op, _OTHERS) and not isinstance(op, UnregisteredOp), op)
        _require(op_spec(type(op)).queue is None if isinstance(op, PtoOp) else not has_role(op, _MEMORY), op)

    # ------------------------------------------------------------ control flow

    def _counted(self, op: Operation) -> list[Any]:
        loop = Loop(len(self.loops), op.regions[0].block.args[0], natural(op.operands[2]) or 0)
        self.loops.append(loop)
        loop.body = self._region(op.regions[0], loop)
        return [loop]

    def _repeated(self, op: Operation) -> list[Any]:
        """Returns a loop with a condition: what decides runs once, then again after each iteration."""
        decides, body = op.regions
        _require(len(decides.blocks) == len(body.blocks) == 1, op)
        # What decides is read twice.
        _require(not any(has_role(one, Role.LOOP) for each in decides.block.ops for one in walk(each)), op)
        before = self._region(decides)
        loop = Loop(len(self.loops))
        self.loops.append(loop)
        loop.body = [*self._region(body, loop), *self._region(decides, loop)]
        return [*before, loop]

    # ------------------------------------------------------------ operations

    def _scope(self, op: Operation) -> list[Any]:
        """A vector function is one operation that accesses what all in it do."""
        found: dict[Access, None] = {}
        for one in (one for one in walk(op) if one is not op):
            _require(not has_role(one, _SIGNALS), one)
            if not is_for(one) and not is_if(one) and not is_while(one):
                self._follows(one)
            if isinstance(one, PtoOp):
                accesses = self.places.accesses(one)
                _require(not accesses or form_of(one, self.arch).pipe in (None, Pipe.V), one)
                found |= dict.fromkeys(accesses)
        return self._work(op, Pipe.V, list(found))

    def _leaf(self, op: PtoOp) -> list[Any]:
        spec, form = op_spec(type(op)), form_of(op, self.arch)
        if has_role(op, _SIGNALS) or form.self_ordered:
            return self._signal(op, form.pipe, form.drains)
        if spec.effect is Effect.HANDLE or form.pipe is None:
            return []
        _require(not spec.pipes and form.pipe is not Pipe.ALL, op, "it works on several pipes")
        return self._work(op, form.pipe, self.places.accesses(op))

    def _work(self, op: Operation, pipe: Pipe, accesses: list[Access]) -> list[Any]:
        _require(len(self.work) < _MOST, op, f"it has more than {_MOST} accesses")
        self.work += [Work(len(self.work), op, pipe, accesses, self.around)] if accesses else []
        return self.work[-1:] if accesses else []

    def _signal(self, op: PtoOp, pipe: Pipe | None, drains: frozenset[Pipe]) -> list[Any]:
        is_barrier, is_set = has_role(op, Role.BARRIER), has_role(op, Role.SETS)
        if has_role(op, Role.LOCK):
            source = named_pipe(op.attributes.get("op_type"))
            _require(source not in (None, Pipe.ALL) and not integer_attribute(op, "mode"), op)
            number = self._id(op, str(integer_attribute(op, "buf_id")), 32)
            return [Signal(op, "get" if is_set else "release", source or Pipe.S, source or Pipe.S, number)]
        if not has_role(op, Role.PIPES) or (is_barrier and pipe is Pipe.ALL):
            everything = is_barrier or not drains or Pipe.ALL in drains
            return [Signal(op, "join", drains=frozenset(Pipe) if everything else drains)]
        if is_barrier:
            _require(pipe is not None, op)
            useless = pipe is Pipe.S or (pipe is Pipe.V and self.arch != "a2a3")
            return [] if useless else [Signal(op, "barrier", pipe or Pipe.S)]
        ends = ("src_pipe", "dst_pipe") if "src_pipe" in op.attributes else ("src_op", "dst_op")
        source, target = (named_pipe(op.attributes.get(name)) for name in ends)
        _require(not {None, Pipe.ALL} & {source, target}, op, "its pipes are not known")
        number = self._id(op, enumerator(op, "event_id"), 8)
        one = Signal(op, "set" if is_set else "wait", source or Pipe.S, target or Pipe.S, number)
        if source is Pipe.S and not is_set:
            one.bit, self.count = 1 << self.count, self.count + 1
            self.waits[one.target, number] = self.waits.get((one.target, number), 0) | one.bit
        return [one]

    def _id(self, op: Operation, text: str, count: int) -> int:
        text = text.removeprefix("EVENT_ID")
        found = int(text) if text.isdecimal() else natural(op.operands[0]) if op.operands else None
        _require(found is not None and 0 <= found < count, op, "its id is no constant that exists")
        return found or 0
