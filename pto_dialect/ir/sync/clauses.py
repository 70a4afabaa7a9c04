"""Clauses of collective transfers."""

from __future__ import annotations

from ..core.clauses import Clause, Clauses, DiagnosticText, Form

COMM_GROUP = Clauses(
    title="Collective transfer",
    intro="After the operands, inside the same parentheses, separated by commas.",
    separator=", ",
    foreign=DiagnosticText("parse-syntax", "unexpected {1!r} in {0}", ""),
    rows=(
        Clause(
            "buf",
            Form.OPERANDS,
            "one or two tiles that the data passes; buf where one peer takes part, recv where a group does",
            keywords=("buf", "recv"),
            operands=("ping|recvPing", "pong|recvPong"),
            numbers=(1, 2),
            needed=True,
            beside=(("group", "recv"),),
            wrong_number=DiagnosticText("op-operand-count", "{0} takes one or two tiles, found {1}", ""),
        ),
        Clause("group", Form.LIST, "the parts of all members, in their order", operands=("group",), needed=True),
    ),
)
