"""Rules of ``pto.tmov`` and ``pto.ttrans``, and of what all moves out of the accumulator share.

Source: docs/reference/targets.md, "Element types"; docs/reference/operations.md, "Tiles: moves and conversion".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.targets.a5 import A5

from ..engine.rule import ERROR
from .facts import Tile, is_lowered
from .form import is_zz_move
from .relations import ALWAYS, Cell, Finding, TileOperands, cell, relation, unless
from .scale_order import (
    reordering,
)

ON_A2A3 = cell("E/")
ON_A5 = cell("/E")


# ------------------------------------------------------------ shared with textract and tinsert


def is_not_default(operands: TileOperands, attribute: str, default: str) -> bool:
    """Returns whether an attribute has another value than its default."""
    return operands.enumerator(attribute) not in ("", default)


def fixpipe_inputs(operands: TileOperands, source: str | None) -> Iterator[Finding]:
    """Checks quantization and relu: exclusive inputs, and inputs that require an accumulator as ``source`` location."""
    name = operands.op_name
    scalar = operands.value("preQuantScalar") is not None
    table = operands.tile("fp")
    if scalar and "fp" in operands.values:
        message = f"{name} takes fp or preQuantScalar, not both"
        yield operands.finding("tmov-fp-xor-scalar", ALWAYS, "preQuantScalar", message)
    if source not in (None, "acc"):
        for present, option in (
            ("fp" in operands.values, "fp"),
            (scalar, "preQuantScalar"),
            (is_not_default(operands, "reluPreMode", "no_relu"), "reluPreMode"),
        ):
            if present:
                message = f"{option} of {name} needs a source in acc, found {source}"
                yield operands.finding("tmov-fp-xor-scalar", ALWAYS, option, message)
    if table is not None and table.loc not in (None, "scaling"):
        yield operands.memory_finding("tmov-fp-xor-scalar", ALWAYS, "fp", table.loc, "scaling")


def vec_mode(operands: TileOperands, source: Tile, target: Tile) -> Iterator[Finding]:
    """Checks how an accumulator is divided between the two vector cores."""
    mode, name = operands.enumerator("accToVecMode"), operands.op_name
    if not mode:
        return
    if (source.loc, target.loc) != ("acc", "vec"):
        if source.loc is not None and target.loc is not None:
            message = f"accToVecMode of {name} belongs to acc to vec, found {source.loc} to {target.loc}"
            yield operands.finding("tmov-acc-mode", ALWAYS, "accToVecMode", message)
    elif mode.startswith("dual") and ("fp" in operands.values or "preQuantScalar" in operands.values):
        message = f"{name} with quantisation has a single accToVecMode, found {mode}"
        yield operands.finding("tmov-acc-mode", ALWAYS, "accToVecMode", message)


def is_nz(tile: Tile) -> bool:
    """Returns whether the layout is col_major/row_major or unknown."""
    return tile.layout in (None, "NZ")


def is_quantisable(element: str) -> bool:
    """Returns whether ``tile`` has an element type of an accumulator."""
    return element in ("f32", "i32", "si32", "ui32")


# ------------------------------------------------------------ tmov


@relation("pto.tmov")
def check_move(operands: TileOperands) -> Iterator[Finding]:
    """Checks locations, shapes and modes of a move."""
    source, target = operands.tile("src"), operands.tile("dst")
    if source is None or target is None:
        return
    if is_zz_move(operands):
        yield from reordering(operands, source, target)
        return
    name = operands.op_name
    if source.loc is not None and target.loc is not None:
        pair = (source.loc, target.loc)
        refused = unless(lambda profile: pair in profile.tmov_pairs)
        if any(refused):
            yield operands.finding("tmov-pair", refused, "dst", _pair_message(name, pair, refused), _pairs(source.loc))
            if refused == ALWAYS:
                return
    yield from fixpipe_inputs(operands, source.loc)
    yield from vec_mode(operands, source, target)
    yield from _shapes(operands, source, target)
    yield from _fixpipe_layouts(operands, source, target)
    if "fp" in operands.values and source.loc == "acc" and not is_quantisable(source.element):
        message = f"src of {name} with channel parameters must be f32 or i32, found {source.element}"
        yield operands.finding("tmov-fp-xor-scalar", ALWAYS, "src", message)
    if operands.enumerator("grpAxis"):
        message = f"grpAxis of {name} belongs to the reordering of MX scales, which has a third vec tile"
        yield operands.finding("tmov-zz", ALWAYS, "grpAxis", message)


def _pair_message(name: str, pair: tuple[str, str], refused: Cell) -> str:
    where = "" if refused == ALWAYS else " on a2a3" if refused.a2a3 else " on a5"
    return f"{name} does not go from {pair[0]} to {pair[1]}{where}"


def _pairs(source: str) -> str | None:
    targets = sorted(target for origin, target in A5.tmov_pairs if origin == source)
    return f"from {source} it goes to {', '.join(targets)}" if targets else None


def _shapes(operands: TileOperands, source: Tile, target: Tile) -> Iterator[Finding]:
    src, dst = operands.value("src"), operands.value("dst")
    if src is None or dst is None or is_lowered(src) or is_lowered(dst) or source.loc is None:
        return
    if (source.rows, source.cols) != (target.rows, target.cols):
        found = f"{source.rows}x{source.cols} and {target.rows}x{target.cols}"
        message = f"src and dst of {operands.op_name} must have one physical shape, found {found}"
        yield operands.finding("tmov-shape", ALWAYS if source.loc == "mat" else ON_A2A3, "dst", message)


def _fixpipe_layouts(operands: TileOperands, source: Tile, target: Tile) -> Iterator[Finding]:
    """Checks the layouts of a move out of the accumulator."""
    if source.loc != "acc":
        return
    table = "fp" in operands.values
    if (table or is_not_default(operands, "reluPreMode", "no_relu")) and not is_nz(source):
        yield layout_finding(operands, "src", source, ALWAYS)
    if target.loc != "mat":
        return
    if table and not is_nz(target):
        yield layout_finding(operands, "dst", target, ON_A2A3)
    elif target.layout is not None and target.fractal != 512:
        message = f"dst of {operands.op_name} must have fractal 512 on a2a3, found {target.fractal}"
        yield operands.finding("tmov-fp-layout", ON_A2A3, "dst", message)


def layout_finding(operands: TileOperands, name: str, tile: Tile, refused: Cell) -> Finding:
    """Returns a finding for an operand that should be laid out in column-ordered row-major blocks."""
    message = f"{name} of {operands.op_name} must be laid out col_major/row_major, found {tile.layout_text}"
    return operands.finding("tmov-fp-layout", refused, name, message)


@relation("pto.tmov.fp")
def check_move_with_table(operands: TileOperands) -> Iterator[Finding]:
    """Checks the older spelling of a move with channel parameters."""
    name = operands.op_name
    source, target = operands.tile("src"), operands.tile("dst")
    if source is None or target is None:
        return
    if target.loc not in (None, "mat") or source.loc not in (None, "acc"):
        pair = (source.loc or "?", target.loc or "?")
        refused = Cell(ERROR, None if pair in A5.tmov_pairs else ERROR)
        yield operands.finding("tmov-pair", refused, "dst", _pair_message(name, pair, refused), _pairs("acc"))
        return
    table = operands.tile("fp")
    if table is not None and table.loc not in (None, "scaling"):
        yield operands.memory_finding("tmov-fp-xor-scalar", ALWAYS, "fp", table.loc, "scaling")
    if not is_quantisable(source.element):
        message = f"src of {name} must be f32 or i32, found {source.element}"
        yield operands.finding("tmov-fp-xor-scalar", ALWAYS, "src", message)
    yield from _fixpipe_layouts(operands, source, target)


# ------------------------------------------------------------ ttrans


@relation("pto.ttrans")
def check_transpose(operands: TileOperands) -> Iterator[Finding]:
    """Checks element size and alignment of a transposition."""
    name = operands.op_name
    source = operands.tile("src")
    if source is None:
        return
    if source.bits not in (8, 16, 32):
        message = f"elements of {name} must have 1, 2 or 4 bytes, found {source.element}"
        yield operands.finding("ttrans-elem", ALWAYS, "src", message)
        return
    align = A5.tile_rules.ttrans_major_align
    for operand in ("src", "dst"):
        tile = operands.tile(operand)
        if tile is None or tile.blayout is None or align is None:
            continue
        size = (tile.cols if tile.blayout == "row_major" else tile.rows) * tile.bits // 8
        if size % align:
            side = "rows" if tile.blayout == "row_major" else "columns"
            message = f"{side} of {operand} of {name} must be a multiple of {align} bytes on a5, found {size}"
            yield operands.finding("ttrans-elem", ON_A5, operand, message)
