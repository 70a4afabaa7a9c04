"""What is done to every input of a run."""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.passes.ir_printing import IrPrinting
from pto_dialect.passes.registry import VERIFY_PASSES


class CycleRequest(NamedTuple):
    """Cycles are wanted. ``table``: file with parameters instead of the shipped ones. ``options``: what is stated about
    variants, in pairs such as ``("variant", "1D_POST_UPDATE")``."""

    table: str | None = None
    options: tuple[tuple[str, str], ...] = ()


PROOF_SECONDS = 60.0
"""Default processor time of a proof, in seconds."""


class Options(NamedTuple):
    """Settings of :func:`pto_dialect.driver.pipeline.process`, the same for all inputs.

    ``target``: a2, a3, a2a3, a5 or cpu-sim; ``None`` leaves the choice to the module. ``release``: the release of the
    reference that the program is made for; ``None`` leaves the choice to the module.

    ``passes``: names from the pass table, run in this order. ``proving``: seconds for the proof that the passes
    preserve the results of the program; ``None`` for no proof. ``allow_open``: a proof that stays open is a remark, not
    an error.

    ``printing``: the module is printed, in ``language``: ``pto``, or ``cpp`` for C++ text. ``verify_diagnostics``:
    expectations in comments are compared with the diagnostics. ``split_input``: ``// -----`` lines separate programs.
    ``generic``, ``debuginfo``: how the module is printed; ``portable``: the generic form spells types as tools without
    this dialect accept them. ``schematic``: documentation snippets with ``...`` in types are accepted.

    ``statistics``: the program is counted, or, with ``memory``, its on-chip memory is mapped; buffers without addresses
    are located where ``assign-memory`` with that reuse puts them. ``cycles``: its cycles are estimated. ``plans``:
    parse templates are enabled. ``policy``: which diagnostics are shown and how severe they are. ``ir_printing``: which
    passes print the module before or after them.
    """

    target: str | None = None
    passes: tuple[str, ...] = VERIFY_PASSES
    proving: float | None = None
    allow_open: bool = False
    printing: bool = True
    verify_diagnostics: bool = False
    split_input: bool = False
    generic: bool = False
    debuginfo: bool = False
    portable: bool = True
    schematic: bool = False
    statistics: bool = False
    cycles: CycleRequest | None = None
    memory: str | None = None
    plans: bool = True
    policy: DiagnosticOptions = DiagnosticOptions()
    release: str | None = None
    language: str = "pto"
    ir_printing: IrPrinting | None = None
