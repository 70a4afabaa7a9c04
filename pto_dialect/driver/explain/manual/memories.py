"""In which memory the operands of transfers and products lie, as the example has it."""

from __future__ import annotations

from functools import cache
from typing import Final

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.base import PtoOp, is_pto, operand_groups
from pto_dialect.ir.core.registry import family_of
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.syntax.read.parser import parse_program

from ..examples import example_of

_FIXED: Final = frozenset({"matmul", "gemv", "cube_mad", "mte", "mte_raw", "fixpipe", "dma", "ub_vector"})
"""Families each of whose operands lies in one memory."""


@cache
def memories(cls: type[PtoOp]) -> dict[str, str]:
    """`` in `l0c` `` for each operand of ``cls`` whose memory its name decides."""
    if family_of(cls) not in _FIXED:
        return {}
    module = parse_program(SourceFile("example.pto", example_of(cls.name).program), DiagnosticEngine())
    assert module is not None
    found = next(op for op in module.walk() if is_pto(op) and type(op) is cls)
    places: dict[str, str] = {}
    for name, values in operand_groups(found).items():
        type_ = values[0].type if values else None
        place = type_.loc if isinstance(type_, TileBufType) else space_of(type_) if type_ is not None else None
        if place:
            places[name] = f" in `{place}`"
    return places
