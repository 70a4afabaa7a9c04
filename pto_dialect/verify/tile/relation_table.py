"""Table of the relations between the operands of each tile operation, with the severity of each violation.

One row holds for a group of operations and has one field per property. A field is a list of clauses separated by
commas; a clause names operands and ends with a cell: ``E`` error, ``W`` warning, ``E/W`` error on a2a3 and warning on
a5, an empty side where the target allows it. A clause without names concerns the data operands (``DATA``). Operations
whose forms differ carry the form in brackets.

Source: docs/reference/constraints.md, "Tile arithmetic"; docs/reference/operations.md, "Tiles: reductions".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from .relations import Cell, cell

DATA: Final = ("src", "src0", "src1", "src2", "base", "exp", "dst")
"""Operand names that a clause without names concerns, where the operation has them."""

VECTOR: Final = ("vec",)
LOCATIONS_OF: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"texpands": ("vec", "mat"), "tfillpad": ("vec", "mat")}
)
"""Locations of operations that also work outside of the vector buffer."""

SAME_ORDER: Final = frozenset({"tmov"})
"""Operations whose tiles may all be column-major."""

EMPTY_MARKER: Final = frozenset(
    [
        "trowsum",
        "trowmax",
        "trowmin",
        "trowprod",
        "tcolsum",
        "tcolmax",
        "tcolmin",
        "tcolprod",
        "trowexpand",
        "trowexpandmax",
        "trowexpandmin",
        "trowexpandexpdif",
    ]
)
"""Operations for which a destination of 0 x 0 valid elements disables the operation."""


class Row(NamedTuple):
    """Properties of the operations ``ops`` (mnemonics without ``pto.``)."""

    ops: str
    dtype: str = ""
    """Operands that share one element type."""
    rows: str = ""
    """Operands that share one number of valid rows; ``dst=1`` has one valid row."""
    cols: str = ""
    """The same for valid columns."""
    shape: str = ""
    """Operands that share one physical shape."""
    loc: str = ""
    """Operands in the vector buffer."""
    order: str = ""
    """Operands in row-major block layout."""
    box: str = ""
    """Operands without inner blocks."""
    scratch: str = ""
    """``tmp:src`` scratch of the element type of ``src``; ``tmp:i8`` of an integer type of that width."""


ROWS: Final[tuple[Row, ...]] = (
    # one tile, or a tile and a number
    Row("tabs texp tlog tsqrt trecip trelu tnot tshrs", "E", "E", "E", loc="E", order="E"),
    Row("trsqrt", "E", "E", "E", loc="E, tmp E", order="E, tmp E"),
    Row("taxpy", "E", "E", "E", shape="E", loc="E", order="E"),
    Row("tneg", "E", "E/W", "E", loc="E", order="W"),
    Row("tadds tsubs tmuls tmins tmaxs tlrelu", "E", "E", "E", loc="E", order="W"),
    Row("tdivs", "src scalar dst E", "src scalar dst E", "src scalar dst E", loc="src scalar dst E", order="W"),
    Row("tfmods tands tors", "E", "E", "E", loc="W", order="E"),
    Row("tshls", "E", "W", "W", loc="W", order="W"),
    Row("txors", "E", "E", "E", loc="W, tmp W", order="E", scratch="tmp:src E/W"),
    Row("trems", "E", "E", "E", loc="W, tmp E", order="E, tmp E", scratch="tmp:dst E"),
    Row("tpows", "E", "E, tmp dst E", "E, tmp dst E", loc="W", order="E, tmp E", scratch="tmp:dst E"),
    Row("tcmps", "", "E", loc="E", order="dst E, src W"),
    Row("tsels", "src dst E", "E", "E", loc="W, mask tmp W", order="E, mask /E"),
    Row("texpands", loc="E", order="E/"),
    # two tiles
    Row("tadd tsub tmul tdiv tmax tmin tand tor tshl tshr tfmod taddrelu", "E", "E", "E", loc="W", order="E"),
    Row("txor", "E", "E, tmp dst E/", "E, tmp dst E/", loc="W, tmp W", order="E, tmp E/", scratch="tmp:src0 E/W"),
    Row("tprelu", "E", "E", "E", shape="E", loc="W, tmp E", order="E, tmp E", scratch="tmp:i8 E/"),
    Row("trem", "E", "E", "E", loc="W, tmp E", order="E, tmp E", scratch="tmp:dst E/W"),
    Row("tpow", "E", "E, tmp dst E", "E, tmp dst E", loc="W", order="E, tmp E", scratch="tmp:dst E"),
    Row(
        "tcmp",
        "src0 src1 E",
        "E/W",
        "src0 src1 E/W",
        shape="src0 src1 /E",
        loc="E/W",
        order="dst E, src0 src1 W",
    ),
    Row("tsel", "src0 src1 dst E", "W", "W", loc="W, mask W, tmp E", order="E, tmp E"),
    # with carry, and the kinds of conversion
    Row("taddc tsubc taddsc tsubsc tcvt", loc="W"),
    # broadcast
    Row("tcolexpand", "E", "", "E", loc="E", order="E", box="E"),
    Row("trowexpand", "E", "E", loc="E", order="dst E, src W", box="E"),
    Row(
        "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin tcolexpandexpdif",
        "W",
        "src0 dst E",
        "E",
        shape="src0 dst E",
        loc="W",
        order="E",
    ),
    Row(
        "trowexpandadd trowexpandsub trowexpandmul trowexpanddiv",
        "E",
        loc="W, tmp E/",
        order="dst E",
        scratch="tmp:dst E/",
    ),
    Row("trowexpandmax trowexpandmin trowexpandexpdif", "E", loc="W", order="dst E", scratch="tmp:dst E"),
    # reductions
    Row(
        "trowsum trowmax trowmin trowprod",
        "E",
        "E",
        "dst=1 E",
        loc="E, tmp E",
        order="src E, tmp E",
        box="E",
        scratch="tmp:src E/",
    ),
    Row(
        "trowargmax trowargmin",
        "",
        "E",
        "dst=1 E",
        loc="E, tmp E",
        order="src E, tmp /E",
        box="E",
        scratch="tmp:src E/",
    ),
    Row("tcolmax tcolmin tcolprod", "E", "dst=1 W", "E", loc="E", order="E", box="E"),
    Row(
        "tcolsum",
        "E",
        "dst=1 W",
        "E",
        loc="E, tmp E",
        order="E, tmp E",
        box="E, tmp E",
        scratch="tmp:src E",
    ),
    Row("tcolargmax tcolargmin", "", "dst=1 E", "E", loc="E, tmp E", order="E, tmp E", box="E", scratch="tmp:src E/"),
    Row("tpartadd tpartmul", "E", loc="W", order="W"),
    Row("tpartmax tpartmin", "E", shape="E", loc="W", order="W"),
    Row(
        "tpartargmax tpartargmin",
        "E, src0Idx src1Idx dstIdx E",
        "src0 src0Idx E, src1 src1Idx E, dst dstIdx E",
        "src0 src0Idx E, src1 src1Idx E, dst dstIdx E",
        shape="src0 src1 dst src0Idx src1Idx dstIdx E",
        loc="W, src0Idx src1Idx dstIdx W",
        order="W",
        scratch="src0Idx:i32 E",
    ),
    # irregular
    Row("tconcat", "E", "E", loc="E", order="W/E"),
    Row(
        "tconcatidx",
        "E, src0Idx src1Idx E",
        "src0 src1 src0Idx src1Idx dst E",
        loc="src0 src1 src0Idx src1Idx dst E",
        order="src0 src1 src0Idx src1Idx dst /E",
    ),
    Row("ttrans", "E", loc="W, tmp W", order="src E/W", scratch="tmp:src E"),
    Row("tci", loc="W, tmp E/", order="W"),
    Row("ttri", loc="E", order="E"),
    Row("trandom", order="E"),
    Row(
        "tsort32",
        "E",
        "src idx dst W",
        "src idx W",
        loc="E, idx tmp E",
        order="E, idx tmp E",
    ),
    Row(
        "tgather[index]",
        "E",
        "indices dst W, tmp indices E/",
        "indices dst W, tmp indices E/",
        loc="W",
        order="W",
        scratch="tmp:indices E/W",
    ),
    Row("tgather[mask]", loc="E", order="E"),
    Row("tgather[compare]", "cdst dst E", loc="E, cdst tmp E", order="E, cdst tmp E"),
    Row("tgatherb", loc="src offsets dst W", order="dst E/"),
    Row("tfillpad", loc="W"),
    Row("tscatter[index]", "E", "src indexes W", "src indexes W", loc="E, indexes E", order="W"),
    Row("tscatter[mask]", "E", loc="E", order="E"),
    Row("tquant", "", "E", "E", order="E/"),
    Row("tdequant", loc="src scale offset dst W", order="E/"),
    Row(
        "tquant.mx",
        loc="src dst exp max scaling exp_zz E",
        order="src dst exp max scaling exp_zz E",
        box="src dst exp max scaling exp_zz E",
    ),
    Row("tmov[vec->vec]", "W", "", "W", order="W"),
)


class Clause(NamedTuple):
    """Operands that agree in something (or each have it), and the severity of a violation."""

    names: tuple[str, ...]
    cell: Cell


class Relations(NamedTuple):
    """A row with its parsed clauses."""

    dtype: tuple[Clause, ...]
    rows: tuple[Clause, ...]
    cols: tuple[Clause, ...]
    shape: tuple[Clause, ...]
    loc: tuple[Clause, ...]
    order: tuple[Clause, ...]
    box: tuple[Clause, ...]
    scratch: tuple[Clause, ...]


@cache
def _clauses(text: str) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for part in text.split(","):
        *names, letters = part.split() or ("",)
        if letters:
            found.append(Clause(tuple(names) or DATA, cell(letters)))
    return tuple(found)


RELATIONS: Final[Mapping[str, Relations]] = MappingProxyType(
    {op: row for ops, *texts in ROWS for row in (Relations(*map(_clauses, texts)),) for op in ops.split()}
)
"""Operation (or operation form) without ``pto.`` -> its relations."""

OPERATIONS: Final = tuple(dict.fromkeys("pto." + op.partition("[")[0] for op in RELATIONS))
"""Mnemonics that have a row."""
