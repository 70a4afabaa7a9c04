"""Parts of a statement that stand in another order, in another place, or belong to another form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import around, groups, values_before
from .wrong import Wrong, told


@told(r"has 0 results, but 1 name given", r"^remove (%\S+) =")
@told(r"on buffers has no result", r"^()the form is")
def _result_too_many(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"%[^=\n]*=\s*").match(w.text, w.statement_start)
    if found is None:
        return
    if h[1]:
        yield w.replaced("", *found.span())
        outs = groups(w).get("outs")
        ins = groups(w).get("ins")
        if ins is not None and outs is not None and outs.types and ins.colon is not None:
            # Values with the groups of buffers.
            first, last = ins.values[0].start, ins.values[-1].end
            types = ", ".join(part.text for part in ins.types)
            new = f"{w.text[first:last]} : ({types}) -> {outs.types[0].text}"
            operation = w.operation
            if operation is not None:
                yield w.replaced(f" {new}", operation.end, outs.end + 1)
        return
    group = around(w)
    names = [name for name in values_before(w) if group.results and w.types[name] == group.results[0].text]
    for name in names[:4]:
        yield _destination_passed(w, found.start(), name, safe=False)


def _destination_passed(w: Wrong, start: int, name: str, *, safe: bool) -> Fix:
    """The statement in the form of buffers, with ``name`` as its destination."""
    group = around(w)
    operation = w.operation
    assert operation is not None
    ins = f"{', '.join(part.text for part in group.values)} : {', '.join(part.text for part in group.types)}"
    new = f"{operation.text} ins({ins}) outs({name} : {group.results[0].text})"
    return w.replaced(new, start, max(part.end for part in group.results), safe=safe)


@told(r"takes (\d+) operands? \(.*\), found (\d+)")
@told(r"takes (\d+) operands?, found (\d+)")
@told(r"^(\d+) indices expected, found (\d+)|takes (\d+) ind(?:ices|ex), found (\d+)")
@told(r"takes (\d+) arguments?, found (\d+)|has (\d+) sizes, found (\d+)")
def _number_of_operands(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    wanted, found = (int(number) for number in m.groups() if number is not None)
    group = around(w)
    if found > wanted:
        yield from _operands_too_many(w, wanted)
        return
    if found + 1 != wanted:
        return
    yield from _list_too_short(w)
    places = [len(group.values), 0] if group.values else [0]
    outs = groups(w).get("outs")
    usual = [part.text for part in outs.values] if outs is not None else []
    for place in places:
        seen: set[str] = set()
        for name in (*usual, *values_before(w)):
            type_ = w.types.get(name)
            if type_ is None or (type_ in seen and name not in usual) or not group.types:
                continue
            seen.add(type_)
            typed = min(place, len(group.types))
            yield Fix(
                f"add the operand {name}",
                (_entry(w, [p.start for p in group.values], [p.end for p in group.values], place, name),
                 _entry(w, [p.start for p in group.types], [p.end for p in group.types], typed, type_)),
                safe=False,
            )  # fmt: skip


def _entry(w: Wrong, starts: list[int], ends: list[int], place: int, text: str) -> Edit:
    """The edit that puts an entry into a list."""
    if place < len(starts):
        return Edit(starts[place], starts[place], f"{text}, ")
    return Edit(ends[-1], ends[-1], f", {text}")


def _list_too_short(w: Wrong) -> Iterator[Fix]:
    """One more entry in brackets: indices, sizes of a launch, arguments of a call."""
    for opening, closing in (("[", "]"), ("<<<", ">>>"), ("nburst(", ")"), ("(", ")")):
        at = w.text.find(opening, w.statement_start, w.statement_end)
        end = w.text.find(closing, at + 1, w.statement_end) if at >= 0 else -1
        if end < 0:
            continue
        inside = w.text[at + len(opening) : end].split(",")
        last = inside[-1].strip()
        if last:
            edits = [Edit(end, end, f", {last}")]
            yield Fix(f"add {last}", tuple(edits), safe=False)
            group = around(w)
            if group.types and w.types.get(last) is not None:
                stop = group.types[-1].end
                yield Fix(f"add {last}", (*edits, Edit(stop, stop, f", {w.types[last]}")), safe=False)
        elif opening == "(":
            for name in values_before(w)[:8]:
                types = re.compile(r"\(\s*\)").search(w.text, end + 1, w.statement_end)
                if types is not None:
                    edits = [Edit(end, end, name), Edit(types.start(), types.end(), f"({w.types[name]})")]
                    yield Fix(f"add the argument {name}", tuple(edits), safe=False)


def _operands_too_many(w: Wrong, wanted: int) -> Iterator[Fix]:
    group = around(w)
    found = groups(w)
    if len(group.values) != len(group.types) or not wanted or len(group.values) <= wanted:
        return
    start, end = group.values[wanted - 1].end, group.values[-1].end
    first, last = group.types[wanted - 1].end, group.types[-1].end
    surplus = [part.text for part in group.values[wanted:]]
    outs = found.get("outs")
    repeated = outs is not None and surplus == [part.text for part in outs.values]
    edits = (Edit(start, end, ""), Edit(first, last, ""))
    yield Fix(f"remove {', '.join(surplus)}", edits, safe=repeated)
    operation = w.operation
    if "all" in found and len(surplus) == 1 and group.arrow is None and operation is not None:
        ins = w.text[group.values[0].start : start]
        types = w.text[group.types[0].start : first]
        new = f" ins({ins} : {types}) outs({surplus[0]} : {group.types[-1].text})"
        yield Fix("write ins(..) outs(..)", (Edit(operation.end, last, new),))


@told(r"needs ins\(\.\.\) or operands before 'outs'")
@told(r"of (?:pto\.)?(?:tload|tstore) must be a tile, found")
def _groups_exchanged(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = groups(w)
    ins, outs = found.get("ins"), found.get("outs")
    if ins is None or outs is None:
        return
    inside, outside = (w.text[group.start : group.end] for group in (ins, outs))
    if outs.start < ins.start:
        begin = w.text.rfind("outs", 0, outs.start)
        yield w.replaced(f"ins({inside}) outs({outside})", begin, ins.end + 1)
    else:
        edits = (Edit(ins.start, ins.end, outside), Edit(outs.start, outs.end, inside))
        yield Fix("exchange ins and outs", edits, safe=False)


_STORED = re.compile(r"(?P<place>%[\w$.\-]+\s*\[[^\]]*\])\s*,\s*(?P<value>%[\w$.\-]+)")


@told(r"^the value that \S+ stores stands first")
def _value_first(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = _STORED.match(w.text, w.start)
    types = around(w).types
    if found is None or len(types) < 2:
        return
    swap = [Edit(found.start(), found.end(), f"{found['value']}, {found['place']}")]
    one, two = types[:2]
    swap += [Edit(one.start, one.end, two.text), Edit(two.start, two.end, one.text)]
    yield Fix(f"put {found['value']} first", tuple(swap), safe=False)


@told(r"stand in each other's place")
@told(r"^%\S+ has type .+, but .+ is stated here")
def _swapped(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    if len(group.values) < 2 or len(group.types) < 2:
        return
    first, second = group.values[:2]
    one, two = group.types[:2]
    swap = [Edit(first.start, first.end, second.text), Edit(second.start, second.end, first.text)]
    types = [Edit(one.start, one.end, two.text), Edit(two.start, two.end, one.text)]
    title = f"exchange {first.text} and {second.text}"
    if "each other" in m.string:
        yield Fix(title, (*swap, *types), safe=False)
    else:
        yield Fix(title, tuple(swap), safe=False)
        if len(group.types) == len(group.values):
            yield Fix(title, (*swap, *types), safe=False)


@told(r"^attributes stand in braces")
def _attribute_braces(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    end = w.text.find(" :", w.start, w.statement_end)
    stop = end if end >= 0 else w.trimmed(w.statement_end)
    yield Fix("put { } around it", (Edit(w.start, w.start, "{"), Edit(stop, stop, "}")))


@told(r"^(\w+) stands before the types")
def _clause_behind(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    end = w.trimmed(w.statement_end)
    if group.colon is not None:
        at = w.trimmed(group.colon)
        clause = w.text[w.start : end]
        yield Fix(f"move {m[1]} before the types", (Edit(at, at, f" {clause}"), Edit(w.trimmed(w.start), end, "")))


@told(r"^(\w+) is out of place: it comes before (\w+)")
def _clause_order(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    later = re.compile(rf"\b{m[2]}\b").search(w.text, w.statement_start, w.start)
    clause = re.compile(rf"{m[1]}(?:\s*\([^()]*\))?").match(w.text, w.start)
    if later is not None and clause is not None:
        start = len(w.text[: w.start].rstrip(" ,"))
        between = ", " if "," in w.text[start : w.start] else " "
        edits = (Edit(later.start(), later.start(), f"{clause.group()}{between}"), Edit(start, clause.end(), ""))
        yield Fix(f"move {m[1]} before {m[2]}", edits)


@told(r"^the value of (%\S+) stands before its type")
def _constant_order(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r":\s*([^=\n]+?)\s*=\s*([^\n/]*[^\s/])").search(w.text, w.statement_start, w.statement_end)
    if found is not None:
        yield w.replaced(f"= {found[2]} : {found[1]}", *found.span())


@told(r"^the type of (%\S+) stands behind its name", r"^(.+)$")
def _argument_order(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    head = re.compile(r"([^\s(,][^(,]*?)\s+(%[\w$.]+)").search(w.text, max(w.statement_start, w.start - 200))
    begin = max(w.text.rfind("(", 0, w.start), w.text.rfind(", ", 0, w.start)) + 1
    head = re.compile(r"\s*(\S.*?)\s+(%[\w$.]+)").match(w.text, begin)
    if head is not None:
        yield w.replaced(f"{head[2]}: {head[1]}", head.start(1), head.end())


@told(r"^the result type stands before 'attributes'")
def _late_result(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"\s*attributes\b").search(w.text, w.statement_start, w.start)
    brace = w.text.rfind("{", w.start, w.line_end(w.start))
    if found is not None and brace >= 0:
        at = w.text.index("attributes", found.start())
        result = w.text[w.start : w.trimmed(brace)]
        edits = (Edit(at, at, f"{result} "), Edit(w.trimmed(w.start), w.trimmed(brace), ""))
        yield Fix("move the result type before attributes", edits)


@told(r"^(scf\.(?:(if)|\w+)) is missing before")
def _lost_name(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    condition = re.compile(r"%[\w.$\-:]+\s*=\s*").match(w.text, w.start)
    if m[2] and condition is not None:
        yield w.inserted(f"{m[1]} ", condition.end())
    yield w.inserted(f"{m[1]} ", w.start)


@told(r"", r"^(\w+\.[\w.]+) (?:is for|takes) |^(?:store|load) .+ with (\w+\.[\w.]+)$")
@told(r"", r"^(\w+\.\w+) or (\w+\.\w+) does that")
def _other_operation(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    operation = w.operation
    for name in (group for group in h.groups() if group is not None):
        if operation is not None:
            yield w.replaced(name, operation.start, operation.end, safe=" takes " in h.string or " is for " in h.string)


@told(r"^the branch behind else is a region")
def _else_if(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    head = re.compile(r"(?:scf\.)?if\b").search(w.text, w.statement_start, w.statement_end + 1)
    found = re.compile(r"else\s+((?:scf\.)?if)\b").search(w.text, w.line_start, w.line_end(w.start))
    brace = w.text.find("{", found.end()) if found is not None else -1
    close = w.closing(brace) if brace >= 0 else None
    if found is not None and close is not None and head is not None:
        edits = (Edit(found.start(1), found.end(1), "{ scf.if"), Edit(close + 1, close + 1, " }"))
        yield Fix("make the branch a region", edits)
