"""Statements that are missing, in another place, or one too many. All but what has one meaning only is a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import around, groups, values_before
from .wrong import Wrong, told

_OPERATORS = {"+": ("arith.addi", "arith.addf"), "-": ("arith.subi", "arith.subf"), "*": ("arith.muli", "arith.mulf"),
              "/": ("arith.divsi", "arith.divf")}  # fmt: skip


def statement_before(w: Wrong, statement: str) -> Edit:
    """Inserts a statement on a line of its own before that of the diagnostic."""
    start = w.text.rfind("\n", 0, w.statement_start) + 1
    return Edit(start, start, f"{w.indentation(start)}{statement}\n")


def fresh(w: Wrong, name: str) -> str:
    """A name of a value that the text does not use."""
    number, found = 1, name
    while re.search(rf"{re.escape(found)}(?![\w.$-])", w.text):
        number += 1
        found = f"{name}_{number}"
    return found


def _constant(w: Wrong, value: str, type_: str) -> tuple[str, list[Edit]]:
    """The name of a constant: one that is there, or a new one with the edit that defines it."""
    known = re.search(
        rf"(%[\w.$]+)\s*=\s*arith\.constant\s+{re.escape(value)}\s*:\s*{re.escape(type_)}\b", w.text[: w.start]
    )
    if known is not None:
        return known[1], []
    name = fresh(w, f"%c{value}".replace(".", "_").replace("-", "m").replace("+", ""))
    return name, [statement_before(w, f"{name} = arith.constant {value} : {type_}")]


@told(r"^(?:operands are|bounds and initial values are) values, found the number (\S+)")
def _literal(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """All numbers among the operands of the statement become constants."""
    group = around(w)
    loop = re.compile(r"scf\.for\b[^{\n]*").match(w.text, w.statement_start) or re.compile(
        r"%[^=\n]*=\s*scf\.for\b[^{\n]*"
    ).match(w.text, w.statement_start)
    if loop is not None:
        places = [f for f in re.compile(r"(?<=[=\s])-?\d+(?=\s)").finditer(w.text, loop.start(), loop.end() + 1)]
        edits: list[Edit] = []
        defined: dict[str, str] = {}
        for place in places:
            if place.group() not in defined:
                defined[place.group()], more = _constant(w, place.group(), "index")
                edits += more
            edits.append(Edit(place.start(), place.end(), defined[place.group()]))
        if edits:
            yield Fix("define the numbers with arith.constant", tuple(edits), safe=False)
        return
    numbers = [part.text for part in group.values]
    typed = group.types[numbers.index(m[1])].text if m[1] in numbers and len(group.types) == len(numbers) else None
    for type_ in dict.fromkeys((typed, group.types[-1].text if group.types else None, "index", "i64", "i32", "f32")):
        if type_ is not None and not type_.startswith("!"):
            name, more = _constant(w, m[1], type_)
            change = Edit(w.start, w.start + len(m[1]), name)
            yield Fix(f"define {m[1]} with arith.constant", (*more, change), safe=not more)


@told(r"^'step' is missing before")
def _step(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    name, more = _constant(w, "1", "index")
    at = w.trimmed(w.start)
    yield Fix("step by 1", (*more, Edit(at, at, f" step {name}")), safe=False)


@told(r"", r"convert it with (arith\.\w+) \.\. : (\S+) to (\S+)")
@told(r" of \S+ must be (i\d+|index), found (i\d+|index)$")
@told(r"^(%\S+) has type (i\d+|index), but (i\d+|index) is stated here")
@told(r"takes \((i\d+|index)\), found \((i\d+|index)\)")
@told(r"have type (index), but (%\S+) has type (i\d+)")
def _cast(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if h.re.groups:
        cast, old, new = h.groups()
    else:
        found = [group for group in m.groups() if group[0] != "%"]
        old, new = (found[0], found[1]) if "is stated" in m.string else (found[1], found[0])
        cast = (
            "arith.index_cast"
            if "index" in (old, new)
            else "arith.extsi"
            if int(old[1:]) < int(new[1:])
            else "arith.trunci"
        )
    named = next((group for group in m.groups() if group and group[0] == "%"), None)
    group = around(w)
    names = [named] if named else [part.text for part in group.values if w.types.get(part.text) == old]
    names += [name for name in re.findall(r"%[\w.$]+", w.text[w.start : w.statement_end]) if w.types.get(name) == old]
    for name in dict.fromkeys(names):
        for use in re.compile(rf"{re.escape(name)}(?![\w.$-])").finditer(w.text, w.statement_start, w.statement_end):
            value = fresh(w, f"{name}_{new}")
            edits = [statement_before(w, f"{value} = {cast} {name} : {old} to {new}"), Edit(*use.span(), value)]
            for part in group.types:
                if part.text == old:
                    types = Edit(part.start, part.end, new)
                    yield Fix(f"convert {name} with {cast}", (*edits, types), safe=False)
            yield Fix(f"convert {name} with {cast}", tuple(edits), safe=False)


@told(r"^the condition of \S+ has type i1, but (%\S+) has type (i\d+|index)")
def _condition(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    zero, more = _constant(w, "0", m[2])
    name = fresh(w, f"{m[1]}_set")
    compare = statement_before(w, f"{name} = arith.cmpi ne, {m[1]}, {zero} : {m[2]}")
    yield Fix("compare with 0", (*more, compare, Edit(w.start, w.start + len(m[1]), name)), safe=False)


@told(r"^an operation is missing after '(%\S+) ='")
def _operator(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"=\s*(%[\w.$]+)\s*([-+*/])\s*(%[\w.$]+)").search(w.text, w.statement_start, w.line_end(w.start))
    type_ = w.types.get(found[1]) if found is not None else None
    if found is not None and type_ is not None and not type_.startswith("!"):
        integer, real = _OPERATORS[found[2]]
        name = real if type_[0] in "bf" else integer
        yield w.replaced(f"= {name} {found[1]}, {found[3]} : {type_}", *found.span())


@told(r"^the predicate of \S+ is missing", r"(arith\.\w+) (\w+), ")
def _predicate(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.inserted(f"{h[2]}, ", w.start, safe=False)


@told(r"does not end with a terminator", r"^add return")
@told(r"has results of type (.+), but nothing is given here")
@told(r"with results needs an else region")
def _terminator(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """Puts the statement that ends a region before its closing brace."""
    start = re.compile(r"scf\.yield[ \t]*$", re.MULTILINE).match(w.text, w.start)
    if start is not None:
        for name in values_before(w)[:6]:
            yield w.inserted(f" {name} : {w.types[name]}", w.trimmed(start.end()), safe=False)
        return
    if "terminator" in m.string:
        indent = w.indentation(w.line_start)
        yield w.inserted(f"\n{indent}return", w.trimmed(w.statement_end))
    line = w.line_end(w.start)
    brace = w.text.rfind("{", w.start, line + 1)
    close = w.closing(brace) if brace >= 0 else None
    if close is None:
        return
    begin = w.text.rfind("\n", 0, close) + 1
    alone = not w.text[begin:close].strip()
    if "terminator" in m.string:
        yield w.inserted(f"{w.indentation(begin)}  return\n" if alone else "return ", begin if alone else close)
        return
    names = re.findall(r"(%[\w.$]+)\s*=", w.text[brace:close])[::-1] + re.findall(
        r"%[\w.$]+", w.text[w.line_start : brace]
    )
    names += values_before(w)
    wanted = (
        m[1] if m.re.groups else (re.compile(r"->\s*\(?([^({)]+?)\)?\s*\{").search(w.text, w.start) or [None, ""])[1]
    )
    for name in [name for name in dict.fromkeys(names) if w.types.get(name) == wanted][:6]:
        end = f"scf.yield {name} : {wanted}"
        if m.re.groups:
            yield w.inserted(
                f"{w.indentation(begin)}  {end}\n" if alone else f"{end} ", begin if alone else close, safe=False
            )
        else:
            yield w.inserted(f" else {{ {end} }}", close + 1, safe=False)


@told(r"^@\S+ returns nothing, found")
def _return_value(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    word = re.compile(r"(?:func\.)?return\b").search(w.text, w.statement_start, w.statement_end)
    if word is not None:
        yield w.replaced("", word.end(), max(piece.end for piece in w.statement), safe=False)


@told(r"^@\S+ returns (\S+), found nothing|^the block takes (\S+), found nothing")
def _value_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    wanted = m[1] or m[2]
    end = max(piece.end for piece in w.statement)
    for name in [name for name in values_before(w) if w.types[name] == wanted][:6]:
        text = f" {name} : {wanted}" if m[1] else f"({name} : {wanted})"
        yield w.inserted(text, end, safe=False)


@told(r"ends its block, but (\S+) follows")
def _behind_terminator(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, end = w.line_start, w.line_end(w.start) + 1
    close = re.compile(r"^[ \t]*\}", re.MULTILINE).search(w.text, end)
    if close is not None:
        edits = (Edit(start, end, ""), Edit(close.start(), close.start(), w.text[start:end]))
        yield Fix("move it to the end of its block", edits, safe=False)


@told(r"^func\.return stands directly in func\.func, found in scf\.")
@told(r"^(?:func\.)?return stands")
def _return_in_loop(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if re.fullmatch(r"(?:func\.)?return", w.text[w.line_start : w.line_end(w.start)].split("//")[0].strip()):
        yield w.replaced("", w.line_start, w.line_end(w.start) + 1, safe=False)


@told(r"^([%@][\w.$]+) is already defined|^symbol (@\S+) is defined twice")
def _defined_twice(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """The second definition, and what uses the name behind it, gets a name of its own."""
    name = m[1] or m[2]
    new = fresh(w, f"{name}_2")
    use = re.compile(rf"{re.escape(name)}(?![\w.$-])")
    at = w.text.find(name, w.start)
    if name[0] == "@" or w.text[at + len(name) : at + len(name) + 1] == ":":
        yield w.replaced(new, at, at + len(name), safe=False)
    # The second definition may be computed from the first one.
    function = re.compile(r"^\s*func\.func\b", re.MULTILINE).search(w.text, w.statement_end)
    stop = len(w.text) if function is None else function.start()
    behind = [Edit(f.start(), f.end(), new) for f in use.finditer(w.text, w.statement_end, stop)]
    yield Fix(f"call the second {new}", (Edit(at, at + len(name), new), *behind), safe=False)


@told(r"^(%\S+) is used before its definition")
def _used_before(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(rf"^[ \t]*(?:\.arg\s+{re.escape(m[1])}\s*:|{re.escape(m[1])}\s*=)[^\n]*\n", re.MULTILINE).search(
        w.text, w.statement_end
    )
    start = w.text.rfind("\n", 0, w.statement_start) + 1
    if found is not None:
        edits = (Edit(start, start, found.group()), Edit(found.start(), found.end(), ""))
        yield Fix(f"move the definition of {m[1]} up", edits, safe=False)


@told(r"^\S+ needs outs\(\.\.\)")
def _outs(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    ins = groups(w).get("ins")
    if ins is None or not ins.types:
        return
    used = {part.text for part in ins.values}
    names = [name for name in values_before(w) if w.types[name] == ins.types[0].text]
    for name in sorted(names, key=lambda each: each in used)[:4]:
        yield w.inserted(f" outs({name} : {w.types[name]})", ins.end + 1, safe=False)


@told(r"needs its event_id|^pto\.\w+ needs its event")
def _event(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    end = w.text.find("]", w.start, w.statement_end)
    quote = '"' if '"' in w.text[w.start : max(end, w.start)] else ""
    event = (f"{quote}EVENT_ID0{quote}") if quote else "<EVENT_ID0>"
    if end >= 0:
        yield w.inserted(f", {event}", end, safe=False)


@told(r"needs more than its name", r"the form is (\S+) (<\w+>)$")
def _operand_of_barrier(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.inserted(f" {h[2]}", w.end, safe=False)


@told(r"^the name of a value is missing after '%'")
def _name_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    for name in values_before(w)[:8]:
        yield w.replaced(name, w.start, w.start + 1, safe=False)


@told(r"needs an offset in brackets before")
def _index(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    name, more = _constant(w, "0", "index")
    at = w.trimmed(w.start)
    yield Fix("read at offset 0", (*more, Edit(at, at, f"[{name}]")), safe=False)


@told(r"^the mask of .+ is (!\S+), found (!\S+)")
def _mask(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    group = around(w)
    names = [part.text for part in group.values]
    masks = [n for n, name in enumerate(names) if w.types.get(name) == m[2]]
    for name in [name for name in values_before(w) if w.types[name] == m[1]][:4]:
        for n in masks:
            if n < len(group.types):
                edits = (
                    Edit(group.values[n].start, group.values[n].end, name),
                    Edit(group.types[n].start, group.types[n].end, m[1]),
                )
                yield Fix(f"take the mask {name}", edits, safe=False)


@told(r"vector operations? stands? outside pto\.vecscope")
def _vecscope(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start = w.line_start
    indent = w.indentation(start)
    ends: list[int] = []
    end = start
    while end < len(w.text):
        line = w.text[end : w.line_end(end)].strip()
        if line == "return" or line.startswith("}"):
            break
        end = w.line_end(end) + 1
        ends.append(end)
    for stop in reversed(ends):
        inside = "".join(f"  {line}\n" for line in w.text[start : stop - 1].split("\n"))
        yield w.replaced(f"{indent}pto.vecscope {{\n{inside}{indent}}}\n", start, stop, safe=False)


@told(r"needs (\w+)$", r"^(\w+) is (\w+) or (\w+)$")
def _attribute_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    brace = w.text.find("{", w.statement_start, w.statement_end)
    for word in (h[2], h[3]):
        if brace >= 0:
            yield w.inserted(f'{h[1]} = "{word}", ', brace + 1, safe=False)


@told(r"^attribute (\w+) of \S+ must be one of (.+)")
def _attribute_word(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(rf'\b{m[1]}\s*=\s*"(\w+)"').search(w.text, w.statement_start, w.statement_end)
    words = m[2].split(", ")
    if found is not None:
        near = [word for word in words if word.startswith(found[1].upper())] or words
        for word in sorted(near, key=lambda each: not each.endswith("32"))[:6]:
            yield w.replaced(word, *found.span(1), safe=False)


@told(r"has (\d+) results, (\d+) stated")
def _results_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    head = re.compile(r"(%[\w.$]+)\s*=").match(w.text, w.statement_start)
    group = around(w)
    if head is not None and group.results and group.types and (m[1], m[2]) == ("2", "1"):
        name, end = fresh(w, f"{head[1]}_rest"), group.results[-1].end
        edits = (Edit(head.end(1), head.end(1), f", {name}"), Edit(end, end, f", {group.types[0].text}"))
        yield Fix("name the second result", edits, safe=False)


@told(r"^unknown operation 'for'")
def _python_loop(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"for\s+%?(\w+)\s+in\s+range\(([^()]*)\)\s*([:{]?)").match(w.text, w.start)
    if found is None:
        return
    bounds = [bound.strip() for bound in found[2].split(",")]
    bounds = ["0", bounds[0], "1"] if len(bounds) == 1 else [*bounds, "1"][:3]
    edits: list[Edit] = []
    names: dict[str, str] = {}
    for bound in bounds:
        if re.fullmatch(r"-?\d+", bound) and bound not in names:
            names[bound], more = _constant(w, bound, "index")
            edits += more
    first, last, step = (names.get(bound, bound) for bound in bounds)
    loop = f"scf.for %{found[1]} = {first} to {last} step {step} {'{' if found[3] == '{' else ''}".rstrip()
    yield Fix("write the loop as scf.for", (*edits, Edit(*found.span(), loop)), safe=False)


@told(r"^strides = \[\.\.\] is missing before")
def _strides(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    shape = re.compile(r"shape\s*=\s*\[([^\[\]]*)\]").search(w.text, w.statement_start, w.statement_end)
    sizes = [size.strip() for size in shape[1].split(",")] if shape is not None else []
    if shape is not None and len(sizes) in (1, 2):
        name, more = _constant(w, "1", "index")
        text = f", strides = [{', '.join([*sizes[1:], name])}]"
        yield Fix("let rows follow each other", (*more, Edit(shape.end(), shape.end(), text)), safe=False)
