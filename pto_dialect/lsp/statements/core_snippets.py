"""Whole statements of operations of other dialects, from templates.

In a template ``<r>`` is a name for the result, ``<a:T>`` a value of the type that ``<T>`` spells, ``<=text>`` a text to
be replaced, ``<0>`` where the cursor is at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pto_dialect.ir.core.types import type_text

from .placeholders import escaped, free_names
from .scope import Typed

_INT, _FLOAT, _FIXED, _INDEX, _BOOL = r"i\d+|index", r"f\d+|bf16", r"i\d+", "index", "i1"
_USUAL = {_INT: "index", _FLOAT: "f32", _FIXED: "i32", _INDEX: "index", _BOOL: "i1"}
"""Patterns of types, and the type where no value has one."""

_INTEGERS = (
    "addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui minsi maxsi minui maxui ceildivsi floordivsi"
)
_FLOATS = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf"

TEMPLATES: dict[str, tuple[str, dict[str, str]]] = {
    **{f"arith.{name}": (f"<r> = arith.{name} <a:T>, <b:T> : <T>", {"T": _INT}) for name in _INTEGERS.split()},
    **{f"arith.{name}": (f"<r> = arith.{name} <a:T>, <b:T> : <T>", {"T": _FLOAT}) for name in _FLOATS.split()},
    "arith.constant": ("<r> = arith.constant <=0> : <=index>", {}),
    "arith.cmpi": ("<r> = arith.cmpi <=slt>, <a:T>, <b:T> : <T>", {"T": _INT}),
    "arith.cmpf": ("<r> = arith.cmpf <=olt>, <a:T>, <b:T> : <T>", {"T": _FLOAT}),
    "arith.select": ("<r> = arith.select <c:C>, <a:T>, <b:T> : <T>", {"C": _BOOL, "T": _INT}),
    "arith.index_cast": ("<r> = arith.index_cast <a:T> : <T> to <=i64>", {"T": _INDEX}),
    "arith.extsi": ("<r> = arith.extsi <a:T> : <T> to <=i64>", {"T": _FIXED}),
    "arith.trunci": ("<r> = arith.trunci <a:T> : <T> to <=i8>", {"T": _FIXED}),
    "arith.sitofp": ("<r> = arith.sitofp <a:T> : <T> to <=f32>", {"T": _FIXED}),
    "scf.for": ("scf.for <=%i> = <a:T> to <b:T> step <c:T> {\n  <0>\n}", {"T": _INDEX}),
    "scf.if": ("scf.if <c:C> {\n  <0>\n}", {"C": _BOOL}),
    "scf.yield": ("scf.yield", {}),
    "func.return": ("return", {}),
    "func.func": ("func.func @<=name>(<=%x: index>) {\n  <0>\n  return\n}", {}),
    "builtin.module": ("module {\n  <0>\n}", {}),
}
"""The templates, and the types that their letters stand for."""

_HOLE = re.compile(r"<(?:(?P<value>\w+):(?P<of>\w+)|=(?P<text>[^>]+)|(?P<word>\w+))>")


def operand_patterns(name: str) -> tuple[str, ...]:
    """What the types of the operands of an operation must spell, as patterns; nothing for one without a template."""
    template, patterns = TEMPLATES.get(name, ("", {}))
    return tuple(patterns[match["of"]] for match in _HOLE.finditer(template) if match["value"])


def core_statement(name: str, scope: Sequence[Typed], with_result: bool) -> str | None:
    """The statement as a snippet, ``None`` without a template; ``with_result``: the text already has the result and its
    equals sign."""
    found = TEMPLATES.get(name)
    if found is None:
        return None
    template, patterns = found
    if with_result:
        template = template.removeprefix("<r> = ")
    spelled = {
        letter: next((text for value in scope if re.fullmatch(pattern, text := type_text(value.type))), _USUAL[pattern])
        for letter, pattern in patterns.items()
    }
    used: list[str] = []
    stops = 0
    parts: list[str] = []
    last = 0
    for match in _HOLE.finditer(template):
        parts.append(escaped(template[last : match.start()]))
        last = match.end()
        if match["word"] in spelled:
            parts.append(spelled[match["word"]])
            continue
        if match["word"] == "0":
            parts.append("$0")
            continue
        stops += 1
        text = match["text"] or free_names("v", scope, 1)[0]
        if match["value"]:
            fitting = [value.name for value in scope if type_text(value.type) == spelled[match["of"]]]
            text = next((one for one in fitting if one not in used), fitting[0] if fitting else f"%{match['value']}")
            used.append(text)
        parts.append(f"${{{stops}:{escaped(text)}}}")
    return "".join((*parts, escaped(template[last:])))
