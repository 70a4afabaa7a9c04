"""Every form of every operation: classes, subsets of their optional operands, places of tiles, targets, backends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IndexType, MemRefType, VectorType, f32, i1, i8, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.kinds import Kind
from pto_dialect.ir.core.registry import all_op_classes

TARGETS = (("a2a3", "emitc"), ("a5", "emitc"), ("a5", "vpto"))
_LARGEST = 6
"""Optional operands of which all subsets are taken; of more, none, each alone, and all."""


def tile(loc: str = "vec", element: Attribute = f32) -> t.TileBufType:
    """A tile whose layout does not matter."""
    return t.TileBufType(loc, 16, 16, element, (16, 16), "row_major", "none_box", 512, 0, 0)


@cache
def samples() -> tuple[Attribute, ...]:
    """Types, those of memory first."""
    return (
        tile(),
        t.PtrType(f32, "ub"),
        t.PtrType(f32, "gm"),
        t.PartitionViewType([16, 16], f32),
        t.TensorViewType([16, 16], f32),
        MemRefType(f32, [16]),
        t.VRegType(64, f32),
        *(i64, IndexType(), i32, i1, i8, f32, VectorType(i32, [4])),
    )


def sample(kind: Kind) -> Attribute:
    """A type of that kind; one that nobody knows where none of the samples is."""
    return next((one for one in samples() if kind.accepts(one)), t.OpaqueType("pto.something"))


@dataclass
class Form:
    """An operation in one form, on one target through one backend; ``present`` are its operands."""

    op: PtoOp
    target: str
    backend: str
    present: tuple[str, ...]
    at: dict[str, str | None]

    @property
    def label(self) -> str:
        """For messages."""
        places = ", ".join(f"{name} in {place}" for name, place in self.at.items())
        return f"{self.op.name}({', '.join(self.present)}) {places} on {self.target}, {self.backend}"

    @property
    def name_of(self) -> dict[object, str]:
        """Declared names of the operands, each of which occurs once."""
        return dict(zip(self.op.operands, self.present, strict=True))


def subsets(cls: type[PtoOp]) -> Iterator[tuple[str, ...]]:
    """Operands that are present together, in their order; a repeated one stands once, where it is there."""
    slots = signature(cls).operands
    optional = [slot.name for slot in slots if slot.arity != "1"]
    sizes = range(len(optional) + 1) if len(optional) <= _LARGEST else (0, 1, len(optional))
    for size in sizes:
        for chosen in combinations(optional, size):
            yield tuple(slot.name for slot in slots if slot.arity == "1" or slot.name in chosen)


def places(cls: type[PtoOp]) -> Iterator[tuple[dict[str, str | None], dict[str, str | None]]]:
    """Places and element types of tiles by operand: the usual ones, and those of each case."""
    yield {}, {}
    for case in op_spec(cls).forms:
        if case.at or case.elements:
            at = {name: found[-1] for name, found in case.at.items()}
            yield at, {name: found[0] for name, found in case.elements.items()}


_ELEMENTS = {"i32": i32}


def _attributes(cls: type[PtoOp], pipe: Pipe) -> dict[str, Attribute]:
    name = op_spec(cls).pipe_from
    return {name: EnumAttr(("pipe", pipe.value))} if name else {}


def build(
    cls: type[PtoOp],
    present: tuple[str, ...],
    at: dict[str, str | None],
    elements: dict[str, str | None],
    attributes: dict[str, Attribute],
) -> PtoOp:
    """An operation of these operands, which are arguments of a function around it."""
    declared = signature(cls)
    block = Block()
    types: list[Attribute] = []
    for slot in declared.operands:
        if slot.name in present:
            place, element = at.get(slot.name), _ELEMENTS.get(elements.get(slot.name) or "", f32)
            usual = sample(slot.kind)
            chosen = tile(place or "vec", element) if slot.name in {*at, *elements} else usual
            types.append(chosen if slot.kind.accepts(chosen) else usual)
    values = [block.insert_arg(type_, number) for number, type_ in enumerate(types)]
    if declared.segmented:
        sizes = [int(slot.name in present) for slot in declared.operands]
        attributes = {**attributes, "operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)}
    outs = op_spec(cls).outs
    valued = not any(name in present for name in outs) and any(slot.name in outs for slot in declared.operands)
    results = (
        [tile(at.get("dst") or "vec")]
        if valued
        else [sample(slot.kind) for slot in declared.results if slot.arity == "1"]
    )
    op = cls.create(operands=values, result_types=results, attributes=attributes)
    block.add_ops([op, ReturnOp()])
    FuncOp("k", FunctionType.from_lists(types, []), Region(block))
    return op


def all_forms() -> Iterator[Form]:
    """All forms."""
    for cls in all_op_classes():
        pipes = (Pipe.V, Pipe.MTE2, Pipe.ALL) if op_spec(cls).pipe_from else (Pipe.V,)
        for present in subsets(cls):
            for at, elements in places(cls):
                for pipe in pipes:
                    op = build(cls, present, at, elements, _attributes(cls, pipe))
                    for target, backend in TARGETS:
                        yield Form(op, target, backend, present, at)


def parent_function(op: Operation) -> Operation:
    """The function around an operation."""
    found = op.parent_op()
    assert found is not None
    return found
