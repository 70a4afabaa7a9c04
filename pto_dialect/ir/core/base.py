"""Base class of all PTO operations, and the queries on one of them.

An operation is declared once, as a class; everything else (text form, structure checks, effects, the pipe it runs on)
is derived from that declaration:

    >>> class TAddOp(PtoOp, name="pto.tadd", shape=Shape.DPS, pipe=Pipe.V, reads=("src0", "src1"), writes=("dst",)):
    ...     src0 = operand_def(TILE)
    ...     src1 = operand_def(TILE)
    ...     dst = opt_operand_def(TILE)
    ...     result = opt_result_def(TILE)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AtMost,
    OptionalDef,
    RangeLengthConstraint,
    RangeOf,
    SingleOf,
    VariadicDef,
    traits_def,
    var_result_def,
)
from xdsl.traits import EffectInstance, MemoryEffect

from pto_dialect.accel.operations.deferred_definitions import DeferredOp, Part, declared, defer

from .clauses import Clauses
from .effects import effects_of
from .facts.pipe import Pipe as Pipe
from .kinds import ANY, Kind
from .spec import SPECS, UNDECLARED, Shape, op_spec
from .spec import Effect as Effect
from .spec import OpSpec as OpSpec
from .spec import is_declared as is_declared
from .walk import ancestors

if TYPE_CHECKING:
    from typing_extensions import TypeIs


@dataclass(frozen=True)
class Slot:
    """One declared operand, result or attribute: its name, its arity (``1``, ``?`` or ``*``) and its kind."""

    name: str
    arity: str
    kind: Kind


@dataclass(frozen=True)
class Signature:
    """Declared operands, results and attributes of an operation class; a ``maximum_results`` of ``None`` means no
    limit.

    ``sizes`` has the number of values of each operand, ``None`` where it is not always one; ``defaults`` the texts of
    the values that absent attributes mean.
    """

    operands: tuple[Slot, ...]
    results: tuple[Slot, ...]
    attributes: dict[str, Slot]
    sizes: tuple[int | None, ...]
    required: int
    segmented: bool
    maximum_results: int | None
    defaults: dict[str, str]


def sizes_by_order(slots: Sequence[Slot], number: int) -> list[int]:
    """Returns how many of ``number`` values each slot takes: a required slot one, an optional one while values remain,
    a repeated one all the rest."""
    spare = number - sum(slot.arity == "1" for slot in slots)
    sizes: list[int] = []
    for slot in slots:
        size = 1
        if slot.arity != "1":
            size = spare if slot.arity == "*" else int(spare > 0)
            spare -= size
        sizes.append(size)
    return sizes


class DeclaredEffects(MemoryEffect):
    """The effects that follow from the specification of the operation's class."""

    @classmethod
    def get_effects(cls, op: Operation) -> Set[EffectInstance] | None:
        """Returns the effects on operands and results; ``None`` where they are not only on memory."""
        assert isinstance(op, PtoOp)
        spec = op_spec(type(op))
        return effects_of(op, spec, operand_groups(op) if spec.effect is None else {})


class PtoOp(DeferredOp):
    """Base of all PTO operations; subclassing with a ``name`` declares one."""

    traits = traits_def(DeclaredEffects())

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes. An operation that shares a template gets dictionaries of its own on first access."""
        try:
            return self._attributes
        except AttributeError:
            self._attributes = self._template.attributes.copy()  # pyright: ignore[reportAttributeAccessIssue]
            return self._attributes

    def seen_attributes(self) -> Mapping[str, Attribute]:
        """Returns the attributes for callers that only read, without a dictionary for this operation alone."""
        own: dict[str, Attribute] | None = getattr(self, "_attributes", None)
        return own if own is not None else self._template.attributes  # pyright: ignore[reportAttributeAccessIssue]

    @attributes.setter
    def attributes(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, entries: dict[str, Attribute]
    ) -> None:
        self._attributes = entries

    @property
    def properties(self) -> dict[str, Attribute]:
        """The properties, which are empty in this dialect."""
        try:
            return self._properties
        except AttributeError:
            self._properties = self._template.properties.copy()  # pyright: ignore[reportAttributeAccessIssue]
            return self._properties

    @properties.setter
    def properties(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, entries: dict[str, Attribute]
    ) -> None:
        self._properties = entries

    def __init_subclass__(cls, name: str = "", **spec: Any) -> None:
        super().__init_subclass__()
        inherited = next((SPECS[b] for b in cls.__mro__[1:] if b in SPECS), UNDECLARED)
        SPECS[cls] = inherited.but(spec) if spec else inherited
        if name:
            cls.name = name
            defer(cls)
            own = SPECS[cls]
            if own.clauses is not None:
                SPECS[cls] = own.but({"tokens": _words_of_clauses(cls, own.clauses)})
            elif own.shape in _SPELLED_OUT and not own.tokens:
                SPECS[cls] = own.but({"tokens": tuple(declared(cls, Part.ATTRIBUTES))})


_SPELLED_OUT = frozenset(
    {
        Shape.BRACE_FIELDS,
        Shape.CACHE,
        Shape.FLAT_SUFFIX,
        Shape.FLAT_TOKEN,
        Shape.FRAC_LOAD,
        Shape.LAUNCH,
        Shape.LEAD_STRING,
        Shape.PIPE_INIT,
        Shape.REGION,
        Shape.SUBVIEW,
        Shape.SYNC_ALL,
        Shape.SYNC_BRACKET,
        Shape.SYNC_TOKEN,
    }
)
"""Shapes whose attributes are tokens of the statement."""

SEGMENT_SIZES = frozenset({"operandSegmentSizes", "resultSegmentSizes"})
"""Attributes of the generic form that count operands and results per declared name."""


def _words_of_clauses(cls: type[PtoOp], table: Clauses) -> tuple[str, ...]:
    attributes, braces = declared(cls, Part.ATTRIBUTES), SPECS[cls].in_braces
    return tuple(name for name in table.sets_in_order if name in attributes and name not in braces)


def is_pto(op: Operation) -> TypeIs[PtoOp]:
    """Returns whether an operation is of this dialect."""
    return type(op) in SPECS


def section_of(op: Operation) -> str:
    """Returns the kind of code in the region of a section: ``cube``, ``vector`` or ``simt``; empty for other
    operations."""
    spec = SPECS.get(type(op))
    return "" if spec is None else spec.section


def symbol_of(function: Operation) -> str:
    """Returns the name of a function."""
    name = function.properties["sym_name"]
    assert isinstance(name, StringAttr)
    return name.data


def section_around(op: Operation) -> str:
    """Returns the kind of code in the nearest section around ``op``; empty outside of sections."""
    return next(filter(None, map(section_of, ancestors(op))), "")


@cache
def _arity(kind: type[Any]) -> str:
    return "?" if issubclass(kind, OptionalDef) else "*" if issubclass(kind, VariadicDef) else "1"


def _slot(name: str, field: Any) -> Slot:
    return Slot(name, _arity(field.cls), _kind(field.param))


def _kind(constraint: Any) -> Kind:
    """Returns the kind inside xDSL's range constraints."""
    while not isinstance(constraint, Kind):
        if isinstance(constraint, RangeLengthConstraint):
            constraint = constraint.constraint
        elif isinstance(constraint, (RangeOf, SingleOf)):
            constraint = constraint.constr
        else:
            return ANY
    return constraint


@cache
def signature(cls: type[PtoOp]) -> Signature:
    """Returns the declared operands, results and attributes of ``cls``."""
    operands = tuple([_slot(*one) for one in declared(cls, Part.OPERANDS).items()])
    results = declared(cls, Part.RESULTS)
    attributes = {name: _slot(name, field) for name, field in declared(cls, Part.ATTRIBUTES).items()}
    return Signature(
        operands,
        tuple([_slot(*one) for one in results.items()]),
        attributes,
        sizes=tuple(1 if slot.arity == "1" else None for slot in operands),
        required=sum(slot.arity == "1" for slot in operands),
        segmented=sum(slot.arity != "1" for slot in operands) > 1,
        maximum_results=_maximum_results(list(results.values())),
        defaults={name: slot.kind.default for name, slot in attributes.items() if slot.kind.default},
    )


@cache
def stores(cls: type[PtoOp]) -> bool:
    """Returns whether a destination of ``cls`` is always present: memory, which a value form also writes."""
    outs = op_spec(cls).outs
    return any(slot.name in outs and slot.arity == "1" for slot in signature(cls).operands)


@cache
def takes_lists(cls: type[PtoOp]) -> bool:
    """Returns whether one of several inputs of ``cls`` is a list, so that the number of values does not identify the
    inputs."""
    inputs = [slot for slot in signature(cls).operands if slot.name not in op_spec(cls).outs]
    return len(inputs) > 1 and any(slot.arity == "*" for slot in inputs)


def at_most(number: int, kind: Kind = ANY) -> Any:
    """Declares at most ``number`` results, for operations whose value form has more results than the other forms.

    One repeated result instead of several optional ones, which xDSL would distinguish by an attribute that the text
    does not have.
    """
    return var_result_def(RangeOf(kind).of_length(AtMost(number)))


def _maximum_results(fields: Sequence[Any]) -> int | None:
    total = 0
    for field in fields:
        if issubclass(field.cls, OptionalDef) or not issubclass(field.cls, VariadicDef):
            total += 1
        elif isinstance(field.param, RangeLengthConstraint) and isinstance(field.param.length, AtMost):
            total += field.param.length.bound
        else:
            return None
    return total


@cache
def segment_sizes(sizes: tuple[int, ...]) -> Attribute:
    """Returns the interned ``operandSegmentSizes`` attribute."""
    interned = DenseArrayBase.from_list(i32, sizes)
    _sizes_of_interned[id(interned)] = sizes
    return interned


# The cache above keeps these attributes alive, so that their identity is stable.
_sizes_of_interned: dict[int, tuple[int, ...]] = {}


def sizes_of(segments: Attribute | None) -> Sequence[int] | None:
    """Returns the numbers of an ``operandSegmentSizes`` attribute; ``None`` for other attributes and without one."""
    known = _sizes_of_interned.get(id(segments))
    if known is None and isinstance(segments, DenseArrayBase):
        return [int(n) for n in segments.get_values()]
    return known


def operand_name(op: PtoOp, index: int) -> str:
    """Returns the declared name of the operand at ``index``; empty beyond the last."""
    for name, values in operand_groups(op).items():
        if index < len(values):
            return name
        index -= len(values)
    return ""


def operand_groups(op: PtoOp) -> dict[str, tuple[SSAValue, ...]]:
    """Returns the operands of ``op`` by declared name; an absent optional operand is an empty tuple."""
    # Slicing xDSL's tuple of operands costs ten times as much as slicing a plain tuple.
    operands = tuple(op._operands)
    return {name: operands[start:end] for name, start, end in operand_layout(op)}


OperandLayout = tuple[tuple[str, int, int], ...]
"""Names of operands in their order, and the start and end positions of each."""


def operand_layout(op: PtoOp) -> OperandLayout:
    """Returns the positions of the operands of ``op``. Raises ``ValueError`` where operand counts contradict each
    other."""
    declared = signature(type(op))
    number = len(op._operands)
    segments: Attribute | None = None
    if declared.segmented:
        segments = op.seen_attributes().get("operandSegmentSizes") or op.properties.get("operandSegmentSizes")
    # Known sizes are compared by identity, because their attributes are interned.
    key = (type(op), number, id(segments) if id(segments) in _sizes_of_interned else None)
    layout = _layouts.get(key) if key[2] is not None or segments is None else None
    if layout is None:
        layout = _layout(declared, number, sizes_of(segments))
        if (key[2] is not None or segments is None) and len(_layouts) < _MOST_LAYOUTS:
            _layouts[key] = layout
    return layout


_layouts: dict[tuple[type[Operation], int, int | None], OperandLayout] = {}
"""Layouts by class, number of operands and interned segment sizes."""

_MOST_LAYOUTS = 10_000


def _layout(declared: Signature, number: int, sizes: Sequence[int] | None) -> OperandLayout:
    if sizes is None:
        spare = number - declared.required
        sizes = [spare if size is None else size for size in declared.sizes]
    groups: list[tuple[str, int, int]] = []
    position = 0
    for slot, size in zip(declared.operands, sizes, strict=True):
        groups.append((slot.name, position, position + size))
        position += size
    return tuple(groups)
