"""What became of one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import Counts

if TYPE_CHECKING:
    from pto_dialect.analysis.cycles.static import ModuleCycles

    from .memory_map import ProgramMap
    from .statistics import ModuleStatistics

SEPARATOR = "// -----\n"
"""Separates the printed programs of one input."""


class Result(NamedTuple):
    """The result for one input.

    ``ok``: no error, or (``verify_diagnostics``) exactly the expected diagnostics. ``diagnostics`` are those to show,
    ``counts`` their numbers including those left out. ``text`` is the printed module, or several separated by
    ``SEPARATOR``, with an empty text for a program with errors; ``None`` when printing was not requested.
    ``statistics`` (or maps of memory) and ``cycles`` are those of the programs without errors, if requested.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    counts: Counts
    text: str | None
    statistics: tuple[ModuleStatistics | ProgramMap, ...] = ()
    cycles: tuple[ModuleCycles, ...] = ()
