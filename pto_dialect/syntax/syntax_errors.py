"""What to say about a token that the grammar does not allow where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..diagnostics.suggest import did_you_mean
from .core_ops import KNOWN_DIALECTS
from .lexer import OPERATION_TERMINALS
from .statement_errors import broken_statement
from .tokens import Tok

_NAMES = {
    "USES": "a value",
    "RESULTS": "a result name",
    "BINDINGS": "%name = %value",
    "TYPES": "a type",
    "HASH": "an attribute",
    "ANGLE": "<..>",
    "BODY": "a literal",
    "WORD": "a word",
    "STRING": "a string",
    "INTEGER": "an integer",
    "FLOAT": "a number",
    "SYMBOL": "a symbol",
    "BLOCK": "a block label",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "ARROW": "'->'",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "INS": "'ins('",
    "OUTS": "'outs('",
    "LAUNCH_OPEN": "'<<<'",
    "LAUNCH_CLOSE": "'>>>'",
    "$END": "the end of the file",
}
_QUIET = frozenset(("LOC", "SEMICOLON", "FLAGS", "ELLIPSIS", "TYPE_ALIAS", "ATTRIBUTE_ALIAS", "ASSEMBLY_KEY"))
_CLAUSES = {
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


class Message(NamedTuple):
    """Rule id, message, suggestion, and the token to point at where it is not the unexpected one."""

    rule: str
    text: str
    help: str | None = None
    at: Tok | None = None


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


def explain(token: Tok, expected: Iterable[str], statement: list[Tok], following: Tok | None = None) -> Message:
    """The error for ``token`` in a statement whose earlier tokens are ``statement``.

    ``following`` is the token behind a comma.
    """
    if token.type == "OP_UNKNOWN":
        return _unknown_operation(token.text)
    if token.type == "BAD":
        if token.text == '"':
            return Message("parse-string", "this string is not closed on its line", 'add the closing "')
        if len(token.text) > 1:
            return Message("literal-range", "this integer does not fit into 64 bits", None)
        help = "did you mean '->'?" if token.text == "-" else None
        return Message("parse-character", f"unexpected character {token.text!r}", help)
    operation = next((tok for tok in statement if tok.type.startswith("OP_")), None)
    head = "" if operation is None else operation.type
    expected = frozenset(expected)
    if head in ("OP_ACC_STORE", "OP_MAD"):
        clause = (
            _incomplete(head, statement)
            or (_acc_clause(token, statement, following) if head == "OP_ACC_STORE" else None)
            or (_mad_clause(token, statement, following) if head == "OP_MAD" else None)
        )
        if clause is not None:
            return clause
    if following is not None and following.type in ("INTEGER", "FLOAT"):
        message = f"operands are values, found the number {following.text}"
        return Message("parse-syntax", message, "define it with arith.constant", following)
    if token.type == "RBRACE" and not statement:
        return Message("parse-unbalanced", "this '}' closes nothing", None)
    broken = broken_statement(token, expected, statement, operation)
    if broken is not None:
        return Message(*broken)
    what = "end of file" if token.type == "$END" else f"{token.text.split(chr(10))[0][:60]!r}"
    wanted = _expected(expected)
    if token.type == "$END" and "RBRACE" in expected:
        return Message("parse-unbalanced", "the file ends inside a region", "add the missing '}'")
    message = f"unexpected {what}" + (f", expected {wanted}" if wanted else "")
    return Message("parse-syntax", message, None)


def _expected(terminals: Iterable[str]) -> str:
    names: list[str] = []
    for terminal in sorted(terminals):
        if terminal in _QUIET or terminal.startswith("__"):
            continue
        if terminal.startswith("OP_"):
            name = "an operation"
        elif terminal in _NAMES:
            name = _NAMES[terminal]
        else:
            name = f"'{_CLAUSES.get(terminal, terminal.lower())}'"
        if name not in names:
            names.append(name)
    return " or ".join(names) if len(names) <= 5 else ""


def _unknown_operation(name: str) -> Message:
    dialect = name.partition(".")[0]
    close = did_you_mean(name, list(OPERATION_TERMINALS))
    if dialect == "a5vm":
        return Message(
            "op-unknown",
            f"{name} belongs to a5vm, the retired predecessor of this dialect",
            "use the pto.* operation",
        )
    if dialect not in KNOWN_DIALECTS and "." in name and not close:
        return Message(
            "op-unknown",
            f"the dialect of {name!r} is unknown, so its custom form cannot be read",
            f'write the generic form "{name}"(..) : (..) -> (..)',
        )
    return Message("op-unknown", f"unknown operation {name!r}", f"did you mean {close[0]}?" if close else None)


def _order(clauses: tuple[str, ...]) -> str:
    return " -> ".join(_CLAUSES[c] for c in clauses)


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
    seen = [tok.type for tok in statement if tok.type in _CLAUSES]
    if token.type in _ACC_ORDER:
        if token.type in seen:
            if token.type == "SATURATION":
                message = f"{token.text} excludes the earlier saturation clause"
                return Message("fixp-sat-exclusive", message, "give one of sat, sat(preserve_nan), nosat")
            return Message("fixp-clause-duplicate", f"{_CLAUSES[token.type]} clause is given twice", "keep one")
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
        close = did_you_mean(token.text, _ACC_WORDS)
        hint = f"did you mean {close[0]}?" if close else f"clauses: {order}"
        return Message("fixp-clause-unknown", f"unknown clause {token.text!r}", hint)
    if token.type in _CLAUSES and statement[-1].type != "COMMA":
        return Message("parse-missing-token", "clauses are separated by commas", f"write ', {token.text}'")
    return None


def _mad_clause(token: Tok, statement: list[Tok], following: Tok | None) -> Message | None:
    """What is wrong with a clause of a multiply-add."""
    if _inside_parentheses(statement):
        return None
    order = _order(_MAD_ORDER)
    seen = [tok.type for tok in statement if tok.type in _CLAUSES]
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
            return Message("mad-clause-duplicate", f"{_CLAUSES[token.type]} clause is given twice", "keep one")
        successor = _successor(token, statement, _MAD_ORDER)
        if successor is not None:
            message = f"{token.text} is out of place: it comes before {successor}"
            return Message("mad-clause-order", message, f"clauses stand in the order {order}")
    if token.type == "LPAR" and statement[-1].type == "SATURATION":
        return Message("mad-clause-unknown", f"{statement[-1].text} of a multiply-add takes no option", "remove (..)")
    if token.type == "WORD" or token.type in _CLAUSES:
        close = did_you_mean(token.text, _MAD_WORDS)
        hint = f"did you mean {close[0]}?" if close else f"clauses: {order}"
        return Message("mad-clause-unknown", f"unknown clause {token.text!r}", hint)
    return None
