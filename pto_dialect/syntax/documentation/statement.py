"""Parser of one statement of documentation: results, operands, attributes and types, in any of the notations.

``%r = op %a, "W" {k = v} : A -> R``, ``op ins(%a : A) outs(%r : R)`` and ``op %r, %a`` have the same parts.

Source: docs/reference/language.md, "Level 1 and Level 2", "Notations of documents".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"|->|[()\[\]{}<>,:]')
_INS_OUTS = re.compile(
    r"\s*(?:ins\((?P<ins>.*?)\))?\s*(?P<middle>\"[^\"]*\")?\s*(?:outs\((?P<outs>.*)\))?\s*(?P<tail>\{.*\})?\s*$",
    re.DOTALL,
)


@dataclass(frozen=True)
class Statement:
    """``types`` and ``outputs`` are ``None`` where the text states none; ``outs`` states that the results were in
    outs(..), ``in_parentheses`` that the types of ins(..) were in parentheses."""

    name: str
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    attributes: str = ""
    types: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    outs: bool = False
    prefixed: bool = True
    in_parentheses: bool = False

    @property
    def values(self) -> list[str]:
        """Returns the operands that are values, with their indices."""
        return [operand for operand in self.operands if operand.startswith("%")]

    def destinations_first(self, number: int) -> Statement:
        """Returns the statement with the first ``number`` operands as results."""
        moved, rest = self.operands[:number], self.operands[number:]
        types, outputs = self.types, self.outputs
        if types is not None and len(types) == len(self.operands):
            outputs, types = outputs or types[:number], types[number:]
        elif types is not None and len(types) == len(rest) and outputs is not None:
            pass
        else:
            types = outputs = None
        return replace(self, results=moved, operands=rest, types=types, outputs=outputs)

    def with_operand(self, position: int, operand: str, type_: str) -> Statement:
        """Returns the statement with one more operand."""
        values = [place for place, each in enumerate(self.operands[:position]) if each.startswith("%")]
        types = self.types
        if types is not None:
            types = (*types[: len(values)], type_, *types[len(values) :])
        return replace(self, operands=(*self.operands[:position], operand, *self.operands[position:]), types=types)

    def text(self, *, typed: bool = True) -> str:
        """Returns the statement as programs write it, ``: ...`` where a type is missing."""
        head = f"{', '.join(self.results)} = " if self.results else ""
        body = " ".join(part for part in (self.name, ", ".join(self.operands), self.attributes) if part)
        if not typed:
            return head + body
        if self.types is None or (self.results and self.outputs is None):
            return f"{head}{body} : ..."
        inputs = ", ".join(self.types)
        if self.outputs is None:
            return f"{head}{body} : {inputs}"
        outputs = ", ".join(self.outputs)
        return f"{head}{body} : {inputs} -> {outputs}" if inputs else f"{head}{body} : {outputs}"


def split(text: str, separator: str) -> list[str]:
    """Splits ``text`` at each ``separator`` (one of ``,``, ``:``, ``->``) outside brackets and strings,
    without blanks."""
    parts: list[str] = []
    start = depth = 0
    for found in _WORD.finditer(text):
        word = found.group()
        if word in ("(", "[", "{", "<"):
            depth += 1
        elif word in (")", "]", "}", ">"):
            depth -= 1
        elif depth == 0 and word == separator:
            parts.append(text[start : found.start()].strip())
            start = found.end()
    return [*parts, text[start:].strip()]


def types_of(text: str) -> tuple[str, ...]:
    """Returns the types of a list that may be in parentheses."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return tuple(each for each in split(text, ",") if each)


def take_apart(name: str, results: str, rest: str, *, prefixed: bool) -> Statement:
    """Returns the parts of ``results name rest``."""
    named = tuple(re.findall(r"%[\w$.\-]+(?::\d+)?", results))
    groups = _INS_OUTS.fullmatch(rest)
    if groups is not None and (groups["ins"] is not None or groups["outs"] is not None):
        return _in_groups(Statement(name, named, prefixed=prefixed), groups)
    rest, attributes = _trailing_dictionary(rest)
    operands, *tail = split(rest, ":")
    operands, inner = _trailing_dictionary(operands)
    types: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    if tail:
        inputs, *arrow = split(": ".join(tail), "->")
        types = types_of(inputs)
        outputs = types_of(arrow[0]) if arrow else None
        if not arrow and named and not operands:
            types, outputs = (), types
    return Statement(
        name,
        named,
        tuple(each for each in split(operands, ",") if each),
        inner or attributes,
        types if types != ("...",) else None,
        outputs if outputs != ("...",) else None,
        prefixed=prefixed,
    )


def _in_groups(statement: Statement, groups: re.Match[str]) -> Statement:
    """Reads ``ins(..) "W" outs(..)``, where both groups hold values and types."""
    values, types, attributes = _typed(groups["ins"] or "")
    outs, outputs, _ = _typed(groups["outs"] or "")
    middle = (groups["middle"],) if groups["middle"] else ()
    return replace(
        statement,
        results=outs or statement.results,
        operands=(*middle, *values),
        attributes=attributes or groups["tail"] or "",
        types=types,
        outputs=outputs if outs else None,
        outs=bool(outs),
        in_parentheses=bool(re.search(r":\s*\(", groups["ins"] or "")),
    )


def _typed(group: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Returns the values and types of ``%a, %b {..} : A, B``, and the dictionary between them."""
    values, *types = split(group, ":")
    values, attributes = _trailing_dictionary(values)
    return tuple(each for each in split(values, ",") if each), types_of(": ".join(types)), attributes


def _trailing_dictionary(text: str) -> tuple[str, str]:
    """Returns ``text`` without the ``{..}`` at its end, and that dictionary."""
    text = text.strip()
    if not text.endswith("}"):
        return text, ""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] == "}") - (text[position] == "{")
        if depth == 0:
            return text[:position].rstrip().removesuffix(",").rstrip(), text[position:]
    return text, ""
