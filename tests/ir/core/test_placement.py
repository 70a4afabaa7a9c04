"""Operations whose pipe follows from operands and attributes (docs/reference/execution.md, "Pipes of operations")."""

from __future__ import annotations

import itertools

import pytest
from groups import in_groups
from xdsl.dialects.builtin import MemRefType, f16, i8, i32
from xdsl.ir import Attribute, Block, SSAValue

from pto_dialect.ir.core.attributes import enum_attr
from pto_dialect.ir.core.base import Pipe, PtoOp, segment_sizes
from pto_dialect.ir.core.facts.operation_form import pipe_of
from pto_dialect.ir.core.placement import element_of, location, named_pipe
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.types import F8E8M0Type, MultiTileBufType, PartitionViewType, TileBufType, TileType

LOCATIONS = ("mat", "left", "right", "acc", "vec", "bias", "scaling")


def value(kind: Attribute) -> SSAValue:
    return Block(arg_types=[kind]).args[0]


def tile(loc: str, element: Attribute = f16) -> SSAValue:
    return value(TileBufType(loc, 16, 16, element))


def moved(mnemonic: str, source: SSAValue, destination: SSAValue) -> PtoOp:
    """``mnemonic`` from one tile to another, index operands 0."""
    cls = op_class(mnemonic)
    zeros = [tile("vec"), tile("vec")] if mnemonic != "pto.tmov" else []
    sizes = [1, *(1 for _ in zeros), 1, 0, 0]
    return cls.create(
        operands=[source, *zeros, destination],
        attributes={"operandSegmentSizes": segment_sizes(tuple(sizes))},
    )


def tmov_pipe(source: str, destination: str) -> Pipe:
    if source == "acc":
        return Pipe.FIX
    if source == "mat" and destination in ("left", "right", "bias"):
        return Pipe.MTE1
    if source == "mat" and destination == "scaling":
        return Pipe.FIX
    return Pipe.MTE3 if (source, destination) == ("vec", "mat") else Pipe.V


def textract_pipe(source: str, destination: str) -> Pipe:
    if (source, destination) == ("vec", "mat"):
        return Pipe.MTE3
    return {"acc": Pipe.FIX, "mat": Pipe.MTE1}.get(source, Pipe.V)


def tinsert_pipe(source: str, destination: str) -> Pipe:
    if (source, destination) == ("vec", "vec"):
        return Pipe.V
    return Pipe.MTE3 if (source, destination) == ("vec", "mat") else Pipe.FIX


@in_groups(("source", "destination"), list(itertools.product(LOCATIONS, LOCATIONS)))
def test_moves(source: str, destination: str) -> None:
    src, dst = tile(source), tile(destination)
    assert pipe_of(moved("pto.tmov", src, dst)) is tmov_pipe(source, destination)
    assert pipe_of(moved("pto.textract", src, dst)) is textract_pipe(source, destination)
    assert pipe_of(moved("pto.tinsert", src, dst)) is tinsert_pipe(source, destination)


@pytest.mark.parametrize("name", ["pto.tinsert", "pto.textract"])
def test_windows_in_l1_use_the_fixpipe_on_the_older_chip(name: str) -> None:
    assert pipe_of(moved(name, tile("vec"), tile("mat")), "a2a3") is Pipe.FIX


def test_mx_scales_move_over_mte1() -> None:
    op = moved("pto.tmov", tile("mat", F8E8M0Type()), tile("scaling", F8E8M0Type()))
    assert pipe_of(op) is Pipe.MTE1


@pytest.mark.parametrize(("source", "pipe"), [("acc", Pipe.FIX), ("vec", Pipe.MTE3)])
def test_stores_follow_their_source(source: str, pipe: Pipe) -> None:
    view = value(PartitionViewType((16, 16), f16))
    store = op_class("pto.tstore").create(
        operands=[tile(source), view],
        attributes={"operandSegmentSizes": segment_sizes((1, 1, 0, 0))},
    )
    push = op_class("pto.tpush").create(operands=[tile(source), tile("vec")])
    assert pipe_of(store) is pipe
    assert pipe_of(push) is pipe


@pytest.mark.parametrize(("place", "pipe"), [("mat", Pipe.MTE2), ("vec", Pipe.V)])
def test_filling_and_padding_run_where_loads_to_l1_do(place: str, pipe: Pipe) -> None:
    pad, fill = op_class("pto.tfillpad"), op_class("pto.texpands")
    assert pipe_of(pad.create(operands=[tile(place), tile(place)])) is pipe
    assert pipe_of(fill.create(operands=[value(f16), tile(place)])) is pipe


def test_value_form_without_locations_runs_on_the_vector_pipe() -> None:
    source = value(TileType(16, 16, f16))
    op = op_class("pto.tmov").create(
        operands=[source],
        result_types=[TileType(16, 16, f16)],
        attributes={"operandSegmentSizes": segment_sizes((1, 0, 0, 0))},
    )
    assert pipe_of(op) is Pipe.V
    assert location(source) is None


def test_gather_follows_its_destination_and_the_chip() -> None:
    def gather(loc: str) -> PtoOp:
        return op_class("pto.mgather").create(
            operands=[tile("vec"), tile("vec", i32), tile(loc)],
            attributes={"operandSegmentSizes": segment_sizes((1, 1, 1, 0))},
        )

    assert pipe_of(gather("mat")) is Pipe.MTE2
    assert pipe_of(gather("vec")) is Pipe.V
    assert pipe_of(gather("vec"), "a2a3") is Pipe.MTE2


@pytest.mark.parametrize(
    ("mnemonic", "a5", "a2a3"),
    [
        ("pto.mscatter", Pipe.V, Pipe.MTE3),
        ("pto.tpop", Pipe.S, Pipe.MTE2),
        ("pto.tpop_from_aic", Pipe.S, Pipe.MTE2),
        ("pto.tpop_from_aiv", Pipe.S, Pipe.MTE2),
        ("pto.tadd", Pipe.V, Pipe.V),
        ("pto.tmatmul", Pipe.M, Pipe.M),
        ("pto.alloc_tile", None, None),
    ],
)
def test_pipes_by_chip(mnemonic: str, a5: Pipe | None, a2a3: Pipe | None) -> None:
    op = op_class(mnemonic).create()
    assert (pipe_of(op), pipe_of(op, "a2a3")) == (a5, a2a3)


def test_synchronisation_names_its_pipe() -> None:
    mte2, vector = enum_attr("pipe", "PIPE_MTE2"), enum_attr("pipe", "PIPE_V")
    flag = {"src_pipe": mte2, "dst_pipe": vector, "event_id": enum_attr("event", "EVENT_ID0")}
    assert pipe_of(op_class("pto.set_flag").create(attributes=dict(flag))) is Pipe.MTE2
    assert pipe_of(op_class("pto.wait_flag").create(attributes=dict(flag))) is Pipe.V
    everything = {"pipe": enum_attr("pipe", "PIPE_ALL")}
    assert pipe_of(op_class("pto.barrier").create(attributes=dict(everything))) is Pipe.ALL
    load, store = enum_attr("pipe_event_type", "TLOAD"), enum_attr("pipe_event_type", "TSTORE_ACC")
    event = {"src_op": load, "dst_op": store, "event_id": enum_attr("event", "EVENT_ID1")}
    assert pipe_of(op_class("pto.record_event").create(attributes=dict(event))) is Pipe.MTE2
    assert pipe_of(op_class("pto.wait_event").create(attributes=dict(event))) is Pipe.FIX
    lock = {"op_type": enum_attr("sync_op_type", "TMATMUL")}
    assert pipe_of(op_class("pto.get_buf").create(attributes=dict(lock))) is Pipe.M


def test_named_pipe() -> None:
    assert named_pipe(enum_attr("pipe", "PIPE_FIX")) is Pipe.FIX
    assert named_pipe(enum_attr("pipe", "PIPE_MTE4")) is None
    assert named_pipe(None) is None
    assert named_pipe(enum_attr("sync_op_type", "TMOV_M2L")) is Pipe.MTE1
    assert named_pipe(enum_attr("sync_op_type", "TVEC")) is Pipe.V


def test_locations_and_elements() -> None:
    slot = TileBufType("mat", 32, 16, i8)
    memref = MemRefType(f16, [16, 16], memory_space=enum_attr("address_space", "vec"))
    assert location(value(MultiTileBufType(slot, 2))) == "mat"
    assert location(value(memref)) == "vec"
    assert location(value(MemRefType(f16, [4]))) is None
    assert location(value(i32)) is None
    assert location(None) is None
    assert element_of(value(slot)) == "i8"
    assert element_of(value(memref)) == "f16"
    assert element_of(value(i32)) is None
