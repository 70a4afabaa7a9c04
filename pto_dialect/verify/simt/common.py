"""Rules of single SIMT operations. Source: docs/reference/constraints.md, "Work-items and groups"."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, IntegerType, SymbolRefAttr, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.type_facts import element_type, enumerator, integer_attribute, is_simt_entry, space_of
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.suggest import near_hint
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.types import PtrType, bit_width, element_name, type_text
from pto_dialect.ir.simt.control import KeepOp
from pto_dialect.ir.simt.group import ReduxAddOp
from pto_dialect.ir.simt.memory import AtomicAndOp, AtomicCasOp, AtomicOrOp, AtomicXorOp, LdgOp
from pto_dialect.targets.element_types import FP8
from pto_dialect.targets.work_items import MAX_WORK_ITEMS, SLOTS

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE, TRIPLES

# ------------------------------------------------------------ launches


@checks(STRUCTURE, "pto.simt_launch")
def check_callee(op: Operation, ctx: Context) -> None:
    """Checks the function that a launch runs, and the number of work-items."""
    symbol = op.attributes.get("callee")
    if not isinstance(symbol, SymbolRefAttr):
        return
    name = symbol.root_reference.data
    found = ctx.symbols.find(op, name)
    if not isinstance(found, FuncOp):
        near = ctx.symbols.suggest(op, name)
        mended = (replace(f"@{name}", *near),) if near else ()
        message = f"there is no function @{name}"
        ctx.report("simt-callee", op, message, at="@" + name, help=near_hint(near), remedies=mended)
        return
    if not is_simt_entry(found):
        ctx.report("simt-callee", op, f"@{name} is no SIMT body", at="@" + name, help="mark it with pto.simt_entry")
    _signature(op, ctx, name, found.function_type)
    total = _product(op, ctx)
    allowed = integer_attribute(found, "pto.simt_max_threads")
    limit = MAX_WORK_ITEMS if allowed is None else min(allowed, MAX_WORK_ITEMS)
    if total is not None and total > limit:
        message = f"@{name} runs on at most {limit} work items, found {total}"
        ctx.report("simt-max-threads", op, message, severity=Severity.WARNING)


def _signature(op: Operation, ctx: Context, name: str, type_: FunctionType) -> None:
    if type_.outputs.data:
        ctx.report(
            "simt-callee", op, f"a SIMT body has no results, @{name} has {len(type_.outputs.data)}", at="@" + name
        )
    arguments = listed(op, "args")
    if len(arguments) != len(type_.inputs.data):
        message = f"@{name} takes {count(len(type_.inputs.data), 'argument')}, found {len(arguments)}"
        mended = (operand_count(len(type_.inputs.data), len(arguments)),)
        ctx.report("simt-callee", op, message, at="@" + name, remedies=mended)
        return
    for value, wanted in zip(arguments, type_.inputs.data, strict=True):
        if value.type != wanted:
            message = f"@{name} takes {type_text(wanted)} here, found {type_text(value.type)}"
            ctx.report("simt-callee", op, message, at=value)


def _product(op: Operation, ctx: Context) -> int | None:
    total = 1
    for name in ("dimX", "dimY", "dimZ"):
        size = ctx.constant(named(op, name))
        if size is None:
            return None
        total *= size
    return total


@checks(STRUCTURE, "pto.section.simt")
def check_section_sizes(op: Operation, ctx: Context) -> None:
    """Checks the sizes of the grid of a section."""
    sizes = [integer_attribute(op, name) for name in ("dimX", "dimY", "dimZ")]
    total = 1
    for name, size in zip(("dimX", "dimY", "dimZ"), sizes, strict=True):
        if size is None:
            return
        if size < 0:
            ctx.report("simt-max-threads", op, f"{name} is not negative, found {size}")
        total *= size
    if total > MAX_WORK_ITEMS:
        message = f"a section runs on at most {MAX_WORK_ITEMS} work items, found {total}"
        ctx.report("simt-max-threads", op, message, severity=Severity.WARNING)


# ------------------------------------------------------------ exchange

_SHUFFLES = ("pto.shuffle_idx", "pto.shuffle_up", "pto.shuffle_down", "pto.shuffle_bfly")


@checks(STRUCTURE, *_SHUFFLES)
def check_shuffle_width(op: Operation, ctx: Context) -> None:
    """Checks the lanes that exchange values."""
    width = integer_attribute(op, "width")
    if width not in (None, 16, 32):
        ctx.report("simt-width", op, f"the width of a shuffle is 16 or 32, found {width}", at="width")
    value = named(op, "value").type
    if op.results[0].type != value:
        found = f"{type_text(named(op, 'value').type)} and {type_text(op.results[0].type)}"
        ctx.report("simt-width", op, f"value and result of a shuffle have one type, found {found}", at=op.results[0])


@checks(TRIPLES, "pto.redux_add", "pto.redux_max", "pto.redux_min")
def check_reduction(op: Operation, ctx: Context) -> None:
    """Checks type and signedness of a reduction over lanes."""
    type_ = named(op, "value").type
    signed = "signedness" in op.attributes
    if element_name(type_) not in ("i32", "si32", "ui32", "f16", "f32"):
        message = f"{op.name} has i32, f16 or f32, found {type_text(type_)}"
        ctx.report("simt-redux", op, message, at=named(op, "value"))
        return
    if op.results[0].type != type_:
        message = f"{op.name} of {type_text(type_)} yields that type, found {type_text(op.results[0].type)}"
        ctx.report("simt-redux", op, message, at=op.results[0])
    if isinstance(type_, IntegerType):
        if not signed and not isinstance(op, ReduxAddOp):
            ctx.report("simt-redux", op, f"{op.name} of integers says signed or unsigned", help="signed or unsigned")
    elif signed:
        ctx.report("simt-redux", op, f"{op.name} of floats has no signedness", at=enumerator(op, "signedness"))


# ------------------------------------------------------------ arithmetic

_SAME_TYPES = (
    *(f"pto.{name}" for name in ("absf", "exp", "log", "sqrt", "pow", "ceil", "floor", "rint", "round")),
    *(f"pto.{name}" for name in ("fma", "fmin", "fmax", "mulhi")),
)


@checks(TRIPLES, *_SAME_TYPES)
def check_one_type(op: Operation, ctx: Context) -> None:
    """Checks that the operands and the result of arithmetic on one work item have one type."""
    first, *others = (*op.operands, *op.results)
    wanted = first.type
    for value in others:
        if value.type != wanted:
            message = f"operands and result of {op.name} have one type, found {type_text(wanted)}"
            ctx.report("simt-same-type", op, f"{message} and {type_text(value.type)}", at=value)
            return


# ------------------------------------------------------------ memory

_ATOMICS = tuple(f"pto.atomic_{name}" for name in ("exch", "add", "sub", "min", "max", "and", "or", "xor", "cas"))


@checks(TRIPLES, *_ATOMICS)
def check_atomic(op: Operation, ctx: Context) -> None:
    """Checks memory and types of an atomic update."""
    pointer = named(op, "ptr")
    value = named(op, "value")
    name = type_text(value.type)
    if isinstance(op, AtomicCasOp) and op.compare.type != value.type:
        found = type_text(op.compare.type)
        ctx.report("simt-atomic", op, f"compare is {name} as the value, found {found}", at=op.compare)
    if op.results[0].type != value.type:
        message = f"the old value is {name}, found {type_text(op.results[0].type)}"
        ctx.report("simt-atomic", op, message, at=op.results[0])
    element = element_type(pointer.type)
    if element is not None and element != value.type and op.results[0].type == value.type:
        message = f"memory of {type_text(element)} is updated with that type, found {name}"
        ctx.report("simt-atomic", op, message, at=value)
    space = space_of(pointer.type)
    if space not in ("gm", "ub"):
        ctx.report("simt-atomic", op, f"atomic updates work in gm and ub, found {space}", at=pointer)
    elif space == "ub" and bit_width(value.type) == 64:
        ctx.report("simt-atomic", op, "atomic updates of 64 bits work in gm only", at=pointer)
    if not isinstance(value.type, IntegerType):
        if isinstance(op, (AtomicAndOp, AtomicOrOp, AtomicXorOp)):
            ctx.report("simt-atomic", op, f"{op.name} has integers, found {name}", at=value)
        if "signedness" in op.attributes:
            ctx.report("simt-atomic", op, "signedness is for integers", at=enumerator(op, "signedness"))
    if isinstance(value.type, VectorType) and any(True for _ in op.results[0].uses):
        ctx.report("simt-atomic", op, "the old value of a packed update cannot be used")


_FP8 = FP8 | {"f8E4M3"}
_LOADABLE = frozenset(
    (
        *(f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64)),
        *(
            "f16",
            "bf16",
            "f32",
            "f64",
            "f8E4M3FN",
            "f8E4M3",
            "f8E5M2",
            "hif8",
            "hif8x2",
            "f4E1M2x2",
            "f4E2M1x2",
        ),
    )
)


@checks(TRIPLES, "pto.ldg", "pto.stg")
def check_global_access(op: Operation, ctx: Context) -> None:
    """Checks memory and type of a load or store of one work item."""
    pointer = named(op, "ptr")
    type_ = op.results[0].type if isinstance(op, LdgOp) else named(op, "value").type
    if isinstance(pointer.type, PtrType) and pointer.type.space != "gm":
        ctx.report("simt-ldg", op, f"{op.name} reaches gm, found {pointer.type.space}", at=pointer)
    element = element_type(pointer.type)
    if element is not None and element != type_:
        message = f"memory of {type_text(element)} holds that type, found {type_text(type_)}"
        ctx.report("simt-ldg", op, message)
    if not _is_loadable(type_):
        ctx.report("simt-ldg", op, f"{op.name} does not move {type_text(type_)}")


def _is_loadable(type_: Attribute) -> bool:
    """Returns whether a type can be loaded: scalars, pairs of at most 32 bits per element, and four or eight fp8
    values."""
    if not isinstance(type_, VectorType):
        return element_name(type_) in _LOADABLE
    lane, shape = element_name(type_.element_type), type_.get_shape()
    bits = bit_width(type_.element_type)
    if len(shape) != 1 or lane not in _LOADABLE or bits is None:
        return False
    return (shape[0] == 2 and bits <= 32) or (shape[0] in (4, 8) and lane in _FP8)


# ------------------------------------------------------------ retained values


@checks(STRUCTURE, "pto.keep", "pto.resume")
def check_slot(op: Operation, ctx: Context) -> None:
    """Checks the slot id and the type of a retained value."""
    number = integer_attribute(op, "slot")
    type_ = op.payload.type if isinstance(op, KeepOp) else op.results[0].type
    bits = bit_width(type_)
    if bits is None or bits > 64 or not _is_keepable(type_):
        message = f"integers of up to 64 bits, f16, bf16 and f32 are kept, found {type_text(type_)}"
        ctx.report("simt-keep", op, message)
        return
    wide = bits == 64
    if number is None:
        return
    if number < 0 or number + wide >= SLOTS:
        last = SLOTS - 1 - wide
        ctx.report("simt-keep", op, f"slots of {type_text(type_)} are 0 to {last}, found {number}", at="slot")
    elif wide and number % 2:
        ctx.report("simt-keep", op, f"a 64-bit value takes two slots from an even one, found {number}", at="slot")


def _is_keepable(type_: object) -> bool:
    return isinstance(type_, IntegerType) or type_text(type_) in ("f16", "bf16", "f32")  # pyright: ignore[reportArgumentType]
