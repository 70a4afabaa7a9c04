"""Clauses of the cube operations that have them, as rows of one table for each shape.

A row says how a clause is written, what it sets, where it stands and what is told when it is wrong. Reading, printing,
messages, the reference and the editor support follow from the rows; a class takes the clauses whose attributes (for
clauses without one: whose operands) it declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..core.base import Shape


class Form(Enum):
    """How a clause is written."""

    FLAG = "keyword"
    """The keyword alone sets a unit attribute."""
    KEYWORD = "keyword or keyword(..)"
    """The keyword itself is the word of the attribute; some keywords take an option or an operand."""
    CHOICE = "keyword(word)"
    """The word in parentheses is that of the attribute."""
    OPERANDS = "keyword(%a, %b, ..)"
    """All operands, in their order."""
    NAMED = "keyword(%payload, name = ..)"
    """An operand, then words and operands by name."""


class Said(NamedTuple):
    """What a diagnostic says: its rule, its message, what would be right."""

    rule: str
    message: str
    help: str


@dataclass(frozen=True)
class Clause:
    """One clause.

    ``keywords`` begin it; ``attribute`` is what its keyword or word sets and ``words`` those it takes where its
    enumeration has more. ``operands`` stand in its parentheses: all of them (``OPERANDS``), the first where it is
    given (``NAMED``), or one in place of a word, which then is ``single`` (``CHOICE``). ``by_keyword`` names the
    operand that a keyword takes, ``options`` the word of the attribute for a keyword with an option. ``named`` pairs
    the names inside the parentheses with attributes and operands; ``required`` are the attributes and operands without
    which it is ``incomplete``. ``leads`` is the clause that all others follow.
    """

    name: str
    keywords: tuple[str, ...]
    form: Form
    summary: str
    attribute: str = ""
    words: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    single: str = ""
    by_keyword: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    required: tuple[str, ...] = ()
    leads: bool = False
    incomplete: Said | None = None
    """About a clause that lacks its parentheses or something in them."""
    wrong_word: str = "parse-syntax"
    """The rule that a word breaks which the clause does not take."""
    wrong_option: Said | None = None
    twice: Said | None = None
    """About a second clause of this kind, where more is to be said than that; ``{}`` stands for its keyword."""
    foreign: Said | None = None
    """About the clause on an operation that does not take it; ``{}`` stands for the operation."""

    @property
    def declares(self) -> str:
        """The attribute by which a class shows that it takes the clause; empty for clauses of operands alone."""
        return self.attribute or next((key for _, key in self.named), "")


@dataclass(frozen=True)
class Clauses:
    """The clauses of a shape in their order, what separates them, and the rules that they break as a whole."""

    rows: tuple[Clause, ...]
    separator: str
    unknown: str
    duplicate: str
    order: str
    foreign: Said
    elsewhere: tuple[tuple[str, Said], ...] = ()
    """Words that are no clauses of their own but stand inside one."""

    def find(self, keyword: str) -> Clause | None:
        """The clause that begins with ``keyword``."""
        return next((row for row in self.rows if keyword in row.keywords), None)

    @property
    def keywords(self) -> tuple[str, ...]:
        """All words that begin a clause; those of the leading one last."""
        rows = sorted(self.rows, key=lambda row: row.leads)
        return tuple(keyword for row in rows for keyword in row.keywords)

    @property
    def in_order(self) -> str:
        """The clauses after the leading one, for messages."""
        return " -> ".join(row.name for row in self.rows if not row.leads)


_UNIT_FLAG_WORDS = ("check_only", "check_and_clear")
_SAT_HELP = "sat, sat(preserve_nan) or nosat"
_ATOMIC = Said("fixp-atomic-token", "atomic takes type and op", "atomic(type = f32, op = add)")

ACC_STORE = Clauses(
    separator=", ",
    unknown="fixp-clause-unknown",
    duplicate="fixp-clause-duplicate",
    order="fixp-clause-order",
    foreign=Said("fixp-clause-unknown", "{} takes no {}", ""),
    elsewhere=(
        (
            "clip",
            Said("fixp-clip-in-relu", "clip stands inside pre_relu(..)", "pre_relu(mode = normal_relu, clip = %c)"),
        ),
    ),
    rows=(
        Clause(
            "dst_mode",
            ("dst_mode",),
            Form.CHOICE,
            "which vector core is written, or how the result is split between both",
            attribute="dst_mode",
            words=("split_m", "split_n"),
            operands=("sub_blockid",),
            single="single",
            leads=True,
            wrong_word="fixp-ub-dst-mode",
            incomplete=Said(
                "fixp-ub-dst-mode",
                "dst_mode needs a sub-block or a split",
                "dst_mode(%sub), dst_mode(split_m) or dst_mode(split_n)",
            ),
        ),
        Clause(
            "unit_flag",
            ("unit_flag",),
            Form.CHOICE,
            "waits for each fractal that the multiply-add before it finishes",
            attribute="unit_flag",
            words=_UNIT_FLAG_WORDS,
            wrong_word="fixp-unit-flag-token",
            incomplete=Said("fixp-unit-flag-token", "unit_flag needs a mode", "unit_flag(check_only)"),
        ),
        Clause(
            "pre_quant",
            ("pre_quant",),
            Form.NAMED,
            "converts the accumulator with a factor, or with one for each channel",
            operands=("pre_quant",),
            named=(("mode", "pre_quant_mode"),),
            required=("pre_quant", "pre_quant_mode"),
            wrong_word="fixp-quant-mode",
            incomplete=Said(
                "fixp-quant-needs-both", "pre_quant needs a payload and a mode", "pre_quant(%payload, mode = ..)"
            ),
        ),
        Clause(
            "pre_relu",
            ("pre_relu",),
            Form.NAMED,
            "replaces negative numbers after the conversion, and bounds the others",
            words=("no_relu", "normal_relu", "scalar_relu", "vector_relu"),
            operands=("pre_relu",),
            named=(("mode", "pre_relu_mode"), ("clip", "clip_value")),
            required=("pre_relu_mode",),
            wrong_word="fixp-relu-mode",
            incomplete=Said("fixp-relu-mode", "pre_relu needs a mode", "pre_relu(mode = normal_relu)"),
        ),
        Clause(
            "layout",
            ("nz2nd", "nz2dn", "nz2nz"),
            Form.KEYWORD,
            "the order of the elements at the destination",
            attribute="mode",
            by_keyword=(("nz2dn", "loop0_src_stride"), ("nz2nz", "split")),
            wrong_option=Said("fixp-loop0-only-nz2dn", "{0} takes no operand", "only nz2dn does"),
        ),
        Clause(
            "loop3",
            ("loop3",),
            Form.OPERANDS,
            "repeats the transfer: count, distance at the source, distance at the destination",
            operands=("loop3_count", "loop3_src_stride", "loop3_dst_stride"),
            incomplete=Said(
                "fixp-loop3-arity",
                "loop3 takes count, source stride and destination stride",
                "loop3(%count, %src_stride, %dst_stride)",
            ),
        ),
        Clause(
            "sat/nosat",
            ("sat", "nosat"),
            Form.KEYWORD,
            "what becomes of numbers that the destination cannot hold",
            attribute="sat_mode",
            options=(("sat", "preserve_nan", "sat_preserve_nan"),),
            wrong_option=Said("fixp-sat-option", "unknown option {1!r}", _SAT_HELP),
            twice=Said(
                "fixp-sat-exclusive",
                "{} excludes the earlier saturation clause",
                "give one of sat, sat(preserve_nan), nosat",
            ),
        ),
        Clause(
            "atomic",
            ("atomic",),
            Form.NAMED,
            "combines with what the destination holds",
            named=(("type", "atomic_type"), ("op", "atomic_op")),
            required=("atomic_type", "atomic_op"),
            wrong_word="fixp-atomic-token",
            incomplete=_ATOMIC,
            foreign=Said("fixp-atomic-gm", "{} takes no atomic clause", "only pto.mte_l0c_gm does"),
        ),
    ),
)

MAD = Clauses(
    separator=" ",
    unknown="mad-clause-unknown",
    duplicate="mad-clause-duplicate",
    order="mad-clause-order",
    foreign=Said("mad-mx-no-tf32", "{} takes no {}", "clauses: unit_flag, disable_gemv, sat, nosat, n_dir"),
    rows=(
        Clause(
            "unit_flag",
            ("unit_flag",),
            Form.CHOICE,
            "marks each fractal that is finished for the write-back",
            attribute="unit_flag_mode",
            wrong_word="mad-unit-flag-token",
            incomplete=Said("mad-unit-flag-token", "unit_flag needs a mode", "unit_flag(check_only)"),
        ),
        Clause(
            "disable_gemv",
            ("disable_gemv",),
            Form.FLAG,
            "multiplies one row as a matrix",
            attribute="disable_gemv",
        ),
        Clause(
            "sat/nosat",
            ("sat", "nosat"),
            Form.KEYWORD,
            "what becomes of sums that overflow",
            attribute="sat_mode",
            wrong_option=Said("mad-clause-unknown", "{0} of a multiply-add takes no option", "remove (..)"),
            twice=Said("mad-clause-duplicate", "{} follows another saturation clause", "give one of sat, nosat"),
        ),
        Clause(
            "tf32_mode",
            ("tf32_mode",),
            Form.CHOICE,
            "how f32 is rounded to tf32",
            attribute="tf32_mode",
            wrong_word="mad-tf32-token",
            incomplete=Said("mad-tf32-token", "tf32_mode needs a rounding", "tf32_mode(round_even)"),
        ),
        Clause(
            "n_dir",
            ("n_dir",),
            Form.FLAG,
            "goes along n first",
            attribute="n_dir",
        ),
    ),
)

CLAUSES: dict[str, Clauses] = {Shape.ACC_STORE: ACC_STORE, Shape.MAD: MAD}
"""The clauses of a shape, by its terminal."""

UNSUPPORTED_WORDS = frozenset(("pwl",))
"""Words that are read and then refused by a rule of their own."""


def clause_keywords() -> Iterator[str]:
    """Every word that begins a clause of any shape."""
    for clauses in CLAUSES.values():
        yield from clauses.keywords
