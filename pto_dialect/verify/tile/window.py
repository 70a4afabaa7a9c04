"""Rules of ``pto.textract`` and ``pto.tinsert``: windows of tiles, from one memory into another.

Source: docs/reference/targets.md, "Element types"; docs/reference/operations.md, "Tiles: moves and conversion".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from pto_dialect.diagnostics.remedies.types import one_element_type, result_like_operand
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import DYNAMIC
from pto_dialect.ir.tile.move import TExtractFpOp, TExtractOp, TInsertFpOp
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.tile_pairs import moves

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES
from .facts import Tile, is_lowered, tile_of
from .move import (
    ON_A2A3,
    ON_A5,
    fixpipe_inputs,
    is_nz,
    vec_mode,
)
from .relations import ALWAYS, Cell, Finding, TileOperands, relation, unless

_EXTRACTS = ("pto.textract", "pto.textract_fp")
_INSERTS = ("pto.tinsert", "pto.tinsert_fp")


class _Window:
    """A window operation whose tiles both have a location."""

    def __init__(self, operands: TileOperands, rule_: str, source: Tile, target: Tile) -> None:
        self.operands, self.rule = operands, rule_
        self.source, self.target = source, target
        self.name = operands.op_name

    def finding(self, cell: Cell, operand: str | None, message: str, help: str | None = None) -> Finding:
        return self.operands.finding(self.rule, cell, operand, message, help)

    def layout(self, cell: Cell, operand: str, wanted: str) -> Finding:
        tile = self.source if operand == "src" else self.target
        message = f"{operand} of {self.name} must be laid out {wanted}, found {tile.layout_text}"
        return self.finding(cell, operand, message)


def _window(operands: TileOperands, rule_: str) -> _Window | None:
    source, target = operands.tile("src"), operands.tile("dst")
    if source is None or target is None or source.loc is None or target.loc is None:
        return None
    return _Window(operands, rule_, source, target)


@relation(*_EXTRACTS)
def check_extraction(operands: TileOperands) -> Iterator[Finding]:
    """Checks a window out of a tile."""
    window = _window(operands, "textract-pair")
    if window is None:
        return
    refused = unless(lambda profile: (window.source.loc, window.target.loc) in profile.textract_pairs)
    if any(refused):
        yield _wrong_pair(window, refused, A5.textract_pairs)
        if refused == ALWAYS:
            return
    yield from _quantisation(window)
    if window.source.loc == "acc":
        yield from _out_of_accumulator(window, nz_vec=False)
        return
    if window.source.element != window.target.element:
        yield _different_types(window)
    if window.target.blayout is None or window.source.blayout is None:
        return
    if window.source.loc == "mat":
        yield from _mat_source(window)
        yield from _l0_target(window)
    elif window.target.loc == "vec" and window.source.layout != "ND":
        yield window.layout(ON_A5, "src", "row_major/none_box on a5")
    elif window.target.loc == "vec" and window.target.layout != "ND":
        yield window.layout(ON_A5, "dst", "row_major/none_box on a5")


def _mat_source(window: _Window) -> Iterator[Finding]:
    """Checks the layouts of a mat tile from which windows are extracted."""
    layout, row_major = window.source.layout, window.source.blayout == "row_major"
    if not (row_major or layout == "NZ"):
        yield window.layout(ALWAYS, "src", "in row_major blocks or as col_major/row_major")
    elif layout not in ("ZN", "NZ") and window.target.loc != "left":
        yield window.layout(ON_A5, "src", "row_major/col_major or col_major/row_major on a5")


def _l0_target(window: _Window) -> Iterator[Finding]:
    """Checks the layout of an L0 destination: left tiles are row-major inside blocks; right tiles are column-major
    inside row-ordered blocks."""
    if window.target.loc == "left" and window.target.slayout != "row_major":
        yield window.layout(ALWAYS, "dst", "with inner layout row_major")
    elif window.target.loc == "right" and window.target.layout != "ZN":
        yield window.layout(ALWAYS, "dst", "row_major/col_major")


@relation(*_INSERTS)
def check_insertion(operands: TileOperands) -> Iterator[Finding]:
    """Checks the insertion of a tile into a window."""
    window = _window(operands, "tinsert-pair")
    if window is None:
        return
    source, target = window.source, window.target
    refused = unless(lambda profile: (source.loc, target.loc) in profile.tinsert_pairs)
    if any(refused):
        yield _wrong_pair(window, refused, A5.tinsert_pairs)
        if refused == ALWAYS:
            return
    yield from _quantisation(window)
    yield from _insert_mode(window)
    if source.loc == "acc":
        yield from _out_of_accumulator(window, nz_vec=True)
        return
    if source.element != target.element:
        yield _different_types(window)
    if source.blayout is None or target.blayout is None:
        return
    if target.loc == "mat":
        if not is_nz(target):
            yield window.layout(ON_A5, "dst", "col_major/row_major")
        if source.layout not in ("ND", "NZ"):
            yield window.layout(ON_A5, "src", "row_major/none_box or col_major/row_major")
    elif source.layout not in ("ND", "NZ"):
        yield window.layout(ON_A5, "src", "row_major/none_box or col_major/row_major on a5")
    elif source.layout != target.layout:
        yield window.layout(ON_A5, "dst", f"as the source ({source.layout_text}) on a5")


def _insert_mode(window: _Window) -> Iterator[Finding]:
    """Checks tinsertMode, which states how a boxed vec tile is split on its way to mat."""
    if not window.operands.enumerator("tinsertMode"):
        return
    pair = (window.source.loc, window.target.loc)
    if pair != ("vec", "mat") or not is_nz(window.source):
        message = f"tinsertMode of {window.name} belongs to a col_major/row_major source in vec and a dst in mat"
        yield window.finding(ALWAYS, "tinsertMode", message)
    else:
        yield window.finding(ON_A2A3, "tinsertMode", f"tinsertMode of {window.name} exists on a5 only")


def _wrong_pair(window: _Window, refused: Cell, pairs: frozenset[tuple[str, str]]) -> Finding:
    source, target = window.source.loc, window.target.loc
    where = "" if refused == ALWAYS else " on a2a3" if refused.a2a3 else " on a5"
    targets = sorted(end for origin, end in pairs if origin == source)
    help = f"from {source} it goes to {', '.join(targets)}" if targets else None
    return window.finding(refused, "dst", f"{window.name} does not go from {source} to {target}{where}", help)


def _different_types(window: _Window) -> Finding:
    one, other = window.source.element, window.target.element
    message = f"src and dst of {window.name} must have one element type, found {one} and {other}"
    mended = (result_like_operand(), one_element_type(one, other))
    return window.operands.finding(window.rule, ALWAYS, "dst", message, remedies=mended)


def _quantisation(window: _Window) -> Iterator[Finding]:
    """Checks the inputs of the fixpipe; the older spellings always have a table of channel parameters."""
    operands, source = window.operands, window.source
    if isinstance(operands.op, (TExtractFpOp, TInsertFpOp)):
        table = operands.tile("fp")
        if source.loc != "acc":
            yield operands.memory_finding("tmov-fp-xor-scalar", ALWAYS, "src", source.loc, "acc")
        if table is not None and table.loc not in (None, "scaling"):
            yield operands.memory_finding("tmov-fp-xor-scalar", ALWAYS, "fp", table.loc, "scaling")
        if window.target.loc != "mat":
            yield operands.memory_finding(window.rule, ALWAYS, "dst", window.target.loc, "mat")
        return
    yield from fixpipe_inputs(operands, source.loc)
    yield from vec_mode(operands, source, window.target)


def _out_of_accumulator(window: _Window, *, nz_vec: bool) -> Iterator[Finding]:
    """Checks layouts and conversions of the write-back; ``nz_vec`` allows boxed vec destinations."""
    source, target, operands = window.source, window.target, window.operands
    if not is_nz(source):
        yield window.layout(ALWAYS, "src", "col_major/row_major")
    if target.loc == "mat" and target.blayout is not None:
        if not is_nz(target):
            yield window.layout(ALWAYS, "dst", "col_major/row_major")
        elif target.fractal != 512:
            message = f"dst of {window.name} must have fractal 512 on a2a3, found {target.fractal}"
            yield window.finding(ON_A2A3, "dst", message)
    elif target.layout not in (None, "ND", "NZ" if nz_vec else "ND"):
        wanted = "row_major/none_box or col_major/row_major" if nz_vec else "row_major/none_box"
        yield window.layout(ON_A5, "dst", wanted)
    quantised = "fp" in operands.values or "preQuantScalar" in operands.values
    refused = unless(
        lambda profile: moves(profile.acc_move_quant if quantised else profile.acc_move, source.element, target.element)
    )
    if any(refused):
        way = "with quantisation" if quantised else "without quantisation"
        where = "" if refused == ALWAYS else " on a2a3" if refused.a2a3 else " on a5"
        message = f"{window.name} cannot turn {source.element} into {target.element} {way}{where}"
        yield window.finding(refused, "dst", message, _conversions(quantised))


def _conversions(quantised: bool) -> str:
    rows: list[str] = []
    for profile in (A2A3, A5):
        table = profile.acc_move_quant if quantised else profile.acc_move
        rows.append(f"{profile.name}: " + ", ".join(f"{src} to {dst}" for src, dst in sorted(table)))
    return "; ".join(rows)


@checks(SHAPES, *_EXTRACTS, *_INSERTS)
def check_bounds(op: Operation, ctx: Context) -> None:
    """Checks constant indices of a window."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    src, dst = groups["src"][0], (groups.get("dst") or tuple(op.results) or (None,))[0]
    source, target = tile_of(src), tile_of(dst)
    extracts = isinstance(op, (TExtractOp, TExtractFpOp))
    lowered = is_lowered(src) or (dst is not None and is_lowered(dst))
    for index, axis in (("indexRow", "rows"), ("indexCol", "cols")):
        value = groups[index][0]
        start = ctx.constant(value)
        if start is None:
            continue
        if start < 0:
            ctx.report("extract-bounds", op, f"{index} of {op.name} must not be negative, found {start}", at=value)
            continue
        if source is None or target is None or lowered:
            continue
        size = getattr(target, axis) if extracts else getattr(source, f"valid_{axis}")
        whole = getattr(source if extracts else target, axis)
        if DYNAMIC not in (size, whole) and start + size > whole:
            outer = "src" if extracts else "dst"
            words = {"rows": "rows", "cols": "columns"}[axis]
            message = f"{index} {start} and {size} {words} reach beyond the {whole} {words} of {outer} of {op.name}"
            ctx.report("extract-bounds", op, message, at=value)
