"""Rules of queues whose pushes convert accumulator tiles: the epilogue of a push.

Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.queues import C2V, direction_mask, entry, nosplit, queue_id
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.remedies.order import missing_entry
from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TileBufType, bit_width, element_name, type_text
from pto_dialect.ir.sync.pipes import (
    AivInitializePipeOp,
    SetQuantScalarOp,
    SetQuantVectorOp,
    TAllocToAivOp,
    TFreeFromAicOp,
    TPopFromAicOp,
    TPushToAivOp,
)

from ..engine.context import Context
from ..engine.rule import ERROR


class Conversion(NamedTuple):
    """Source elements and result elements of a conversion, which scale it takes, and whether the result has the element
    type of the source."""

    sources: tuple[str, ...]
    results: tuple[str, ...]
    scale: str
    keeps: bool = False


_I8 = ("si8",)
_BYTE = (*_I8, "ui8")
_FP8 = ("f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ")
QUANTS: dict[str, Conversion] = {
    "no_convert": Conversion(("f32", "i32"), ("f32", "i32"), "", keeps=True),
    "f32_f16": Conversion(("f32",), ("f16",), ""),
    "f32_bf16": Conversion(("f32",), ("bf16",), ""),
    "req8_scalar": Conversion(("i32",), _BYTE, "scalar"),
    "req8_vec": Conversion(("i32",), _I8, "vector"),
    "deqf16_scalar": Conversion(("i32",), ("f16",), "scalar"),
    "deqf16_vec": Conversion(("i32",), ("f16",), "vector"),
    "qf322b8_pre_scalar": Conversion(("f32",), _BYTE, "scalar"),
    "qf322b8_pre_vec": Conversion(("f32",), _I8, "vector"),
    "qf322f16_pre_scalar": Conversion(("f32",), ("f16",), "scalar"),
    "qf322bf16_pre_scalar": Conversion(("f32",), ("bf16",), "scalar"),
    "qs322bf16_pre_scalar": Conversion(("i32",), ("bf16",), "scalar"),
    "qs322bf16_pre_vec": Conversion(("i32",), ("bf16",), "vector"),
    "qf322hif8_pre_scalar": Conversion(("f32",), ("hif8",), "scalar"),
    "qf322fp8_pre_scalar": Conversion(("f32",), _FP8, "scalar"),
}
"""Conversions of a push, by name."""

_A5_ONLY = ("qs322bf16", "qf322hif8", "qf322fp8")
_FIELD = re.compile(r"(\w+)\s*=\s*(\w+)")
_SETTER = {"scalar": SetQuantScalarOp, "vector": SetQuantVectorOp}


def epilogue_fields(init: Operation) -> dict[str, str] | None:
    """Returns the values of ``acc_push_epilogue`` by key; ``None`` for a queue without an epilogue."""
    value = init.attributes.get("acc_push_epilogue")
    if value is None:
        return None
    return dict(_FIELD.findall(value.data)) if isinstance(value, OpaqueAttr) else {}


def epilogue(init: Operation, users: Iterable[Operation], ctx: Context) -> None:
    """Checks the epilogue of one queue and all users of the queue that depend on it."""
    stated = epilogue_fields(init)
    fields = stated or {}
    quant = QUANTS.get(fields.get("quant", ""))
    if stated is not None:
        _queue(init, fields, ctx)
    popped: list[Operation] = []
    for op in users:
        if isinstance(op, (SetQuantScalarOp, SetQuantVectorOp)):
            _setter(op, fields, quant, ctx)
        elif quant is not None and isinstance(op, TPushToAivOp):
            _push(op, quant, ctx)
        elif quant is not None and isinstance(op, TPopFromAicOp):
            popped.append(op)
            _pop(op, quant, popped[0], ctx)
        elif stated is not None and isinstance(op, (TAllocToAivOp, TFreeFromAicOp)):
            _whole(op, ctx)
    if quant is not None and isinstance(init, AivInitializePipeOp) and not popped:
        message = f"queue {queue_id(init)} converts what is pushed, but nothing is popped from it"
        ctx.report("pipe-epilogue", init, message)


def _queue(init: Operation, fields: dict[str, str], ctx: Context) -> None:
    if direction_mask(init) != C2V:
        message = f"a queue with acc_push_epilogue has dir_mask 1, found {direction_mask(init)}"
        ctx.report("pipe-epilogue", init, message, at="dir_mask")
    if nosplit(init) is not True:
        message, mended = "a queue with acc_push_epilogue has nosplit = true", (missing_entry("nosplit = true"),)
        ctx.report("pipe-epilogue", init, message, help="nosplit = true", remedies=mended)
    if fields.get("relu") not in ("no_relu", "normal_relu"):
        message = f"relu of a push is no_relu or normal_relu, found {fields.get('relu')}"
        ctx.report("pipe-epilogue", init, message, at="acc_push_epilogue")
    if fields.get("layout") not in ("nz2nd", "nz2dn", "nz2nz"):
        message = f"layout of a push is nz2nd, nz2dn or nz2nz, found {fields.get('layout')}"
        ctx.report("pipe-epilogue", init, message, at="acc_push_epilogue")
    name = fields.get("quant", "")
    if name not in QUANTS:
        ctx.report("pipe-epilogue", init, f"a push does not convert with {name or 'nothing'}", at="acc_push_epilogue")
    elif name.startswith(_A5_ONLY):
        severity = ctx.refused(lambda p: p.arch == "a5", ERROR)
        if severity is not None:
            message = f"{name} exists on a5 only, the target is {ctx.profile.name}"
            ctx.report("pipe-epilogue", init, message, at="acc_push_epilogue", severity=severity)


def _setter(op: Operation, fields: dict[str, str], quant: Conversion | None, ctx: Context) -> None:
    wanted = "scalar" if isinstance(op, SetQuantScalarOp) else "vector"
    if quant is None or quant.scale != wanted:
        found = fields.get("quant", "no acc_push_epilogue")
        ctx.report(
            "pipe-epilogue", op, f"{op.name} needs a queue that scales by a {wanted}, queue {queue_id(op)} has {found}"
        )
    if wanted == "scalar":
        return
    tile = find(op, "scaling_tile")
    if tile is None or not isinstance(tile.type, TileBufType):
        return
    if tile.type.loc != "scaling":
        ctx.report("pipe-epilogue", op, f"a scale tile lies in scaling, found {tile.type.loc}", at=tile)
    name, bits = element_name(tile.type.element), bit_width(tile.type.element)
    floats = ("f16", "bf16", "f32")
    severity = ctx.refused(lambda p: name in floats if p.arch == "a5" else bits == 64 and name not in floats, ERROR)
    if severity is not None:
        allowed = "f16, bf16 or f32" if ctx.profile.arch == "a5" else "64-bit integers"
        message = f"a scale tile on {ctx.profile.name} holds {allowed}, found {name}"
        ctx.report("pipe-epilogue", op, message, at=tile, severity=severity)


def _push(op: Operation, quant: Conversion, ctx: Context) -> None:
    tile = entry(op)
    if tile is not None and isinstance(tile.type, TileBufType):
        if tile.type.loc != "acc":
            ctx.report("pipe-epilogue", op, f"a converting push takes a tile in acc, found {tile.type.loc}", at=tile)
        elif element_name(tile.type.element) not in quant.sources:
            found = element_name(tile.type.element)
            message = f"this queue converts from {' or '.join(quant.sources)}, found {found}"
            ctx.report("pipe-epilogue", op, message, at=tile)
    _whole(op, ctx)
    if quant.scale and not _preceded(op, _SETTER[quant.scale]):
        message = f"the scale of queue {queue_id(op)} is not set before this push in its block"
        ctx.report("pipe-epilogue", op, message, help=_SETTER[quant.scale].name)


def _preceded(op: Operation, setter: type[Operation]) -> bool:
    place = op.prev_op
    while place is not None:
        if isinstance(place, setter) and queue_id(place) == queue_id(op):
            return True
        place = place.prev_op
    return False


def _pop(op: Operation, quant: Conversion, first: Operation, ctx: Context) -> None:
    tile = op.results[0].type
    _whole(op, ctx)
    if not isinstance(tile, TileBufType):
        ctx.report("pipe-epilogue", op, f"a converting queue gives tiles, found {type_text(tile)}")
    elif element_name(tile.element) not in quant.results:
        message = f"this queue converts to {' or '.join(quant.results)}, found {element_name(tile.element)}"
        ctx.report("pipe-epilogue", op, message)
    elif op is not first and tile != first.results[0].type:
        found = f"{type_text(first.results[0].type)} and {type_text(tile)}"
        ctx.report("pipe-epilogue", op, f"the tiles of a converting queue have one type, found {found}")


def _whole(op: Operation, ctx: Context) -> None:
    way = integer_attribute(op, "split")
    if way:
        ctx.report("pipe-epilogue", op, f"entries of a converting queue are not split, found split = {way}", at="split")
