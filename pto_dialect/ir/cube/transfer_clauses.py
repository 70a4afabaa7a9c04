"""Clauses of transfers: bursts, loads that change the layout, loads into L0."""

from __future__ import annotations

from ..core.clauses import Clause, Clauses, DiagnosticText, Form, Stated

BURST = Clauses(
    title="Transfer in bursts",
    intro="After the operands, in any order; the types of all operands follow in the order of the text.",
    separator=" ",
    foreign=DiagnosticText("parse-syntax", "{} has no group {!r}", "groups: {}"),
    rows=(
        Clause(
            "nburst",
            Form.OPERANDS,
            "number of bursts, distance at the source, distance at the destination",
            operands=(
                "n_burst",
                "nburst_src_stride|nburst_src_gap|src_stride",
                "nburst_dst_stride|nburst_dst_gap|dst_stride",
            ),
            needed=True,
            wrong_number=DiagnosticText("op-operand-count", "{0} takes 3 operands, found {1}", ""),
            absent=DiagnosticText(
                "parse-missing-token", "{} needs nburst(count, source stride, destination stride)", ""
            ),
        ),
        Clause(
            "l2_cache_ctl",
            Form.OPERANDS,
            "how the transfer uses the L2 cache",
            operands=("l2_cache_ctl",),
            wrong_number=DiagnosticText("op-operand-count", "{0} takes 1 operand, found {1}", ""),
        ),
        Clause(
            "loop",
            Form.REPEATED,
            "repeats all that is inside it: count, distance at the source, distance at the destination; inner loops "
            "first, a number may follow the keyword",
            operands=("loop_counts", "loop_src_strides", "loop_dst_strides"),
            numbered=True,
            stated=Stated.KEYWORD,
            wrong_number=DiagnosticText(
                "dma-loop-triple", "{0} takes count, source stride and destination stride, found {2}", ""
            ),
            foreign=DiagnosticText("parse-syntax", "{} takes no loop groups", ""),
        ),
        Clause(
            "pad",
            Form.OPERANDS,
            "what each burst is filled up with, and how many elements before and after it",
            operands=("pad_value", "left_padding_count", "right_padding_count"),
            numbers=(1, 3),
            stated=Stated.KEYWORD,
            wrong_number=DiagnosticText(
                "dma-pad-group", "{0} takes a value, or a value and two counts, found {1} operands", ""
            ),
        ),
    ),
)

FRAC_LOAD = Clauses(
    title="Load that changes the layout",
    intro="All of them, in this order, separated by commas, after source and destination.",
    separator=", ",
    foreign=DiagnosticText("parse-syntax", "expected {0}(..), found {1!r}", "write {0}(..) here"),
    rows=(
        Clause(
            "mode",
            Form.KEYWORD,
            "the order of the elements at the source: rows or columns; the type list repeats the keyword",
            keywords=("nd2nz", "dn2nz"),
            attribute="mode",
            leads=True,
            needed=True,
            wrong_word="frac-mode",
        ),
        Clause(
            "shape",
            Form.OPERANDS,
            "rows and columns of one matrix",
            operands=("n_value", "d_value"),
            needed=True,
            stated=Stated.KEYWORD,
            wrong_number=DiagnosticText("op-operand-count", "{0} takes n_value, d_value; found {1} operands", ""),
        ),
        Clause(
            "src_layout",
            Form.OPERANDS,
            "distances at the source inside a matrix and between matrices",
            operands=("src_inner_stride", "src_outer_stride"),
            numbers=(1, 2),
            needed=True,
            stated=Stated.PARENTHESES,
            wrong_number=DiagnosticText(
                "op-operand-count", "{0} takes src_inner_stride, src_outer_stride; found {1} operands", ""
            ),
        ),
        Clause(
            "dst_group",
            Form.OPERANDS,
            "how many matrices, and distances at the destination",
            operands=("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride"),
            needed=True,
            stated=Stated.KEYWORD,
            wrong_number=DiagnosticText(
                "op-operand-count",
                "{0} takes group_count, dst_loop2_stride, dst_loop3_stride, dst_loop4_stride; found {1} operands",
                "",
            ),
        ),
        Clause(
            "ctrl",
            Form.OPERANDS,
            "use of the L2 cache, and the layout for at most four columns",
            operands=("l2_cache_ctrl", "smallc0_en"),
            needed=True,
            stated=Stated.KEYWORD,
            wrong_number=DiagnosticText(
                "op-operand-count", "{0} takes l2_cache_ctrl, smallc0_en; found {1} operands", ""
            ),
        ),
    ),
)


def _control(name: str, summary: str) -> Clause:
    return Clause(name, Form.OPERANDS, summary, operands=(name,))


L0_LOAD = Clauses(
    title="Load into L0",
    intro="Separated by commas, in any order; size and start, or a window, may also omit their keywords.",
    separator=", ",
    foreign=DiagnosticText("parse-syntax", "{} has no control {!r}", "{}"),
    rows=(
        _control("m", "rows of the left matrix"),
        _control("k", "columns of the left matrix, rows of the right one"),
        _control("n", "columns of the right matrix"),
        _control("start_row", "first row, in fractals of 16 rows"),
        _control("start_col", "first column, in fractals of 32 bytes"),
        _control("m_start", "first fractal along m or n of a window"),
        _control("k_start", "first fractal along k of a window"),
        _control("m_step", "fractals along m or n of a window"),
        _control("k_step", "fractals along k of a window"),
        _control("x_start", "first fractal of scales along x"),
        _control("y_start", "first fractal of scales along y"),
        _control("x_step", "fractals of scales along x"),
        _control("y_step", "fractals of scales along y"),
        _control("src_stride", "fractals between rows of fractals at the source"),
        _control("dst_stride", "fractals between rows of fractals at the destination"),
    ),
)

L0_PLACES = {2: (0, 2), 4: (0, 4), 6: (4, 10)}
"""Which controls of a class omit their keywords, by their number: the size, size and start, the window."""
