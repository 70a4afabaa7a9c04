"""Rules about the size of scratch tiles. a5 ignores most scratch tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from pto_dialect.targets.vector_unit import VL_BYTES, VLANE_BYTES

from ..engine.rule import WARNING
from .facts import Tile
from .relations import Finding, TileOperands, cell, relation, unless
from .scalar import byte_size

_REMAINDER_ROWS = {"pto.trem": 2, "pto.trems": 1}
"""Rows of the scratch tile of a remainder."""


@relation(*_REMAINDER_ROWS)
def check_remainder_scratch(t: TileOperands) -> Iterator[Finding]:
    """Checks the columns of the scratch against the destination; on a2a3 also rows for the intermediate results."""
    tmp, dst = t.tile("tmp"), t.tile("dst")
    if tmp is None or dst is None:
        return
    if 0 <= tmp.valid_cols < dst.valid_cols:
        message = f"tmp of {t.op_name} needs {dst.valid_cols} valid columns like dst, found {tmp.valid_cols}"
        yield t.finding("tile-trem-tmp", cell("E/W"), "tmp", message)
    rows = _REMAINDER_ROWS[t.op_name]
    if 0 <= tmp.valid_rows < rows:
        message = f"tmp of {t.op_name} needs {rows} valid rows, found {tmp.valid_rows}"
        # The older version takes a scratch of the shape of dst, whatever its rows.
        severity = cell("W/") if dst.valid_rows == tmp.valid_rows else cell("E/")
        yield t.finding("tile-trem-tmp", severity, "tmp", message)


def _of(name: str) -> Callable[[TileOperands], int | None]:
    """Requires as many bytes as another operand has."""

    def size(t: TileOperands) -> int | None:
        tile = t.tile(name)
        return None if tile is None else byte_size(tile)

    return size


def _rows_of(name: str, rows: int) -> Callable[[TileOperands], int | None]:
    """Requires ``rows`` physical rows of another operand."""

    def size(t: TileOperands) -> int | None:
        tile = t.tile(name)
        return None if tile is None or tile.cols < 0 else rows * tile.cols * tile.bits // 8

    return size


def _one_block(t: TileOperands) -> int:
    return 32


def _sequence(t: TileOperands) -> int | None:
    dst = t.tile("dst")
    return None if dst is None else {32: 768, 16: 1792}.get(dst.bits)


def _broadcast(t: TileOperands) -> int | None:
    """Requires 256 bytes for each group of 8 rows, at most 30 groups at a time."""
    dst = t.tile("dst")
    if dst is None:
        return None
    if dst.valid_rows < 0:
        return 8192
    return 7680 if dst.valid_rows >= 256 else 256 * -(-dst.valid_rows // 8)


def _select(t: TileOperands) -> int | None:
    dst = t.tile("dst")
    return None if dst is None else {16: 16, 32: 8}.get(dst.bits)


def _prelu(t: TileOperands) -> int | None:
    dst = t.tile("dst")
    if dst is None or min(dst.valid_rows, dst.valid_cols) < 0:
        return None
    mask = -(-dst.valid_cols // 8)
    return (dst.valid_rows + 1) * max(32, -(-mask // 32) * 32)


def _positions_of_columns(t: TileOperands) -> int | None:
    """Requires, for the columns of one repeat of the vector unit, the row number and the extremum, for 16-bit elements
    also the row of the extremum; others have it in dst."""
    src = t.tile("src")
    if src is None or src.valid_cols < 0 or src.bits not in (16, 32):
        return _one_block(t)
    block, repeat = 8 * VLANE_BYTES // src.bits, 8 * VL_BYTES // src.bits
    columns = repeat if src.valid_cols >= repeat else -(-src.valid_cols // block) * block
    return max(_one_block(t), (3 if src.bits == 16 else 2) * columns * src.bits // 8)


def _two_rows(t: TileOperands) -> int | None:
    """Requires a row of quotients, and the mask after a row of dst."""
    tmp, dst = t.tile("tmp"), t.tile("dst")
    if tmp is None or dst is None or dst.valid_cols <= 0 or dst.cols < 0:
        return None
    if 0 <= tmp.valid_rows < _REMAINDER_ROWS["pto.trem"]:
        # The rule about its rows reports.
        return None
    return (dst.cols + dst.valid_cols) * dst.bits // 8


def _halved_rows(t: TileOperands) -> int | None:
    """Requires space for partial sums of pairs of rows."""
    src = t.tile("src")
    if src is None or not t.number("isBinary") or min(src.valid_rows, src.valid_cols) < 0:
        return None
    return -(-src.valid_rows // 2) * src.valid_cols * src.bits // 8


_BROADCASTS: Final = tuple(f"pto.trowexpand{op}" for op in ("add", "sub", "mul", "div", "max", "min", "expdif"))

SCRATCH_BYTES: Final[Mapping[str, Callable[[TileOperands], int | None]]] = MappingProxyType(
    {
        "pto.txor": _of("dst"),
        "pto.txors": _of("dst"),
        "pto.tpow": _of("dst"),
        "pto.tpows": _of("dst"),
        "pto.tsort32": _of("src"),
        "pto.tquant": _of("src"),
        "pto.tsels": _rows_of("src", 1),
        "pto.tsel": _select,
        "pto.tprelu": _prelu,
        "pto.tci": _sequence,
        "pto.tcolsum": _halved_rows,
        **dict.fromkeys(
            (f"pto.{op}" for op in ("trowsum", "trowmax", "trowmin", "trowprod", "trowargmax", "trowargmin")),
            _one_block,
        ),
        **dict.fromkeys(("pto.tcolargmax", "pto.tcolargmin"), _positions_of_columns),
        **dict.fromkeys(_BROADCASTS, _broadcast),
        "pto.trem": _two_rows,
    }
)
"""Operation -> bytes its scratch tile has on a2a3; ``None`` when types do not determine it."""
_TOO_SMALL: Final = {
    **dict.fromkeys(SCRATCH_BYTES, cell("E/")),
    **dict.fromkeys(("pto.tsels", *_BROADCASTS), cell("W/")),
}
"""Explanation for a scratch that is too small; programs on boards run some operations with less than the formula
requires."""


@relation(*SCRATCH_BYTES)
def check_scratch_size(t: TileOperands) -> Iterator[Finding]:
    """Checks the bytes of scratch tiles."""
    tmp: Tile | None = t.tile("tmp")
    needed = SCRATCH_BYTES[t.op_name](t) if tmp is not None else None
    size = byte_size(tmp) if tmp is not None else None
    if needed is not None and size is not None and size < needed:
        message = f"tmp of {t.op_name} needs {needed} bytes on a2a3, found {size}"
        yield t.finding("tile-tmp-size", _TOO_SMALL[t.op_name], "tmp", message)


_SELECT_SCRATCH: Final[Mapping[str, Callable[[Tile, Tile], bool]]] = MappingProxyType(
    {
        "pto.tsel": lambda tmp, dst: tmp.bits == 32,
        "pto.tsels": lambda tmp, dst: tmp.element == dst.element,
    }
)
"""Operation -> whether a scratch tile has a type that the newer documents name; the older ones name ui8."""


@relation(*_SELECT_SCRATCH)
def check_selection_scratch(t: TileOperands) -> Iterator[Finding]:
    """Checks the element types of the scratch of selections."""
    tmp, dst = t.tile("tmp"), t.tile("dst")
    if tmp is None or dst is None or tmp.bits == 8 or _SELECT_SCRATCH[t.op_name](tmp, dst):
        return
    severity = unless(lambda profile: profile.tile_rules.select_tmp_ignored, WARNING)
    message = f"tmp of {t.op_name} must be ui8, found {tmp.element}"
    yield t.finding("tile-tmp-dtype", severity, "tmp", message)
