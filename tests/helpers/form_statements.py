"""The forms that ``pto explain`` prints, completed to statements: types for ``T``, values for ``..``, one keyword of
each choice, and optional parts left out or written one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.explain.examples import example_of
from pto_dialect.ir.clauses import clauses_of
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, signature
from pto_dialect.ir.core.clauses import Clause
from pto_dialect.ir.core.types import type_text
from pto_dialect.syntax.read.parser import parse_program

TILE = "!pto.tile_buf<vec, 16x16xf32>"
TYPES = {
    "a tile or view": TILE,
    "!pto.vmi.vreg": "!pto.vmi.vreg<64xf32>",
    "!pto.ptr": "!pto.ptr<f32, ub>",
    "!pto.vreg": "!pto.vreg<64xf32>",
    "!pto.ptr or memref": "!pto.ptr<f32, ub>",
    "!pto.mask": "!pto.mask<b32>",
    "!pto.vmi.mask": "!pto.vmi.mask<64xb32>",
    "any type": "i64",
    "!pto.tile_buf": TILE,
    "a tile or !pto.tensor_view": TILE,
    "!pto.vmi.vreg or !pto.vmi.mask": "!pto.vmi.vreg<64xf32>",
    "a float": "f32",
    "a signless integer": "i32",
    "an integer, index or float": "f32",
    "a signless integer or float": "f32",
    "an integer or float": "f32",
    "an integer": "i32",
    "a signless integer, float or !pto.ptr in fb": "f32",
    "an integer, !pto.ptr, memref, tile or view": "i64",
    "!pto.tensor_view": "!pto.tensor_view<16x16xf32>",
    "a view": "!pto.partition_tensor_view<16x16xf32>",
    "!pto.partition_tensor_view": "!pto.partition_tensor_view<16x16xf32>",
    "!pto.pipe": "!pto.pipe",
    "memref": "memref<16xf32>",
    "i32, i64, a float or a packed pair of floats": "f32",
    "!pto.ptr or a view": "!pto.ptr<f32, ub>",
    "a tile or view, not a memref": TILE,
    "!pto.vreg or !pto.mask": "!pto.vreg<64xf32>",
    "!pto.multi_tile_buf": "!pto.multi_tile_buf<vec, 16x16xf32, count = 2>",
}
"""A type for each kind; others are called like their kind, or like its first type."""
WORD = re.compile(r"(?<![\w%#.!])[A-Z][A-Z0-9_]+(?![\w=])")


def type_of(cls: type[PtoOp], slot: Slot, known: dict[str, str]) -> str:
    """A type for an operand or result: that of the example, else one of its kind."""
    return known.get(slot.name) or TYPES.get(slot.kind.label) or slot.kind.label.partition(" or ")[0]


@cache
def example_types(cls: type[PtoOp]) -> dict[str, str]:
    """The types that operands and results have in the example of the operation."""
    module = parse_program(SourceFile("example.pto", example_of(cls.name).program), DiagnosticEngine())
    assert module is not None
    op = next(one for one in module.walk() if one.name == cls.name)
    found: dict[str, str] = {}
    for slot in (*signature(cls).operands, *signature(cls).results):
        value = getattr(op, slot.name, None)
        if isinstance(value, (list, tuple)):
            value = value[0] if value else None
        if value is not None:
            found[slot.name] = type_text(value.type)
    return found


class Part(NamedTuple):
    """A text of a form; ``optional`` in brackets, ``is_type`` for types alone."""

    text: str
    optional: bool
    is_type: bool = False


def parts_of(form: str) -> list[Part]:
    """The texts of a form, in and outside of the brackets of optional parts."""
    found: list[Part] = []
    text, position = "", 0
    while position < len(form):
        if form[position] != "[" or not _is_optional(form, position):
            text += form[position]
            position += 1
            continue
        end = _closing(form, position)
        inner = form[position + 1 : end]
        is_type = re.fullmatch(r"[,\s>-]*(?:[a-z]\w* )?T[, .T]*", inner) is not None
        found += [Part(text, False), Part(inner, True, is_type)]
        text, position = "", end + 1
    return [*found, Part(text, False)]


def chosen(form: str, kept: int | None) -> str:
    """The form with its optional parts left out, but for part ``kept`` and its types."""
    parts = parts_of(form)
    keep = set[int]() if kept is None else {kept, *_types_of(parts, kept)}
    texts = [
        (chosen(part.text, None) if "[" in part.text else part.text) if part.optional else part.text
        for number, part in enumerate(parts)
        if not part.optional or number in keep
    ]
    return " ".join("".join(texts).replace("(, ", "(").split())


def _types_of(parts: list[Part], kept: int) -> list[int]:
    """The optional types that belong to an optional part: those of results after the arrow, others in order."""
    head = next((n for n, part in enumerate(parts) if re.search(r"(^| )pto\.", part.text)), 0)
    arrow = next((n for n, part in enumerate(parts) if "->" in part.text), len(parts))
    for values, types in (
        (range(head), range(arrow, len(parts))),
        (range(head, len(parts)), range(arrow)),
    ):
        if kept not in values:
            continue
        named = {n: _names(parts[n].text) for n in values if parts[n].optional and not parts[n].is_type}
        typed = [n for n in types if parts[n].optional and parts[n].is_type for _ in range(_count(parts[n].text))]
        # The operand of a clause that may have a keyword instead.
        typed = typed[sum(len(re.findall(r"\(%\w+\|", part.text)) for part in parts if not part.optional) :]
        if sum(map(len, named.values())) != len(typed):
            return []
        first = sum(len(names) for n, names in named.items() if n < kept)
        return typed[first : first + len(_names(_first(chosen(parts[kept].text, None))))]
    return []


def _names(text: str) -> list[str]:
    return [] if ": T" in text else list(dict.fromkeys(re.findall(r"%\w+", text)))


def _count(text: str) -> int:
    return len(re.findall(r"\bT\b", text))


def optional_parts(form: str) -> list[int]:
    """The optional parts of their own: types belong to their values."""
    return [number for number, part in enumerate(parts_of(form)) if part.optional and not part.is_type]


def _is_optional(form: str, at: int) -> bool:
    before, inner = form[:at], form[at + 1 : _closing(form, at)]
    if inner.startswith((",", "(", "{", " ->")) or inner.endswith((", ", "=")) or inner in ("T", "T, T"):
        return True
    return not (before[-1:].isalnum() or before.endswith(("_", "= ", "sizes ", "valid ")))


def _closing(form: str, at: int) -> int:
    depth = 0
    for position in range(at, len(form)):
        depth += {"[": 1, "]": -1}.get(form[position], 0)
        if depth == 0:
            return position
    raise AssertionError(form)


def _first(form: str) -> str:
    """The first of each choice."""
    return re.sub(r"(?<=[\w>])\|[%\w|]+(?:\([^)]*\))?(?:\|[%\w|]+(?:\([^)]*\))?)*", "", form)


def completed(cls: type[PtoOp], form: str, known: dict[str, str]) -> str:
    """A form without optional parts, with a type for each ``T`` and a value for each placeholder."""
    slots = {slot.name: slot for slot in (*signature(cls).operands, *signature(cls).results)}
    form = _first(form.replace("(%sub_blockid|", "("))
    for taken in clauses_of(cls):
        form = re.sub(rf"\b{taken.row.name}\(([^)]*)\)", lambda at, row=taken.row: _clause(cls, row, at[1]), form)
    form = re.sub(r"(\w+) = \.\.", lambda key: f"{key[1]} = {_value(cls, key[1])}", form)
    form = re.sub(r"(%\w+|\bT), \.\.", r"\1", form.replace(", .. }", " }").replace(", ..}", "}"))
    form = re.sub(r"(?<![\w%\"])[A-SU-Z](?:, \.\.)?(?!\w)", "1", form.replace("%results..", "%results"))
    form = form.replace("{ .. ", "{ ").replace("): .. }", "): }").replace("{ }", "{ }")
    form = WORD.sub(lambda word: _word(cls, word[0].lower()), form)
    results = [slot.name for slot in signature(cls).results]
    head, equals, tail = form.partition(" = ") if form.startswith("%") else ("", "", form)
    text, names = head + equals, list[str]()
    for part in re.split(r"(%\w+|\bT\b|(?<=: )type\b|->| to |<<<.*>>>|\{ \^.*\})", tail):
        if part.startswith("%"):
            names.append(part[1:])
        if part in ("->", " to ") or (part.endswith(" : ") and not names) or (part == " outs : "):
            names = [name for name in results]
        elif part.endswith(": "):
            names = _in_order(cls, names)
        if part.startswith("{ ^"):
            part = part.replace(": T", f": {type_of(cls, slots[names[0]], known)}")
        if part in ("T", "type"):
            name = names.pop(0) if names else ""
            part = type_of(cls, slots[name], known) if name in slots else "i64"
        text += part
    return text


def _in_order(cls: type[PtoOp], names: list[str]) -> list[str]:
    """The operands whose types are stated, in the order of the types."""
    typed = op_spec(cls).typed
    if typed is None or not set(typed) & set(names):
        return names
    named = [name for taken in clauses_of(cls) for name in names if name not in typed and name in str(taken.row)]
    return [*(name for name in typed if name in names), *dict.fromkeys(named)]


def _clause(cls: type[PtoOp], row: Clause, inside: str) -> str:
    """A clause with enumerators for its placeholders."""
    named = dict(row.named)
    inside = re.sub(r"(\w+) = \.\.", lambda key: f"{key[1]} = {_bare(cls, named.get(key[1], ''))}", inside)
    return f"{row.name}({_bare(cls, row.attribute) if inside == '..' else inside})"


def _bare(cls: type[PtoOp], name: str) -> str:
    return ENUMS[signature(cls).attributes[name].kind.enums[0]].values[0]


def _value(cls: type[PtoOp], key: str) -> str:
    slot = signature(cls).attributes.get(key)
    if slot is None:
        return "1"
    label = slot.kind.label
    if slot.kind.enums:
        word = ENUMS[slot.kind.enums[0]].values[0]
        return label.partition(" or ")[0].replace("..", word)
    if slot.kind.words:
        return f'"{slot.kind.words[0]}"'
    if label.startswith("an i"):
        return f"1 : {label.split()[1]}"
    return _VALUES.get(label, "1")


_VALUES = {
    "true or false": "true",
    "a unit attribute": "unit",
    "a string attribute": '"x"',
    "a symbol": "@f",
    "an array attribute": "[1]",
}


def _word(cls: type[PtoOp], name: str) -> str:
    slots = {one.lower(): slot for one, slot in signature(cls).attributes.items()}
    slot = slots.get(name)
    if slot is None:
        return name.upper()
    if slot.kind.enums:
        return ENUMS[slot.kind.enums[0]].values[0]
    return slot.kind.words[0] if slot.kind.words else "0"


def statements(cls: type[PtoOp], form: str) -> Iterator[str]:
    """The form without optional parts, and with each of them."""
    known = example_types(cls)
    for kept in (None, *optional_parts(form)):
        yield completed(cls, chosen(form, kept), known)


def program(cls: type[PtoOp], statement: str) -> str:
    """A program around a statement: its operands are arguments."""
    known = example_types(cls)
    _, _, right = statement.partition(" = ") if statement.startswith("%") else ("", "", statement)
    used = dict.fromkeys(re.findall(r"%(\w+)", right))
    slots = {slot.name: slot for slot in signature(cls).operands}
    arguments = ", ".join(f"%{name}: {type_of(cls, slots[name], known) if name in slots else 'i64'}" for name in used)
    return f"module {{\n  func.func @f({arguments}) {{\n    {statement}\n    return\n  }}\n}}\n"


def problems(cls: type[PtoOp], form: str) -> Iterator[tuple[str, str]]:
    """Statements of a form that the parser refuses, each with its first error."""
    for statement in statements(cls, form):
        engine = DiagnosticEngine()
        parse_program(SourceFile("form.pto", program(cls, statement)), engine)
        wrong = [one for one in engine.diagnostics if one.severity.label == "error"]
        if wrong:
            yield statement, f"{wrong[0].message} [{wrong[0].rule}]"
