"""Parts of a statement that are in another order, at another position, or belong to another form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import Part, around, groups, values_before
from .site import Site, remedy

_STORED = r"(?P<place>%[\w$.\-]+\s*\[[^\]]*\])\s*,\s*(?P<value>%[\w$.\-]+)"
_RESULTS = r"%[^=\n]*=\s*"
_MOST_NAMES = 4
_MOST_OF_A_TYPE = 3


@remedy
def without_result(site: Site) -> Iterator[Fix]:
    """Without the name of a result that an operation has not, or as a value with the types of ``ins`` and ``outs``."""
    found = re.compile(_RESULTS).match(site.text, site.statement_start)
    if found is None:
        return
    yield site.replaced("", *found.span())
    ins, outs = groups(site).get("ins"), groups(site).get("outs")
    operation = site.operation
    if ins is not None and outs is not None and outs.types and ins.colon is not None and operation is not None:
        first, last = ins.values[0].start, ins.values[-1].end
        types = ", ".join(part.text for part in ins.types)
        new = f"{site.text[first:last]} : ({types}) -> {outs.types[0].text}"
        yield site.replaced(f" {new}", operation.end, outs.end + 1)


@remedy
def into_destination(site: Site) -> Iterator[Fix]:
    """A value of the type of the result becomes the destination of the operation, which works on buffers."""
    found = re.compile(_RESULTS).match(site.text, site.statement_start)
    group, operation = around(site), site.operation
    if found is None or operation is None:
        return
    names = [name for name in values_before(site) if group.results and site.types[name] == group.results[0].text]
    ins = f"{', '.join(part.text for part in group.values)} : {', '.join(part.text for part in group.types)}"
    for name in names[:_MOST_NAMES]:
        new = f"{operation.text} ins({ins}) outs({name} : {group.results[0].text})"
        yield site.replaced(new, found.start(), max(part.end for part in group.results), safe=False)


@remedy
def operand_count(site: Site, wanted: int, found: int) -> Iterator[Fix]:
    """Operands are missing or too many."""
    if found > wanted:
        yield from _operands_too_many(site, wanted)
    elif found + 1 == wanted:
        yield from _one_operand(site)


def _one_operand(site: Site) -> Iterator[Fix]:
    group = around(site)
    yield from _list_too_short(site)
    outs = groups(site).get("outs")
    usual = [part.text for part in outs.values] if outs is not None else []
    for index in [len(group.values), 0] if group.values else [0]:
        seen: Counter[str] = Counter()
        for name in (*usual, *values_before(site)):
            type_ = site.types.get(name)
            if type_ is None or (seen[type_] == _MOST_OF_A_TYPE and name not in usual) or not group.types:
                continue
            seen[type_] += 1
            typed = min(index, len(group.types))
            edits = (_entry(group.values, index, name), _entry(group.types, typed, type_))
            yield Fix(f"add the operand {name}", edits, safe=False)


def _entry(parts: list[Part], index: int, text: str) -> Edit:
    """Returns the edit that puts an entry into a list."""
    if index < len(parts):
        return Edit(parts[index].start, parts[index].start, f"{text}, ")
    return Edit(parts[-1].end, parts[-1].end, f", {text}")


def _list_too_short(site: Site) -> Iterator[Fix]:
    """Yields one more entry in brackets: indices, sizes of a launch, arguments of a call."""
    for opening, closing in (("[", "]"), ("<<<", ">>>"), ("nburst(", ")"), ("(", ")")):
        at = site.text.find(opening, site.statement_start, site.statement_end)
        end = site.text.find(closing, at + 1, site.statement_end) if at >= 0 else -1
        if end < 0:
            continue
        last = site.text[at + len(opening) : end].split(",")[-1].strip()
        if last:
            edits = [Edit(end, end, f", {last}")]
            yield Fix(f"add {last}", tuple(edits), safe=False)
            group = around(site)
            if group.types and site.types.get(last) is not None:
                stop = group.types[-1].end
                yield Fix(f"add {last}", (*edits, Edit(stop, stop, f", {site.types[last]}")), safe=False)
        elif opening == "(":
            types = re.compile(r"\(\s*\)").search(site.text, end + 1, site.statement_end)
            if types is None:
                continue
            for name in values_before(site)[:8]:
                edits = [Edit(end, end, name), Edit(types.start(), types.end(), f"({site.types[name]})")]
                yield Fix(f"add the argument {name}", tuple(edits), safe=False)


def _operands_too_many(site: Site, wanted: int) -> Iterator[Fix]:
    group = around(site)
    found = groups(site)
    if len(group.values) != len(group.types) or not wanted or len(group.values) <= wanted:
        return
    start, end = group.values[wanted - 1].end, group.values[-1].end
    first, last = group.types[wanted - 1].end, group.types[-1].end
    surplus = [part.text for part in group.values[wanted:]]
    outs = found.get("outs")
    repeated = outs is not None and surplus == [part.text for part in outs.values]
    edits = (Edit(start, end, ""), Edit(first, last, ""))
    yield Fix(f"remove {', '.join(surplus)}", edits, safe=repeated)
    operation = site.operation
    if "all" in found and len(surplus) == 1 and group.arrow is None and operation is not None:
        ins = site.text[group.values[0].start : start]
        types = site.text[group.types[0].start : first]
        new = f" ins({ins} : {types}) outs({surplus[0]} : {group.types[-1].text})"
        yield Fix("write ins(..) outs(..)", (Edit(operation.end, last, new),))


@remedy
def exchange_groups(site: Site) -> Iterator[Fix]:
    """``ins`` and ``outs`` are exchanged: the groups, or what is in them."""
    found = groups(site)
    ins, outs = found.get("ins"), found.get("outs")
    if ins is None or outs is None:
        return
    inside, outside = (site.text[group.start : group.end] for group in (ins, outs))
    if outs.start < ins.start:
        begin = site.text.rfind("outs", 0, outs.start)
        yield site.replaced(f"ins({inside}) outs({outside})", begin, ins.end + 1)
    else:
        edits = (Edit(ins.start, ins.end, outside), Edit(outs.start, outs.end, inside))
        yield Fix("exchange ins and outs", edits, safe=False)


@remedy
def value_first(site: Site) -> Iterator[Fix]:
    """The stored value comes before the memory it is stored to."""
    found = re.compile(_STORED).match(site.text, site.start)
    types = around(site).types
    if found is None or len(types) < 2:
        return
    swap = (Edit(found.start(), found.end(), f"{found['value']}, {found['place']}"), *_swap(*types[:2]))
    yield Fix(f"put {found['value']} first", swap, safe=False)


def _swap(one: Part, other: Part) -> tuple[Edit, Edit]:
    return Edit(one.start, one.end, other.text), Edit(other.start, other.end, one.text)


@remedy
def swap_operands(site: Site, types: bool) -> Iterator[Fix]:
    """The first two operands are exchanged; with ``types`` theirs are as well in any case."""
    group = around(site)
    if len(group.values) < 2 or len(group.types) < 2:
        return
    first, second = group.values[:2]
    title = f"exchange {first.text} and {second.text}"
    if not types:
        yield Fix(title, _swap(first, second), safe=False)
    if types or len(group.types) == len(group.values):
        yield Fix(title, (*_swap(first, second), *_swap(*group.types[:2])), safe=False)


@remedy
def attribute_braces(site: Site) -> Iterator[Fix]:
    """Braces are missing around attributes."""
    end = site.text.find(" :", site.start, site.statement_end)
    stop = end if end >= 0 else site.trimmed(site.statement_end)
    yield Fix("put { } around it", (Edit(site.start, site.start, "{"), Edit(stop, stop, "}")))


@remedy
def clause_before_types(site: Site, word: str) -> Iterator[Fix]:
    """The clause ``word`` comes before the types."""
    group = around(site)
    end = site.trimmed(site.statement_end)
    if group.colon is not None:
        at = site.trimmed(group.colon)
        clause = site.text[site.start : end]
        edits = (Edit(at, at, f" {clause}"), Edit(site.trimmed(site.start), end, ""))
        yield Fix(f"move {word} before the types", edits)


@remedy
def clause_before(site: Site, word: str, later: str) -> Iterator[Fix]:
    """The clause ``word``, at which the diagnostic points, comes before that of ``later``."""
    other = re.compile(rf"\b{later}\b").search(site.text, site.statement_start, site.start)
    clause = re.compile(rf"{word}(?:\s*\([^()]*\))?").match(site.text, site.start)
    if other is not None and clause is not None:
        start = len(site.text[: site.start].rstrip(" ,"))
        between = ", " if "," in site.text[start : site.start] else " "
        edits = (Edit(other.start(), other.start(), f"{clause.group()}{between}"), Edit(start, clause.end(), ""))
        yield Fix(f"move {word} before {later}", edits)


@remedy
def one_of_two_clauses(site: Site, word: str) -> Iterator[Fix]:
    """Of two equal clauses one goes; of others, nobody knows which."""
    words = re.compile(rf"(?<!\w){re.escape(word)}(?:\([^()]*\))?")
    here = words.match(site.text, site.start)
    if here is None:
        return
    same = [one for one in words.finditer(site.text, site.statement_start, site.start) if one.group() == here.group()]
    if same:
        yield site.replaced("", site.trimmed(site.start), here.end())


@remedy
def repeated_entry(site: Site) -> Iterator[Fix]:
    """Of two equal entries of a list with commas the second goes."""
    if site.word in site.text[site.statement_start : site.start]:
        start = site.trimmed(site.start)
        yield site.replaced("", start - (site.text[start - 1 : start] == ","), site.end)


@remedy
def repeated_attribute(site: Site) -> Iterator[Fix]:
    """Of two equal attributes the second, at whose name the diagnostic points, goes."""
    found = re.compile(rf"{re.escape(site.word)}\s*=\s*[^,{{}}]*[^,{{}}\s]").match(site.text, site.start)
    if found is not None and found[0] in site.text[site.statement_start : site.start]:
        start = site.trimmed(site.start)
        yield site.replaced("", start - (site.text[start - 1 : start] == ","), found.end())


@remedy
def missing_entry(site: Site, text: str) -> Iterator[Fix]:
    """An attribute is missing in the braces of the statement."""
    brace = site.text.find("{", site.statement_start, site.statement_end)
    if brace >= 0:
        empty = site.text[brace + 1 :].lstrip().startswith("}")
        yield site.inserted(text if empty else f"{text}, ", brace + 1, safe=False)
    colon = around(site).colon
    if brace < 0 and colon is not None:
        yield site.inserted(f" {{{text}}}", site.trimmed(colon), safe=False)


@remedy
def without_clause(site: Site, keyword: str | None = None, safe: bool = True) -> Iterator[Fix]:
    """Without the clause ``keyword``, by default the one that the diagnostic points at, its arguments, and the comma
    before it."""
    at, end = site.start, site.end
    if keyword is not None:
        found = re.compile(rf"\b{keyword}\b").search(site.text, site.statement_start, site.statement_end)
        if found is None:
            return
        at, end = found.span()
    close = site.closing(end) if site.text.startswith("(", end) else None
    start = site.trimmed(at)
    comma = site.text[start - 1 : start] == ","
    yield site.replaced("", start - comma, end if close is None else close + 1, safe=safe)


@remedy
def without_argument(site: Site) -> Iterator[Fix]:
    """Without the argument of a clause that the diagnostic points at, and the comma after it."""
    comma = re.compile(r"\s*,\s*").match(site.text, site.end)
    if comma is not None:
        yield site.replaced("", site.start, comma.end())


@remedy
def without_attribute(site: Site, name: str) -> Iterator[Fix]:
    """Without the attribute ``name`` in the braces of the statement."""
    value = r"[^,{}<>\[\]]*(?:<[^<>]*>|\[[^\[\]]*\])?[^,{}<>]*"
    first, later = rf"{{\s*{name}\s*=\s*{value}", rf",\s*{name}\s*=\s*{value}"
    for pattern, new in ((rf"\s*{first}}}", ""), (rf"{first},\s*", "{"), (later, "")):
        found = re.compile(pattern).search(site.text, site.statement_start, site.statement_end)
        if found is not None:
            yield site.replaced(new, *found.span())
            return


@remedy
def without_operand(site: Site) -> Iterator[Fix]:
    """Without the operand that the diagnostic points at, and its type."""
    group = around(site)
    index = next((number for number, part in enumerate(group.values) if part.start == site.start), 0)
    if index and len(group.values) == len(group.types):
        pairs = (group.values[index - 1 : index + 1], group.types[index - 1 : index + 1])
        edits = tuple(Edit(before.end, part.end, "") for before, part in pairs)
        yield Fix(f"remove {site.word}", edits)


@remedy
def constant_order(site: Site) -> Iterator[Fix]:
    """``= value : type`` in place of ``: type = value``."""
    pattern = re.compile(r":\s*([^=\n]+?)\s*=\s*([^\n/]*[^\s/])")
    found = pattern.search(site.text, site.statement_start, site.statement_end)
    if found is not None:
        yield site.replaced(f"= {found[2]} : {found[1]}", *found.span())


@remedy
def argument_order(site: Site) -> Iterator[Fix]:
    """``%a: type`` in place of ``type %a``."""
    begin = max(site.text.rfind("(", 0, site.start), site.text.rfind(", ", 0, site.start)) + 1
    head = re.compile(r"\s*(\S.*?)\s+(%[\w$.]+)").match(site.text, begin)
    if head is not None:
        yield site.replaced(f"{head[2]}: {head[1]}", head.start(1), head.end())


@remedy
def result_before_attributes(site: Site) -> Iterator[Fix]:
    """The result type of a function comes before ``attributes``."""
    at = site.text.find("attributes", site.statement_start, site.start)
    brace = site.text.rfind("{", site.start, site.line_end(site.start))
    if at >= 0 and brace >= 0:
        end = site.trimmed(brace)
        edits = (Edit(at, at, f"{site.text[site.start : end]} "), Edit(site.trimmed(site.start), end, ""))
        yield Fix("move the result type before attributes", edits)


@remedy
def lost_name(site: Site, name: str) -> Iterator[Fix]:
    """The name of a loop or condition is missing before what the diagnostic points at."""
    # "%i = %a to %b" is the induction variable of a loop, not a result.
    results = re.compile(r"%[\w.$\-:]+\s*=\s*(?!%[\w.$\-]+\s+to\b)").match(site.text, site.start)
    if results is not None:
        yield site.inserted(f"{name} ", results.end())
    yield site.inserted(f"{name} ", site.start)


@remedy
def other_operation(site: Site, name: str, safe: bool) -> Iterator[Fix]:
    """Another operation takes these operands."""
    operation = site.operation
    if operation is not None:
        yield site.replaced(name, operation.start, operation.end, safe=safe)


@remedy
def else_region(site: Site) -> Iterator[Fix]:
    """``else { scf.if .. }`` in place of ``else if ..``."""
    found = re.compile(r"else\s+((?:scf\.)?if)\b").search(site.text, site.line_start, site.line_end(site.start))
    brace = site.text.find("{", found.end()) if found is not None else -1
    close = site.closing(brace) if brace >= 0 else None
    if found is not None and close is not None:
        edits = (Edit(found.start(1), found.end(1), "{ scf.if"), Edit(close + 1, close + 1, " }"))
        yield Fix("make the branch a region", edits)
