"""Rules about constant sizes, strides and hints of the accumulator write-back.

Source: docs/reference/layouts.md, "Write-back addresses".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.diagnostics.remedies.order import without_clause
from pto_dialect.ir.core.base import PtoOp, operand_groups

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES
from .acc_store import STORES, AccStore, read_acc_store

_BLOCK_COLUMNS = 16
_SID_LIMIT, _L2_LIMIT = 3, 15
_SPLIT_N_UNIT = 32


@checks(SHAPES, *STORES)
def check_extents(op: Operation, ctx: Context) -> None:
    """Checks sizes and strides."""
    store = ctx.facts(op, read_acc_store)
    constant = ctx.constant
    m, n = constant(store.m), constant(store.n)
    src_stride, dst_stride = constant(store.src_stride), constant(store.dst_stride)
    for name, value, size in (("m", store.m, m), ("n", store.n, n)):
        if size is not None and size < 1:
            ctx.report("fixp-extent", op, f"{name} of {op.name} must be at least 1, found {size}", at=value)
    strides: list[tuple[str, SSAValue | None, int | None]] = [
        ("src_stride", store.src_stride, src_stride),
        ("dst_stride", store.dst_stride, dst_stride),
        ("the operand of nz2dn", store.loop0, constant(store.loop0)),
    ]
    if store.loop3:
        names = ("the count of loop3", "the source stride of loop3", "the destination stride of loop3")
        strides += [(name, v, constant(v)) for name, v in zip(names, store.loop3, strict=True)]
    for name, value, size in strides:
        if size is not None and size < 0:
            ctx.report("fixp-extent", op, f"{name} of {op.name} must not be negative, found {size}", at=value)
    _check_clause_operands(op, ctx, store)
    if store.dst_mode is not None:
        _check_sub_blocks(op, ctx, store, m, n)
    if not ctx.failed:
        _check_overlap(op, ctx, store, (m, n, src_stride, dst_stride))


def _check_clause_operands(op: Operation, ctx: Context, store: AccStore) -> None:
    if store.layout == "nz2dn" and store.unit_flag is not None and ctx.constant(store.loop0) != 1:
        message = "unit_flag with nz2dn needs the constant 1 as operand of nz2dn"
        help, fixed = "remove unit_flag or use nz2dn(1)", (without_clause("unit_flag", False),)
        ctx.report("fixp-unit-flag-loop0", op, message, at=store.loop0, help=help, remedies=fixed)
    split = ctx.constant(store.split)
    if split is not None and split not in (0, 1):
        ctx.report("fixp-split-bit", op, f"the split of nz2nz is one bit, found {split}", at=store.split)
    if store.loop3:
        count = ctx.constant(store.loop3[0])
        if count is not None and count > 1:
            message = f"loop3 repeats {count} times; its source stride is taken as rows of 16 elements"
            ctx.report("fixp-loop3-unverified", op, message, at="loop3")


def _check_sub_blocks(op: Operation, ctx: Context, store: AccStore, m: int | None, n: int | None) -> None:
    sub_block = ctx.constant(store.sub_block)
    if store.dst_mode == "single":
        if sub_block is not None and sub_block not in (0, 1):
            message = f"the sub-block of dst_mode must be 0 or 1, found {sub_block}"
            ctx.report("fixp-ub-sub-range", op, message, at=store.sub_block)
    elif store.dst_mode == "split_m":
        if m is not None and m % 2:
            ctx.report("fixp-ub-split-m-even", op, f"split_m needs an even m, found {m}", at=store.m)
    elif n is not None and n % _SPLIT_N_UNIT:
        message = f"split_n needs a multiple of {_SPLIT_N_UNIT} as n, found {n}"
        ctx.report("fixp-ub-split-n-32", op, message, at=store.n)


def _check_overlap(op: Operation, ctx: Context, store: AccStore, sizes: tuple[int | None, ...]) -> None:
    """Checks strides against extents; the source stride between rows is 1 unless nz2dn states another."""
    m, n, src_stride, dst_stride = sizes
    if m is not None and n is not None and src_stride is not None and n > _BLOCK_COLUMNS:
        step = 1 if store.loop0 is None else ctx.constant(store.loop0)
        if step == 1 and src_stride < m:
            message = f"src_stride is {src_stride} rows, but each block of 16 columns has {m} rows"
            help = f"normally {-(-m // 16) * 16}: m rounded up to 16"
            ctx.report("fixp-src-stride-rows", op, message, at=store.src_stride, help=help)
    if m is None or n is None or dst_stride is None or store.layout == "nz2nz":
        return
    if store.dst_mode == "split_m":
        m //= 2
    elif store.dst_mode == "split_n":
        n //= 2
    rows, length, name = (n, m, "m") if store.layout == "nz2dn" else (m, n, "n")
    if rows > 1 and dst_stride < length:
        message = f"rows of {length} elements overlap, dst_stride is {dst_stride}"
        ctx.report(
            "fixp-dst-stride-overlap",
            op,
            message,
            at=store.dst_stride,
            help=f"at least {length}, the {name} of one row",
        )


@checks(SHAPES, "pto.mte_l0c_gm")
def check_hints(op: Operation, ctx: Context) -> None:
    """Checks the stream id and the cache hint."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    for rule_, name, label, limit in (
        ("fixp-sid-range", "sid", "the stream id", _SID_LIMIT),
        ("fixp-l2-range", "l2_cache_ctrl", "the L2 cache hint", _L2_LIMIT),
    ):
        value = groups[name][0]
        number = ctx.constant(value)
        if number is not None and not 0 <= number <= limit:
            ctx.report(rule_, op, f"{label} must be 0 to {limit}, found {number}", at=value)
