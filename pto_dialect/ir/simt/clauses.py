"""Keywords after the operands of accesses and conversions of work-items."""

from __future__ import annotations

from ..core.clauses import Clause, Clauses, DiagnosticText, Form

SUFFIXES = Clauses(
    title="Keywords after the operands",
    intro="Separated by blanks, in the order of the operation's attributes. Attributes that are not listed here are "
    "written as their keyword alone.",
    separator=" ",
    foreign=DiagnosticText("parse-syntax", "{} has no clause {!r}", ""),
    rows=(
        Clause("round", Form.CHOICE, "how a conversion rounds", attribute="rounding"),
        Clause("l1cache", Form.CHOICE, "use of the L1 cache", attribute="l1cache"),
        Clause("l2cache", Form.CHOICE, "use of the L2 cache", attribute="l2cache"),
    ),
)
