"""Parts of a statement that are missing, surplus or spelled differently: keywords, parentheses, arrows, braces of
attributes."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.marks import (
    bounds,
    close_bracket,
    mark_after,
    mark_before,
    other_mark,
    square_brackets,
    without_equals,
    without_parentheses,
)
from pto_dialect.diagnostics.remedies.names import append, insert, replace, replace_before
from pto_dialect.diagnostics.remedies.order import (
    argument_order,
    attribute_braces,
    constant_order,
    else_region,
    lost_name,
    result_before_attributes,
)
from pto_dialect.diagnostics.remedies.statements import constant_for, missing_step, missing_strides, operator, predicate
from pto_dialect.diagnostics.remedies.types import missing_types, result_type, without_arrow
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.attributes import ENUMS

from ..read.situation import Message, Situation, shown
from ..read.tokens import Tok
from ..text import split_types
from ..usage import usage, view_lists

_TYPES = frozenset(("TYPES", "ANGLE"))
_WORDS = frozenset(("WORD", "OP_UNKNOWN"))
_MARKS = {
    "MORETHAN": ">",
    "COLON": ":",
    "COMMA": ",",
    "EQUAL": "=",
    "ARROW": "->",
    "LPAR": "(",
    "LSQB": "[",
    "LBRACE": "{",
    "LAUNCH_OPEN": "<<<",
    "LAUNCH_CLOSE": ">>>",
}
_DIRECTIVES = {".arg": ".arg %x : memref<16x16xf32>", ".const": ".const %k = 2.0 : f32"}
"""Assembly statements that are not operations, and an example of each."""
_KEYWORDS = {
    name: name.lower()
    for name in ("TO", "STEP", "OFFSET", "SIZES", "STRIDES", "DO", "DEFAULT", "ATTRIBUTES", "ITER_ARGS")
}
_WITH_TO = frozenset(("OP_CAST", "OP_RETIRED_CAST", "OP_MEM_SUBVIEW", "OP_MEM_REINTERPRET"))
_OPTIONAL = frozenset(("LOC", "SEMICOLON", "FLAGS", "ELLIPSIS", "ASSEMBLY_KEY"))
_SUBSCRIPT = re.compile(r"\(\s*(?:%[\w$.\-]+|\d+)(?:\s*,\s*(?:%[\w$.\-]+|\d+))*\s*\)")
_BITS = {
    **dict.fromkeys(("inf", "infinity"), "infinity is written by its bits: 0x7F800000 : f32, 0x7C00 : f16"),
    "nan": "a NaN is written by its bits: 0x7FC00000 : f32, 0x7E00 : f16",
}
_QUOTED_NUMBER = re.compile(r'"(-?\d+(?:\.\d+)?)"')
_WITHOUT_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}\s*(?:\{|->)")
"""A dictionary followed by a region or a result type."""


def form_error(s: Situation) -> Message | None:
    """Returns the error about the form of the statement."""
    if s.previous is None:
        return _no_operation(s)
    return (
        _generic_region(s)
        or _attributes_word(s)
        or _late_result(s)
        or _attribute_braces(s)
        or _value_without_hash(s)
        or _directive(s)
        or _group(s)
        or _parentheses(s)
        or _equal_sign(s)
        or _wrong_arrow(s)
        or _types_missing(s)
        or _else_if(s)
        or _bounds(s)
        or _predicate(s)
        or _literal(s)
        or _argument_order(s)
        or _number(s)
        or _list_missing(s)
    )


def lacks_attributes(text: str, brace: Tok) -> bool:
    """Returns whether the dictionary of a header starts at ``brace``, without its keyword."""
    return _WITHOUT_ATTRIBUTES.match(text, brace.start) is not None


_HEADER = re.compile(
    r"(?P<results>%[\w$.\-]+(?::\d+)?)\s*=\s*(?P<value>%[\w$.\-]+)\s*(?:(?P<loop>to\s+%[\w$.\-]+\s+step)\b|->\s*\()"
)
"""The text after the missing name of a loop or condition."""


def _no_operation(s: Situation) -> Message | None:
    """Returns ``%a = %b`` and ``%a = %b + %c``."""
    if s.token.type != "BINDINGS" or "RESULTS" not in s.expected:
        return None
    header = _HEADER.match(s.text, s.token.start)
    if header is not None:
        results, value = header["results"], header["value"]
        name, place, help = "scf.if", value, f"{results} = scf.if {value} .."
        if header["loop"]:
            name, place, help = "scf.for", f"'{results} ='", f"scf.for {results} = .."
        return Message("parse-missing-token", f"{name} is missing before {place}", help, remedies=(lost_name(name),))
    text = f"an operation is missing after '{s.token.text.partition('=')[0].strip()} ='"
    help = "values are made by operations, for example arith.addi %a, %b : index"
    return Message("parse-syntax", text, help, remedies=(operator(),))


def _generic_region(s: Situation) -> Message | None:
    """Reports ``"scf.if"(%c) { "op"(..``: the brace of a region without its parenthesis, read as that of attributes."""
    if s.token.type != "LPAR" or s.head is not None or not s.inside("LBRACE"):
        return None
    if [tok.type for tok in s.statement[-3:]] != ["RPAR", "LBRACE", "STRING"]:
        return None
    brace, text = s.statement[-2], "regions of the generic form are enclosed in '({' and '})'"
    return Message("parse-missing-token", text, '"operation"(..) ({ .. }) : (..) -> ..', brace, last=True)


def _attributes_word(s: Situation) -> Message | None:
    head, brace = s.head, s.statement[-1]
    if head is None or head.type not in ("OP_MODULE", "OP_FUNC") or brace.type != "LBRACE":
        return None
    if s.token.type not in (*_WORDS, "STRING") or s.statement[-2].type == "ATTRIBUTES":
        return None
    if not lacks_attributes(s.text, brace):
        return None
    dictionary = s.text[brace.start : s.text.index("}", brace.start) + 1]
    text, help = "'attributes' is missing before '{'", f"attributes {shown(dictionary)}"
    return Message("parse-missing-token", text, help, brace, remedies=(mark_before("attributes"),))


def _late_result(s: Situation) -> Message | None:
    if s.head is None or s.head.type != "OP_FUNC" or s.token.type != "ARROW":
        return None
    if not any(tok.type == "ATTRIBUTES" for tok in s.statement):
        return None
    text = "the result type comes before 'attributes'"
    return Message("parse-syntax", text, "-> type attributes {..}", remedies=(result_before_attributes(),))


def _attribute_braces(s: Situation) -> Message | None:
    """Reports ``key = value`` outside of braces where attributes may occur."""
    key = s.statement[-1]
    if s.token.type != "EQUAL" or key.type != "WORD" or "LBRACE" not in s.expected or s.inside("LBRACE"):
        return None
    mended = (attribute_braces(),)
    return Message("parse-syntax", "attributes are written in braces", f"{{{key.text} = ..}}", key, remedies=mended)


def _value_without_hash(s: Situation) -> Message | None:
    """Returns ``pto.kernel_kind<vector>`` and ``pto<round_mode RINT>`` as the value of an attribute."""
    value = s.statement[-1]
    if value.text == "pto" and s.text.startswith("<", value.end) and s.inside("LBRACE"):
        return Message(
            "parse-syntax", "attributes begin with #, found 'pto'", "#pto<..>", value, remedies=(insert("#"),)
        )
    token = s.token
    if token.type != "OP_UNKNOWN":
        return None
    operand = s.head is not None and not s.starts_line(token) and s.text.startswith("<", token.end)
    if not (operand and token.text.removeprefix("pto.") in ENUMS) and not (
        value.type == "EQUAL" and s.inside("LBRACE")
    ):
        return None
    text = f"attributes begin with #, found {shown(token.text)!r}"
    return Message("parse-syntax", text, f"#{token.text}<..>", remedies=(insert("#"),))


def _directive(s: Situation) -> Message | None:
    """Returns ``.const %s : f32 = 2.0``, ``.const %s 2.0``, ``.arg x : memref<4xf32>`` and the like."""
    first = s.statement[0]
    if first.text not in _DIRECTIVES:
        return None
    form, token = _DIRECTIVES[first.text], s.token
    named = s.statement[1] if len(s.statement) > 1 else None
    if s.starts_line(named or token) and (named is not None or s.begins_statement):
        return Message("parse-syntax", f"{first.text} needs more than its name", form, first)
    if named is None:
        return _name_of_directive(s, first.text, form)
    if first.text == ".const" and len(s.statement) == 2:
        name = named.text.rstrip("= \t\n")
        found = "nothing" if token.type == "COLON" or s.begins_statement else shown(token.text)
        return Message("parse-syntax", f"the value of {name} is a number, true or false, found {found}", form)
    return None


def _name_of_directive(s: Situation, word: str, form: str) -> Message:
    """Reports that no possible name follows ``.arg`` or ``.const``."""
    token = s.token
    name, _, value = (part.strip() for part in shown(token.text).partition("="))
    if token.type == "BINDINGS" and word == ".const":
        return Message(
            "parse-syntax", f"the value of {name} is a number, true or false, found {value or 'nothing'}", form
        )
    if token.type in ("RESULTS", "BINDINGS"):
        return Message("parse-syntax", f"{name} has no value: it is an argument", f".arg {name} : memref<16x16xf32>")
    if token.type == "USES" and s.following is not None and s.following.type == "COLON":
        text, mended = f"the value of {name} comes before its type", (constant_order(),)
        return Message("parse-syntax", text, f".const {name} = 2.0 : f32", remedies=mended)
    if token.type == "USES":
        text, mended = f"'=' is missing after {name}", (append(" ="),)
        return Message("parse-missing-token", text, f".const {name} = 2.0 : f32", remedies=mended)
    if token.type in _WORDS:
        help = f"%{name}: names of values begin with %"
        return Message("parse-syntax", f"expected a value, found {name!r}", help, remedies=(insert("%"),))
    return Message("parse-syntax", f"{word} needs a name", form)


def _group(s: Situation) -> Message | None:
    """Returns ``pto.tadd in(..)``."""
    head, following = s.head, s.following
    if head is None or head.type != "OP_DPS" or s.token.type != "WORD" or s.statement[-1] is not head:
        return None
    if following is None or following.type != "LPAR":
        return None
    text = f"unexpected {shown(s.token.text)!r}"
    return Message("parse-syntax", text, "did you mean ins?", remedies=(replace(None, "ins"),))


def _parentheses(s: Situation) -> Message | None:
    head = s.head
    subscripted = s.previous is not None and s.previous.type == "USES" and "LSQB" in s.expected
    if s.token.type == "LPAR" and s.previous is not None and subscripted and _indices(s):
        name = shown(s.previous.text.split(",")[-1].strip())
        return Message(
            "parse-syntax", "indices are written in square brackets", f"{name}[..]", remedies=(square_brackets(),)
        )
    if s.token.type != "LPAR" or head is None or s.statement[-1] is not head or "LPAR" in s.expected:
        return None
    if head.type == "OP_SYNC_BRACKET":
        return None
    text = f"{head.text} is written without parentheses"
    return Message("parse-syntax", text, usage(head.text), remedies=(without_parentheses(),))


def _indices(s: Situation) -> bool:
    """Returns whether only numbers or values are in the parentheses at the unexpected token, as in a subscript."""
    return s.head is not None and _SUBSCRIPT.match(s.text, s.token.start) is not None


def _equal_sign(s: Situation) -> Message | None:
    following = s.following
    if s.token.type != "EQUAL" or following is None or following.type not in s.expected:
        return None
    text = f"no '=' follows {shown(s.statement[-1].text)!r}"
    return Message("parse-syntax", text, "remove the '='", remedies=(without_equals(),))


def _wrong_arrow(s: Situation) -> Message | None:
    """Reports an arrow where a colon or ``to`` belongs, or where the type of the result is implied."""
    if s.token.text == "to" and "ARROW" in s.expected and s.following is not None and s.following.type in _TYPES:
        return Message(
            "parse-missing-token", "the result type follows '->', not 'to'", "->", remedies=(other_mark("to", "->"),)
        )
    if s.token.type != "ARROW" or "ARROW" in s.expected:
        return None
    if s.head is not None and s.head.type in _WITH_TO:
        return Message(
            "parse-missing-token", "the result type follows 'to', not '->'", "to", remedies=(other_mark("->", "to"),)
        )
    if "COLON" in s.expected and s.following is not None and s.following.type in _TYPES:
        return Message("parse-missing-token", "the type follows ':', not '->'", ":", remedies=(other_mark("->", ":"),))
    if s.head is not None and s.statement[-1].type == "TYPES" and s.following is not None and not s.open_brackets:
        text = f"{s.head.text} takes no '->': the type of its result follows from that of its operands"
        return Message("parse-syntax", text, f"remove '-> {shown(s.following.text)}'", remedies=(without_arrow(),))
    return None


def _types_missing(s: Situation) -> Message | None:
    """Reports operands or arguments without their types, casts without their result."""
    previous = s.statement[-1]
    ends = s.token.type in ("RPAR", "OUTS") or s.begins_statement
    if not ends:
        return None
    if "TO" in s.expected and previous.type == "TYPES" and s.head is not None:
        text, mended = f"{s.head.text} needs its result type after 'to'", (result_type("to"),)
        return Message("parse-missing-types", text, "to type", previous, remedies=mended)
    if "COLON" not in s.expected or s.inside("LBRACE"):
        return None
    names = shown(previous.text)
    if previous.type == "USES" and (s.open_brackets or not s.begins_statement):
        several = "," in previous.text
        noun, types = ("types", ", ".join("type" for _ in previous.text.split(","))) if several else ("type", "type")
        verb = "are" if several else "is"
        text, mended = f"the {noun} of {names} {verb} missing", (missing_types(),)
        return Message("parse-missing-types", text, f"{names} : {types}", previous, remedies=mended)
    if previous.type == "RPAR" and s.head is not None and s.begins_statement and not s.open_brackets:
        text, mended = f"the types of {s.head.text} are missing", (missing_types(),)
        return Message("parse-missing-types", text, usage(s.head.text), previous, remedies=mended)
    return None


def _else_if(s: Situation) -> Message | None:
    previous = s.statement[-1]
    if previous.type != "ELSE" or "LBRACE" not in s.expected or not (s.token.type == "OP_IF" or s.token.text == "if"):
        return None
    text = "the branch after else is a region"
    return Message("parse-syntax", text, "else { scf.if ..", remedies=(else_region(),))


def _bounds(s: Situation) -> Message | None:
    """Returns ``scf.for %i = %a, %b, %c``."""
    if s.token.type != "COMMA" or s.head is None or s.head.type != "OP_FOR" or s.statement[-1].type != "BINDINGS":
        return None
    text = "the bounds of scf.for are separated by 'to', not ','"
    return Message("parse-missing-token", text, usage(s.head.text), remedies=(bounds(),))


def _predicate(s: Situation) -> Message | None:
    head = s.head
    if head is None or head.type != "OP_COMPARE" or s.statement[-1] is not head or s.token.type != "USES":
        return None
    first = "slt" if head.text.endswith("i") else "olt"
    text, help = f"the predicate of {head.text} is missing", f"{head.text} {first}, {s.token.text}"
    return Message("parse-syntax", text, help, remedies=(predicate(first),))


def _literal(s: Situation) -> Message | None:
    head = s.head
    if head is None or head.type != "OP_CONSTANT":
        return None
    if s.token.type == "COLON" and s.following is not None and s.statement[-1].text in ("true", "false"):
        word = s.statement[-1].text
        bit = str(int(word == "true"))
        text, help = f"{word} is an i1 and is written without its type", f"{word}, or {bit} : {shown(s.following.text)}"
        return Message("literal-type", text, help, remedies=(replace_before(word, bit),))
    if s.statement[-1] is not head or s.token.type not in (*_WORDS, "STRING"):
        return None
    if did_you_mean(s.token.text, ("true", "false")):
        return None
    text = f"a constant is a number, true or false, found {shown(s.token.text)!r}"
    quoted = _QUOTED_NUMBER.fullmatch(s.token.text)
    if quoted is not None:
        return Message("parse-syntax", text, f"write {quoted[1]}", remedies=(replace(None, quoted[1]),))
    return Message("parse-syntax", text, _BITS.get(s.token.text.lower()) or usage(head.text))


def _argument_order(s: Situation) -> Message | None:
    """Returns ``@f(i32 %a)`` and ``@f(%x: f32, i32 %a)``."""
    if s.head is None or s.head.type != "OP_FUNC" or s.token.type != "USES" or s.statement[-1].type != "TYPES":
        return None
    types = split_types(s.statement[-1].text)
    if s.statement[-2].type not in ("LPAR", "COMMA") and len(types) < 2:
        return None
    name, type_ = s.token.text.partition(",")[0], types[-1][0]
    text, help = f"the type of {name} follows its name", f"{name}: {shown(type_)}"
    return Message("parse-syntax", text, help, remedies=(argument_order(),))


def _number(s: Situation) -> Message | None:
    """Returns a number among values."""
    if s.token.type not in ("INTEGER", "FLOAT") or [tok.type for tok in s.statement[-2:]] != ["USES", "COMMA"]:
        return None
    if not s.inside("LPAR") or s.token.type in s.expected:
        return None
    message = f"operands are values, found the number {shown(s.token.text)}"
    mended = (constant_for(s.token.text),)
    return Message("parse-syntax", message, "define it with arith.constant", remedies=mended)


def _list_missing(s: Situation) -> Message | None:
    """Reports a view that ends after its first list."""
    lists = view_lists(s.head.text) if s.head is not None else ()
    if s.token.text in lists and s.inside("LSQB"):
        text, help, mended = "this '[' is not closed", "add the missing ']'", (close_bracket("["),)
        return Message("parse-unbalanced", text, help, s.open_brackets[-1], remedies=mended)
    before = lists[: lists.index(s.token.text)] if s.token.text in lists else lists
    if (s.token.type != "COLON" and before == lists) or s.open_brackets:
        return None
    missing = [name for name in before if not any(tok.text == name for tok in s.statement)]
    if not missing:
        return None
    text = f"{missing[0]} = [..] is missing before {shown(s.token.text)!r}"
    mended = (missing_strides(),) if missing[0] == "strides" else ()
    return Message("parse-missing-token", text, f", {missing[0]} = [%a, %b]", remedies=mended)


def missing_mark(s: Situation) -> Message | None:
    """Returns the only punctuation or keyword that could follow and is missing."""
    if s.previous is None:
        return None
    wanted = s.expected - _OPTIONAL
    if len(wanted) != 1:
        return None
    (kind,) = wanted
    mark = _MARKS.get(kind) or _KEYWORDS.get(kind)
    if mark is None or (s.token.type in _WORDS and did_you_mean(s.token.text, [mark])):
        return None
    help = usage(s.head.text) if s.head is not None else None
    if s.begins_statement:
        text = f"'{mark}' is missing after {shown(s.statement[-1].text)}"
        return Message("parse-missing-token", text, help, s.last, remedies=(mark_after(mark),))
    mended = (mark_before(mark), *((missing_step(),) if mark == "step" else ()))
    return Message("parse-missing-token", f"'{mark}' is missing before {shown(s.token.text)!r}", help, remedies=mended)
