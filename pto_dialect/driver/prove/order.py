"""``pto prove``: the verdicts about the functions of programs, as text, JSON and SARIF.

Source: docs/reference/order-proof.md, "Verdicts".
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.diagnostics.formats import to_json, to_sarif
from pto_dialect.diagnostics.wording import count
from pto_dialect.prove.assumed import condition_of, unknown_names
from pto_dialect.prove.decide import Answer, Verdict
from pto_dialect.prove.functions import names_of_arguments, verdicts
from pto_dialect.prove.report import as_data, diagnostic_of, summary_of
from pto_dialect.version import __version__

from ..inputs import Input
from .certificates import Written, certified
from .reading import read_module
from .replay import Outcome, Replay, replay

WRONG, REFUTED, UNDECIDED = 1, 3, 4
"""Exit codes: a program has errors, an order is refuted, one is undecided."""


@dataclass
class Proof:
    """The verdicts about the functions of all inputs, and the errors of inputs without any. ``replays`` has for each
    verdict the run of its witness, ``certificates`` its certificate, if they were to be made. ``unknown`` are names in
    assumptions that no function has."""

    verdicts: list[Verdict]
    errors: list[Diagnostic]
    replays: list[Replay | None] = field(default_factory=list)
    certificates: list[Written | None] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """How many functions are in which class."""
        counts = summary_of(self.verdicts)
        runs = [one for one in self.replays if one is not None]
        confirmed = sum(one.outcome is Outcome.CONFIRMED for one in runs)
        words = [f"{number} {name}" for name, number in counts.items()]
        if runs:
            words[1] += f" ({confirmed} confirmed by {'a run' if confirmed == 1 else 'runs'})"
        return f"{count(len(self.verdicts), 'function')}: {', '.join(words)}"

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The verdicts as diagnostics, with what their runs have shown, after the errors."""
        found = [*self.errors]
        for verdict, run, certificate in zip(self.verdicts, self.replays, self.certificates, strict=True):
            one = diagnostic_of(verdict)
            notes = [Note(each.text) for each in (run, certificate) if each is not None]
            found.append(one._replace(notes=(*one.notes, *notes)))
        return found

    def exit_code(self, allow_undecided: bool) -> int:
        """Returns the exit code of the command."""
        answers = {one.answer for one in self.verdicts}
        if self.errors:
            return WRONG
        if Answer.REFUTED in answers:
            return REFUTED
        return UNDECIDED if Answer.UNDECIDED in answers and not allow_undecided else 0


def prove(
    inputs: Sequence[Input],
    target: str | None,
    assumptions: Sequence[str],
    seconds: float,
    replays: bool = True,
    certifies: bool = False,
    entry: str | None = None,
    stated: Collection[str] | None = None,
) -> Proof:
    """Returns the verdicts about all inputs, or about the function ``entry`` of each; ``replays``: witnesses are run,
    ``certifies``: proofs get certificates; ``stated``: see :func:`read_module`. Raises :class:`AssumptionError`."""
    proof = Proof([], [])
    for text in assumptions:
        condition_of(text, {})
    names: set[str] = set()
    for item in inputs:
        text, module, errors, chip = read_module(item, target, stated)
        proof.errors += errors
        if module is not None:
            names |= names_of_arguments(module)
            # Of a C++ file the entry alone is compiled.
            found = list(verdicts(module, chip, assumptions, seconds, None if item.is_cpp else entry))
            proof.verdicts += found
            proof.replays += [replay(one, chip) if replays else None for one in found]
            proof.certificates += [certified(one, text, module, chip) if certifies else None for one in found]
    if not proof.errors:
        proof.unknown += unknown_names(assumptions, names)
    return proof


def as_json(proof: Proof, assumptions: Sequence[str]) -> str:
    """Returns the verdicts as a JSON document, ended by a newline."""
    document = {
        "version": 1,
        "assumptions": list(assumptions),
        "functions": [_as_data(*each) for each in zip(proof.verdicts, proof.replays, proof.certificates, strict=True)],
        "summary": summary_of(proof.verdicts),
        "errors": json.loads(to_json(proof.errors))["diagnostics"],
    }
    return json.dumps(document, indent=1) + "\n"


def _as_data(verdict: Verdict, run: Replay | None, certificate: Written | None) -> dict[str, object]:
    data = as_data(verdict)
    if certificate is not None:
        data["certificate"] = certificate.reason is None
        data["reason"] = certificate.reason and certificate.text
    if isinstance(data["witness"], dict):
        data["witness"]["run"] = None if run is None else run.as_data()
    return data


def as_sarif(proof: Proof) -> str:
    """Returns the verdicts and errors as a SARIF log."""
    return to_sarif(proof.diagnostics, version=__version__, tool="pto prove")
