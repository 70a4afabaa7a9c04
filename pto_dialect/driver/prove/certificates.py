"""Certificates of proofs as files: written with the verdicts, checked without the prover.

Source: docs/prove.md, "Certificates".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.certify.certificate import verify
from pto_dialect.certify.check import RefusedError
from pto_dialect.certify.course import NotCoveredError
from pto_dialect.certify.write import certificate_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.ir.core.base import symbol_of
from pto_dialect.prove.decide import Answer, Verdict
from pto_dialect.prove.reader import entry_functions

from ..inputs import Input, read_text
from .reading import read_module


class Written(NamedTuple):
    """The certificate of a proof, a line of text, or the ``reason`` why there is none."""

    line: str
    reason: str | None = None

    @property
    def text(self) -> str:
        """What a report says about it."""
        return "a certificate is written" if self.reason is None else f"no certificate: {self.reason}"


def certified(verdict: Verdict, program: str, module: ModuleOp, target: str | None) -> Written | None:
    """Returns the certificate of a proof; ``program`` is the text of ``module``. ``None`` for other verdicts."""
    if verdict.answer is not Answer.PROVEN:
        return None
    try:
        return Written(certificate_of(program, module, verdict.function, target))
    except (RefusedError, NotCoveredError) as error:
        return Written("", str(error))
    except RecursionError:
        return Written("", "it is nested too deeply")


class Checked(NamedTuple):
    """The certificate of a line: the function that it proves, or the ``reason`` why it is refused."""

    line: int
    function: str | None
    reason: str | None = None

    @property
    def text(self) -> str:
        """What a report says about it."""
        if self.reason is None:
            return f"line {self.line}: the order of the pipes in @{self.function} is proven"
        return f"line {self.line}: refused: {self.reason}"


class Check(NamedTuple):
    """What the lines of a file of certificates prove, the functions of the program that none of them covers, and the
    errors of either input."""

    lines: list[Checked]
    uncovered: list[str]
    errors: list[Diagnostic]


def checked(certificates: Input, program: Input, target: str | None, stated: Collection[str] | None = None) -> Check:
    """Checks each line of ``certificates`` against ``program``; ``stated``: see :func:`read_module`."""
    lines, remark = read_text(certificates)
    if remark is not None and remark.severity is Severity.ERROR:
        return Check([], [], [remark])
    text, module, errors, chip = read_module(program, target, stated)
    if module is None:
        return Check([], [], list(errors))
    found = list(_checked(lines, text, module, chip))
    covered = {one.function for one in found}
    return Check(found, [name for name in entry_names(module) if name not in covered], [])


def _checked(lines: str, text: str, module: ModuleOp, target: str | None) -> Iterator[Checked]:
    for number, line in enumerate(lines.splitlines(), 1):
        try:
            yield Checked(number, verify(line, text, module, target))
        except (RefusedError, NotCoveredError) as error:
            yield Checked(number, None, str(error))
        except RecursionError:
            yield Checked(number, None, "it is nested too deeply")


def entry_names(module: ModuleOp) -> list[str]:
    """Returns the names of the functions that no other one calls."""
    return [symbol_of(one) for one in entry_functions(module)]
