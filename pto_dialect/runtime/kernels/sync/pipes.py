"""Queues of tiles between the cube core and the vector cores. Source: docs/reference/execution.md, "Queues between
cores".

Waiting for a slot or an entry stalls the scalar unit on every target, so that programs without flags of their own keep
their order. A push stores the type of the popped tile: the layout and the elements that the consumer expects.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.queues import C2V, entry
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import find, named
from pto_dialect.runtime.compile.generator import Expr, Generator, has_view
from pto_dialect.runtime.memory.values import FREED, UNBOUND, Tile, ValueTile
from pto_dialect.runtime.queues.fifo import EntryMaker, FifoEnd, open_end
from pto_dialect.runtime.queues.identity import reservation
from pto_dialect.runtime.queues.plan import Transfer, gm_operand, local_buffers

from ..buffers.tile_maker import TileMaker
from ..buffers.views import maker_of
from ..registry import kernel
from .pipe_transfer import Fetch, Outgoing, Push, consumer_type

# ------------------------------------------------------------ buffers and ends


def _reserved_address(op: Operation, g: Generator) -> int:
    base = None if integer_attribute(op, "autoAlloc") else integer_attribute(op, "base")
    if base is not None:
        return base
    if op not in g.placement:
        raise g.error("reserve-form", "the buffer belongs to a function that is not part of this program")
    return g.placement[op]


@kernel("pto.reserve_buffer")
def reserve_buffer(op: PtoOp, g: Generator) -> None:
    """The byte address of the reserved buffer."""
    g.define(op.results[0], str(_reserved_address(op, g)))


@kernel("pto.import_reserved_buffer")
def import_reserved_buffer(op: PtoOp, g: Generator) -> None:
    """The byte address of a buffer that another function reserves."""
    reserved = reservation(op.results[0])
    if reserved is None:
        raise g.error("reserve-form", "no function reserves this buffer", op)
    g.define(op.results[0], str(_reserved_address(reserved, g)))


@kernel("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe", "pto.initialize_l2l_pipe", "pto.initialize_l2g2l_pipe")
def initialize(op: PtoOp, g: Generator) -> None:
    """Opens one end of a queue."""
    facts = g.unit.fifos.ends[op]
    gm = gm_operand(op)
    local = {
        direction: value for direction, name in local_buffers(op).items() if (value := g.operand(op, name)) is not None
    }
    addresses = "{" + ", ".join(f"{direction}: {g.name(value)}" for direction, value in local.items()) + "}"
    everyone = g.profile.arch == "a2a3"
    arguments = f"core, {g.argument(facts)}, {everyone}, {g.argument(gm)}, {addresses}"
    name = g.bind(op.results[0]) if op.results else Expr(g.emitter.fresh("queue"))
    g.locals[op] = str(name)
    g.emitter.line(f"{name} = {g.argument(open_end)}({arguments})")


@kernel("pto.declare_tile", "pto.declare_global")
def declare(op: PtoOp, g: Generator) -> None:
    """A tile or view without memory, which a later operation on a queue binds."""
    result = op.results[0]
    g.emitter.line(f"{g.bind(result)} = {g.emitter.constant(UNBOUND, 'unbound')}")
    if has_view(result.type):
        g.emitter.line(f"{g.bind_view(result)} = {g.emitter.constant(UNBOUND, 'unbound')}")


# ------------------------------------------------------------ transfers


def _transfer(op: PtoOp, g: Generator) -> tuple[Transfer, str]:
    transfer = g.unit.fifos.transfer(op)
    return transfer, g.locals[transfer.init]


def _vector(op: PtoOp, g: Generator) -> SSAValue | None:
    """Returns the vector core whose half an operation moves, where the program names it."""
    return g.operand(op, "aiv_subblockid") if "aiv_subblockid" in g.operands(op) else None


def _wait(g: Generator, name: str, what: str, transfer: Transfer) -> None:
    g.emitter.line(f"{name}.wait_{what}({transfer.direction}, {transfer.split})")
    g.emitter.line("yield from core.join_scalar()")


def _entry_maker(type_: Any, g: Generator, transfer: Transfer) -> EntryMaker:
    """Writes the maker of views of slots; the vector core's end uses its part of a split entry."""
    assert isinstance(type_, t.TensorViewType)
    if t.DYNAMIC in type_.shape:
        raise g.error("pipe-entry-type", "an entry in gm has a static shape")
    fmt = g.format(type_.element)
    return EntryMaker(type_.shape, fmt, transfer.direction, transfer.split, not transfer.on_cube)


def _bind_entry(op: PtoOp, g: Generator, expression: str) -> SSAValue:
    """Binds the entry handle of ``op``, its result or its operand, to ``expression``."""
    if op.results:
        g.define(op.results[0], expression)
        return op.results[0]
    value = _entry(op, g)
    g.rebind(value, expression)
    return value


def _entry(op: PtoOp, g: Generator) -> SSAValue:
    """Returns the tile or view that an operation on a queue moves, binds or returns."""
    value = entry(op)
    if value is None:
        raise g.error("unmodelled", f"{op.name} yields a slot of a queue, found {t.type_text(op.results[0].type)}")
    return value


@kernel("pto.talloc", "pto.talloc_to_aic", "pto.talloc_to_aiv")
def allocate(op: PtoOp, g: Generator) -> None:
    """Waits for a free slot and binds the entry to it."""
    transfer, name = _transfer(op, g)
    type_ = _entry(op, g).type
    maker = _entry_maker(type_, g, transfer)
    _wait(g, name, "slot", transfer)
    _bind_entry(op, g, f"{g.argument(maker)}({name}, {name}.produced({transfer.direction}))")


@kernel("pto.tpush", "pto.tpush_to_aic", "pto.tpush_to_aiv")
def push(op: PtoOp, g: Generator) -> None:
    """Waits for a free slot, stores the tile in it and signals the consumer; a view that was allocated is only
    announced."""
    transfer, name = _transfer(op, g)
    pipe = Pipe.FIX if transfer.direction == C2V else Pipe.MTE3
    tile = named(op, "tile")
    if not isinstance(tile.type, t.TensorViewType):
        _wait(g, name, "slot", transfer)
        number = Expr(f"{name}.produced({transfer.direction})")
        g.call(_push(op, g, transfer), Expr(name), number, tile, _vector(op, g), pipe=pipe)
    g.emitter.line(f"{name}.announce({pipe.value!r}, {transfer.direction}, {transfer.split})")


def _push(op: PtoOp, g: Generator, transfer: Transfer) -> Push:
    tile = named(op, "tile")
    popped = g.unit.fifos.popped(transfer)
    outgoing = Outgoing.of(op, g, transfer, popped)
    maker = None
    if not transfer.facts.through_gm:
        maker = maker_of(consumer_type(tile.type, outgoing.target_type, transfer, popped), g)
        _check_size(maker, transfer, g)
    return Push(transfer, outgoing, maker)


def _check_size(maker: TileMaker, transfer: Transfer, g: Generator) -> None:
    size = transfer.facts.steps.get(transfer.direction)
    if size is None:
        raise g.error("pipe-buffers", f"{transfer.facts.label} has no buffer for entries in this direction")
    if maker.nbytes > size:
        raise g.error("pipe-slot", f"an entry of {maker.nbytes} bytes does not fit into a slot of {size} bytes")


@kernel("pto.tpop", "pto.tpop_from_aic", "pto.tpop_from_aiv")
def pop(op: PtoOp, g: Generator) -> None:
    """Waits for a full slot and binds the tile or view to it."""
    transfer, name = _transfer(op, g)
    direction, split = transfer.direction, transfer.split
    _wait(g, name, "entry", transfer)
    type_ = _entry(op, g).type
    number = g.emitter.fresh("slot")
    vector = _vector(op, g)
    if isinstance(type_, t.TensorViewType):
        maker = g.argument(_entry_maker(type_, g, transfer))
        extra = f", {g.name(vector)}" if vector is not None else ""
        view = f"{maker}({name}, {name}.consumed({direction}){extra})"
        value = _bind_entry(op, g, f"{name}.hold({direction}, {view})")
    else:
        tile_maker = maker_of(type_, g)
        _check_size(tile_maker, transfer, g)
        g.emitter.line(f"{number} = {name}.consumed({direction})")
        sizes = "".join(f", {size}" for size in _valid(op, g, tile_maker.type))
        tile = f"{g.argument(tile_maker)}(core, {name}.local_address({direction}, {number}){sizes})"
        release = f"{name}.own({tile})" if transfer.facts.pop_frees else f"{name}.hold({direction}, {tile})"
        value = _bind_entry(op, g, release)
        if transfer.facts.through_gm:
            fetch = Fetch(direction, split)
            g.call(fetch, Expr(name), Expr(number), value, vector, pipe=Pipe.MTE2)
        if transfer.facts.pop_frees:
            g.emitter.line(f"{name}.give_back({Pipe.MTE2.value!r}, {direction}, {split})")
            return
    g.popped.setdefault((transfer.init, direction, op.parent_block()), []).append(value)


def _valid(op: PtoOp, g: Generator, type_: t.TileBufType) -> list[str]:
    """Returns the valid rows and columns of a popped tile; if its type leaves them dynamic, the whole tile is valid by
    default."""
    groups = g.operands(op)
    extents: list[str] = []
    for key, stated, full in (
        ("valid_row", type_.valid_rows, type_.rows),
        ("valid_col", type_.valid_cols, type_.cols),
    ):
        stated_values = groups.get(key, ())
        extents.append(str(g.name(stated_values[0])) if stated_values else str(full if stated == t.DYNAMIC else stated))
    return extents


@kernel("pto.tfree", "pto.tfree_from_aic", "pto.tfree_from_aiv")
def free(op: PtoOp, g: Generator) -> None:
    """Returns the oldest popped slot to the producer once its last user has finished. A pop of a tile has done so
    already; only views remain to be freed."""
    transfer, name = _transfer(op, g)
    if transfer.facts.pop_frees and not _frees_view(op, g, transfer):
        return
    waiting = g.popped.get((transfer.init, transfer.direction, op.parent_block()), [])
    freed, waiting[:1] = waiting[:1], ()
    in_gm = any(isinstance(value.type, t.TensorViewType) for value in freed)
    user = Pipe.MTE2 if in_gm else Pipe.MTE1 if transfer.on_cube else Pipe.V
    signal = Pipe.MTE2 if transfer.facts.through_gm else user
    line = len(g.emitter.lines) + 1
    g.emitter.line(f"{name}.release({user.value!r}, {signal.value!r}, {line}, {transfer.direction}, {transfer.split})")
    for name in (g.views[value] for value in freed if value in g.views):
        g.emitter.line(f"{name} = {g.emitter.constant(FREED, 'freed')}")


def _frees_view(op: PtoOp, g: Generator, transfer: Transfer) -> bool:
    """Returns whether ``op`` frees a view of a slot: it names one, or the queue yields no tiles."""
    entry_ = find(op, "entry")
    return isinstance(entry_.type, t.TensorViewType) if entry_ is not None else not g.unit.fifos.popped(transfer)


# ------------------------------------------------------------ scales of pushes


def set_scale(end: FifoEnd, scale: float | Tile) -> None:
    """Sets the scale of the next pushes: a number, or the present entries of a tile."""
    if isinstance(scale, Tile):
        values = scale.read().copy()
        rows, cols = values.shape
        end.scale = ValueTile(rows, cols, scale.fmt, values)
    else:
        end.scale = float(scale)


@kernel("pto.set_quant_scalar", "pto.set_quant_vector")
def set_quant(op: PtoOp, g: Generator) -> None:
    """Sets the scale of the next pushes: one number, or one for each column."""
    init = g.unit.fifos.init_of_setter(op)
    if init is None:
        raise g.error("pipe-id", "the queue is not initialised in this function", op)
    g.call(set_scale, Expr(g.locals[init]), *op.operands, pipe=Pipe.FIX)
