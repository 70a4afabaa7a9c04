"""Rules of the fractal load from global memory and of the loads of the bias table and the fixpipe buffer.

Source: docs/reference/layouts.md, "Transfers", "Loads with a change of layout".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.addresses import address_of, describe_space, element_bytes
from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import find, named
from pto_dialect.ir.core.types import type_text
from pto_dialect.targets.element_types import signless
from pto_dialect.targets.transfer_memories import is_open

from ..engine.checks import checks
from ..engine.context import Context, element_of
from ..engine.rule import ERROR, LOCATIONS, SHAPES, TRIPLES, WARNING

_FRAC = "pto.mte_gm_l1_frac"
_TABLES = {"pto.mte_l1_bt": ("bt", "bt-spaces"), "pto.mte_l1_fb": ("fb", "fb-spaces")}
_BT_PAIRS = frozenset((("f32", "f32"), ("i32", "i32"), ("f16", "f32"), ("bf16", "f32")))
_SMALLC0_LIMIT = 4
_FB_BANK = 1 << 16
_NOT_NEGATIVE = (
    "n_value",
    "d_value",
    "src_inner_stride",
    "src_outer_stride",
    "dst_loop2_stride",
    "dst_loop3_stride",
    "dst_loop4_stride",
)


@checks(LOCATIONS, _FRAC)
def check_frac_memories(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of the fractal load; a memref may leave its own unstated."""
    for value, name, wanted in ((named(op, "source"), "source", "gm"), (named(op, "destination"), "destination", "l1")):
        found = space_of(value.type)
        if found is not None and found != wanted:
            severity = WARNING if is_open(_FRAC, name, found) else ERROR
            ctx.report_memory("frac-spaces", op, name, value, found, wanted, severity=severity)


@checks(SHAPES, _FRAC)
def check_frac_extents(op: Operation, ctx: Context) -> None:
    """Checks the sizes and strides of the fractal load."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)

    def known(name: str) -> tuple[SSAValue | None, int | None]:
        value = groups[name][0] if groups[name] else None
        return value, ctx.constant(value)

    for name in _NOT_NEGATIVE:
        value, number = known(name)
        if number is not None and number < 0:
            ctx.report("frac-nonneg", op, f"{name} of {op.name} must not be negative, found {number}", at=value)
    value, count = known("group_count")
    if count is not None and count < 1:
        ctx.report("frac-group-positive", op, f"group_count of {op.name} must be at least 1, found {count}", at=value)
    width, small = known("d_value")
    if known("smallc0_en")[1] and small is not None and small > _SMALLC0_LIMIT:
        message = f"smallc0 needs a d_value of at most {_SMALLC0_LIMIT}, found {small}"
        ctx.report("frac-smallc0", op, message, at=width)
    mode = op.attributes.get("mode")
    if not ctx.failed and isinstance(mode, EnumAttr):
        _check_inner_stride(op, ctx, mode.value, known("n_value")[1], small, known("src_inner_stride"))


def _check_inner_stride(
    op: Operation,
    ctx: Context,
    mode: str,
    n_value: int | None,
    d_value: int | None,
    inner: tuple[SSAValue | None, int | None],
) -> None:
    size = element_bytes(named(op, "source").type)
    length, rows, name = (d_value, n_value, "d_value") if mode == "nd2nz" else (n_value, d_value, "n_value")
    value, stride = inner
    if size is None or length is None or stride is None or rows == 1 or stride >= length * size:
        return
    message = f"{name} is {length} elements of {size} bytes, but the inner source stride is {stride} bytes"
    ctx.report("frac-inner-stride", op, message, at=value, help=f"at least {length * size}")


@checks(LOCATIONS, *_TABLES)
def check_table_memories(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of the table loads."""
    table, broken = _TABLES[op.name]
    for value, name, wanted in (
        (named(op, "source"), "source", "l1"),
        (named(op, "destination"), "destination", table),
    ):
        if space_of(value.type) != wanted:
            ctx.report_memory(broken, op, name, value, describe_space(value.type), wanted)


@checks(TRIPLES, "pto.mte_l1_bt")
def check_bias_elements(op: Operation, ctx: Context) -> None:
    """Checks the element types of the bias table load."""
    source, destination = element_type(named(op, "source").type), element_type(named(op, "destination").type)
    assert source is not None and destination is not None
    found = signless(type_text(source)), signless(type_text(destination))
    if found not in _BT_PAIRS:
        message = f"{op.name} does not convert {type_text(source)} to {type_text(destination)}"
        help = "f32 to f32, i32 to i32, f16 to f32, bf16 to f32"
        ctx.report("bt-pair", op, message, at=named(op, "source"), help=help)


@checks(SHAPES, *_TABLES)
def check_table_extents(op: Operation, ctx: Context) -> None:
    """Checks the copied bytes against the table and against what the products read from it."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    length, count = ctx.constant(groups["len_burst"][0]), ctx.constant(groups["n_burst"][0])
    if length is None or count is None or length <= 0 or count <= 0:
        return
    source, destination = named(op, "source"), named(op, "destination")
    table, _ = _TABLES[op.name]
    copied = length * count * ctx.profile.burst_units[op.name.removeprefix("pto.")].bytes
    read, written = element_bytes(source.type), element_bytes(destination.type)
    capacity = ctx.profile.capacity_of(table)
    if read is None or written is None or capacity is None:
        return
    end = _offset(table, address_of(destination) or 0) + (copied * written // read if table == "bt" else copied)
    if end > capacity:
        message = f"{op.name} writes up to byte {end} of {table}, which has {capacity} bytes"
        ctx.report("fb-bt-capacity", op, message, at=destination)
    elif table == "bt":
        _check_bias_length(op, ctx, copied, read, groups["len_burst"][0])


def _offset(table: str, address: int) -> int:
    """Returns the byte offset inside the table: address bit 16 selects the relu rows of the fixpipe buffer."""
    return address % _FB_BANK if table == "fb" else address


def _check_bias_length(op: Operation, ctx: Context, copied: int, size: int, length: SSAValue) -> None:
    """Compares the copied length with the channels of the multiplications that read the same pointer as their bias."""
    channels: list[int] = []
    table = named(op, "destination")
    for use in table.uses:
        # Only multiplications with explicit sizes have both.
        size_of_product = find(use.operation, "n")
        if find(use.operation, "bias") is table and size_of_product is not None:
            n = ctx.constant(size_of_product)
            if n is None:
                return
            channels.append(n)
    unit = ctx.profile.burst_units["mte_l1_bt"].bytes
    if channels and copied > -(-max(channels) * size // unit) * unit:
        element = element_of(named(op, "source").type)
        message = f"{copied} bytes are copied, but {max(channels)} channels of {element} are read"
        help = f"{-(-max(channels) * size // unit)} units of {unit} bytes"
        ctx.report("bt-len", op, message, at=length, help=help)
