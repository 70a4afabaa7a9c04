"""Types that are missing, others than those of the values, or written in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import Group, around, group, groups, parts
from .site import Site, remedy

_NAME = r"%[\w.$\-]*[\w$](?:#\d+)?"
_CAST_RESULTS = ("index", "i32", "i64", "f32", "f16")
_USUAL_OPTIONS = {"blayout": "row_major", "slayout": "none_box", "fractal": "512", "pad": "0"}
_SAME_AS = {"v_row": "rows", "v_col": "cols"}


def _types_of(site: Site, group: Group) -> str | None:
    """Returns the types of the operands of a group, as a list; ``None`` where one is not known."""
    names = [name for part in group.values for name in re.findall(_NAME, part.text.partition("{")[0])]
    known = [site.types.get(name) for name in names]
    return ", ".join(type_ for type_ in known if type_ is not None) if names and None not in known else None


@remedy
def missing_types(site: Site) -> Iterator[Fix]:
    """The types of the operands are missing."""
    found = groups(site)
    group = around(site)
    types = _types_of(site, group)
    last = group.values[-1].end if group.values else None
    if types is None or last is None:
        yield from _call_types(site)
        return
    if group.colon is None:
        one = ", ".join(dict.fromkeys(types.split(", "))) if types.count("<") == 0 else types
        for text in dict.fromkeys((types, one)):
            yield site.inserted(f" : {text}", last)
        yield from _call_types(site)
    if "ins" in found and all(each.colon is None for each in found.values()):
        yield from _types_into_groups(site, list(found.values()))


def _types_into_groups(site: Site, found: list[Group]) -> Iterator[Fix]:
    """The types of both groups follow the statement."""
    edits: list[Edit] = []
    for each in found:
        own = _types_of(site, each)
        if own is None or not each.values:
            return
        edits.append(Edit(each.values[-1].end, each.values[-1].end, f" : {own}"))
    rest = re.compile(r"\s*:[^\n]*").match(site.text, max(each.end for each in found) + 1)
    if rest is not None:
        yield Fix("write the types after their operands", (*edits, Edit(rest.start(), rest.end(), "")))


def _call_types(site: Site) -> Iterator[Fix]:
    """Yields ``: (types) -> types`` of a call, from the function that is called."""
    statement = site.text[site.statement_start : site.statement_end]
    called = re.search(r"(@[\w$.]+)\s*\(([^()]*)\)", statement)
    if called is None:
        return
    header = rf"func\.func[^@\n]*{re.escape(called[1])}\s*\(([^()]*)\)\s*(?:->\s*(\([^()]*\)|[^\s{{]+))?"
    signature = re.search(header, site.text)
    if signature is not None:
        types = ", ".join(part.partition(":")[2].strip() for part in signature[1].split(",") if ":" in part)
        yield site.inserted(f" : ({types}) -> {signature[2] or '()'}", site.statement_start + called.end())


@remedy
def constant_type(site: Site, name: str, type_: str) -> Iterator[Fix]:
    """The constant ``name`` is defined with ``type_``."""
    found = re.search(rf"{re.escape(name)}\s*=\s*arith\.constant\s+[^\s:]+(?:\s*:\s*(\w+))?", site.text)
    if found is not None and found[1] is None:
        yield site.inserted(f" : {type_}", found.end())
    elif found is not None:
        yield site.replaced(type_, *found.span(1))


@remedy
def stated_type(site: Site, name: str, actual: str, stated: str) -> Iterator[Fix]:
    """The value ``name`` has the type ``actual``, the statement says ``stated``."""
    group = around(site)
    names = [part.text for part in group.values]
    if name in names and len(group.types) == len(names):
        part = group.types[names.index(name)]
        yield site.replaced(actual, part.start, part.end)
    at = site.text.find(stated, site.statement_start, site.statement_end)
    while at >= 0:
        yield site.replaced(actual, at, at + len(stated))
        at = site.text.find(stated, at + 1, site.statement_end)


@remedy
def types_of_operands(site: Site) -> Iterator[Fix]:
    """One type for each operand: theirs."""
    group = around(site)
    types = _types_of(site, group)
    if types is not None and group.types:
        yield site.replaced(types, group.types[0].start, group.types[-1].end)


def _type_at_use(site: Site) -> str | None:
    """Returns the type that a later statement states for the result of this one."""
    head = re.compile(r"(%[\w.$]+)\s*=").match(site.text, site.statement_start)
    if head is None:
        return None
    for line in site.text[site.statement_end :].split("\n"):
        found = group(line, 0, len(line.partition("//")[0]))
        operands = [re.search(r"%[\w.$]+$", part.text) for part in found.values]
        names = [name[0] if name is not None else "" for name in operands]
        if head[1] in names and len(names) == len(found.types):
            return found.types[names.index(head[1])].text
    return None


@remedy
def result_type(site: Site, mark: str) -> Iterator[Fix]:
    """The type of the result is missing after ``mark``: ``->``, or the ``to`` of a cast."""
    found = around(site)
    if len(found.types) > 1:
        comma = site.text.rindex(",", found.start, found.types[-1].start)
        yield site.replaced(" ->", comma, comma + 1)
    candidates = [found.types[0].text] if found.types and mark == "->" else []
    used = _type_at_use(site)
    if used is not None:
        yield site.inserted(f" {mark} {used}", found.end)
    for type_ in (*candidates, *(_CAST_RESULTS if mark == "to" else ())):
        yield site.inserted(f" {mark} {type_}", found.end, safe=False)


@remedy
def types_without_parentheses(site: Site) -> Iterator[Fix]:
    """Without the parentheses around the types after the colon that the diagnostic points at."""
    start = site.text.find("(", site.end, site.statement_end)
    close = site.closing(start) if start >= 0 else None
    if close is not None:
        yield Fix("write the types without parentheses", (Edit(start, start + 1, ""), Edit(close, close + 1, "")))


@remedy
def without_arrow(site: Site) -> Iterator[Fix]:
    """Without the arrow that the diagnostic points at and the type after it."""
    rest = site.text[site.start + 2 :]
    end = site.type_end(site.start + 2 + len(rest) - len(rest.lstrip()))
    yield site.replaced("", site.trimmed(site.start), end)


@remedy
def result_like_operand(site: Site) -> Iterator[Fix]:
    """The type of the result is that of the first operand."""
    group = around(site)
    if group.types and group.results:
        part = group.results[-1]
        yield site.replaced(group.types[0].text, part.start, part.end, safe=False)


@remedy
def one_element_type(site: Site, one: str, other: str) -> Iterator[Fix]:
    """Two types of a statement have one element type."""
    for old, new in ((other, one), (one, other)):
        found = re.compile(rf"x{old}\b|<{old}\b").search(site.text, site.statement_start, site.statement_end)
        if found is not None:
            yield site.replaced(new, found.start() + 1, found.end(), safe=False)


@remedy
def register_type(site: Site, type_: str) -> Iterator[Fix]:
    """Another type of a vector register."""
    for found in re.compile(r"!pto\.\w+<[^<>]*>").finditer(site.text, site.statement_start, site.statement_end):
        if found.start() <= site.start < found.end():
            yield site.replaced(type_, found.start(), found.end(), safe=False)


@remedy
def pointer_type(site: Site, type_: str) -> Iterator[Fix]:
    """``type_`` in place of the type before the ``*`` that the diagnostic points at."""
    begin = re.search(r"[\w.!<>]+$", site.text[: site.trimmed(site.start)])
    if begin is not None:
        yield site.replaced(type_, begin.start(), site.end)


@remedy
def pointer_parameters(site: Site, type_: str) -> Iterator[Fix]:
    """``type_`` in place of a pointer type with its parameters in another order."""
    start, end = site.text.rfind("!pto.ptr<", site.statement_start, site.start), site.text.find(">", site.end)
    if start >= 0 and end >= 0:
        yield site.replaced(type_, start, end + 1)


@remedy
def tile_parameters(site: Site) -> Iterator[Fix]:
    """A tile type with commas between its extents, or without its memory."""
    found = re.compile(r"!pto\.tile_buf<").match(site.text, site.start)
    close = site.closing(found.end() - 1) if found is not None else None
    if found is None or close is None:
        return
    inside = [part.text for part in parts(site.text, found.end(), close)]
    numbers = [text for text in inside[1:] if re.fullmatch(r"\d+|\?", text)]
    if numbers and len(inside) > 1 + len(numbers):
        shape = "x".join([*numbers, inside[1 + len(numbers)]])
        yield site.replaced(", ".join([inside[0], shape, *inside[2 + len(numbers) :]]), found.end(), close)
    if inside and re.match(r"\d", inside[0]):
        yield site.inserted("vec, ", found.end(), safe=False)


@remedy
def missing_element(site: Site, extents: str) -> Iterator[Fix]:
    """The element type is missing after ``extents``: it is before them, lacks its ``x``, or is not there."""
    found = re.compile(rf"(\w+)\s*,\s*{re.escape(extents)}").search(site.text, site.statement_start, site.statement_end)
    if found is not None:
        yield site.replaced(f"{extents}x{found[1]}", *found.span())
    cross = "" if extents.endswith("x") else "x"
    if site.text.startswith("f32", site.end):
        yield site.replaced(f"{extents}{cross}f32", site.start, site.end + 3)
    else:
        yield site.replaced(f"{extents}{cross}f32", safe=False)


@remedy
def missing_pointee(site: Site) -> Iterator[Fix]:
    """The element type of a pointer is missing before its memory: that of another pointer, or f32."""
    pointer = re.search(r"!pto\.ptr<(\w+),", site.text)
    yield site.inserted(f"{pointer[1] if pointer else 'f32'}, ", site.start, safe=False)


@remedy
def long_key(site: Site, key: str, *following: str) -> Iterator[Fix]:
    """``key`` of a tile type in the long form is missing before one of those ``following``."""
    text = site.text[site.start : site.type_end(site.start)]
    value = _USUAL_OPTIONS.get(key)
    if key in _SAME_AS:
        known = re.search(rf"\b{_SAME_AS[key]}=(\S+?)[,>]", text)
        value = known[1] if known is not None else None
    for later in following if value is not None else ():
        at = re.search(rf"\b{later}\s*=", text)
        if at is not None:
            yield site.inserted(f"{key}={value}, ", site.start + at.start(), safe=False)
            return


@remedy
def nearest_number(site: Site, found: int, *allowed: str) -> Iterator[Fix]:
    """One of the numbers ``allowed`` in place of ``found``."""
    at = site.text.find(str(found), site.start, site.statement_end)
    for number in sorted(allowed, key=lambda each: abs(int(each) - found)) if at >= 0 else ():
        yield site.replaced(number, at, at + len(str(found)), safe=False)


@remedy
def valid_extent(site: Site, axis: str, found: int, most: int) -> Iterator[Fix]:
    """The valid rows or columns of a tile are at most its own."""
    first = r"valid=(?:\d+|\?)x" if axis == "columns" else r"valid="
    extent = re.compile(rf"{first}({found})\b").search(site.text, site.statement_start, site.statement_end)
    if extent is not None:
        yield site.replaced(str(most), *extent.span(1), safe=False)


@remedy
def padded_type(site: Site, old: str, new: str) -> Iterator[Fix]:
    """A larger tile with the same valid region, at all its uses."""
    edits = [Edit(f.start(), f.end(), new) for f in re.finditer(re.escape(old), site.text)]
    if edits:
        yield Fix(f"write {new}", tuple(edits), safe=False)


@remedy
def stated_size(site: Site, index: int, size: int) -> Iterator[Fix]:
    """The result type states the size that an operand gives."""
    for part in around(site).results:
        found = re.search(r"<([\dx?]+)x(\w+)>", part.text)
        sizes = found[1].split("x") if found else []
        if found is not None and index < len(sizes):
            sizes[index] = str(size)
            start = part.start + found.start(1)
            yield site.replaced("x".join(sizes), start, start + len(found[1]), safe=False)


@remedy
def wider_integer(site: Site, width: int) -> Iterator[Fix]:
    """An integer type of more than ``width`` bits after the number that the diagnostic points at."""
    found = re.compile(rf"\bi{width}\b").search(site.text, site.start, site.statement_end)
    wider = next((each for each in (16, 32, 64) if each > width), None)
    if found is not None and wider is not None:
        yield site.replaced(f"i{wider}", *found.span(), safe=False)


@remedy
def loop_type(site: Site, type_: str) -> Iterator[Fix]:
    """The type of a loop after its step."""
    brace = site.text.find("{", site.start, site.line_end(site.start))
    if brace >= 0:
        yield site.inserted(f" : {type_}", site.trimmed(brace))
