"""The tables of clauses by the shape of the statements, and the clauses that an operation takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .core.base import PtoOp, Shape, op_spec, signature
from .core.clauses import Clause, Clauses, Form
from .cube.clauses import ACC_STORE, MAD
from .cube.transfer_clauses import BURST, FRAC_LOAD, L0_LOAD
from .simt.clauses import SUFFIXES
from .sync.clauses import COMM_GROUP
from .tile.clauses import KEYED_INPUTS, LOAD_FIELDS

CLAUSES: dict[str, Clauses] = {
    Shape.ACC_STORE: ACC_STORE,
    Shape.MAD: MAD,
    Shape.DMA_BURST: BURST,
    Shape.FRAC_LOAD: FRAC_LOAD,
    Shape.L0_LOAD: L0_LOAD,
    Shape.COMM_GROUP: COMM_GROUP,
    Shape.DPS_KEYED: KEYED_INPUTS,
    Shape.DPS_TLOAD: LOAD_FIELDS,
    Shape.FLAT_SUFFIX: SUFFIXES,
    Shape.INDEXED: SUFFIXES,
    Shape.INDEXED_STORE: SUFFIXES,
}
"""The clauses of a shape, by its terminal."""


class Taken(NamedTuple):
    """A clause that a class takes, the names of its operands in that class, and the keyword that the printer writes."""

    row: Clause
    names: tuple[str, ...]
    keyword: str


@cache
def clauses_of(cls: type[PtoOp]) -> tuple[Taken, ...]:
    """Returns the clauses that ``cls`` takes, in the order of their table; none for shapes without a table."""
    spec = op_spec(cls)
    slots = {slot.name: slot for slot in signature(cls).operands}
    taken: list[Taken] = []
    table = CLAUSES.get(spec.shape)
    for row in table.rows if table is not None else ():
        names = tuple(name for entry in row.operands for name in entry.split("|") if name in slots)
        if row.declares:
            takes = row.declares in spec.tokens
        elif row.form is Form.INPUT:
            takes = names[0] in (*spec.keyed, *spec.unnamed)
        else:
            # An operand among the other operands has no clause.
            takes = bool(names) and (row.needed or slots[names[0]].arity != "1")
        if takes:
            keyword = next((word for operand, word in row.beside if operand in slots), row.name)
            taken.append(Taken(row, names, keyword))
    return tuple(taken)


def clause_keywords() -> Iterator[str]:
    """Returns every keyword that starts a clause of any shape."""
    for clauses in CLAUSES.values():
        yield from clauses.keywords
