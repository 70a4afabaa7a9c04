"""Rules about the two ends of a queue whose pushes convert accumulator tiles."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from xdsl.ir import Operation

from pto_dialect.analysis.queues import definition, string_attribute
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.diagnostic import notes_at
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TileBufType, byte_width, element_name
from pto_dialect.ir.sync.pipes import (
    AicInitializePipeOp,
    AivInitializePipeOp,
    ImportReservedBufferOp,
    ReserveBufferOp,
    TPopFromAicOp,
    TPushToAivOp,
)

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE
from .pipe_epilogue import QUANTS, epilogue_fields
from .pipe_peers import Queues, queues_of

BUFFER: Final = "c2v_consumer_buf"


LAYOUTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "nz2nd": ("row_major", "none_box"),
        "nz2dn": ("col_major", "none_box"),
        "nz2nz": ("col_major", "row_major"),
    }
)
"""Layout of a push -> ``blayout`` and ``slayout`` of the tiles that are popped."""


@checks(STRUCTURE, "pto.aic_initialize_pipe")
def check_pushing_end(init: Operation, ctx: Context) -> None:
    """Checks the end on the cube core: it imports the buffer of the other end, whose conversion is the same."""
    fields = epilogue_fields(init)
    if fields is None or not _is_named(init, ctx):
        return
    source = definition(find(init, BUFFER))
    ends = [end for end in queues_of(init, ctx).peers_of_import(init, BUFFER) if _reserves(end)]
    if not isinstance(source, ImportReservedBufferOp):
        message = "the cube end of a converting queue imports the buffer of the vector end"
        ctx.report("pipe-epilogue-ends", init, message, at=find(init, BUFFER), help="pto.import_reserved_buffer")
    elif len(ends) != 1:
        many, name = "no" if not ends else "more than one", string_attribute(source, "name")
        message = f'{source.attributes.get("peer_func")} has {many} pto.aiv_initialize_pipe with the buffer "{name}"'
        ctx.report("pipe-epilogue-ends", init, message)
    else:
        _same_conversion(init, fields, ends[0], ctx)


@checks(STRUCTURE, "pto.aiv_initialize_pipe")
def check_popping_end(init: Operation, ctx: Context) -> None:
    """Checks the end on the vector core: it reserves the buffer, one cube end imports it, and the types fit."""
    fields = epilogue_fields(init)
    if fields is None or not _is_named(init, ctx):
        return
    queues = queues_of(init, ctx)
    source = definition(find(init, BUFFER))
    ends = [end for end in queues.peers_of_reservation(init, BUFFER) if isinstance(end, AicInitializePipeOp)]
    if not isinstance(source, ReserveBufferOp):
        message = "the vector end of a converting queue reserves its buffer"
        ctx.report("pipe-epilogue-ends", init, message, at=find(init, BUFFER), help="pto.reserve_buffer")
    elif len(ends) != 1:
        many = "no" if not ends else "more than one"
        message = f'{many} pto.aic_initialize_pipe has the buffer "{string_attribute(source, "name")}" of this function'
        ctx.report("pipe-epilogue-ends", init, message)
    elif epilogue_fields(ends[0]) is None:
        _note(init, ends[0], "the other end of this queue has no acc_push_epilogue", ctx)
    else:
        _types(init, ends[0], fields, queues, ctx)


def _is_named(init: Operation, ctx: Context) -> bool:
    """Returns whether the buffer of an end is known by name."""
    buffer = find(init, BUFFER)
    source = definition(buffer)
    if buffer is not None and not isinstance(source, (ImportReservedBufferOp, ReserveBufferOp)):
        message = "nothing states which reserved buffer a converting queue has"
        ctx.report(
            "pipe-epilogue-ends", init, message, at=buffer, help="pto.reserve_buffer or pto.import_reserved_buffer"
        )
        return False
    return buffer is not None


def _reserves(init: Operation) -> bool:
    source = definition(find(init, BUFFER))
    return isinstance(init, AivInitializePipeOp) and isinstance(source, ReserveBufferOp)


def _note(init: Operation, other: Operation, message: str, ctx: Context, at: str | None = None) -> None:
    place = span_of(other)
    notes = notes_at("the other end is here", place)
    ctx.report("pipe-epilogue-ends", init, message, at=at, notes=notes)


def _same_conversion(init: Operation, fields: Mapping[str, str], other: Operation, ctx: Context) -> None:
    theirs = epilogue_fields(other)
    if theirs is None:
        _note(init, other, "the other end of this queue has no acc_push_epilogue", ctx)
        return
    for name in ("layout", "quant", "relu"):
        mine, found = fields.get(name), theirs.get(name)
        if mine != found:
            message = f"both ends of a queue have one {name}, found {mine} here and {found} at the vector end"
            _note(init, other, message, ctx, "acc_push_epilogue")


def _types(init: Operation, other: Operation, fields: Mapping[str, str], queues: Queues, ctx: Context) -> None:
    popped = next((r.type for op in queues.users(init) if isinstance(op, TPopFromAicOp) for r in op.results), None)
    if not isinstance(popped, TileBufType):
        return
    wanted = LAYOUTS.get(fields.get("layout", ""))
    if wanted is not None and (popped.loc != "vec" or (popped.blayout, popped.slayout) != wanted):
        message = f"{fields['layout']} gives tiles in vec with blayout={wanted[0]}, slayout={wanted[1]}"
        ctx.report("pipe-epilogue-ends", init, f"{message}, found {popped.loc}, {popped.blayout}, {popped.slayout}")
    size = popped.rows * popped.cols * (byte_width(popped.element) or 0)
    for end, which in ((init, "this"), (other, "the cube")):
        slot = integer_attribute(end, "slot_size")
        if slot is not None and 0 < slot < size:
            message = f"a slot holds the popped tile of {size} bytes, {which} end has slot_size = {slot}"
            ctx.report("pipe-epilogue-ends", init, message, at="slot_size" if end is init else None)
    quant = QUANTS.get(fields.get("quant", ""))
    if quant is None or not quant.keeps:
        return
    name = element_name(popped.element)
    for op in queues.users(other):
        tile = find(op, "tile")
        if isinstance(op, TPushToAivOp) and tile is not None and isinstance(tile.type, TileBufType):
            pushed = element_name(tile.type.element)
            if pushed != name:
                _note(
                    init, op, f"{fields['quant']} keeps the element type, but {pushed} is pushed and {name} popped", ctx
                )
                return
