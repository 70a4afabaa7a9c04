"""Types that are missing, others than those of the values, or written in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import Group, around, groups, parts
from .wrong import Wrong, told

_NAME = re.compile(r"%[\w.$\-]*[\w$](?:#\d+)?")


def _types_of(w: Wrong, group: Group) -> str | None:
    """The types of the operands of a group, as a list; ``None`` where one is not known."""
    names = [name for part in group.values for name in _NAME.findall(part.text.partition("{")[0])]
    known = [w.types.get(name) for name in names]
    return ", ".join(type_ for type_ in known if type_ is not None) if names and None not in known else None


@told(r"the types? of .+ (?:is|are) missing")
@told(r"needs its types|needs .* types")
def _types_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = groups(w)
    group = around(w)
    types = _types_of(w, group)
    last = group.values[-1].end if group.values else None
    if types is None or last is None:
        yield from _call_types(w)
        return
    if group.colon is None:
        one = ", ".join(dict.fromkeys(types.split(", "))) if types.count("<") == 0 else types
        for text in dict.fromkeys((types, one)):
            yield w.inserted(f" : {text}", last)
        yield from _call_types(w)
    if "ins" in found and all(each.colon is None for each in found.values()):
        # The types of both groups stand behind the statement.
        edits: list[Edit] = []
        for each in found.values():
            own = _types_of(w, each)
            if own is None or not each.values:
                return
            edits.append(Edit(each.values[-1].end, each.values[-1].end, f" : {own}"))
        behind = max(each.end for each in found.values()) + 1
        rest = re.compile(r"\s*:[^\n]*").match(w.text, behind)
        if rest is not None:
            yield Fix("write the types behind their operands", (*edits, Edit(rest.start(), rest.end(), "")))


def _call_types(w: Wrong) -> Iterator[Fix]:
    """``: (types) -> types`` of a call, from the function that is called."""
    statement = w.text[w.statement_start : w.statement_end]
    called = re.search(r"(@[\w$.]+)\s*\(([^()]*)\)", statement)
    if called is None:
        return
    signature = re.search(
        rf"func\.func[^@\n]*{re.escape(called[1])}\s*\(([^()]*)\)\s*(?:->\s*(\([^()]*\)|[^\s{{]+))?", w.text
    )
    if signature is not None:
        types = ", ".join(part.partition(":")[2].strip() for part in signature[1].split(",") if ":" in part)
        yield w.inserted(f" : ({types}) -> {signature[2] or '()'}", w.statement_start + called.end())


@told(r"^(%\S+) has type (.+), but (.+) is stated here", r"^state the type of the constant")
def _constant_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.search(rf"{re.escape(m[1])}\s*=\s*arith\.constant\s+\S+", w.text)
    if found is not None:
        yield w.inserted(f" : {m[3]}", found.end())


@told(r" must be (\w+), found \w+$", r"^state the type of the constant")
def _constant_kind(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.search(rf"{re.escape(w.word)}\s*=\s*arith\.constant\s+\S+\s*:\s*(\w+)", w.text)
    if found is not None:
        yield w.replaced(m[1], found.start(1), found.end(1))


@told(r"^(%\S+) has type (.+), but (.+) is stated here")
def _stated_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    names = [part.text for part in group.values]
    if m[1] in names and len(group.types) == len(names):
        part = group.types[names.index(m[1])]
        yield w.replaced(m[2], part.start, part.end)
    at = w.text.find(m[3], w.statement_start, w.statement_end)
    while at >= 0:
        yield w.replaced(m[2], at, at + len(m[3]))
        at = w.text.find(m[3], at + 1, w.statement_end)


@told(r"^\d+ (?:typed )?operands but \d+ types?")
def _number_of_types(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    types = _types_of(w, group)
    if types is not None and group.types:
        yield w.replaced(types, group.types[0].start, group.types[-1].end)


@told(r"needs its result type after '(->|to)'")
def _result_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    if len(group.types) > 1:
        comma = w.text.rindex(",", group.start, group.types[-1].start)
        yield w.replaced(" ->", comma, comma + 1)
    candidates = [group.types[0].text] if group.types and m[1] == "->" else []
    for type_ in (*candidates, *(("index", "i32", "i64", "f32", "f16") if m[1] == "to" else ())):
        yield w.inserted(f" {m[1]} {type_}", group.end, safe=False)


@told(r"takes no '->': the type of its result follows", r"^remove '(-> .+)'")
def _arrow_too_many(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    end = w.type_end(w.start + 2 + len(w.text[w.start + 2 :]) - len(w.text[w.start + 2 :].lstrip()))
    yield w.replaced("", w.trimmed(w.start), end)


@told(r"^(?P<first>\S+) and (?P<second>\S+) of .+ must have (?:the same|one) (?:element type|number)")
@told(r"^the vectors of .+ have one number of lanes")
def _result_like_operand(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """The type of the result is that of the first operand."""
    group = around(w)
    if group.types and group.results:
        part = group.results[-1]
        yield w.replaced(group.types[0].text, part.start, part.end, safe=False)


@told(r"must have one element type, found (\w+) and (\w+)")
def _element_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    for old, new in ((m[2], m[1]), (m[1], m[2])):
        found = re.compile(rf"x{old}\b|<{old}\b").search(w.text, w.statement_start, w.statement_end)
        if found is not None:
            yield w.replaced(new, found.start() + 1, found.end(), safe=False)


@told(r"a vector register holds", r"^(!pto\.\S+)$")
def _register(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    for found in re.compile(r"!pto\.\w+<[^<>]*>").finditer(w.text, w.statement_start, w.statement_end):
        if found.start() <= w.start < found.end():
            yield w.replaced(h[1], found.start(), found.end(), safe=False)


@told(r"^!pto\.tile_buf takes a location, a shape")
def _tile_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"!pto\.tile_buf<").match(w.text, w.start)
    close = w.closing(found.end() - 1) if found is not None else None
    if found is None or close is None:
        return
    inside = [part.text for part in parts(w.text, found.end(), close)]
    numbers = [text for text in inside[1:] if re.fullmatch(r"\d+|\?", text)]
    if numbers and len(inside) > 1 + len(numbers):
        shape = "x".join([*numbers, inside[1 + len(numbers)]])
        yield w.replaced(", ".join([inside[0], shape, *inside[2 + len(numbers) :]]), found.end(), close)
    if inside and re.match(r"\d", inside[0]):
        yield w.inserted("vec, ", found.end(), safe=False)


@told(r"^the element type is missing after (\S+)")
def _element_first(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(rf"(\w+)\s*,\s*{re.escape(m[1])}").search(w.text, w.statement_start, w.statement_end)
    if found is not None:
        yield w.replaced(f"{m[1]}x{found[1]}", *found.span())


@told(r"^the long form of tile_buf needs the key (\w+)")
def _long_key(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    order = re.findall(r"\w+", (h.string or "").partition("(")[0])
    usual = {
        "blayout": "row_major",
        "slayout": "none_box",
        "fractal": "512",
        "pad": "0",
        "v_row": "rows",
        "v_col": "cols",
    }
    value = usual.get(m[1])
    text = w.text[w.start : w.type_end(w.start)]
    if value in ("rows", "cols"):
        known = re.search(rf"\b{value}=(\S+?)[,>]", text)
        value = known[1] if known is not None else None
    if value is None:
        return
    for later in order[order.index(m[1]) + 1 :] if m[1] in order else ():
        at = re.search(rf"\b{later}\s*=", text)
        if at is not None:
            yield w.inserted(f"{m[1]}={value}, ", w.start + at.start(), safe=False)
            return


@told(r"^(\w+) must be ((?:\d+, )*\d+ or \d+), found (\d+)")
def _number_of_list(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    wanted = [int(number) for number in re.findall(r"\d+", m[2])]
    for number in sorted(wanted, key=lambda each: abs(each - int(m[3]))):
        at = w.text.find(m[3], w.start, w.statement_end)
        if at >= 0:
            yield w.replaced(str(number), at, at + len(m[3]), safe=False)


@told(r"^valid (rows|columns) (\d+) must be within 0\.\.(\d+)")
def _valid(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    first = r"valid=(?:\d+|\?)x" if m[1] == "columns" else r"valid="
    found = re.compile(rf"{first}({m[2]})\b").search(w.text, w.statement_start, w.statement_end)
    if found is not None:
        yield w.replaced(m[3], *found.span(1), safe=False)


@told(r"^a row of (!pto\.tile_buf<\w+, (\d+)x(\d+)x(\w+))>? has (\d+) bytes, not a multiple of 32")
def _short_row(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    columns = int(m[3])
    bytes_ = int(m[5]) // columns
    if not bytes_ or 32 % bytes_:
        return
    least = 32 // bytes_
    more = -(-columns // least) * least
    old = m[1] + ">"
    new = f"{old.partition(',')[0]}, {m[2]}x{more}x{m[4]}, valid={m[2]}x{m[3]}>"
    edits = [Edit(f.start(), f.end(), new) for f in re.finditer(re.escape(old), w.text)]
    yield Fix(f"make rows of {more} elements of which {columns} are valid", tuple(edits), safe=False)


@told(r"^size (\d+) of .+ is (\d+), the result type says (\d+)")
def _stated_size(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    for part in group.results:
        found = re.search(r"<([\dx?]+)x(\w+)>", part.text)
        sizes = found[1].split("x") if found else []
        if found is not None and int(m[1]) < len(sizes):
            sizes[int(m[1])] = m[2]
            start = part.start + found.start(1)
            yield w.replaced("x".join(sizes), start, start + len(found[1]), safe=False)


@told(r"^unknown element type '(\w+)'", r"^for example")
def _element_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    pointer = re.search(r"!pto\.ptr<(\w+),", w.text)
    if w.word == m[1]:
        yield w.inserted(f"{pointer[1] if pointer else 'f32'}, ", w.start, safe=False)


@told(r"^(-?\d+) does not fit into i(\d+)")
def _wider(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(rf"\bi{m[2]}\b").search(w.text, w.start, w.statement_end)
    for width in (16, 32, 64):
        if found is not None and width > int(m[2]):
            yield w.replaced(f"i{width}", *found.span(), safe=False)
            return


@told(r"have type index, found (i\d+)", r"state the type of the loop behind its step")
def _loop_type(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    brace = w.text.find("{", w.start, w.line_end(w.start))
    if brace >= 0:
        yield w.inserted(f" : {m[1]}", w.trimmed(brace))
