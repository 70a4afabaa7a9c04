"""Write-back of L0C accumulators. Source: docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md,
"Write-back addresses".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.acc_store import AccStore, acc_store, acc_store_split
from pto_dialect.runtime.memory.atomic import AtomicMode
from pto_dialect.runtime.memory.spaces import Array, Pointer, strided_view
from pto_dialect.runtime.numerics import fixpipe
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.numerics.rounding import fp19
from pto_dialect.runtime.run.machine import Core

from ..registry import kernel
from ..tile.memory import element_format, enum_value

NOSAT_BIT = 48
"""Bit of the control register that disables saturation where no clause states it."""


class WriteBack:
    """One ``mte_l0c_*`` instruction; clauses are fixed when it is compiled, numbers and payloads are
    run-time values."""

    def __init__(self, op: PtoOp, source: Format, target: Format) -> None:
        self.name = op.name
        self.label = op.name.removeprefix("pto.")
        self.source = source
        self.target = target
        self.mode = enum_value(op, "mode", "nz2nd")
        self.quant_mode = enum_value(op, "pre_quant_mode", "") or None
        self.relu_mode = enum_value(op, "pre_relu_mode", "") or None
        self.saturation = enum_value(op, "sat_mode", "default")
        self.atomic = enum_value(op, "atomic_op", "") or None
        self.dst_mode = enum_value(op, "dst_mode", "")

    def __call__(
        self,
        core: Core,
        src: Pointer,
        dst: Pointer,
        m: int,
        n: int,
        src_stride: int,
        dst_stride: int,
        quant: Any,
        relu: Any,
        clip: Any,
        loop0: int | None,
        split: int | None,
        loop3: tuple[int, int, int] | None,
        sub_block: int | None,
        mode: AtomicMode | None = None,
    ) -> None:
        """Stores ``m`` x ``n`` accumulators at ``src`` (L0C) to ``dst``: converted, clipped and arranged according to
        the clauses; strides are in elements. ``quant`` and ``relu`` are numbers or pointers to channel tables, ``mode``
        is the atomic mode in the control register. Raises ``Fault``: ``fixp-ub-sub-range``."""
        atomic = self.atomic
        if mode is not None:
            mode.check(self.target)
            atomic, dst = mode.operation, dst.with_dtype(mode.dtype)
        store = AccStore(
            m,
            n,
            src_stride,
            dst_stride,
            self.mode,  # pyright: ignore[reportArgumentType]
            1 if loop0 is None else loop0,
            bool(split),
            (1, 0, 0) if loop3 is None else loop3,
            atomic,  # pyright: ignore[reportArgumentType]
            self.target.is_packed,
        )

        saturation = self.saturation
        if saturation == "default" and core.state["ctrl"] >> NOSAT_BIT & 1:
            saturation = "nosat"

        def convert(values: Array) -> Array:
            return fixpipe.convert(
                values,
                self.source.name,
                self.target.name,
                quant=None if self.quant_mode is None else (self.quant_mode, self._payload(quant, n, np.uint64)),
                relu=None if self.relu_mode is None else (self.relu_mode, self._payload(relu, n, np.uint32)),
                clip=clip,
                saturation=saturation,  # pyright: ignore[reportArgumentType]
            )

        self._store(core, src, dst, store, sub_block, convert)

    def _store(
        self,
        core: Core,
        src: Pointer,
        dst: Pointer,
        store: AccStore,
        sub_block: int | None,
        convert: Callable[[Array], Array],
    ) -> None:
        """Writes to the address ``dst``, or to the buffers of one or both vector cores."""
        if self.dst_mode in ("split_m", "split_n"):
            buffers = core.block.unified_buffers
            pair = tuple(Pointer(ub, dst.offset, dst.dtype, dst.item_bytes) for ub in buffers)
            acc_store_split(src, pair, store, self.dst_mode[-1], convert)  # pyright: ignore[reportArgumentType]
            return
        if self.dst_mode == "single":
            if sub_block not in (0, 1):
                raise Fault("fixp-ub-sub-range", f"{self.name}: sub-block {sub_block} is not 0 or 1")
            ub = core.block.unified_buffers[sub_block]
            dst = Pointer(ub, dst.offset, dst.dtype, dst.item_bytes)
        acc_store(src, dst, store, convert)

    def _payload(self, payload: Any, columns: int, dtype: type[np.generic]) -> Any:
        """Returns a scalar (relu slopes at table precision), or the channel table at a pointer."""
        if isinstance(payload, Pointer):
            item = np.dtype(dtype)
            return strided_view(payload, (columns,), (item.itemsize,), item).copy()
        if payload is not None and dtype is np.uint32:
            return float(fp19(np.array([payload], np.float32))[0])
        return payload


@kernel("pto.mte_l0c_l1", "pto.mte_l0c_ub")
def write_back(op: PtoOp, g: Generator) -> None:
    """Accumulators to L1 or the unified buffer, converted according to the clauses."""
    _write_back(op, g, combines=False)


@kernel("pto.mte_l0c_gm")
def write_back_to_gm(op: PtoOp, g: Generator) -> None:
    """Accumulators to global memory, combined with its content where a clause or the control register requires it."""
    _write_back(op, g, combines=True)


def _write_back(op: PtoOp, g: Generator, combines: bool) -> None:
    groups = g.operands(op)

    def given(name: str) -> Any:
        return next(iter(groups.get(name, ())), None)

    source, target = given("source"), given("destination")
    element = element_format(source.type, g)
    if element.name not in fixpipe.ACCUMULATORS:
        raise g.error("unmodelled", f"accumulators hold f32 or i32, not {element.name}", op)
    instruction = WriteBack(op, element, element_format(target.type, g))
    loop3 = [given(name) for name in ("loop3_count", "loop3_src_stride", "loop3_dst_stride")]
    g.call(
        instruction,
        g.core,
        source,
        target,
        *(given(name) for name in ("m", "n", "src_stride", "dst_stride", "pre_quant", "pre_relu", "clip_value")),
        given("loop0_src_stride"),
        given("split"),
        None if loop3[0] is None else loop3,
        given("sub_blockid"),
        *(g.atomic_mode() if combines and instruction.atomic is None else ()),
        pipe=Pipe.FIX,
    )
