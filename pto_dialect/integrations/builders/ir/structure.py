"""Values, blocks and regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from xdsl.ir import Block as XBlock
from xdsl.ir import BlockArgument as XBlockArgument
from xdsl.ir import Operation as XOperation
from xdsl.ir import OpResult as XOpResult
from xdsl.ir import Region as XRegion
from xdsl.ir import SSAValue

from pto_dialect.accel.operations.construct import append_block
from pto_dialect.ir.core_dialects.func import FuncOp

from .attributes import unwrap, wrap_type
from .context import Context, any_context
from .parts import PartOfProgram

E = TypeVar("E")

CONTEXT = "_builders_context"
"""Where the operation at the root of a program has its context."""

MAKERS: dict[str, Callable[[XOperation], Any]] = {}
"""What makes the wrapper and the view of an operation; the module ``operations`` sets both."""


def operation_of(op: XOperation) -> Any:
    """Returns the wrapper of an operation, always the same one."""
    return MAKERS["operation"](op)


def view_of(op: XOperation) -> Any:
    """Returns the view of an operation, always the same one."""
    return MAKERS["view"](op)


def context_of(op: XOperation | None) -> Context:
    """Returns the context of a program."""
    found, above = None, op
    while above is not None and found is None:
        found, above = getattr(above, CONTEXT, None), above.parent_op()
    if found is None:
        return any_context()
    # Kept, so that nested operations do not search all those around them.
    setattr(op, CONTEXT, found)
    return found


class ListView(PartOfProgram, Sequence[E], Generic[E]):
    """A list that is made when it is read."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Sequence[E]]) -> None:
        self._make = make

    def __len__(self) -> int:
        return len(self._make())

    def __getitem__(self, index: Any) -> Any:
        return self._make()[index]

    def __iter__(self) -> Iterator[E]:
        return iter(self._make())

    def __add__(self, other: Sequence[E]) -> list[E]:
        return [*self, *other]

    def __repr__(self) -> str:
        return repr(list(self._make()))


class Values(ListView["Value"]):
    """Operands, results or arguments."""

    __slots__ = ()

    @property
    def types(self) -> list[Any]:
        """The types of the values."""
        return [one.type for one in self]

    @property
    def owner(self) -> Any:
        """What the values belong to."""
        return self[0].owner


class Operands(Values):
    """The operands of an operation, which may be replaced."""

    __slots__ = ("_op",)

    def __init__(self, op: XOperation) -> None:
        self._op = op
        super().__init__(lambda: [wrap_value(one) for one in op.operands])

    def __setitem__(self, index: int, value: Any) -> None:
        self._op.operands[index] = value_of(value)


class Value(PartOfProgram):
    """A value of a program: a result of an operation, or an argument of a block."""

    __slots__ = ("_x",)

    _x: SSAValue

    def __init__(self, value: Value) -> None:
        found = getattr(value, "_x", None)
        if not isinstance(found, SSAValue):
            raise TypeError(f"{type(self).__name__} takes a Value, found {type(value).__name__}")
        if not self.isinstance(value):
            raise ValueError(f"Cannot cast value to {type(self).__name__} (from {value})")
        self._x = found

    @classmethod
    def isinstance(cls, other: Value) -> bool:
        """Returns whether ``other`` can be cast to this class."""
        return True

    @property
    def type(self) -> Any:
        """The type."""
        return wrap_type(self._x.type)

    def set_type(self, type: Any) -> None:
        """Changes the type."""
        self._x._type = unwrap(type, "the type of a value")

    @property
    def owner(self) -> Any:
        """The operation or block that the value belongs to."""
        owner = self._x.owner
        return operation_of(owner) if isinstance(owner, XOperation) else Block(owner)

    @property
    def context(self) -> Context:
        """The context."""
        owner = self._x.owner
        return context_of(owner if isinstance(owner, XOperation) else owner.parent_op())

    @property
    def uses(self) -> Iterator[Use]:
        """The uses."""
        return iter([Use(one.operation, one.index) for one in self._x.uses])

    def get_name(self, use_local_scope: bool = False, **options: Any) -> str:
        """Returns the name that the value has in the text of its function."""
        return name_of(self._x)

    def replace_all_uses_with(self, value: Value) -> None:
        """Uses another value instead, everywhere."""
        self._x.replace_all_uses_with(value_of(value))

    def maybe_downcast(self) -> Any:
        """Returns the value itself."""
        return wrap_value(self._x)

    def dump(self) -> None:
        """Prints the value."""
        print(self)

    def __str__(self) -> str:
        owner = self._x.owner
        if isinstance(owner, XOperation):
            return f"Value({str(operation_of(owner)).splitlines()[0]})"
        return f"Value(<block argument> of type '{self.type}' at index: {self._x.index})"  # pyright: ignore

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)


class OpResult(Value):
    """A result of an operation."""

    __slots__ = ()

    @classmethod
    def isinstance(cls, other: Value) -> bool:
        """Returns whether ``other`` is the result of an operation."""
        return isinstance(getattr(other, "_x", None), XOpResult)

    @property
    def result_number(self) -> int:
        """The position among the results."""
        return self._x.index  # pyright: ignore[reportAttributeAccessIssue]


class BlockArgument(Value):
    """An argument of a block."""

    __slots__ = ()

    @classmethod
    def isinstance(cls, other: Value) -> bool:
        """Returns whether ``other`` is the argument of a block."""
        return isinstance(getattr(other, "_x", None), XBlockArgument)

    @property
    def arg_number(self) -> int:
        """The position among the arguments."""
        return self._x.index  # pyright: ignore[reportAttributeAccessIssue]


def wrap_value(value: SSAValue) -> Any:
    """Returns the wrapper of a value."""
    # A comparison of classes: ``isinstance`` is slow for arguments of blocks, whose class has an abstract base.
    made = object.__new__(BlockArgument if type(value) is XBlockArgument else OpResult)
    made._x = value
    return made


def wrap_result(value: SSAValue) -> OpResult:
    """Returns the wrapper of a result."""
    made = object.__new__(OpResult)
    made._x = value
    return made


def value_of(value: Any, what: str = "an operand") -> SSAValue:
    """Returns the value, or the only result of an operation. Raises ``TypeError`` for anything else and ``ValueError``
    for an operation with no result or several."""
    if isinstance(value, Value):
        return value._x
    found = getattr(value, "_x", None)
    if isinstance(found, SSAValue):
        return found
    if isinstance(found, XOperation):
        if len(found.results) != 1:
            raise ValueError(f"{what} is one value, found {found.name} with {len(found.results)} results")
        return found.results[0]
    if isinstance(value, Values) and len(value):
        return value[0]._x
    raise TypeError(f"{what} is a Value or an operation with one result, found {_kind(value)}")


def values_of(values: Any, what: str = "operands") -> list[SSAValue]:
    """Returns the values of a sequence, or the results of an operation. Raises ``TypeError`` for anything else."""
    found = getattr(values, "_x", None)
    if isinstance(found, XOperation):
        return list(found.results)
    if found is not None or isinstance(values, str) or not hasattr(type(values), "__iter__"):
        raise TypeError(f"{what} is a sequence of values, found {_kind(values)}")
    return [value_of(one, f"an element of {what}") for one in values]


def operation_in(value: Any, what: str) -> XOperation:
    """Returns the operation of a wrapper. Raises ``TypeError`` for anything else."""
    found = getattr(value, "_x", None)
    if not isinstance(found, XOperation):
        raise TypeError(f"{what} is an operation, found {_kind(value)}")
    return found


def block_in(value: Any) -> XBlock:
    """Returns the block of a wrapper. Raises ``TypeError`` for anything else."""
    found = getattr(value, "_x", None)
    if not isinstance(found, XBlock):
        raise TypeError(f"a successor is a Block, found {_kind(value)}")
    return found


def _region_in(value: Any, what: str) -> XRegion:
    found = getattr(value, "_x", None)
    if not isinstance(found, XRegion):
        raise TypeError(f"{what} is a Region, found {_kind(value)}")
    return found


def _kind(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.60}"


def name_of(value: SSAValue) -> str:
    """Returns the name that a value has in the text of the function, or module, around it."""
    owner = value.owner
    op = owner if isinstance(owner, XOperation) else owner.parent_op()
    root = op
    while op is not None and not isinstance(op, FuncOp):
        root, op = op, op.parent_op()
    root = op or root
    if root is None:
        return "%arg" + str(value.index)  # pyright: ignore[reportAttributeAccessIssue]
    from pto_dialect.syntax.print.printer import ModulePrinter  # deferred: start-up

    printer = ModulePrinter(False, False, False)
    printer.run(root)
    return printer.writer.names.texts.get(id(value), "%?")


class Use(PartOfProgram):
    """A use of a value: the operand of an operation."""

    def __init__(self, op: XOperation, index: int) -> None:
        self._op = op
        self.operand_number = index

    @property
    def owner(self) -> Any:
        """The operation that uses the value."""
        return view_of(self._op)


OpOperand = Use


class Region(PartOfProgram):
    """A region of an operation."""

    __slots__ = ("_x",)

    def __init__(self, region: XRegion) -> None:
        self._x = region

    @property
    def blocks(self) -> Blocks:
        """The blocks."""
        return Blocks(self._x)

    @property
    def owner(self) -> Any:
        """The operation around the region."""
        parent = self._x.parent
        return None if parent is None else view_of(parent)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index: int) -> Block:
        return self.blocks[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)


class Blocks(ListView["Block"]):
    """The blocks of a region."""

    __slots__ = ("_region",)

    def __init__(self, region: XRegion) -> None:
        self._region = region
        super().__init__(lambda: [Block(one) for one in region.blocks])

    def append(self, *types: Any, arg_locs: Sequence[Any] | None = None) -> Block:
        """Adds a block with arguments of these types."""
        listed = types[0] if len(types) == 1 and isinstance(types[0], (list, tuple)) else types
        block = XBlock(arg_types=[unwrap(one, "the type of a block argument") for one in listed])
        append_block(self._region, block)
        return Block(block)


class Block(PartOfProgram):
    """A block of operations."""

    __slots__ = ("_x",)

    def __init__(self, block: XBlock) -> None:
        self._x = block

    @staticmethod
    def create_at_start(parent: Region, arg_types: Sequence[Any] = (), arg_locs: Any = None) -> Block:
        """Adds a block at the beginning of a region."""
        block = XBlock(arg_types=[unwrap(one, "the type of a block argument") for one in arg_types])
        _region_in(parent, "the parent of a block").insert_block(block, 0)
        return Block(block)

    def _beside(self, offset: int, types: Sequence[Any]) -> Block:
        region = self._x.parent
        if region is None:
            raise ValueError("this block is in no region")
        block = XBlock(arg_types=[unwrap(one, "the type of a block argument") for one in types])
        region.insert_block(block, list(region.blocks).index(self._x) + offset)
        return Block(block)

    def create_before(self, *types: Any, arg_locs: Any = None) -> Block:
        """Adds a block before this one."""
        return self._beside(0, types)

    def create_after(self, *types: Any, arg_locs: Any = None) -> Block:
        """Adds a block after this one."""
        return self._beside(1, types)

    def append_to(self, region: Region) -> None:
        """Moves the block to the end of a region."""
        target = _region_in(region, "the parent of a block")
        if self._x.parent is not None:
            self._x.parent.detach_block(self._x)
        target.add_block(self._x)

    @property
    def arguments(self) -> Values:
        """The arguments."""
        return Values(lambda: [wrap_value(one) for one in self._x.args])

    def add_argument(self, type: Any, loc: Any = None) -> BlockArgument:
        """Adds an argument."""
        return wrap_value(self._x.insert_arg(unwrap(type, "the type of an argument"), len(self._x.args)))

    def erase_argument(self, index: int) -> None:
        """Removes an argument."""
        self._x.erase_arg(self._x.args[index])

    @property
    def operations(self) -> ListView[Any]:
        """The operations."""
        return ListView(lambda: [view_of(one) for one in self._x.ops])

    @property
    def region(self) -> Region:
        """The region around the block."""
        parent = self._x.parent
        if parent is None:
            raise ValueError("this block is in no region")
        return Region(parent)

    @property
    def owner(self) -> Any:
        """The operation around the block."""
        parent = self._x.parent_op()
        return None if parent is None else view_of(parent)

    @property
    def context(self) -> Context:
        """The context."""
        return context_of(self._x.parent_op())

    def append(self, operation: Any) -> None:
        """Moves an operation to the end of the block."""
        moved = operation_in(operation, "what is appended")
        if moved.parent is not None:
            moved.detach()
        self._x.add_op(moved)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.operations)

    def __str__(self) -> str:
        return "\n".join(str(one).rstrip("\n") for one in self.operations)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)
