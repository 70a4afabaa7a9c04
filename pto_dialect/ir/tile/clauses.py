"""Keywords among the inputs of tile operations and after their outputs."""

from __future__ import annotations

from ..core.clauses import Clause, Clauses, DiagnosticText, Form

_FOREIGN = DiagnosticText("parse-syntax", "{} takes no {}", "")

KEYED_INPUTS = Clauses(
    title="Inputs of the write-back of a tile",
    intro="After the inputs that share a type list, in `ins(..)`. Some operations have a comma instead of the keyword.",
    separator=" ",
    foreign=_FOREIGN,
    rows=(
        Clause("fp", Form.INPUT, "a tile with one factor for each channel", operands=("fp",)),
        Clause("pre_quant", Form.INPUT, "one factor for all channels", operands=("preQuantScalar",)),
    ),
)

LOAD_FIELDS = Clauses(
    title="Padding of a load",
    intro="After `outs(..)` in this order, separated by blanks.",
    separator=" ",
    foreign=_FOREIGN,
    rows=(
        Clause("pad_mode", Form.FIELD, "the fill of elements outside of the view", attribute="pad_mode"),
        Clause("pad_value", Form.FIELD, "the number of pad_mode PadValue", operands=("pad_value",)),
        Clause("left_padding_num", Form.FIELD, "padding before each row", operands=("left_padding_num",)),
        Clause("init_out_buffer", Form.FIELD, "whether the tile is initialised first", attribute="init_out_buffer"),
        Clause("right_padding_num", Form.FIELD, "padding after each row", operands=("right_padding_num",)),
        Clause("init_condition", Form.FIELD, "the condition of that", operands=("init_condition",)),
    ),
)

NO_SCRATCH = "no_tmp"
"""Occurs among the inputs of a merge of several lists that has no scratch tile."""
