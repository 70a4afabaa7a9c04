"""What is wrong with a clause of an accumulator write-back or of a multiply-add."""

from __future__ import annotations

from pto_dialect.diagnostics.suggest import word_hint

from ..read.situation import Message, Situation
from ..read.tokens import Tok

CLAUSE_WORDS = {
    "DST_MODE": "dst_mode",
    "UNIT_FLAG": "unit_flag",
    "PRE_QUANT": "pre_quant",
    "PRE_RELU": "pre_relu",
    "LAYOUT": "layout",
    "LOOP3": "loop3",
    "SATURATION": "sat/nosat",
    "ATOMIC": "atomic",
    "DISABLE_GEMV": "disable_gemv",
    "TF32_MODE": "tf32_mode",
    "N_DIR": "n_dir",
}
_ACC_ORDER = ("UNIT_FLAG", "PRE_QUANT", "PRE_RELU", "LAYOUT", "LOOP3", "SATURATION", "ATOMIC")
_MAD_ORDER = ("UNIT_FLAG", "DISABLE_GEMV", "SATURATION", "TF32_MODE", "N_DIR")
_ACC_WORDS = (
    "unit_flag",
    "pre_quant",
    "pre_relu",
    "nz2nd",
    "nz2dn",
    "nz2nz",
    "loop3",
    "sat",
    "nosat",
    "atomic",
    "dst_mode",
)
_MAD_WORDS = ("unit_flag", "disable_gemv", "sat", "nosat", "tf32_mode", "n_dir")

_INCOMPLETE: dict[tuple[str, str], Message] = {
    (shape, clause): Message(rule, text, help)
    for shape, clause, rule, text, help in (
        ("OP_MAD", "UNIT_FLAG", "mad-unit-flag-token", "unit_flag needs a mode", "unit_flag(check_only)"),
        ("OP_MAD", "TF32_MODE", "mad-tf32-token", "tf32_mode needs a rounding", "tf32_mode(round_even)"),
        (
            "OP_ACC_STORE",
            "UNIT_FLAG",
            "fixp-unit-flag-token",
            "unit_flag needs a mode",
            "unit_flag(check_only)",
        ),
        (
            "OP_ACC_STORE",
            "PRE_QUANT",
            "fixp-quant-needs-both",
            "pre_quant needs a payload and a mode",
            "pre_quant(%payload, mode = ..)",
        ),
        (
            "OP_ACC_STORE",
            "PRE_RELU",
            "fixp-relu-mode",
            "pre_relu needs a mode",
            "pre_relu(mode = normal_relu)",
        ),
        (
            "OP_ACC_STORE",
            "LOOP3",
            "fixp-loop3-arity",
            "loop3 takes count, source stride and destination stride",
            "loop3(%count, %src_stride, %dst_stride)",
        ),
        (
            "OP_ACC_STORE",
            "ATOMIC",
            "fixp-atomic-token",
            "atomic takes type and op",
            "atomic(type = f32, op = add)",
        ),
        (
            "OP_ACC_STORE",
            "DST_MODE",
            "fixp-ub-dst-mode",
            "dst_mode needs a sub-block or a split",
            "dst_mode(%sub), dst_mode(split_m) or dst_mode(split_n)",
        ),
    )
}
"""What to say about a clause whose arguments are missing or cannot be read."""


def clause_error(s: Situation) -> Message | None:
    """The message for a clause that is out of place, given twice, incomplete or unknown."""
    if s.head is None or s.head.type not in ("OP_ACC_STORE", "OP_MAD"):
        return None
    found = _incomplete(s.head.type, s.statement)
    if found is not None:
        return found
    following = s.following if s.token.type == "COMMA" else None
    if s.head.type == "OP_ACC_STORE":
        return _acc_clause(s.token, s.statement, following)
    return _mad_clause(s.token, s.statement, following)


def _order(clauses: tuple[str, ...]) -> str:
    return " -> ".join(CLAUSE_WORDS[c] for c in clauses)


def _successor(token: Tok, statement: list[Tok], order: tuple[str, ...]) -> str | None:
    """The clause of ``statement`` before which ``token`` should stand."""
    rank = order.index(token.type)
    return next((tok.text for tok in statement if tok.type in order and order.index(tok.type) > rank), None)


def _inside_parentheses(statement: list[Tok]) -> bool:
    return sum((tok.type == "LPAR") - (tok.type == "RPAR") for tok in statement) > 0


def _incomplete(head: str, statement: list[Tok]) -> Message | None:
    """The message for a clause that ended before its first argument."""
    last = len(statement) - (2 if statement[-1].type == "LPAR" else 1)
    found = _INCOMPLETE.get((head, statement[last].type))
    return found._replace(at=statement[last]) if found is not None else None


def _acc_clause(token: Tok, statement: list[Tok], following: Tok | None) -> Message | None:
    """What is wrong with a clause of an accumulator write-back."""
    if token.type == "COMMA" and following is not None:
        found = _acc_clause(following, [*statement, token], None)
        return found._replace(at=following) if found is not None else None
    if _inside_parentheses(statement) or not any(tok.type == "USES" for tok in statement):
        return None
    order = _order(_ACC_ORDER)
    seen = [tok.type for tok in statement if tok.type in CLAUSE_WORDS]
    if token.type in _ACC_ORDER:
        if token.type in seen:
            if token.type == "SATURATION":
                message = f"{token.text} excludes the earlier saturation clause"
                return Message("fixp-sat-exclusive", message, "give one of sat, sat(preserve_nan), nosat")
            return Message("fixp-clause-duplicate", f"{CLAUSE_WORDS[token.type]} clause is given twice", "keep one")
        successor = _successor(token, statement, _ACC_ORDER)
        if successor is not None:
            message = f"{token.text} is out of place: it comes before {successor}"
            return Message("fixp-clause-order", message, f"clauses stand in the order {order}")
    if token.type == "DST_MODE" and seen:
        if "DST_MODE" in seen:
            return Message("fixp-clause-duplicate", "dst_mode clause is given twice", "keep one")
        return Message("fixp-clause-order", "dst_mode comes before all clauses", f"dst_mode -> {order}")
    if token.type == "WORD":
        if token.text == "clip":
            help = "pre_relu(mode = normal_relu, clip = %c)"
            return Message("fixp-clip-in-relu", "clip stands inside pre_relu(..)", help)
        hint = word_hint(token.text, _ACC_WORDS) or f"clauses: {order}"
        return Message("fixp-clause-unknown", f"unknown clause {token.text!r}", hint)
    if token.type in CLAUSE_WORDS and statement[-1].type != "COMMA":
        return Message("parse-missing-token", f"',' is missing before {token.text}", f", {token.text}")
    return None


def _mad_clause(token: Tok, statement: list[Tok], following: Tok | None) -> Message | None:
    """What is wrong with a clause of a multiply-add."""
    if _inside_parentheses(statement):
        return None
    order = _order(_MAD_ORDER)
    seen = [tok.type for tok in statement if tok.type in CLAUSE_WORDS]
    if token.type == "COMMA":
        if not seen and (following is None or following.type not in (*_MAD_ORDER, "COLON")):
            return None
        help = f"remove the comma; clauses stand in the order {order}"
        return Message("mad-clause-comma", "clauses of mad are separated by blanks, not by commas", help)
    if token.type in _MAD_ORDER:
        if token.type in seen:
            if token.type == "SATURATION":
                message = f"{token.text} follows another saturation clause"
                return Message("mad-clause-duplicate", message, "give one of sat, nosat")
            return Message("mad-clause-duplicate", f"{CLAUSE_WORDS[token.type]} clause is given twice", "keep one")
        successor = _successor(token, statement, _MAD_ORDER)
        if successor is not None:
            message = f"{token.text} is out of place: it comes before {successor}"
            return Message("mad-clause-order", message, f"clauses stand in the order {order}")
    if token.type == "LPAR" and statement[-1].type == "SATURATION":
        return Message("mad-clause-unknown", f"{statement[-1].text} of a multiply-add takes no option", "remove (..)")
    if token.type == "WORD" or token.type in CLAUSE_WORDS:
        if token.text in _MAD_WORDS:
            return Message("mad-clause-order", f"{token.text} stands before the types", f"{token.text} : types")
        hint = word_hint(token.text, _MAD_WORDS) or f"clauses: {order}"
        return Message("mad-clause-unknown", f"unknown clause {token.text!r}", hint)
    return None
