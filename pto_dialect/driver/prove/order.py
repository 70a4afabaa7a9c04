"""``pto prove``: the verdicts about the functions of programs, as text, JSON and SARIF.

Source: docs/reference/order-proof.md, "Verdicts".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.formats import to_sarif
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.prove.assumed import condition_of
from pto_dialect.prove.decide import Answer, Verdict
from pto_dialect.prove.functions import verdicts
from pto_dialect.prove.report import as_data, diagnostic_of, summary_of
from pto_dialect.version import __version__

from ..inputs import Input, read_program
from ..options import Options
from ..pipeline import build_module

WRONG, REFUTED, UNDECIDED = 1, 3, 4
"""Exit codes: a program has errors, an order is refuted, one is undecided."""


@dataclass
class Proof:
    """The verdicts about the functions of all inputs, and the errors of inputs without any."""

    verdicts: list[Verdict]
    errors: list[Diagnostic]

    @property
    def summary(self) -> str:
        """How many functions are in which class."""
        counts = summary_of(self.verdicts)
        total = len(self.verdicts)
        parts = ", ".join(f"{count} {name}" for name, count in counts.items())
        return f"{total} function{'s' if total != 1 else ''}: {parts}"

    def exit_code(self, allow_undecided: bool) -> int:
        """The exit code of the command."""
        answers = {one.answer for one in self.verdicts}
        if self.errors:
            return WRONG
        if Answer.REFUTED in answers:
            return REFUTED
        return UNDECIDED if Answer.UNDECIDED in answers and not allow_undecided else 0


def prove(inputs: Sequence[Input], target: str | None, assumptions: Sequence[str], seconds: float) -> Proof:
    """The verdicts about all inputs. Raises :class:`AssumptionError`."""
    proof = Proof([], [])
    for text in assumptions:
        condition_of(text, {})
    for item in inputs:
        engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
        text, remarks = read_program(item, target, every=True)
        for remark in remarks:
            engine.report(remark)
        module = None
        if not engine.has_errors:
            module = build_module(SourceFile(item.name, text), engine, Options(target=target))
        if module is None or engine.has_errors:
            proof.errors += engine.diagnostics
        else:
            proof.verdicts += verdicts(module, target, assumptions, seconds)
    return proof


def as_json(proof: Proof, assumptions: Sequence[str]) -> str:
    """The verdicts as a JSON document, ended by a newline."""
    document = {
        "version": 1,
        "assumptions": list(assumptions),
        "functions": [as_data(one) for one in proof.verdicts],
        "summary": summary_of(proof.verdicts),
    }
    return json.dumps(document, indent=1) + "\n"


def as_sarif(proof: Proof) -> str:
    """The verdicts and errors as a SARIF log."""
    found = [*proof.errors, *map(diagnostic_of, proof.verdicts)]
    return to_sarif(found, version=__version__, tool="pto prove")
