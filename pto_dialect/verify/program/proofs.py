"""Rules of ``pto-opt --prove`` about the passes that it compares. Source: docs/reference/proving.md, "Reports"."""

from __future__ import annotations

from ..engine.rule import ERROR, INFO, PROVE, rule

_COMPARED = 'docs/reference/proving.md, "What is compared"'
_REPORTS = 'docs/reference/proving.md, "Reports"'

DIFFERENCE = rule(
    "prove-difference",
    ERROR,
    PROVE,
    "what a pass makes computes the same bits as the program before, in any order that its flags allow",
    _COMPARED,
)
FINDING = rule(
    "prove-finding",
    ERROR,
    PROVE,
    "the sanitizers find nothing in what a pass makes that they did not find before",
    _COMPARED,
)
REREAD = rule(
    "prove-reread", ERROR, PROVE, "what a pass makes is verified, and reads back as it was printed", _COMPARED
)
OPEN = rule("prove-open", ERROR, PROVE, "every function is proven; where one stays open, the reason is given", _REPORTS)
DONE = rule("prove-done", INFO, PROVE, "functions that are proven are named, with what was run", _REPORTS)
