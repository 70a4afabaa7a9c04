"""Certificates written: invariants are computed, then the checker judges the certificate.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

import json

from xdsl.ir import Operation

from pto_dialect.ir.core.base import symbol_of

from .certificate import data_of, verify
from .check import Check, State, implies, meet
from .course import Course, Loop, NotCoveredError

_ROUNDS = 20_000
"""Iterations of loops that are followed for one certificate."""


class _Inference(Check):
    """Computes the invariants of the loops; what is not in order is left to the checker."""

    def __init__(self, course: Course) -> None:
        self.found: dict[int, State] = {}
        super().__init__(course, self.found)
        self.rounds = 0

    def unordered(self, first: Operation, second: Operation) -> None:
        """The checker reports it."""

    def invariant(self, one: Loop, state: State) -> State:
        """Returns the strongest one: what holds before the loop and after any number of iterations."""
        found = dict(state)
        while True:
            self.rounds += 1
            if self.rounds > _ROUNDS:
                raise NotCoveredError("its loops are nested too deeply")
            after = self.follow(one.body, dict(found))
            if implies(after, found):
                self.found[one.number] = found
                return found
            found = meet([found, after])


def certificate_of(program: str, module: Operation, function: Operation, target: str | None) -> str:
    """Returns the certificate of the order of ``function``, a line of JSON, which the checker has accepted; ``program``
    is the text of ``module``. Raises :class:`RefusedError` or :class:`NotCoveredError` with the reason where there is
    none."""
    inference = _Inference(Course(function, target))
    # Loops that are reached twice keep the state of their last visit, which is the weakest one.
    inference.run()
    name = symbol_of(function)
    line = json.dumps(data_of(program, name, inference)) + "\n"
    verify(line, program, module, target)
    return line
