"""Certificates written: invariants are computed, then the checker judges the certificate.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

import json

from xdsl.ir import Operation

from pto_dialect.ir.core.facts.pipe import Pipe

from .certificate import KEYS, LOOP_KEYS, VERSION, Certificate, digest, statements_of, verify
from .check import Check, State
from .course import Course, Loop, NotCoveredError

_ROUNDS = 20_000
"""Iterations of loops that are followed for one certificate."""


class _Inference(Check):
    """Computes the invariants of the loops; what is not in order is left to the checker."""

    def __init__(self, course: Course) -> None:
        super().__init__(course, {})
        self.found: dict[int, State] = {}
        self.rounds = 0

    def unordered(self, first: Operation, second: Operation) -> None:
        """The checker reports it."""

    def invariant(self, one: Loop, state: State) -> State:
        """The strongest one: what holds before the loop and after any number of iterations."""
        found = state.copy()
        while True:
            self.rounds += 1
            if self.rounds > _ROUNDS:
                raise NotCoveredError("its loops are nested too deeply")
            after = self.follow(one.body, found.copy())
            if after.implies(found):
                self.found[one.number] = found
                return found
            met = found.meet(after)
            if met is None:
                raise NotCoveredError("flags that an iteration leaves to a later one are not covered")
            found = met


def certificate_of(program: str, module: Operation, function: Operation, target: str | None) -> str:
    """The certificate of the order of ``function``, a line of JSON, which the checker has accepted; ``program`` is the
    text of ``module``. Raises :class:`RefusedError` or :class:`NotCoveredError` with the reason where there is none."""
    course = Course(function, target)
    inference = _Inference(course)
    inference.run()
    # Loops that nothing reaches twice keep the state of their last visit, which is the weakest one.
    loops = [inference.found[number] for number in range(len(course.loops))]
    name = function.properties["sym_name"].data  # pyright: ignore[reportAttributeAccessIssue]
    pairs = [list(pair) for pair in inference.pairs]
    found = Certificate(digest(program), name, course.arch, statements_of(course), pairs, loops)
    line = text_of(found)
    verify(line, program, module, target)
    return line


def text_of(one: Certificate) -> str:
    """A certificate as a line of JSON."""
    loops = [dict(zip(LOOP_KEYS, _state(loop), strict=True)) for loop in one.loops]
    values = (VERSION, one.program, one.function, one.target, one.statements, one.pairs, loops)
    return json.dumps(dict(zip(KEYS, values, strict=True))) + "\n"


def _state(one: State) -> tuple[object, ...]:
    return (
        {pipe.name: _numbers(bits) for pipe, bits in one.known.items() if pipe is not Pipe.ALL},
        [[key[0].name, key[1].name, key[2], _numbers(bits)] for key, bits in one.flags.items()],
        [[number, _numbers(bits)] for number, bits in one.released.items()],
        [[pipe.name, number] for pipe, number in sorted(one.held)],
    )


def _numbers(bits: int) -> list[int]:
    return [number for number in range(bits.bit_length()) if bits >> number & 1]
