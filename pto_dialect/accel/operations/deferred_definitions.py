"""Operation classes whose definitions xDSL makes at the first access to something that needs them.

Most classes of a family are never used by the program that has the family loaded. What xDSL adds to a class, its
definition and accessors of operands, results and attributes, takes most of the time that the class takes to load, so
the declaration of a part replaces its accessor until the first access to one of them, or to the definition.
"""

from __future__ import annotations

from enum import Enum
from threading import RLock
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OpDef,
    OptOperandDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
    get_accessors_from_op_def,
    opt_attr_def,
    opt_operand_def,
    opt_prop_def,
    opt_region_def,
    opt_result_def,
    opt_successor_def,
)

from pto_dialect.accel import enabled

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_lock = RLock()
_deferred: set[type[Any]] = set()
"""Classes without definition."""
_declared: dict[type[Any], dict[str, Any]] = {}
"""What declares the parts of each class, by name and in the order of the definition."""


class _Deferred:
    """What declares a part of an operation, until the class has its definition."""

    owner: type[Any]
    name: str

    def __get__(self, op: Any, cls: type[Any]) -> Any:
        define(self.owner)
        return getattr(cls if op is None else op, self.name)

    def __set__(self, op: Any, value: Any) -> None:
        define(self.owner)
        setattr(op, self.name, value)


def _deferred_class(field: Any) -> tuple[type[Any], type[Any]]:
    # xDSL derives what a field declares from its class, so its replacement is of a class below.
    return type(field), type(f"Deferred{type(field).__name__}", (_Deferred, type(field)), {})


_MADE: tuple[Any, ...] = (
    opt_operand_def(),
    opt_result_def(),
    opt_region_def(),
    opt_successor_def(),
    opt_attr_def(Attribute),
    opt_prop_def(Attribute),
)
_FIELDS = dict(map(_deferred_class, _MADE))
"""Classes of what declares a part of an operation, with those of what stands for it."""


_NOT_ONE_OPERAND = frozenset((OptOperandDef, VarOperandDef))
_NOT_ONE_RESULT = frozenset((OptResultDef, VarResultDef))


class Part(Enum):
    """A kind of part that an operation declares."""

    OPERANDS = type(opt_operand_def())
    RESULTS = type(opt_result_def())
    ATTRIBUTES = type(opt_attr_def(Attribute))
    PROPERTIES = type(opt_prop_def(Attribute))


class DeferredOp(IRDLOperation):
    """Base of operations whose definitions are made when they are needed."""

    @classmethod
    def get_irdl_definition(cls) -> OpDef:
        """Returns the definition of the class."""
        define(cls)
        if (made := vars(cls).get("get_irdl_definition")) is None:
            return super().get_irdl_definition()
        return made.__func__(cls)

    def verify_(self) -> None:
        """Checks the operation by its definition."""
        define(type(self))
        vars(type(self))["verify_"](self)


_UNDECLARED = frozenset(DeferredOp.__mro__)
"""Classes without declared operands and results, whose many fields need not be looked at."""

_own: dict[type[Any], tuple[dict[str, Any], frozenset[str]]] = {}
"""The declarations of parts in the class itself, and all its names, for bases of many classes."""


def _parts_of(cls: type[Any]) -> tuple[dict[str, Any], frozenset[str]]:
    own = vars(cls)
    found = _own[cls] = {name: field for name, field in own.items() if type(field) in _FIELDS}, frozenset(own)
    return found


def defer(cls: type[DeferredOp]) -> None:
    """Makes the definition of ``cls`` when it is needed."""
    own, seen = _parts_of(cls)
    fields = dict(own)
    for base in cls.__mro__[1:]:
        if base not in _UNDECLARED:
            declared, names = _own.get(base) or _parts_of(base)
            for name, field in declared.items():
                if name not in seen:
                    fields[name] = field
            seen |= names
    _declared[cls] = fields
    # Before the fields of other classes: the order in which xDSL looks at them.
    if options := _segment_options(fields):
        cls.irdl_options = options  # pyright: ignore[reportAttributeAccessIssue]
    for name, field in fields.items():
        stand_in = object.__new__(_FIELDS[type(field)])
        vars(stand_in).update(vars(field), owner=cls, name=name)
        setattr(cls, name, stand_in)
    _deferred.add(cls)
    if not enabled("definitions") or "traits" in vars(cls) or cls.verify_ is not DeferredOp.verify_:
        define(cls)


def has_declared(cls: type[Any]) -> TypeIs[type[DeferredOp]]:
    """Returns whether :func:`declared` knows the class. ``issubclass`` would ask all classes below when the answer is
    no."""
    return cls in _declared


def declared(cls: type[DeferredOp], part: Part) -> dict[str, Any]:
    """Returns what declares the parts of one kind of ``cls``, by the names that its definition has for them. The
    definition is not made."""
    fields = {name: field for name, field in _declared[cls].items() if isinstance(field, part.value)}
    return {getattr(field, "ir_name", None) or name: field for name, field in fields.items()}


def declared_names(cls: type[DeferredOp]) -> list[str]:
    """Returns the names of the parts of ``cls`` of all kinds, in the order of the declaration."""
    return [getattr(field, "ir_name", None) or name for name, field in _declared[cls].items()]


def define(cls: type[IRDLOperation]) -> None:
    """Makes the definition of ``cls`` if it was left for later."""
    if cls not in _deferred:
        return
    with _lock:
        if cls not in _deferred:
            return
        definition = OpDef.from_pyrdl(cls)
        check = cls.verify_ if cls.verify_ is not DeferredOp.verify_ else None
        for name, accessor in get_accessors_from_op_def(definition, check).items():
            setattr(cls, name, accessor)
        _deferred.discard(cls)


def _segment_options(fields: dict[str, Any]) -> tuple[Any, ...]:
    """Segment attributes are needed exactly when several operands (or results) may be absent or repeated."""
    operands = results = 0
    for field in fields.values():
        operands += field.cls in _NOT_ONE_OPERAND
        results += field.cls in _NOT_ONE_RESULT
    options: list[Any] = []
    if operands > 1:
        options.append(AttrSizedOperandSegments())
    if results > 1:
        options.append(AttrSizedResultSegments())
    return tuple(options)
