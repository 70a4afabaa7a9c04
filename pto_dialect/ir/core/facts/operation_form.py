"""The record of an operation form: the facts about one operation that every part of the package uses.

A form is an operation class with the operands that are present, on a target, through a backend. The record is derived
from the declaration of the class (``OpSpec`` and its ``forms``); no other module lists operation names for these facts.
Source: docs/reference/execution.md, "Pipes of operations".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from pto_dialect.families import level_of
from pto_dialect.targets.op_availability import is_available

from ..base import PtoOp, op_spec, operand_groups, operand_layout
from ..placement import element_of, location, named_pipe
from ..registry import family_of
from ..roles import Role
from .pipe import Pipe

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xdsl.ir import Operation, SSAValue

    from ..base import OpSpec
    from .form_cases import FormCase


class Completion(StrEnum):
    """When the accesses of a form are complete, as another pipe observes them."""

    ISSUE = "issue"
    """At issue: it touches no memory, or only passes values to the scalar unit."""
    FLAG = "flag"
    """Some time after the issue: another pipe needs a flag, a barrier or a lock."""


@dataclass(frozen=True)
class OperationForm:
    """The facts about all operations of one form.

    ``reads`` and ``writes`` name the operands, among those that are present, whose memory the form may access, scratch
    included; ``writes_results`` states that the tiles which a value form yields count as written. ``must_write`` are
    those of ``writes`` whose whole valid region it overwrites with defined values, ``scratch`` those that it needs for
    intermediate results, ``clobbered`` all whose contents are undefined afterwards: scratch, and sources that it
    overwrites; ``unused`` the scratch operands that it names and does not touch. ``pipes`` are all pipes that it
    drives, ``pipe`` the one that it is issued to (``None`` for an operation that computes only handles and values).
    ``drains`` are pipes whose earlier work is complete before the form takes effect. ``cycle_key`` is its row of the
    cycle table.
    """

    pipe: Pipe | None
    pipes: tuple[Pipe, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    writes_results: bool
    must_write: tuple[str, ...]
    scratch: tuple[str, ...]
    clobbered: tuple[str, ...]
    unused: tuple[str, ...]
    completion: Completion
    drains: frozenset[Pipe]
    self_ordered: bool
    available: bool
    cycle_key: str


def form_of(op: PtoOp, target: str = "a5", backend: str = "emitc") -> OperationForm:
    """Returns the record of ``op`` on the chip family ``target`` (``"a5"`` or ``"a2a3"``) through ``backend``."""
    cls = type(op)
    asked = _inputs_for(cls)
    values = asked.values_of(op) if asked else ()
    # Of an operation that lacks operands, the layout is that of a complete one.
    key = (cls, operand_layout(op), len(op._operands), target, backend, values)
    form = _forms.get(key)
    if form is None:
        form = _derive(op, target, backend)
        if len(_forms) < _MOST_FORMS:
            _forms[key] = form
    return form


_forms: dict[Hashable, OperationForm] = {}
_MOST_FORMS = 20_000


def pipe_of(op: Operation, target: str = "a5", backend: str = "emitc") -> Pipe | None:
    """Returns the pipe that ``op`` is issued to; ``None`` for operations of other dialects."""
    return form_of(op, target, backend).pipe if isinstance(op, PtoOp) else None


@dataclass(frozen=True)
class _FormInputs:
    """The inputs besides the operands that select a form of a class: locations, element types, an attribute."""

    locations: tuple[str, ...]
    elements: tuple[str, ...]
    attribute: str

    def values_of(self, op: PtoOp) -> tuple[Hashable, ...]:
        groups = operand_groups(op) if self.locations or self.elements else {}
        return (
            *(_location(op, groups, name) for name in self.locations),
            *(_element(op, groups, name) for name in self.elements),
            op.seen_attributes().get(self.attribute) if self.attribute else None,
        )


@cache
def _inputs_for(cls: type[PtoOp]) -> _FormInputs | None:
    spec = op_spec(cls)
    locations = dict.fromkeys(name for case in spec.forms for name in case.at)
    elements = dict.fromkeys(name for case in spec.forms for name in case.elements)
    if not (locations or elements or spec.pipe_from):
        return None
    return _FormInputs(tuple(locations), tuple(elements), spec.pipe_from)


def _value(op: PtoOp, groups: dict[str, tuple[SSAValue, ...]], name: str) -> SSAValue | None:
    given = groups.get(name, ())
    if given:
        return given[0]
    return op.results[0] if name == "dst" and op.results else None


def _location(op: PtoOp, groups: dict[str, tuple[SSAValue, ...]], name: str) -> str | None:
    return location(_value(op, groups, name))


def _element(op: PtoOp, groups: dict[str, tuple[SSAValue, ...]], name: str) -> str | None:
    value = _value(op, groups, name)
    return None if value is None else element_of(value)


def _applies(case: FormCase, op: PtoOp, target: str, backend: str) -> bool:
    if (case.targets and target not in case.targets) or (case.backends and backend not in case.backends):
        return False
    groups = operand_groups(op)
    present = {name for name, values in groups.items() if values}
    if not present.issuperset(case.present) or not present.isdisjoint(case.absent):
        return False
    return all(_location(op, groups, name) in places for name, places in case.at.items()) and all(
        _element(op, groups, name) in types for name, types in case.elements.items()
    )


def _derive(op: PtoOp, target: str, backend: str) -> OperationForm:
    cls = type(op)
    spec = op_spec(cls)
    cases = [case for case in spec.forms if _applies(case, op, target, backend)]
    pipe = next((case.pipe for case in cases if case.pipe is not None), spec.pipe)
    if spec.pipe_from:
        pipe = named_pipe(op.seen_attributes().get(spec.pipe_from))
    present = {name for name, values in operand_groups(op).items() if values}
    idle = next((case.unused for case in cases if case.unused is not None), ())
    unused = tuple(name for name in idle if name in present)
    touched = present.difference(idle)
    workspace = next((case.scratch for case in cases if case.scratch is not None), ())
    reads = tuple(dict.fromkeys(name for name in spec.reads if name in touched and name not in workspace))
    clobbers = next((case.clobbers for case in cases if case.clobbers is not None), ())
    named = dict.fromkeys((*clobbers, *workspace, *spec.writes, *spec.outs)) if spec.writes else {}
    writes = tuple(name for name in named if name in touched)
    scratch = tuple(name for name in writes if name in (*spec.scratch, *workspace) and name not in reads)
    self_ordered = next((case.self_ordered for case in cases if case.self_ordered is not None), False)
    drains = next((case.drains for case in cases if case.drains is not None), spec.drains)
    if self_ordered or spec.roles & Role.JOINS:
        drains = (Pipe.ALL,)
    cycle_key = next((case.cycle_key for case in cases if case.cycle_key is not None), cls.name.removeprefix("pto."))
    return OperationForm(
        pipe=pipe,
        pipes=tuple(dict.fromkeys(one for one in (pipe, *spec.pipes) if one is not None)),
        reads=reads,
        writes=writes,
        writes_results=bool(spec.writes),
        must_write=tuple(name for name in writes if _must_write(spec, name, (*scratch, *clobbers))),
        scratch=scratch,
        clobbered=tuple(dict.fromkeys((*scratch, *(name for name in clobbers if name in touched)))),
        unused=unused,
        completion=_completion(pipe, reads, writes),
        drains=frozenset(drains),
        self_ordered=self_ordered,
        available=is_available(cls.name.removeprefix("pto."), level_of(family_of(cls)), target),
        cycle_key=cycle_key,
    )


def _must_write(spec: OpSpec, name: str, undefined: tuple[str, ...]) -> bool:
    return name not in undefined and name not in spec.in_place and not spec.roles & Role.PARTIAL


def _completion(pipe: Pipe | None, reads: tuple[str, ...], writes: tuple[str, ...]) -> Completion:
    if pipe is None or not (reads or writes):
        return Completion.ISSUE
    # The scalar unit waits for its reads; its stores reach memory later.
    return Completion.ISSUE if pipe is Pipe.S and not writes else Completion.FLAG
