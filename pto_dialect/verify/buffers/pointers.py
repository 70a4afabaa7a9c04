"""Rules of pointers, scalar memory accesses, and the small arrays and structs of the scalar unit."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from pto_dialect.analysis.type_facts import ENTRY_ATTRIBUTES, is_simt_entry
from pto_dialect.diagnostics.origins import is_translated
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.remedies.statements import cast
from pto_dialect.ir.buffers.pointers import LoadScalarOp, StoreScalarOp
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import (
    LocalArrayType,
    PartitionViewType,
    PtrType,
    StructType,
    TensorViewType,
    TileBufType,
    element_name,
    type_text,
)
from pto_dialect.targets.element_types import FP4, FP8, signless
from pto_dialect.targets.memory import SPACE_ALIASES

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.functions import is_simt_section
from ..engine.rule import LOCATIONS, TRIPLES, WARNING
from .views import array_values

_POINTEES = frozenset({"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3", "hif8"} | FP8 | FP4)
_DEVICE_INTEGERS = frozenset(("i8", "i16", "i32", "i64"))


def memory_of(type_: Attribute) -> str | None:
    """Returns the memory space of a pointer, tile, view or memref type, as pointer types name it; ``None`` if the type
    does not state it."""
    if isinstance(type_, PtrType):
        return type_.space
    if isinstance(type_, TileBufType):
        return SPACE_ALIASES[type_.loc]
    if isinstance(type_, (TensorViewType, PartitionViewType)):
        return "gm"
    if isinstance(type_, MemRefType) and isinstance(type_.memory_space, EnumAttr):
        return SPACE_ALIASES.get(type_.memory_space.value)
    return None


def _element(type_: Attribute) -> Attribute | None:
    element = type_.element_type if isinstance(type_, MemRefType) else getattr(type_, "element", None)
    return element if isinstance(element, Attribute) else None


# ------------------------------------------------------------ making pointers


@checks(TRIPLES, "pto.addptr")
def check_addptr(op: Operation, ctx: Context) -> None:
    """Checks a pointer offset by a number of elements."""
    before, after = named(op, "ptr").type, op.results[0].type
    if before != after:
        found = f"{type_text(before)} and {type_text(after)}"
        ctx.report("addptr-type", op, f"{op.name} keeps the type of the pointer, found {found}", at=named(op, "ptr"))


@checks(TRIPLES, "pto.castptr")
def check_castptr(op: Operation, ctx: Context) -> None:
    """Checks a cast between addresses and pointers."""
    value = named(op, "input")
    source, result = value.type, op.results[0].type
    from_integer, to_integer = isinstance(source, IntegerType), isinstance(result, IntegerType)
    if not isinstance(source, (PtrType, MemRefType, IntegerType)):
        message = f"{op.name} takes an integer, memref or pointer, found {type_text(source)}"
        help, mended = None, ()
        if isinstance(source, IndexType):
            help, mended = "convert it with arith.index_cast .. : index to i64", (cast(None, "index", "i64"),)
        ctx.report("castptr-form", op, message, at=value, help=help, remedies=mended)
    elif not isinstance(result, (PtrType, IntegerType)):
        ctx.report("castptr-form", op, f"{op.name} gives an integer or pointer, found {type_text(result)}")
    elif to_integer and (from_integer or isinstance(source, MemRefType)):
        what = "an integer" if from_integer else "a memref"
        ctx.report("castptr-form", op, f"{op.name} does not turn {what} into an integer", at=value)
    elif isinstance(result, PtrType) and not from_integer:
        space = memory_of(source)
        if space is not None and space != result.space:
            message = f"{op.name} stays in one memory, found {space} and {result.space}"
            ctx.report("castptr-form", op, message, at=value)


@checks(TRIPLES, "pto.inttoptr")
def check_inttoptr(op: Operation, ctx: Context) -> None:
    """Checks a conversion of an integer to a pointer."""
    value, result = named(op, "addr"), op.results[0].type
    if not isinstance(value.type, IntegerType) or value.type.width.data != 64:
        ctx.report("castptr-form", op, f"{op.name} takes an i64, found {type_text(value.type)}", at=value)
    if isinstance(result, PtrType) and signless(element_name(result.element)) not in _POINTEES:
        ctx.report("castptr-form", op, f"{op.name} gives no pointer to {type_text(result.element)}")


@checks(LOCATIONS, "pto.inttoptr")
def check_inttoptr_users(op: Operation, ctx: Context) -> None:
    """Checks the uses of a pointer made from an integer."""
    for use in op.results[0].uses:
        user = use.operation
        if not isinstance(user, (LoadScalarOp, StoreScalarOp)) or find(user, "ptr") is not op.results[0]:
            only = "the pointer of load_scalar and store_scalar"
            message = f"the result of {op.name} is only {only}, not of {user.name}"
            ctx.report("inttoptr-use", user, message, at=op.results[0])


@checks(TRIPLES, "pto.tile_buf_addr", "pto.tensor_view_addr")
def check_address_of(op: Operation, ctx: Context) -> None:
    """Checks the pointer to a tile or view."""
    source, result = named(op, "src").type, op.results[0].type
    element, found = _element(source), _element(result)
    if element is not None and found is not None and element != found:
        message = f"the result of {op.name} must point to {type_text(element)}, found {type_text(found)}"
        ctx.report("addr-result", op, message)
    space, other = memory_of(source), memory_of(result)
    if space is not None and other is not None and space != other:
        ctx.report("addr-result", op, f"the result of {op.name} must lie in {space}, found {other}")
    if isinstance(result, MemRefType):
        rank = 2 if isinstance(source, TileBufType) else len(getattr(source, "shape", ()))
        if isinstance(source, MemRefType):
            rank = source.get_num_dims()
        if result.get_num_dims() != rank:
            message = f"the result of {op.name} must have {rank} dimensions, found {result.get_num_dims()}"
            ctx.report("addr-result", op, message)


# ------------------------------------------------------------ scalar accesses


def _pointer_and_value(op: Operation) -> tuple[SSAValue, SSAValue]:
    """Returns the pointer and the value of a scalar access."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    value = op.results[0] if op.results else groups["value"][0]
    return groups["ptr"][0], value


@checks(TRIPLES, "pto.load", "pto.store", "pto.load_scalar", "pto.store_scalar", "pto.ld_dev", "pto.st_dev")
def check_scalar_access(op: Operation, ctx: Context) -> None:
    """Checks that the accessed value is one element."""
    pointer, value = _pointer_and_value(op)
    element = _element(pointer.type)
    if element is not None and element != value.type:
        message = f"the value of {op.name} must be {type_text(element)}, found {type_text(value.type)}"
        ctx.report("scalar-mem-type", op, message, at=value)


@checks(LOCATIONS, "pto.load_scalar", "pto.store_scalar")
def check_scalar_space(op: Operation, ctx: Context) -> None:
    """Checks the memory space that the scalar unit reads or writes."""
    place, _ = _pointer_and_value(op)
    space = memory_of(place.type)
    span = span_of(op)
    # The compilers of other texts, such as C++, access local memories.
    if space not in (None, "gm") and not (span is not None and is_translated(span.source)):
        message = f"{op.name} on {space}: older compilers access global memory only"
        ctx.report("scalar-mem-space", op, message, at=place)


@checks(LOCATIONS, "pto.ld_dev", "pto.st_dev")
def check_device_access(op: Operation, ctx: Context) -> None:
    """Checks accesses that bypass the data cache."""
    accessed, _ = _pointer_and_value(op)
    pointer = accessed.type
    if ctx.profile.arch != "a5":
        message = f"{op.name} is documented for a5 only; the header library of {ctx.profile.name} lowers it as well"
        ctx.report("ld-dev", op, message, severity=WARNING)
    if not isinstance(pointer, PtrType):
        return
    if pointer.space != "gm":
        ctx.report("ld-dev", op, f"{op.name} accesses global memory, found {pointer.space}", at=accessed)
    if element_name(pointer.element) not in _DEVICE_INTEGERS:
        message = f"{op.name} accesses i8, i16, i32 or i64, found {type_text(pointer.element)}"
        ctx.report("ld-dev", op, message, at=accessed)
    place = op.parent_op()
    while place is not None:
        if is_simt_section(place) or is_simt_entry(place):
            ctx.report("ld-dev", op, f"{op.name} is outside SIMT bodies")
            return
        if has_role(place, Role.FUNCTION) and not any(name in place.attributes for name in ENTRY_ATTRIBUTES):
            message = f"{op.name} belongs in the entry function of a core"
            ctx.report("ld-dev", op, message, help="mark the function with pto.entry")
        place = place.parent_op()


# ------------------------------------------------------------ arrays and structs


@checks(TRIPLES, "pto.local_array_get", "pto.local_array_set")
def check_array_access(op: Operation, ctx: Context) -> None:
    """Checks the access to one element of a local array."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    array = groups["array"][0].type
    if not isinstance(array, LocalArrayType):
        return
    rank, given = len(array.shape), len(groups["indices"])
    if rank != given:
        message = f"{op.name} takes {rank} indices, found {given}"
        ctx.report("local-array", op, message, remedies=(operand_count(rank, given),))
    value = op.results[0] if op.results else groups["value"][0]
    if value.type != array.element:
        message = f"the value of {op.name} must be {type_text(array.element)}, found {type_text(value.type)}"
        ctx.report("local-array", op, message, at=value)


@checks(TRIPLES, "pto.struct_get", "pto.struct_set")
def check_field_access(op: Operation, ctx: Context) -> None:
    """Checks the access to one field of a struct."""
    path = array_values(op.attributes.get("path"))
    if path is None:
        return
    if not path:
        ctx.report("struct-path", op, f"the path of {op.name} is empty")
        return
    kind: Attribute = named(op, "s").type
    for number in path:
        if not isinstance(kind, StructType) or not 0 <= number < len(kind.fields):
            ctx.report("struct-path", op, f"{type_text(kind)} has no field {number}")
            return
        kind = kind.fields[number]
    value = op.results[0] if op.results else named(op, "value")
    if isinstance(kind, StructType):
        ctx.report("struct-path", op, f"the path of {op.name} leads to {type_text(kind)}, not to a scalar field")
    elif value.type != kind:
        message = f"the value of {op.name} must be {type_text(kind)}, found {type_text(value.type)}"
        ctx.report("struct-path", op, message, at=value)


@checks(TRIPLES, "pto.declare_struct")
def check_struct_escape(op: Operation, ctx: Context) -> None:
    """Checks that a struct is only used in the block that declares it, under its own name."""
    for use in op.results[0].uses:
        if any(isinstance(result.type, StructType) for result in use.operation.results):
            message = f"{use.operation.name} gives a struct another name; only pto.declare_struct makes structs"
            ctx.report("struct-path", use.operation, message, at=op.results[0])
        if use.operation.has_trait(IsTerminator):
            ctx.report("struct-path", use.operation, "a struct does not leave its region", at=op.results[0])
