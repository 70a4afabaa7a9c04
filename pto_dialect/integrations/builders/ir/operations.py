"""Operations, and their views by class."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, TextIO, TypeVar

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute as XAttribute
from xdsl.ir import Operation as XOperation
from xdsl.ir import Region as XRegion

from pto_dialect.ir.core.base import is_pto
from pto_dialect.ir.core.location import SourceLoc, share_location, span_of
from pto_dialect.nesting import make_room

from .attributes import Attribute, NamedAttribute, unwrap, wrap
from .build import core_properties, create, insert, locate
from .context import Context, Location, need_location
from .errors import MLIRError
from .parts import PartOfProgram, depth_of
from .printing import text_of
from .reading import read_module
from .structure import (
    MAKERS,
    Block,
    ListView,
    Operands,
    Region,
    Value,
    Values,
    block_in,
    context_of,
    operation_in,
    value_of,
    wrap_result,
    wrap_value,
)
from .texts import plain_text

V = TypeVar("V", bound="type[OpView]")

_views: dict[str, type[OpView]] = {}
"""The classes of operations by name."""

find_view: list[Callable[[str], type[Any] | None]] = []
"""Functions that return the class of an operation that has not been used yet."""


class WalkOrder(IntEnum):
    """When a walk visits an operation: before or after those inside."""

    PRE_ORDER = 0
    POST_ORDER = 1


class WalkResult(IntEnum):
    """How a walk continues."""

    ADVANCE = 0
    INTERRUPT = 1
    SKIP = 2


class AttributeMap(PartOfProgram, MutableMapping[str, Any]):
    """The attributes of an operation."""

    __slots__ = ("_op",)

    def __init__(self, op: XOperation) -> None:
        self._op = op

    def _all(self) -> dict[str, XAttribute]:
        return {**self._op.properties, **self._op.attributes}

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int):
            return NamedAttribute(*[(name, wrap(one)) for name, one in self._all().items()][key])
        found = self._op.attributes.get(key)
        if found is None:
            found = self._op.properties.get(key)
        if found is None:
            raise KeyError(f"{self._op.name} has no attribute {key!r}")
        return wrap(found)

    def __setitem__(self, key: str, value: Any) -> None:
        plain_text(key, "the name of an attribute")
        holder = self._op.properties if key in _properties_of(self._op) else self._op.attributes
        holder[key] = unwrap(value, f"attribute {key!r}")

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(f"{self._op.name} has no attribute {key!r}")
        self._op.attributes.pop(key, None)
        self._op.properties.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._op.attributes or key in self._op.properties

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Any]:
        return iter([NamedAttribute(name, wrap(one)) for name, one in self._all().items()])


def _properties_of(op: XOperation) -> frozenset[str]:
    return frozenset() if is_pto(op) else core_properties(type(op))


class OperationBase(PartOfProgram):
    """What operations and their views have in common."""

    _x: XOperation

    @property
    def operation(self) -> Operation:
        """The operation."""
        return operation_of(self._x)

    @property
    def opview(self) -> Any:
        """The operation in the class of its name."""
        return view_of(self._x)

    @property
    def name(self) -> Any:
        """The name."""
        return _name(self._x)

    @property
    def context(self) -> Context:
        """The context."""
        return context_of(self._x)

    @property
    def results(self) -> Values:
        """The results."""
        return Values(lambda: [wrap_value(one) for one in self._x.results])

    @property
    def result(self) -> Any:
        """The only result. Raises ``ValueError`` where there is none, or several."""
        results = self._x.results
        if len(results) != 1:
            raise ValueError(f"Cannot call .result on operation {_name(self._x)} which has {len(results)} results")
        return wrap_result(results[0])

    @property
    def operands(self) -> Operands:
        """The operands."""
        return Operands(self._x)

    @property
    def attributes(self) -> AttributeMap:
        """The attributes."""
        return AttributeMap(self._x)

    @property
    def regions(self) -> ListView[Region]:
        """The regions."""
        return ListView(lambda: [Region(one) for one in self._x.regions])

    @property
    def successors(self) -> ListView[Block]:
        """The blocks to which a terminator branches."""
        return ListView(lambda: [Block(one) for one in self._x.successors])

    @property
    def parent(self) -> Any:
        """The operation around this one; ``None`` without one."""
        parent = self._x.parent_op()
        return None if parent is None else operation_of(parent)

    @property
    def block(self) -> Any:
        """The block around the operation; ``None`` without one."""
        return None if self._x.parent is None else Block(self._x.parent)

    @property
    def location(self) -> Location:
        """The location."""
        span = span_of(self._x) if _has_location(self._x) else None
        return Location(self.context) if span is None else Location.at_place(self.context, *span)

    @property
    def attached(self) -> bool:
        """Whether the operation is in a block."""
        return self._x.parent is not None

    def detach_from_parent(self) -> Any:
        """Takes the operation out of its block."""
        if self._x.parent is None:
            raise ValueError("Detached operation has no parent.")
        self._x.detach()
        return self.opview

    def erase(self) -> None:
        """Removes the operation. Raises ``ValueError`` where its results are still used."""
        used = next((one for one in self._x.results if one.first_use is not None), None)
        if used is not None:
            raise ValueError(f"a result of {_name(self._x)} is still used")
        if self._x.parent is not None:
            self._x.detach()
        self._x.erase()

    def move_before(self, other: Any) -> None:
        """Moves the operation before another one."""
        target = operation_in(other, "the other operation")
        self._move(target.parent, target)

    def move_after(self, other: Any) -> None:
        """Moves the operation after another one."""
        target = operation_in(other, "the other operation")
        self._move(target.parent, target.next_op)

    def _move(self, block: Any, before: XOperation | None) -> None:
        if block is None:
            raise ValueError("the other operation is in no block")
        if before is self._x:
            return
        if self._x.parent is not None:
            self._x.detach()
        if before is None:
            block.add_op(self._x)
        else:
            block.insert_op_before(self._x, before)

    def clone(self, ip: Any = None) -> Any:
        """Inserts a copy of the operation."""
        make_room(depth_of(self._x))
        copy = self._x.clone()
        _copy_locations(self._x, copy)
        insert(copy, ip)
        return view_of(copy)

    def walk(self, callback: Callable[[Any], Any], walk_order: WalkOrder = WalkOrder.POST_ORDER) -> None:
        """Calls ``callback`` with the operation and all inside."""
        if not callable(callback):
            raise TypeError(f"the callback of a walk is a function, found {type(callback).__name__}")
        make_room(depth_of(self._x))
        _walk(self._x, callback, walk_order)

    def verify(self) -> bool:
        """Checks the operation and all inside. Raises ``MLIRError`` for errors."""
        from .checks import verify  # deferred: start-up

        return verify(self._x)

    def get_asm(
        self,
        binary: bool = False,
        enable_debug_info: bool = False,
        print_generic_op_form: bool = False,
        file: Any = None,
        **options: Any,
    ) -> Any:
        """Returns the text of the operation; ``enable_debug_info`` adds the locations, ``print_generic_op_form``
        writes all in generic form. Other options of MLIR have no effect."""
        text = text_of(self._x, enable_debug_info, print_generic_op_form)
        return text.encode() if binary else text

    def print(
        self,
        state: Any = None,
        file: TextIO | None = None,
        binary: bool = False,
        enable_debug_info: bool = False,
        print_generic_op_form: bool = False,
        **options: Any,
    ) -> None:
        """Prints the text of the operation; for the options see ``get_asm``."""
        text = self.get_asm(binary, enable_debug_info, print_generic_op_form)
        (sys.stdout if file is None else file).write(text if binary else text.rstrip("\n") + "\n")

    def dump(self) -> None:
        """Prints the text of the operation to the standard error."""
        self.print(file=sys.stderr)

    def __str__(self) -> str:
        return text_of(self._x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OperationBase) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)


def _name(op: XOperation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _has_location(op: XOperation) -> bool:
    try:
        return isinstance(op.location, SourceLoc)
    except AttributeError:
        return False


def _copy_locations(original: XOperation, copy: XOperation) -> None:
    for one, other in zip(original.walk(), copy.walk(), strict=True):
        if _has_location(one):
            share_location(other, one)


def _walk(op: XOperation, callback: Callable[[Any], Any], order: WalkOrder) -> bool:
    """Returns whether the walk was interrupted."""
    if order == WalkOrder.PRE_ORDER:
        found = callback(operation_of(op))
        if found == WalkResult.INTERRUPT and found is not None:
            return True
        if found == WalkResult.SKIP and found is not None:
            return False
    for region in op.regions:
        for block in list(region.blocks):
            for inner in list(block.ops):
                if _walk(inner, callback, order):
                    return True
    if order == WalkOrder.POST_ORDER:
        found = callback(operation_of(op))
        return found is not None and found == WalkResult.INTERRUPT
    return False


class Operation(OperationBase):
    """An operation of any dialect. There is one object for each operation of a program."""

    __slots__ = ("_view", "_x")

    def __init__(self) -> None:
        raise TypeError("operations are made by Operation.create, or by the classes of a dialect")

    @property
    def operation(self) -> Operation:
        """The operation itself."""
        return self

    @staticmethod
    def create(
        name: str,
        results: Sequence[Any] | None = None,
        operands: Sequence[Any] | None = None,
        attributes: MutableMapping[str, Any] | None = None,
        successors: Sequence[Any] | None = None,
        regions: int = 0,
        loc: Location | None = None,
        ip: Any = None,
        infer_type: bool = False,
    ) -> Operation:
        """Makes an operation of any dialect from its parts."""
        if not isinstance(name, str):
            raise TypeError(f"the name of an operation is a string, found {type(name).__name__}")
        need_location(loc)
        for what, given in (("operands", operands), ("results", results), ("successors", successors)):
            if given is not None and type(given) is not list and not isinstance(given, Iterable):
                raise TypeError(f"the {what} of {name} are a list, found {type(given).__name__}")
        if attributes is not None and not isinstance(attributes, Mapping):
            raise TypeError(f"the attributes of {name} are a dictionary, found {type(attributes).__name__}")
        if not isinstance(regions, int):
            raise TypeError(f"the regions of {name} are a number, found {type(regions).__name__}")
        made = create(
            name,
            [
                one._x if isinstance(one, Value) else value_of(one, f"operand {number} of {name}")
                for number, one in enumerate(operands or ())
            ],
            [
                one._x if isinstance(one, Attribute) else unwrap(one, f"a result type of {name}")
                for one in results or ()
            ],
            {key: unwrap(one, f"attribute {key!r} of {name}") for key, one in attributes.items()} if attributes else {},
            [XRegion() for _ in range(regions)] if regions else (),
            [block_in(one) for one in successors] if successors else (),
        )
        locate(made, loc)
        insert(made, ip)
        return operation_of(made)

    @staticmethod
    def parse(source: str, *, source_name: str = "<string>", context: Context | None = None) -> Any:
        """Returns the operation with this text."""
        module = read_module(source, context)
        first = module.body.block.first_op
        stated = "module" in source.partition("{")[0]
        if stated or first is None or first.next_op is not None:
            return view_of(module)
        first.detach()
        return view_of(first)

    def __repr__(self) -> str:
        return f"<Operation {_name(self._x)}>"


class OpView(OperationBase):
    """An operation in the class of its name."""

    OPERATION_NAME: ClassVar[str] = ""

    def __init__(self, operation: Any) -> None:
        """Casts an operation to the class."""
        found = getattr(operation, "_x", None)
        if not isinstance(found, XOperation):
            raise TypeError(f"{type(self).__name__} takes an Operation, found {type(operation).__name__}")
        if self.OPERATION_NAME and _name(found) != self.OPERATION_NAME:
            raise ValueError(f"{type(self).__name__} is the class of {self.OPERATION_NAME}, found {_name(found)}")
        self._x = found

    @classmethod
    def build_generic(
        cls,
        results: Sequence[Any] | None = None,
        operands: Sequence[Any] | None = None,
        attributes: MutableMapping[str, Any] | None = None,
        successors: Sequence[Any] | None = None,
        regions: int | None = None,
        loc: Location | None = None,
        ip: Any = None,
    ) -> Any:
        """Makes an operation of the class from its parts; operands and results may be lists in the list."""
        made = Operation.create(
            cls.OPERATION_NAME,
            [one for part in results or () for one in _listed(part)],
            [one for part in operands or () for one in _listed(part)],
            attributes,
            successors,
            regions or 0,
            loc,
            ip,
        )
        return view_of(made._x)

    @classmethod
    def parse(cls, source: str, *, source_name: str = "<string>", context: Context | None = None) -> Any:
        """Returns the operation with this text. Raises ``MLIRError`` for another operation."""
        found = Operation.parse(source, source_name=source_name, context=context)
        if cls.OPERATION_NAME and found.operation.name != cls.OPERATION_NAME:
            raise MLIRError(f"expected {cls.OPERATION_NAME}, found {found.operation.name}")
        return found

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {_name(self._x)}>"


def _listed(part: Any) -> Sequence[Any]:
    if part is None:
        return ()
    return part if isinstance(part, (list, tuple, Values)) else (part,)


def operation_of(op: XOperation) -> Operation:
    """Returns the wrapper of an operation, always the same one."""
    made: Operation | None = getattr(op, "_builders_wrapper", None)
    if made is None:
        made = object.__new__(Operation)
        made._x = op
        op._builders_wrapper = made  # pyright: ignore[reportAttributeAccessIssue]
    return made


def view_of(op: XOperation) -> Any:
    """Returns the view of an operation, always the same one."""
    made = getattr(op, "_builders_view", None)
    if made is None:
        made = object.__new__(view_class(_name(op)))
        made._x = op
        op._builders_view = made  # pyright: ignore[reportAttributeAccessIssue]
    return made


MAKERS.update(operation=operation_of, view=view_of)


def view_class(name: str) -> type[OpView]:
    """Returns the class of the operations with a name."""
    cls = _views.get(name)
    if cls is None:
        for find in find_view:
            cls = find(name)
            if cls is not None:
                break
        cls = _views[name] = cls or OpView
    return cls


def register_view(cls: V) -> V:
    """States that operations named ``OPERATION_NAME`` come back as the decorated class."""
    _views[cls.OPERATION_NAME] = cls
    return cls
