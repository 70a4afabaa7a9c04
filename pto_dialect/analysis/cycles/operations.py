"""Translates operations of a program to the terms of the cycle model. Source: docs/reference/cycles.md, "What
counts"."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Final, NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import element_type, enumerator, space_of
from pto_dialect.ir.core.base import Effect, Pipe, PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, roles_of
from pto_dialect.ir.core.types import (
    MultiTileBufType,
    ShapedView,
    TileBufType,
    TileType,
    bit_width,
    element_name,
    shape_of,
)

from .work import Work

SPACES: Final[Mapping[str, str]] = {
    **{"vec": "ub", "mat": "l1", "left": "l0a", "right": "l0b", "acc": "l0c", "bias": "bt", "scaling": "fb"},
    **{"gm": "gm", "ub": "ub", "l1": "l1", "l0a": "l0a", "l0b": "l0b", "l0c": "l0c", "bt": "bt", "fb": "fb"},
}
"""Memories of tiles and pointers, as paths of transfers name them."""

_MOVES: Final = ("pto.tmov", "pto.textract", "pto.tinsert", "pto.tload", "pto.tstore")
_PRODUCTS: Final = ("pto.tmatmul", "pto.tgemv")
_SYNC: Final = Role.PIPES | Role.BARRIER | Role.LOCK | Role.CORES
_TYPES: Final = {"f8e4m3fn": "f8e4m3", "f4e1m2x2": "f4e1m2", "f4e2m1x2": "f4e2m1", "hif8x2": "hif8"}


class PipeWork(NamedTuple):
    """An operation that takes cycles: its work, and the pipe that executes it."""

    work: Work
    pipe: str


def pipe_work_of(op: Operation, arch: str, options: Mapping[str, str]) -> PipeWork | None:
    """Returns the work of ``op`` on the chip ``arch``, with the variants that ``options`` state; ``None`` for
    operations that only compute addresses, scalars and handles."""
    if not isinstance(op, PtoOp):
        return None
    if roles_of(op) & _SYNC:
        name = "barrier" if Role.BARRIER in roles_of(op) else "flag"
        return PipeWork(Work(name, "i8", "i8", 1, 1, 1, 1), _sync_pipe(op, arch))
    pipe = form_of(op, arch).pipe
    spec = op_spec(type(op))
    if pipe is None or pipe is Pipe.S or spec.effect in (Effect.HANDLE, Effect.PURE, Effect.QUERY, Effect.REGION):
        return None
    return PipeWork(_work(op, options), pipe.value)


def _sync_pipe(op: PtoOp, arch: str) -> str:
    """Returns the named pipe; the scalar one issues synchronization of several pipes."""
    pipe = form_of(op, arch).pipe
    return (Pipe.S if pipe is None or pipe is Pipe.ALL else pipe).value


def _work(op: PtoOp, options: Mapping[str, str]) -> Work:
    groups = operand_groups(op)
    spec = op_spec(type(op))
    inputs = [value for name in spec.reads for value in groups.get(name, ()) if name not in ("mask", "tmp", *spec.outs)]
    outputs = [value for name in spec.outs for value in groups.get(name, ())] or list(op.results)
    source = next((each.type for each in inputs if _shape(each.type)), None)
    result = next((each.type for each in outputs if _shape(each.type)), None)
    name = op.name.removeprefix("pto.")
    product = _product(op, name, inputs, outputs)
    if product is not None:
        return product
    source, result = source or result, result or source
    if source is None or result is None:
        return Work(name, "i8", "i8", 1, 1, 1, 1, is_static=False)
    path, transfers, tile = "", 1, result
    if op.name.startswith(_MOVES):
        path = f"{_space(source)}:{_space(result)}"
        tile = source if path.endswith("gm") else result
        # Blocks of a view in global memory beyond the two innermost dimensions; one transfer moves one block.
        extents = shape_of(source if path.startswith("gm") else result)[:-2]
        transfers = prod(max(extent, 1) for extent in extents)
    elif isinstance(result, TileBufType) and name.startswith(("trow", "tcol")) and not name.startswith(
        ("trowexpand", "tcolexpand")
    ):  # fmt: skip
        tile = source
    rows, cols, valid_rows, valid_cols, certain = _extent(tile)
    by_columns = path == "gm:ub" and _by_columns(_plain(tile))
    return Work(name, _element(source), _element(result), rows, cols, valid_rows, valid_cols, path, transfers, 0,
                _options(op, options), certain, by_columns)  # fmt: skip


def _product(op: PtoOp, name: str, inputs: list[SSAValue], outputs: list[SSAValue]) -> Work | None:
    """Returns a matrix product of tiles, or of pointers with stated sizes."""
    if op.name.startswith(_PRODUCTS):
        tiles = {each.type.loc: each.type for each in (*inputs, *outputs) if isinstance(each.type, TileBufType)}
        if {"left", "right", "acc"} <= tiles.keys():
            left, acc = tiles["left"], tiles["acc"]
            rows, cols, m, n, certain = _extent(acc)
            _, k, _, valid_k, known = _extent(left)
            is_static = certain and known
            if valid_k == 0:
                m = 0
            return Work(name, _element(left), _element(acc), rows, cols, m, n, "", 1, valid_k or k, {}, is_static)
    if op.name.startswith("pto.mad"):
        sizes = [constant_of(value) if (value := find(op, key)) is not None else None for key in ("m", "n", "k")]
        m, n, k = (each if isinstance(each, int) and each > 0 else 16 for each in sizes)
        certain = all(isinstance(each, int) for each in sizes)
        element = element_type(inputs[0].type) if inputs else None
        type_ = _name(element) if element is not None else "f16"
        return Work(name, type_, "f32", m, n, m, n, "", 1, k, {}, certain)
    return None


def _options(op: PtoOp, options: Mapping[str, str]) -> Mapping[str, str]:
    extended = dict(options)
    for key in ("precisionType", "precision"):
        if "high" in enumerator(op, key).lower():
            extended["op_params"] = "high_precision"
    return extended


# ------------------------------------------------------------ types


def _shape(type_: Attribute) -> bool:
    return isinstance(type_, (TileBufType, TileType, MultiTileBufType, ShapedView, MemRefType))


def _plain(type_: Attribute) -> Attribute:
    return type_.slot if isinstance(type_, MultiTileBufType) else type_


def _space(type_: Attribute) -> str:
    plain = _plain(type_)
    if isinstance(plain, TileBufType):
        return SPACES.get(plain.loc, "ub")
    if isinstance(plain, TileType):
        return "ub"
    return SPACES.get(space_of(plain) or "", "gm")


def _name(element: Attribute) -> str:
    lowered = element_name(element).lower()
    return _TYPES.get(lowered, lowered.replace("si", "i") if lowered.startswith("si") else lowered)


def _element(type_: Attribute) -> str:
    element = element_type(_plain(type_))
    return "i8" if element is None else _name(element)


def _extent(type_: Attribute) -> tuple[int, int, int, int, bool]:
    """Rows and columns of a tile or view, its valid part, and whether all of that is known before a run."""
    plain = _plain(type_)
    # Matrix tiles count single numbers, vectors and views pairs.
    is_matrix = isinstance(plain, TileBufType) and plain.loc != "vec"
    pair = 2 if (element := element_type(plain)) is not None and _paired(element) and not is_matrix else 1
    shape = [each if each > 0 else 1 for each in shape_of(plain)] or [1]
    known = all(each > 0 for each in shape_of(plain))
    rows, cols = 1, shape[-1]
    for each in shape[:-1]:
        rows *= each
    if not isinstance(plain, TileBufType):
        return rows, cols * pair, rows, cols * pair, known
    valid_rows = plain.valid_rows if plain.valid_rows >= 0 else rows
    valid_cols = plain.valid_cols if plain.valid_cols >= 0 else cols
    if _by_columns(plain):
        rows, cols, valid_rows, valid_cols = cols, rows, valid_cols, valid_rows
    certain = known and plain.valid_rows >= 0 and plain.valid_cols >= 0
    return rows, cols * pair, valid_rows, valid_cols * pair, certain


def _by_columns(type_: Attribute) -> bool:
    """Returns whether a tile is stored column by column."""
    return isinstance(type_, TileBufType) and type_.blayout == "col_major" and type_.slayout == "none_box"


def _paired(element: Attribute) -> bool:
    return element_name(element).endswith("x2") and bit_width(element) == 8
