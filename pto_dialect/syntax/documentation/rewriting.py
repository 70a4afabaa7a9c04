"""Conversion of documentation text to the forms of the grammar; only done where schematic text is allowed.

Pages of the instruction manual write placeholders for types (``!pto.vreg<NxT>``, ``dtype``) and use notations besides
those of programs: destinations first and no prefix (``vabs %r, %s, %m``), ``ins(..) outs(..)`` for every operation,
operations that the dialect does not have. Each statement is rewritten in its position; no line moves.

Source: docs/reference/language.md, "PTO-AS assembly", "Notations of documents".
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import NamedTuple

from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import PLAIN_TYPES

from ..enum_spelling import ASSEMBLY_ENUM, respelled
from ..types.forms import PTO_FORMS
from .forms import ANY, FORMS, Names
from .shapes import TILE_SHAPES, as_dialect, destinations, is_dialect_form
from .statement import Statement, take_apart
from .tables import OTHER_ATTRIBUTES, OTHER_FORMS, OTHER_NAMES, UNSUPPORTED, WITHOUT_BUFFERS

_PLACEHOLDER = re.compile(
    r"\.\.\.|…|\b(?:[A-Z][A-Z]?\d?|T_\w+|dtype|rows|cols|loc|DstType|SrcType|MASK|ESIZE)\b(?!\s*=\s*\w)"
    r"|(?:^|x)(?:[A-Z]\w?|rows|cols)x|x(?:[A-Z]|dtype)\b"
)
_TYPE = re.compile(r"(?<![\w#])!?pto\.([a-z]\w*(?:\.[a-z]\w*)?)<((?:[^<>]|<[^<>]*>)*)>")
_BARE_TYPE = re.compile(r"(?<=[:,(>|])(\s*)(?:dtype|scalar|T_\w+|[TUSG]\d?)(?=\s*(?:[,)\n|]|->|$))")
_BARE_POINTER = re.compile(r"!pto\.ptr(?!\s*<)")
_OPEN_ENUM = re.compile(r"#pto<\s*(\w+)\s+x+\s*>|#pto\.(\w+)<\s*x+\s*>")
_SCHEMATIC_SIGNATURE = re.compile(r":\s*\.\.\.\s*->\s*\.\.\.")
_MEMREF = re.compile(r"(?<![.\w])memref<\.\.\.>")
_ELEMENT_FIRST = re.compile(r"\s*([a-z]+\d+|predicate)\s*,\s*(\d+(?:\s*,\s*\d+)*|\d+(?:x\d+)+)\s*")
_PAGE_COMMENT = re.compile(r"[ \t]--[ \t][^\n]*|^[ \t]*#(?![\w.]*[<=]|[\w.]+[ \t]*=)[^\n]*", re.MULTILINE)

_OTHER_STATEMENTS = ("//", "}", "^", '"', "%", "return", "scf.", "arith.", "func.", "pto.")
"""The start of a line that does not continue the statement above."""

_NAMES = r"%[\w$.\-]+(?::\d+)?(?:\s*,\s*%[\w$.\-]+)*"
_STATEMENT = re.compile(
    rf"^(?P<lead>[ \t]*)(?P<results>{_NAMES}\s*=\s*)?"
    r"(?P<name>(?:pto\.)?[A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?=[ \t]|\[|\(|$)",
    re.MULTILINE,
)
_PREDICATE_MOVES = {name: name for name in ("pldi", "plds", "psti", "psts")} | {"pld": "plds", "pst": "psts"}
"""Loads and stores of predicates, whose pages write the offset as an operand of its own, or omit it."""
_TYPES_AT_END = re.compile(r"\s*:\s*\w+(?:\s*,\s*\w+)*\s*(?=//|$)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*")
_REPEATED_TYPE = re.compile(r"\b([a-z]+\d+) x(\d)\b")
_VALUE = re.compile(r"%[\w$.\-]+")
_ELEMENT = re.compile(r"(%[\w$.\-]+)\[%([\w$.\-]+)\](?=\[)")
_NO_RESULT_TYPE = re.compile(r"->\s*\Z")


class Remark(NamedTuple):
    """The interpretation of a statement that programs write differently; the location is that in the new text."""

    start: int
    end: int
    text: str


class Documentation(NamedTuple):
    """A text in the notation of programs."""

    text: str
    remarks: list[Remark]


def normalise(text: str) -> str:
    """Returns ``text`` with placeholders and notations of documentation replaced; every statement stays on its first
    line."""
    return read_documentation(text).text


def read_documentation(text: str) -> Documentation:
    """Returns the result of ``normalise``, with remarks on the interpretation."""
    text = _PAGE_COMMENT.sub(lambda found: " " * len(found.group()), text)
    text = _SCHEMATIC_SIGNATURE.sub(": ...", text)
    text = _MEMREF.sub(ANY, text)
    text = _TYPE.sub(_known_type, text)
    text = _BARE_TYPE.sub(lambda found: f"{found[1]}{ANY}", text)
    text = _BARE_POINTER.sub("!pto.ptr<...>", text)
    text = _REPEATED_TYPE.sub(lambda found: ", ".join([found[1]] * int(found[2])), text)
    text = ASSEMBLY_ENUM.sub(respelled, text)
    text = _OPEN_ENUM.sub(_first_enumerator, text)
    text = _ELEMENT.sub(r"\1_\2", text)
    starts = [found for found in _STATEMENT.finditer(text) if _mnemonic(found["name"]) is not None]
    names = itertools.count()
    pieces: list[str] = []
    remarks: list[Remark] = []
    done = length = 0
    for position, found in enumerate(starts):
        end = starts[position + 1].start() if position + 1 < len(starts) else len(text)
        end = _end_of_statement(text, found.end(), end)
        rewritten, note = _rewritten(found, text[found.end() : end], names, text)
        before = text[done : found.start()]
        length += len(before)
        if note:
            remarks.append(Remark(length + len(found["lead"]), length + len(rewritten), note))
        lines = "\n" * (text.count("\n", found.start(), end) - rewritten.count("\n"))
        pieces += [before, rewritten, lines]
        length += len(rewritten) + len(lines)
        done = end
    return Documentation("".join(pieces) + text[done:], remarks)


def _end_of_statement(text: str, start: int, limit: int) -> int:
    """Returns the end of a statement: before an empty line, a comment line, or a line that does not continue it."""
    position = text.find("\n", start, limit)
    while 0 <= position < limit:
        line_end = text.find("\n", position + 1, limit)
        line = text[position + 1 : limit if line_end < 0 else line_end].strip()
        if not line or line.startswith(_OTHER_STATEMENTS):
            return position
        position = line_end
    return limit if not text[start:limit].endswith("\n") else limit - 1


def _known_type(found: re.Match[str]) -> str:
    """Returns a type whose parameters are placeholders, or that is not of the dialect, with ``...`` for its
    parameters."""
    name, body = found.groups()
    if f"pto.{name}" in PLAIN_TYPES:
        return f"!pto.{name}"
    if f"pto.{name}" not in PTO_FORMS:
        return f"!manual.{name}<...>" if found[0].startswith("!") else found[0]
    element_first = _ELEMENT_FIRST.fullmatch(body)
    if element_first is not None and name in ("tile", "memref", "vreg", "tensor_view", "partition_tensor_view"):
        element, dims = element_first.groups()
        return f"!pto.{name}<{'x'.join(re.findall(r'[0-9]+', dims))}x{element}>" if element != "predicate" else ANY
    if name == "tile_buf" and (element_first is not None or "RowMajor" in body):
        return "!pto.tile_buf<...>"
    return f"!pto.{name}<...>" if _PLACEHOLDER.search(body) else f"!pto.{name}<{body}>"


def _first_enumerator(found: re.Match[str]) -> str:
    kind = found[1] or found[2]
    return ENUMS[kind].spell(ENUMS[kind].values[0]) if kind in ENUMS else found[0]


def _mnemonic(word: str) -> str | None:
    """Returns the operation that a token at the start of a statement names; ``None`` for other tokens."""
    name = word.lower().removeprefix("pto.")
    if name in _PREDICATE_MOVES:
        return f"pto.{_PREDICATE_MOVES[name]}"
    if name in UNSUPPORTED or name in OTHER_NAMES:
        return name
    full = MNEMONIC_ALIASES.get(f"pto.{name}", f"pto.{name}")
    return full if full in OPS else None


def _rewritten(found: re.Match[str], rest: str, names: Names, text: str) -> tuple[str, str]:
    """Returns one statement in a form that the grammar reads, and its interpretation if programs write it
    differently."""
    lead, word = found["lead"], found["name"]
    name = _mnemonic(word)
    assert name is not None
    for spelled, attribute in OTHER_ATTRIBUTES.get(name, {}).items():
        rest = re.sub(rf"\b{spelled}(?=\s*=)", attribute, rest)
    prefixed = word.lower().startswith("pto.")
    statement = take_apart(name, found["results"] or "", _COMMENT.sub("", rest), prefixed=prefixed)
    first = 0 if prefixed or statement.results else destinations(name, statement)
    moved = statement.destinations_first(first) if first else statement
    form = FORMS.get(name)
    if form is not None and not is_dialect_form(moved):
        reading = form(moved, names)
        if reading is not None:
            return f"{lead}{reading.text}", reading.note
    if name not in OPS:
        return f"{lead}{_foreign(moved)}", f"the dialect has no {name}; it is kept and not checked"
    shape = OPS[name][2]
    reason = OTHER_FORMS.get(name, "")
    if not reason or is_dialect_form(moved):
        parenthesised = shape in ("OP_COMM_GROUP", "OP_PAREN")
        reason = WITHOUT_BUFFERS if parenthesised and not rest.lstrip().startswith(("(", "{")) else ""
    if reason:
        return f"{lead}{_foreign(moved)}", f"this form of {name} is kept and not checked: {reason}"
    head = f"{lead}{found['results'] or ''}"
    if shape.startswith("OP_SYNC"):
        return f"{head}{name}{_TYPES_AT_END.sub('', rest)}", ""
    several = _several_results(moved, text)
    if several is not None:
        return f"{lead}{several.text()}", ""
    changed = as_dialect(statement if shape.startswith(TILE_SHAPES) else moved, names)
    if changed is not None:
        return f"{lead}{changed}", ""
    rest = _NO_RESULT_TYPE.sub(f"-> {ANY}", rest)
    return f"{head}{word if shape.startswith('OP_DPS') else name}{rest}", ""


def _several_results(statement: Statement, text: str) -> Statement | None:
    """Returns one name for several results (``%m``, used as ``%m#0``) as programs write it: ``%m:2``."""
    if len(statement.results) != 1 or statement.outputs is None or len(statement.outputs) < 2:
        return None
    (name,) = statement.results
    if ":" in name or f"{name}#" not in text:
        return None
    return replace(statement, results=(f"{name}:{len(statement.outputs)}",))


def _foreign(statement: Statement) -> str:
    """Returns an operation that the dialect does not have in generic form: its values, all of unknown type."""
    values = [value for operand in statement.operands for value in _VALUE.findall(operand)]
    head = f"{', '.join(statement.results)} = " if statement.results else ""
    types = ", ".join([ANY] * len(values))
    outputs = ", ".join([ANY] * len(statement.results))
    name = statement.name.removeprefix("pto.")
    return f'{head}"manual.{name}"({", ".join(values)}) : ({types}) -> ({outputs})'
