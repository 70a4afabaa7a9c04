"""Clauses of multiply-adds and of write-backs of the accumulator."""

from __future__ import annotations

from ..core.clauses import Clause, Clauses, DiagnosticText, Form

_UNIT_FLAG_WORDS = ("check_only", "check_and_clear")
_SAT_HELP = "sat, sat(preserve_nan) or nosat"
_ATOMIC = DiagnosticText("fixp-atomic-token", "atomic takes type and op", "atomic(type = f32, op = add)")

ACC_STORE = Clauses(
    title="Accumulator write-back",
    intro="Each at most once, in this order, separated by commas, between the operands and the types.",
    separator=", ",
    unknown="fixp-clause-unknown",
    duplicate="fixp-clause-duplicate",
    order="fixp-clause-order",
    foreign=DiagnosticText("fixp-clause-unknown", "{} takes no {}", ""),
    elsewhere=(
        (
            "clip",
            DiagnosticText(
                "fixp-clip-in-relu", "clip belongs inside pre_relu(..)", "pre_relu(mode = normal_relu, clip = %c)"
            ),
        ),
    ),
    rows=(
        Clause(
            "dst_mode",
            Form.CHOICE,
            "which vector core is written, or how the result is split between both",
            attribute="dst_mode",
            words=("split_m", "split_n"),
            operands=("sub_blockid",),
            single="single",
            leads=True,
            wrong_word="fixp-ub-dst-mode",
            incomplete=DiagnosticText(
                "fixp-ub-dst-mode",
                "dst_mode needs a sub-block or a split",
                "dst_mode(%sub), dst_mode(split_m) or dst_mode(split_n)",
            ),
        ),
        Clause(
            "unit_flag",
            Form.CHOICE,
            "waits for the accumulators that a product marks as finished; ``check_and_clear`` also takes the mark away",
            attribute="unit_flag",
            words=_UNIT_FLAG_WORDS,
            wrong_word="fixp-unit-flag-token",
            incomplete=DiagnosticText("fixp-unit-flag-token", "unit_flag needs a mode", "unit_flag(check_only)"),
        ),
        Clause(
            "pre_quant",
            Form.NAMED,
            "converts each accumulator by a factor: a number, or the entry of its column; the mode names the types",
            operands=("pre_quant",),
            named=(("mode", "pre_quant_mode"),),
            required=("pre_quant", "pre_quant_mode"),
            wrong_word="fixp-quant-mode",
            incomplete=DiagnosticText(
                "fixp-quant-needs-both", "pre_quant needs a payload and a mode", "pre_quant(%payload, mode = ..)"
            ),
        ),
        Clause(
            "pre_relu",
            Form.NAMED,
            "replaces or scales negative numbers after pre_quant; ``clip`` bounds the result from above",
            words=("no_relu", "normal_relu", "scalar_relu", "vector_relu"),
            operands=("pre_relu",),
            named=(("mode", "pre_relu_mode"), ("clip", "clip_value")),
            required=("pre_relu_mode",),
            wrong_word="fixp-relu-mode",
            incomplete=DiagnosticText("fixp-relu-mode", "pre_relu needs a mode", "pre_relu(mode = normal_relu)"),
        ),
        Clause(
            "layout",
            Form.KEYWORD,
            "the order of the elements at the destination: rows (also without the clause), columns, or fractals",
            keywords=("nz2nd", "nz2dn", "nz2nz"),
            attribute="mode",
            by_keyword=(("nz2dn", "loop0_src_stride"), ("nz2nz", "split")),
            wrong_option=DiagnosticText("fixp-loop0-only-nz2dn", "{0} takes no operand", "only nz2dn does"),
        ),
        Clause(
            "loop3",
            Form.OPERANDS,
            "repeats the transfer: count, distance in L0C, distance at the destination",
            operands=("loop3_count", "loop3_src_stride", "loop3_dst_stride"),
            incomplete=DiagnosticText(
                "fixp-loop3-arity",
                "loop3 takes count, source stride and destination stride",
                "loop3(%count, %src_stride, %dst_stride)",
            ),
        ),
        Clause(
            "sat/nosat",
            Form.KEYWORD,
            "what becomes of numbers beyond the range: its end (``sat``), or infinity or the low bits (``nosat``)",
            keywords=("sat", "nosat"),
            attribute="sat_mode",
            options=(("sat", "preserve_nan", "sat_preserve_nan"),),
            wrong_option=DiagnosticText("fixp-sat-option", "unknown option {1!r}", _SAT_HELP),
            twice=DiagnosticText(
                "fixp-sat-exclusive",
                "{} excludes the earlier saturation clause",
                "give one of sat, sat(preserve_nan), nosat",
            ),
        ),
        Clause(
            "atomic",
            Form.NAMED,
            "combines with what the destination holds",
            named=(("type", "atomic_type"), ("op", "atomic_op")),
            required=("atomic_type", "atomic_op"),
            wrong_word="fixp-atomic-token",
            incomplete=_ATOMIC,
            foreign=DiagnosticText("fixp-atomic-gm", "{} takes no atomic clause", "only pto.mte_l0c_gm does"),
        ),
    ),
)

MAD = Clauses(
    title="Multiply-add",
    intro="Each at most once, in this order, separated by blanks, between the operands and the types.",
    separator=" ",
    unknown="mad-clause-unknown",
    duplicate="mad-clause-duplicate",
    order="mad-clause-order",
    foreign=DiagnosticText("mad-mx-no-tf32", "{} takes no {}", "clauses: {}"),
    rows=(
        Clause(
            "unit_flag",
            Form.CHOICE,
            "hands accumulators over: ``check_only`` checks that they may be written, ``check_and_set`` also marks "
            "them as finished for the write-back",
            attribute="unit_flag_mode",
            wrong_word="mad-unit-flag-token",
            incomplete=DiagnosticText("mad-unit-flag-token", "unit_flag needs a mode", "unit_flag(check_only)"),
        ),
        Clause(
            "disable_gemv",
            Form.FLAG,
            "for m = 1: the left operand lies in fractals, not as one contiguous row; the product is the same",
            attribute="disable_gemv",
        ),
        Clause(
            "sat/nosat",
            Form.KEYWORD,
            "for floats: ``sat`` limits infinite operands and results and takes NaN as 0; ``nosat`` follows IEEE",
            keywords=("sat", "nosat"),
            attribute="sat_mode",
            wrong_option=DiagnosticText("mad-clause-unknown", "{0} of a multiply-add takes no option", "remove (..)"),
            twice=DiagnosticText(
                "mad-clause-duplicate", "{} follows another saturation clause", "give one of sat, nosat"
            ),
        ),
        Clause(
            "tf32_mode",
            Form.CHOICE,
            "for f32: rounds both operands to TF32 before they are multiplied; sums and results stay f32",
            attribute="tf32_mode",
            wrong_word="mad-tf32-token",
            incomplete=DiagnosticText("mad-tf32-token", "tf32_mode needs a rounding", "tf32_mode(round_even)"),
        ),
        Clause("n_dir", Form.FLAG, "produces the results along n first; values are the same", attribute="n_dir"),
    ),
)

UNSUPPORTED_WORDS = frozenset(("pwl",))
"""Enumerators that are read and then refused by a rule of their own."""
