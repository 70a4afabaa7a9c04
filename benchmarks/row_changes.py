"""Applies changes of a table to programs: one location of one statement, one value's type, or all types of one
spelling.

The table says what is changed in terms of the program's text (``%a: f32 -> i32``, ``all i8 -> i1``, ``drop %b``);
where a statement cannot be distinguished from others of its operation, every one of them is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

NAME = re.compile(r"%[\w$.-]+(?:#\d+)?")
_RESULTS = re.compile(r"\s*%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?:\s|$)")
_BEGINS = re.compile(_RESULTS.pattern + r"|\s*(?:[a-z]\w*\.[\w.]+|\}|\^|return\b|//|module\b|$)")
_HEAD = re.compile(r"\s*(?:func\.func|\^)")
_OPEN, _CLOSE = "([{<", ")]}>"


class Place(NamedTuple):
    """A changed program and the line of the change."""

    line: int
    text: str


class Span(NamedTuple):
    """A part of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The part itself."""
        return text[self.start : self.end]


Edit = tuple[int, int, str]


class Row(NamedTuple):
    """A row of the table as far as the program is concerned."""

    operation: str
    kind: str
    change: str


def edited(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with parts of it replaced."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def spelled(words: str) -> re.Pattern[str]:
    """Matches ``words`` whatever white space is between them, not inside of longer words."""
    words = r"\s*".join(re.escape(part) for part in words.split())
    return re.compile(rf"(?<![\w%!.]){words}(?![\w.])")


def statements(text: str, operation: str) -> Iterator[Span]:
    """The statements of ``operation``, whole lines."""
    for found in re.finditer(rf"(?<![\w.]){re.escape(operation)}(?![\w.])", text):
        start = text.rfind("\n", 0, found.start()) + 1
        if "//" in text[start : found.start()]:
            continue
        end = text.find("\n", found.end())
        while 0 <= end < len(text) - 1 and not _BEGINS.match(text, end + 1, _end_of_line(text, end + 1)):
            end = text.find("\n", end + 1)
        yield Span(start, len(text) if end < 0 else end)


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def split(text: str, span: Span, at: str) -> list[Span]:
    """The parts of ``span`` between the characters ``at`` outside of brackets."""
    parts, depth, start = [], 0, span.start
    for position in range(span.start, span.end):
        char = text[position]
        if char in _OPEN or (char in _CLOSE and not (char == ">" and text[position - 1] == "-")):
            depth += 1 if char in _OPEN else -1
        elif char == at and not depth:
            parts.append(Span(start, position))
            start = position + 1
    return [*parts, Span(start, span.end)]


def enclosing(text: str, statement: Span, position: int) -> Span:
    """The list in which ``position`` stands: between round brackets, or after the name of the operation."""
    depth = 0
    for at in range(position - 1, statement.start - 1, -1):
        if text[at] in ")]}":
            depth += 1
        elif text[at] in "([{":
            if not depth and text[at] == "(":
                return Span(at + 1, _closing(text, at, statement.end))
            depth -= 1
    begin = _behind_results(text, statement)
    word = re.compile(r"\s*[\w.]+").match(text, begin)
    return Span(word.end() if word else begin, statement.end)


def _behind_results(text: str, statement: Span) -> int:
    """Where the operation begins that a statement names the results of."""
    results = _RESULTS.match(text, *statement)
    return results.end() if results else statement.start


def _closing(text: str, opened: int, end: int) -> int:
    depth = 0
    for at in range(opened, end):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if not depth:
            return at
    return end


def type_slot(text: str, statement: Span, name: Span) -> Span | None:
    """The type of the operand at ``name`` where each operand of its list has one."""
    halves = split(text, enclosing(text, statement, name.start), ":")
    if len(halves) != 2:
        return None
    names, types = (split(text, half, ",") for half in halves)
    number = next((n for n, span in enumerate(names) if span.start <= name.start < span.end), None)
    if number is None or len(names) != len(types):
        return None
    slot = types[number]
    lead = len(slot.of(text)) - len(slot.of(text).lstrip())
    return Span(slot.start + lead, slot.start + len(slot.of(text).rstrip()))


# ------------------------------------------------------------ kinds of changes

Apply = Callable[[str, Row], Iterator[list[Edit]]]


def _halves(change: str) -> tuple[str, str]:
    old, _, new = change.partition("->") if " -> " not in change else change.partition(" -> ")
    return old.strip(), new.strip()


def everywhere(text: str, row: Row) -> Iterator[list[Edit]]:
    """``all X -> Y``: each type of that spelling."""
    old, new = _halves(row.change.removeprefix("all "))
    yield [(found.start(), found.end(), new) for found in spelled(old).finditer(text)]


def in_statement(text: str, row: Row) -> Iterator[list[Edit]]:
    """``X -> Y`` at one location of a statement of the operation."""
    old, new = _halves(row.change.removesuffix(" (here only)").removeprefix("int "))
    for statement in statements(text, row.operation):
        for found in spelled(old).finditer(text, *statement):
            yield [(found.start(), found.end(), new)]


def without_attribute(text: str, row: Row) -> Iterator[list[Edit]]:
    """``drop attr X``: with its comma, or with the braces around it alone."""
    words = spelled(row.change.removeprefix("drop attr ")).pattern
    pattern = re.compile(rf"\s*\{{\s*{words}\s*\}}|{words}\s*,\s*|,\s*{words}")
    for statement in statements(text, row.operation):
        for found in pattern.finditer(text, *statement):
            yield [(found.start(), found.end(), "")]


def _operands(text: str, row: Row, name: str) -> Iterator[tuple[Span, Span]]:
    for statement in statements(text, row.operation):
        for found in NAME.finditer(text, _behind_results(text, statement), statement.end):
            if found[0] == name:
                yield statement, Span(*found.span())


def other_operand(text: str, row: Row) -> Iterator[list[Edit]]:
    """``%a -> %b``, or ``%a -> %b: T`` with the type of the other."""
    old, new = _halves(row.change)
    name, _, type_ = new.partition(": ")
    for statement, place in _operands(text, row, old):
        slot = type_slot(text, statement, place) if type_ else None
        yield [(place.start, place.end, name), *([(slot.start, slot.end, type_)] if slot else [])]


def twice(text: str, row: Row) -> Iterator[list[Edit]]:
    """``dup %a``: the operand and its type stand twice."""
    name = row.change.removeprefix("dup ")
    for statement, place in _operands(text, row, name):
        slot = type_slot(text, statement, place)
        again = [(slot.end, slot.end, f", {slot.of(text)}")] if slot else []
        yield [(place.end, place.end, f", {name}"), *again]


def without_operand(text: str, row: Row) -> Iterator[list[Edit]]:
    """``drop %a``: the operand and its type, each with a comma."""
    for statement, place in _operands(text, row, row.change.removeprefix("drop ")):
        slot = type_slot(text, statement, place)
        parts = [_with_comma(text, part) for part in (place, slot) if part is not None]
        yield [(part.start, part.end, "") for part in parts]


def _with_comma(text: str, part: Span) -> Span:
    before = re.search(r",\s*$", text[: part.start])
    if before:
        return Span(before.start(), part.end)
    behind = re.compile(r"\s*,\s*").match(text, part.end)
    return Span(part.start, behind.end() if behind else part.end)


def exchanged(text: str, row: Row) -> Iterator[list[Edit]]:
    """``swap %a %b`` or ``reorder X Y``: two parts of a statement change places."""
    words = row.change.removeprefix("swap ").removeprefix("reorder ")
    first, second = re.findall(r"\w+\([^)]*\)" if "(" in words else r"%\S+", words)
    for statement in statements(text, row.operation):
        places = [spelled(part).search(text, *statement) for part in (first, second)]
        if all(places):
            yield [
                (*found.span(), other[0])
                for found, other in zip(places, reversed(places), strict=True)
                if found and other
            ]


def of_value(text: str, row: Row) -> Iterator[list[Edit]]:
    """``%a: X -> Y``: the type of one value, where it is defined and wherever it is spelled for a use."""
    name, _, types = row.change.partition(": ")
    old, new = _halves(types)
    pattern = spelled(old)
    for body in _functions(text):
        inside = body.of(text)
        if row.operation not in inside and row.operation != "(none)":
            continue
        equal = _values_of(inside, pattern)
        if name not in equal:
            continue
        edits = [
            (body.start + start, body.start + end, new)
            for line in _all_statements(inside)
            for start, end in _types_of(inside, line, name, pattern, equal)
        ]
        if edits:
            yield edits


def _functions(text: str) -> Iterator[Span]:
    starts = [found.start() for found in re.finditer(r"(?m)^[ \t]*func\.func\b", text)]
    yield from (Span(start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=True))


def _all_statements(text: str) -> Iterator[Span]:
    start = 0
    for found in re.finditer(r"\n", text):
        if _BEGINS.match(text, found.end(), _end_of_line(text, found.end())):
            yield Span(start, found.start())
            start = found.end()
    yield Span(start, len(text))


def _values_of(text: str, pattern: re.Pattern[str]) -> set[str]:
    """Names of the values that have the type in the text of one function."""
    found = {match[1] for match in re.finditer(rf"(%[\w$.-]+)\s*:\s*{pattern.pattern}", text)}
    for line in _all_statements(text):
        results, equals, rest = line.of(text).partition(" = ")
        tail = re.split(r"->|\bto\b|(?<!:):(?!:)", rest)[-1] if equals else ""
        names = NAME.findall(results)
        types = [part.of(tail).strip(" \n()") for part in split(tail, Span(0, len(tail)), ",")]
        found.update(n for n, type_ in zip(names, types, strict=False) if pattern.match(type_))
    return found


def _types_of(text: str, line: Span, name: str, pattern: re.Pattern[str], equal: set[str]) -> Iterator[Span]:
    """Where the type of ``name`` is spelled in a statement."""
    statement = line.of(text)
    if name not in NAME.findall(statement):
        return
    found: set[Span] = set()
    begin = _behind_results(text, line) - line.start
    if _HEAD.match(statement):
        heads = re.finditer(rf"{re.escape(name)}\s*:\s*({pattern.pattern})", statement)
        found.update(Span(*each.span(1)) for each in heads)
    else:
        arrow = statement.rfind("->")
        if name in NAME.findall(statement[:begin]):
            found.update(_of_result(statement, begin, name, pattern, equal))
        if name in NAME.findall(statement[begin:]):
            operands = statement if arrow < begin else statement[:arrow]
            found.update(_of_operand(operands, begin, name, pattern, equal))
    yield from (Span(line.start + each.start, line.start + each.end) for each in found)


def _of_result(text: str, begin: int, name: str, pattern: re.Pattern[str], equal: set[str]) -> Iterator[Span]:
    places = [Span(*found.span()) for found in pattern.finditer(text, begin)]
    if not equal & set(NAME.findall(text[begin:])):
        yield from places
        return
    owners = [each for each in NAME.findall(text[:begin]) if each in equal]
    behind = places[-len(owners) :] if len(owners) <= len(places) else places[-1:]
    yield from (place for place, owner in zip(behind, owners, strict=False) if owner == name)


def _of_operand(text: str, begin: int, name: str, pattern: re.Pattern[str], equal: set[str]) -> Iterator[Span]:
    mentions = [Span(*found.span()) for found in NAME.finditer(text, begin) if found[0] in equal]
    slots = [(place, type_slot(text, Span(0, len(text)), place)) for place in mentions]
    if all(slot is not None for _, slot in slots):
        yield from (slot for place, slot in slots if slot and place.of(text) == name and pattern.match(slot.of(text)))
        return
    places = [Span(*found.span()) for found in pattern.finditer(text, begin)]
    if len(places) == len(mentions):
        yield from (place for place, owner in zip(places, mentions, strict=True) if owner.of(text) == name)
    else:
        yield from places[:1]


def other_target(text: str, row: Row) -> Iterator[list[Edit]]:
    """``arch X->Y``: the target that the module names."""
    old, new = _halves(row.change.removeprefix("arch "))
    found = re.search(rf'pto\.target_arch\s*=\s*"({old})"', text)
    yield [(found.start(1), found.end(1), new)] if found else []


_BY_KIND: dict[str, Apply] = {
    "drop-attr": without_attribute,
    "other-operand": other_operand,
    "same-type-operand": other_operand,
    "dup-operand": twice,
    "drop-operand": without_operand,
    "swap": exchanged,
    "reorder-clause": exchanged,
    "arch": other_target,
}


def places(text: str, row: Row) -> list[Place]:
    """The changed programs that a row may mean, without those that cannot be distinguished."""
    if row.kind.startswith("W:"):
        apply: Apply = everywhere
    elif row.kind.startswith("T:"):
        apply = of_value
    else:
        apply = _BY_KIND.get(row.kind, in_statement)
    found = {}
    for edits in apply(text, row):
        first = min((start for start, _, _ in edits), default=0)
        found.setdefault(edited(text, edits), text.count("\n", 0, first) + 1)
    return [Place(line, changed) for changed, line in found.items() if changed != text or row.kind == "arch"]
