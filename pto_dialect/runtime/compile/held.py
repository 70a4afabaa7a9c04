"""Operands of matrix products whose memory nothing else accesses: generated code holds them as arrays of Python.

A matrix on its way from global memory to the matrix unit is copied into L1, copied into L0 in blocks, and widened; sums
go through L0C for every product. Where the text shows that nothing but loads, moves, products and stores touches the
bytes of these tiles, a load yields the widened matrix at once, a move passes it on, and a product yields new sums. See
docs/performance.md, "Matrix products".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.accel import enabled
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec
from pto_dialect.ir.core.operands import listed
from pto_dialect.ir.core.roles import Role, enclosing, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.matmul_types import EXTENT_RANGE
from pto_dialect.targets.profile import Profile

from ..kernels.buffers.tile_maker import MATRIX_SPACES, tile_maker
from .program import Program

LOCATIONS = frozenset(("mat", "left", "right", "acc"))
"""Locations of tiles that may be held."""

_ELEMENTS = {"mat": ("f16", "bf16", "f32"), "acc": ("f32",)}
_ELEMENTS["left"] = _ELEMENTS["right"] = _ELEMENTS["mat"]
_HARMLESS = frozenset((Effect.PURE, Effect.HANDLE, Effect.QUERY, Effect.REGION, Effect.SYNC))
_BUFFERS = (t.TileBufType, t.TileType, t.ShapedView, t.PtrType)
_NUMBERS = frozenset((IndexType, IntegerType))
_SCALAR = Role.CONSTANT | Role.SCALAR | Role.COMPARISON
_KINDS = frozenset(("all", "aic"))


@dataclass
class Tile:
    """One allocation in the memories of the matrix unit, its bytes, and whether its type and address allow
    to hold it."""

    space: str
    start: int
    end: int
    simple: bool


def held_tiles(program: Program, profile: Profile, placement: Mapping[Operation, int]) -> frozenset[SSAValue]:
    """Returns the tiles of a program that generated code may hold as arrays; none in doubt."""
    if not enabled("held") or not set(program.roots) <= _KINDS or program.cooperative:
        return frozenset()
    tiles: dict[SSAValue, Tile] = {}
    users: dict[Operation, list[SSAValue]] = {}
    called = {callee for function in program.functions for callee in program.callees(function)}
    once = {root.function for root in program.roots.values()} - called
    for op in _operations(program):
        candidates = _concerned(op)
        if candidates is None:
            return frozenset()
        if not candidates:
            continue
        if not op.results:
            users[op] = [value for value in op.operands if _is_matrix(value.type)]
            continue
        tile = _tile(op, profile, placement, once)
        if tile is None:
            return frozenset()
        tiles[op.results[0]] = tile
    if not all(value in tiles for values in users.values() for value in values):
        return frozenset()
    shared = _overlapping(tiles)
    return _held_everywhere({value for value, tile in tiles.items() if tile.simple and value not in shared}, users)


def _operations(program: Program) -> Iterator[Operation]:
    for function in program.functions:
        yield from walk(function)


def _concerned(op: Operation) -> bool | None:
    """Returns whether ``op`` touches tiles of the matrix unit; None when it may touch the same bytes differently."""
    if has_role(op, _SCALAR):
        return False
    matrix = named = False
    for value in (*op.operands, *op.results):
        type_ = value.type
        kind = type(type_)
        if kind in _NUMBERS:
            continue
        if isinstance(type_, t.TileBufType):
            matrix = matrix or type_.loc in LOCATIONS
        elif _is_foreign(type_):
            return None
        named = named or isinstance(type_, _BUFFERS)
    if not isinstance(op, PtoOp):
        return None if matrix else False
    if matrix:
        classes = _classes()
        plain = isinstance(op, classes.users) and not op.results
        return True if plain or isinstance(op, classes.allocation) else None
    # Operations without a buffer operand may know addresses as numbers.
    spec = op_spec(type(op))
    harmless = (named or spec.effect in _HARMLESS) and spec.queue is None
    return False if harmless and not has_role(op, Role.RESERVATION) else None


class _Classes(NamedTuple):
    """Operations that are matched by class: their families are loaded where they occur."""

    allocation: type[Operation]
    load: type[Operation]
    store: type[Operation]
    move: type[Operation]
    products: tuple[type[Operation], ...]
    users: tuple[type[Operation], ...]


@cache
def _classes() -> _Classes:
    from pto_dialect.ir.buffers.views import AllocTileOp  # deferred: start-up
    from pto_dialect.ir.cube.matmul import (  # deferred: start-up
        AccumulatingProductOp,
        BiasedProductOp,
        ProductOp,
        TMatmulAccOp,
        TMatmulOp,
    )
    from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp  # deferred: start-up
    from pto_dialect.ir.tile.move import TExtractOp, TInsertOp, TMovOp  # deferred: start-up

    users = (TLoadOp, TStoreOp, TMovOp, TExtractOp, TInsertOp, ProductOp, AccumulatingProductOp, BiasedProductOp)
    return _Classes(AllocTileOp, TLoadOp, TStoreOp, TMovOp, (TMatmulOp, TMatmulAccOp), users)


def _is_matrix(type_: Attribute) -> bool:
    return isinstance(type_, t.TileBufType) and type_.loc in LOCATIONS


def _is_foreign(type_: Attribute) -> bool:
    """Returns whether a value gives access to the memories of the matrix unit without being one of their tiles."""
    if isinstance(type_, t.MultiTileBufType):
        return type_.slot.loc in LOCATIONS
    return isinstance(type_, (t.PtrType, MemRefType)) and space_of(type_) in MATRIX_SPACES


def _tile(op: Operation, profile: Profile, placement: Mapping[Operation, int], once: set[Operation]) -> Tile | None:
    """Returns the tile of an allocation; None where its address is not known before the run."""
    type_, address = op.results[0].type, listed(op, "addr")
    assert isinstance(type_, t.TileBufType)
    start = constant_of(address[0]) if address else placement.get(op)
    if not isinstance(start, int):
        return None
    maker = tile_maker(type_, profile)
    full = (type_.valid_rows, type_.valid_cols) == (type_.rows, type_.cols) and not type_.pad
    known = t.element_name(type_.element) in _ELEMENTS[type_.loc] and max(type_.rows, type_.cols) <= EXTENT_RANGE[1]
    return Tile(maker.space, start, start + maker.nbytes, full and known and _runs_once(op, once))


def _runs_once(op: Operation, once: set[Operation]) -> bool:
    """Returns whether a block is executed at most once, so that its memory is untouched; ``once`` are functions that it
    runs once."""
    inner = enclosing(op, Role.FUNCTION | Role.LOOP)
    return inner is not None and inner in once and len(inner.regions[0].blocks) == 1


def _overlapping(tiles: dict[SSAValue, Tile]) -> set[SSAValue]:
    """Returns the tiles that overlap others."""
    overlapping: set[SSAValue] = set()
    space, reach, farthest = "", 0, None
    for value, tile in sorted(tiles.items(), key=lambda entry: (entry[1].space, entry[1].start)):
        if tile.space != space:
            space, reach, farthest = tile.space, 0, None
        if farthest is not None and tile.start < reach:
            overlapping |= {value, farthest}
        if farthest is None or tile.end > reach:
            reach, farthest = tile.end, value
    return overlapping


def _held_everywhere(held: set[SSAValue], users: dict[Operation, list[SSAValue]]) -> frozenset[SSAValue]:
    """Returns those of ``held`` that all operations on them allow; a tile that is not held excludes others."""
    refused = [tiles for op, tiles in users.items() if not _passes(op)]
    held = held.difference(*refused)
    while True:
        lost = {tile for tiles in users.values() if not held.issuperset(tiles) for tile in tiles} & held
        if not lost:
            return frozenset(held)
        held = held - lost


def _passes(op: Operation) -> bool:
    """Returns whether ``op`` can work on arrays: it reads and writes its tiles as a whole."""
    classes = _classes()
    types = [value.type for value in op.operands]
    if isinstance(op, classes.products):
        return _multiplies(op)
    if len(types) != 2:
        return False
    source, target = types
    if isinstance(op, classes.load):
        return _fills(source, target)
    if isinstance(op, classes.move):
        return "grpAxis" not in op.attributes and _passes_on(source, target)
    stored = getattr(source, "loc", None) == "acc" and isinstance(target, t.ShapedView)
    return isinstance(op, classes.store) and stored


def _passes_on(source: Attribute, target: Attribute) -> bool:
    """Returns whether ``op`` moves a whole matrix to an operand location of products."""
    if not (isinstance(source, t.TileBufType) and isinstance(target, t.TileBufType)):
        return False
    return source.loc == "mat" and target.loc in ("left", "right") and _shape(source) == _shape(target)


def _shape(type_: t.TileBufType) -> tuple[int, int, Attribute]:
    return type_.rows, type_.cols, type_.element


def _fills(view: Attribute, tile: Attribute) -> bool:
    """Returns whether a load from ``view`` writes every element of a tile, in the type of its elements."""
    if not (isinstance(view, t.ShapedView) and isinstance(tile, t.TileBufType)) or tile.loc != "mat":
        return False
    known = t.DYNAMIC not in view.shape and prod(view.shape) == tile.rows * tile.cols
    return known and view.element == tile.element


def _multiplies(op: Operation) -> bool:
    """Returns whether the operands of a product agree in every extent."""
    *start, lhs, rhs, dst = (value.type for value in op.operands)
    if not (isinstance(lhs, t.TileBufType) and isinstance(rhs, t.TileBufType) and isinstance(dst, t.TileBufType)):
        return False
    spaces = (lhs.loc, rhs.loc, dst.loc) == ("left", "right", "acc") and all(type_ == dst for type_ in start)
    return spaces and (lhs.rows, lhs.cols, rhs.cols) == (dst.rows, rhs.rows, dst.cols)
