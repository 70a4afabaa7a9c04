"""Statements that are missing, at another position, or superfluous. All but what has one meaning only is a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .groups import around, groups, values_before
from .site import Site, remedy

_OPERATORS = {
    "+": ("arith.addi", "arith.addf"),
    "-": ("arith.subi", "arith.subf"),
    "*": ("arith.muli", "arith.mulf"),
    "/": ("arith.divsi", "arith.divf"),
}
_NAME = r"%[\w.$]+"
_MOST_NAMES = 6


def statement_before(site: Site, statement: str) -> Edit:
    """Inserts a statement on a line of its own before that of the diagnostic."""
    start = site.text.rfind("\n", 0, site.statement_start) + 1
    return Edit(start, start, f"{site.indentation(start)}{statement}\n")


def fresh(site: Site, name: str) -> str:
    """Returns a name of a value that the text does not use."""
    number, found = 1, name
    while re.search(rf"{re.escape(found)}(?![\w.$-])", site.text):
        number += 1
        found = f"{name}_{number}"
    return found


def _constant(site: Site, value: str, type_: str) -> tuple[str, list[Edit]]:
    """Returns the name of a constant: one that is there, or a new one with the edit that defines it."""
    pattern = rf"(%[\w.$]+)\s*=\s*arith\.constant\s+{re.escape(value)}\s*:\s*{re.escape(type_)}\b"
    known = re.search(pattern, site.text[: site.start])
    if known is not None:
        return known[1], []
    name = fresh(site, f"%c{value}".replace(".", "_").replace("-", "m").replace("+", ""))
    return name, [statement_before(site, f"{name} = arith.constant {value} : {type_}")]


@remedy
def constant_for(site: Site, number: str) -> Iterator[Fix]:
    """The ``number`` among operands becomes a constant; those in the head of a loop do so together."""
    loop = re.compile(r"(?:%[^=\n]*=\s*)?scf\.for\b[^{\n]*").match(site.text, site.statement_start)
    if loop is not None:
        yield from _loop_constants(site, loop.start(), loop.end() + 1)
        return
    group = around(site)
    numbers = [part.text for part in group.values]
    typed = group.types[numbers.index(number)].text if number in numbers and len(group.types) == len(numbers) else None
    for type_ in dict.fromkeys((typed, group.types[-1].text if group.types else None, "index", "i64", "i32", "f32")):
        if type_ is not None and not type_.startswith("!"):
            name, more = _constant(site, number, type_)
            change = Edit(site.start, site.start + len(number), name)
            yield Fix(f"define {number} with arith.constant", (*more, change), safe=not more)


def _loop_constants(site: Site, start: int, end: int) -> Iterator[Fix]:
    edits: list[Edit] = []
    defined: dict[str, str] = {}
    for number in re.compile(r"(?<=[=\s])-?\d+(?=\s)").finditer(site.text, start, end):
        if number.group() not in defined:
            defined[number.group()], more = _constant(site, number.group(), "index")
            edits += more
        edits.append(Edit(number.start(), number.end(), defined[number.group()]))
    if edits:
        yield Fix("define the numbers with arith.constant", tuple(edits), safe=False)


@remedy
def missing_step(site: Site) -> Iterator[Fix]:
    """A loop without a step has the step 1."""
    name, more = _constant(site, "1", "index")
    at = site.trimmed(site.start)
    yield Fix("step by 1", (*more, Edit(at, at, f" step {name}")), safe=False)


@remedy
def cast(site: Site, name: str | None, old: str, new: str) -> Iterator[Fix]:
    """The value ``name``, or any of the type ``old``, is converted to ``new`` first."""
    if "index" in (old, new):
        operation = "arith.index_cast"
    else:
        operation = "arith.extsi" if int(old[1:]) < int(new[1:]) else "arith.trunci"
    group = around(site)
    names = [name] if name else [part.text for part in group.values if site.types.get(part.text) == old]
    behind = re.findall(_NAME, site.text[site.start : site.statement_end])
    names += [each for each in behind if site.types.get(each) == old]
    for each in dict.fromkeys(names):
        uses = re.compile(rf"{re.escape(each)}(?![\w.$-])")
        for use in uses.finditer(site.text, site.statement_start, site.statement_end):
            value = fresh(site, f"{each}_{new}")
            before = statement_before(site, f"{value} = {operation} {each} : {old} to {new}")
            edits = (before, Edit(*use.span(), value))
            for part in group.types:
                if part.text == old:
                    types = Edit(part.start, part.end, new)
                    yield Fix(f"convert {each} with {operation}", (*edits, types), safe=False)
            yield Fix(f"convert {each} with {operation}", edits, safe=False)


@remedy
def compare_with_zero(site: Site, name: str, type_: str) -> Iterator[Fix]:
    """The condition is whether an integer is other than 0."""
    zero, more = _constant(site, "0", type_)
    result = fresh(site, f"{name}_set")
    compare = statement_before(site, f"{result} = arith.cmpi ne, {name}, {zero} : {type_}")
    yield Fix("compare with 0", (*more, compare, Edit(site.start, site.start + len(name), result)), safe=False)


@remedy
def operator(site: Site) -> Iterator[Fix]:
    """``arith.addi %a, %b : type`` in place of ``%a + %b``."""
    pattern = re.compile(r"=\s*(%[\w.$]+)\s*([-+*/])\s*(%[\w.$]+)")
    found = pattern.search(site.text, site.statement_start, site.line_end(site.start))
    type_ = site.types.get(found[1]) if found is not None else None
    if found is not None and type_ is not None and not type_.startswith("!"):
        integer, real = _OPERATORS[found[2]]
        name = real if type_[0] in "bf" else integer
        yield site.replaced(f"= {name} {found[1]}, {found[3]} : {type_}", *found.span())


@remedy
def predicate(site: Site, word: str) -> Iterator[Fix]:
    """The predicate of a comparison is missing before its operands."""
    yield site.inserted(f"{word}, ", site.start, safe=False)


# ---------------------------------------------------------------- ends of regions


def _region_end(site: Site, number: int = 0) -> tuple[int, int, str] | None:
    """Offsets of the braces of the region that begins on the line of the diagnostic, or of the next after it, and the
    indentation of the closing one; ``None`` where there is none."""
    brace = site.text.rfind("{", site.start, site.line_end(site.start) + 1)
    close = site.closing(brace) if brace >= 0 else None
    for _ in range(number if close is not None else 0):
        brace = site.text.find("{", close)
        close = site.closing(brace) if brace >= 0 else None
    if close is None:
        return None
    begin = site.text.rfind("\n", 0, close) + 1
    alone = not site.text[begin:close].strip()
    return brace, close, site.indentation(begin) if alone else ""


def _before_brace(site: Site, close: int, indent: str, statement: str, safe: bool) -> Fix:
    """Returns the fix that ends a region with ``statement``."""
    begin = site.text.rfind("\n", 0, close) + 1
    if site.text[begin:close].strip():
        return site.inserted(f"{statement} ", close, safe=safe)
    return site.inserted(f"{indent}  {statement}\n", begin, safe=safe)


@remedy
def missing_return(site: Site) -> Iterator[Fix]:
    """``return`` at the end of a function."""
    yield site.inserted(f"\n{site.indentation(site.line_start)}return", site.trimmed(site.statement_end))
    region = _region_end(site)
    if region is not None:
        _, close, indent = region
        yield _before_brace(site, close, indent, "return", True)


@remedy
def missing_yield(site: Site, type_: str, region: int) -> Iterator[Fix]:
    """``scf.yield`` with a value of ``type_`` at the end of a region, or the value after ``scf.yield`` alone."""
    bare = re.compile(r"scf\.yield[ \t]*$", re.MULTILINE).match(site.text, site.start)
    if bare is not None:
        for name in values_before(site)[:_MOST_NAMES]:
            yield site.inserted(f" {name} : {site.types[name]}", site.trimmed(bare.end()), safe=False)
        return
    braces = _region_end(site, region)
    if braces is not None:
        brace, close, indent = braces
        for name in _values_of_type(site, type_, brace, close):
            yield _before_brace(site, close, indent, f"scf.yield {name} : {type_}", False)


@remedy
def missing_else(site: Site, type_: str) -> Iterator[Fix]:
    """``else`` with a value of ``type_`` for a condition that has a result."""
    braces = _region_end(site)
    if braces is not None:
        brace, close, _ = braces
        for name in _values_of_type(site, type_, brace, close):
            yield site.inserted(f" else {{ scf.yield {name} : {type_} }}", close + 1, safe=False)


def _values_of_type(site: Site, type_: str, start: int, end: int) -> list[str]:
    """Returns the values of ``type_``: those that a region defines, the last first, those of its header, and earlier
    ones."""
    names = re.findall(r"(%[\w.$]+)\s*=", site.text[start:end])[::-1]
    names += [*re.findall(_NAME, site.text[site.line_start : start]), *values_before(site)]
    return [name for name in dict.fromkeys(names) if site.types.get(name) == type_][:_MOST_NAMES]


@remedy
def yielded_types(site: Site) -> Iterator[Fix]:
    """``-> (types)`` of what the regions of a loop or condition yield."""
    brace = site.text.rfind("{", site.start, site.line_end(site.start))
    found = re.compile(r"scf\.yield\s+[^:\n]+:\s*([^\n]*[^\s])").search(site.text, brace) if brace >= 0 else None
    if found is not None:
        types = found[1].partition("//")[0].strip()
        yield site.inserted(f"-> ({types}) ", brace)


@remedy
def without_return_value(site: Site) -> Iterator[Fix]:
    """``return`` alone."""
    word = re.compile(r"(?:func\.)?return\b").search(site.text, site.statement_start, site.statement_end)
    if word is not None:
        yield site.replaced("", word.end(), max(piece.end for piece in site.statement), safe=False)


@remedy
def missing_value(site: Site, type_: str, brackets: bool) -> Iterator[Fix]:
    """A value of ``type_`` at the end of the statement: of ``return``, or in parentheses after the label of a block."""
    end = max(piece.end for piece in site.statement)
    for name in [name for name in values_before(site) if site.types[name] == type_][:_MOST_NAMES]:
        text = f"({name} : {type_})" if brackets else f" {name} : {type_}"
        yield site.inserted(text, end, safe=False)


@remedy
def last_in_block(site: Site) -> Iterator[Fix]:
    """The statement moves to the end of its block."""
    start, end = site.line_start, site.line_end(site.start) + 1
    close = re.compile(r"^[ \t]*\}", re.MULTILINE).search(site.text, end)
    if close is not None:
        edits = (Edit(start, end, ""), Edit(close.start(), close.start(), site.text[start:end]))
        yield Fix("move it to the end of its block", edits, safe=False)


@remedy
def without_return(site: Site) -> Iterator[Fix]:
    """Without a ``return`` in a loop or branch."""
    line = site.text[site.line_start : site.line_end(site.start)]
    if re.fullmatch(r"(?:func\.)?return", line.split("//")[0].strip()):
        yield site.replaced("", site.line_start, site.line_end(site.start) + 1, safe=False)


# ---------------------------------------------------------------- names


@remedy
def second_name(site: Site, name: str) -> Iterator[Fix]:
    """The second definition of ``name``, and what uses it after that, gets a name of its own."""
    start, end = site.line_start, site.line_end(site.start) + 1
    if site.text[start:end].strip() in map(str.strip, site.text[:start].split("\n")):
        # The same definition again.
        yield site.replaced("", start, end)
    new = fresh(site, f"{name}_2")
    use = re.compile(rf"{re.escape(name)}(?![\w.$-])")
    at = site.text.find(name, site.start)
    if name[0] == "@" or site.text[at + len(name) : at + len(name) + 1] == ":":
        yield site.replaced(new, at, at + len(name), safe=False)
    # The second definition may be computed from the first one.
    function = re.compile(r"^\s*func\.func\b", re.MULTILINE).search(site.text, site.statement_end)
    stop = len(site.text) if function is None else function.start()
    behind = [Edit(f.start(), f.end(), new) for f in use.finditer(site.text, site.statement_end, stop)]
    yield Fix(f"call the second {new}", (Edit(at, at + len(name), new), *behind), safe=False)


@remedy
def definition_first(site: Site, name: str) -> Iterator[Fix]:
    """The definition of ``name`` moves before the statement that uses it."""
    escaped = re.escape(name)
    definition = re.compile(rf"^[ \t]*(?:\.arg\s+{escaped}\s*:|{escaped}\s*=)[^\n]*\n", re.MULTILINE)
    found = definition.search(site.text, site.statement_end)
    start = site.text.rfind("\n", 0, site.statement_start) + 1
    if found is not None:
        edits = (Edit(start, start, found.group()), Edit(found.start(), found.end(), ""))
        yield Fix(f"move the definition of {name} up", edits, safe=False)


@remedy
def value_name(site: Site) -> Iterator[Fix]:
    """The name of an earlier value in place of a ``%`` alone."""
    for name in values_before(site)[:8]:
        yield site.replaced(name, site.start, site.start + 1, safe=False)


# ---------------------------------------------------------------- operands


@remedy
def missing_outs(site: Site) -> Iterator[Fix]:
    """``outs`` with a value of the type of the first input."""
    ins = groups(site).get("ins")
    if ins is None or not ins.types:
        return
    used = {part.text for part in ins.values}
    names = [name for name in values_before(site) if site.types[name] == ins.types[0].text]
    for name in sorted(names, key=lambda each: each in used)[:4]:
        yield site.inserted(f" outs({name} : {site.types[name]})", ins.end + 1, safe=False)


@remedy
def missing_event(site: Site) -> Iterator[Fix]:
    """The event of a flag is missing after its pipes."""
    end = site.text.find("]", site.start, site.statement_end)
    quoted = '"' in site.text[site.start : max(end, site.start)]
    if end >= 0:
        yield site.inserted(', "EVENT_ID0"' if quoted else ", <EVENT_ID0>", end, safe=False)


@remedy
def only_operand(site: Site, text: str) -> Iterator[Fix]:
    """The only operand of an operation is missing."""
    yield site.inserted(f" {text}", site.end, safe=False)


@remedy
def missing_offset(site: Site) -> Iterator[Fix]:
    """An offset is missing after a pointer: the counter of the loop around it, or 0."""
    loops = re.findall(r"^([ \t]*)scf\.for\s+(%[\w.$]+)", site.text[: site.statement_start], re.MULTILINE)
    depth = len(site.indentation(site.line_start))
    counter = next((name for indent, name in reversed(loops) if len(indent) < depth), None)
    if counter is not None:
        at = site.trimmed(site.start)
        yield Fix(f"read at offset {counter}", (Edit(at, at, f"[{counter}]"),), safe=False)
    name, more = _constant(site, "0", "index")
    at = site.trimmed(site.start)
    yield Fix("read at offset 0", (*more, Edit(at, at, f"[{name}]")), safe=False)


@remedy
def other_mask(site: Site, wanted: str, found: str) -> Iterator[Fix]:
    """A mask of the type ``wanted`` in place of one of the type ``found``."""
    group = around(site)
    masks = [n for n, part in enumerate(group.values[: len(group.types)]) if site.types.get(part.text) == found]
    for name in [name for name in values_before(site) if site.types[name] == wanted][:4]:
        for n in masks:
            edits = (
                Edit(group.values[n].start, group.values[n].end, name),
                Edit(group.types[n].start, group.types[n].end, wanted),
            )
            yield Fix(f"take the mask {name}", edits, safe=False)


@remedy
def vector_scope(site: Site) -> Iterator[Fix]:
    """The statements from this one on, as many as a ``pto.vecscope`` may have, move into one."""
    start = site.line_start
    indent = site.indentation(start)
    ends: list[int] = []
    end = start
    while end < len(site.text):
        line = site.text[end : site.line_end(end)].strip()
        if line == "return" or line.startswith("}"):
            break
        end = site.line_end(end) + 1
        ends.append(end)
    for stop in reversed(ends):
        inside = "".join(f"  {line}\n" for line in site.text[start : stop - 1].split("\n"))
        yield site.replaced(f"{indent}pto.vecscope {{\n{inside}{indent}}}\n", start, stop, safe=False)


@remedy
def missing_attribute(site: Site, name: str, *words: str) -> Iterator[Fix]:
    """An attribute with one of ``words`` is missing in the braces of the statement."""
    brace = site.text.find("{", site.statement_start, site.statement_end)
    for word in words if brace >= 0 else ():
        yield site.inserted(f'{name} = "{word}", ', brace + 1, safe=False)


@remedy
def attribute_word(site: Site, name: str, *words: str) -> Iterator[Fix]:
    """Another enumerator of the attribute ``name``."""
    pattern = re.compile(rf'\b{name}\s*=\s*"(\w+)"')
    found = pattern.search(site.text, site.statement_start, site.statement_end)
    if found is not None:
        near = [word for word in words if word.startswith(found[1].upper())] or words
        for word in sorted(near, key=lambda each: not each.endswith("32"))[:_MOST_NAMES]:
            yield site.replaced(word, *found.span(1), safe=False)


@remedy
def second_result(site: Site) -> Iterator[Fix]:
    """An operation has two results, of which one is named."""
    head = re.compile(r"(%[\w.$]+)\s*=").match(site.text, site.statement_start)
    group = around(site)
    if head is not None and group.results and group.types:
        name, end = fresh(site, f"{head[1]}_rest"), group.results[-1].end
        edits = (Edit(head.end(1), head.end(1), f", {name}"), Edit(end, end, f", {group.types[0].text}"))
        yield Fix("name the second result", edits, safe=False)


@remedy
def python_loop(site: Site) -> Iterator[Fix]:
    """``scf.for`` in place of ``for i in range(..)``."""
    found = re.compile(r"for\s+%?(\w+)\s+in\s+range\(([^()]*)\)\s*([:{]?)").match(site.text, site.start)
    if found is None:
        return
    bounds = [bound.strip() for bound in found[2].split(",")]
    bounds = ["0", bounds[0], "1"] if len(bounds) == 1 else [*bounds, "1"][:3]
    edits: list[Edit] = []
    names: dict[str, str] = {}
    for bound in bounds:
        if re.fullmatch(r"-?\d+", bound) and bound not in names:
            names[bound], more = _constant(site, bound, "index")
            edits += more
    first, last, step = (names.get(bound, bound) for bound in bounds)
    loop = f"scf.for %{found[1]} = {first} to {last} step {step} {'{' if found[3] == '{' else ''}".rstrip()
    yield Fix("write the loop as scf.for", (*edits, Edit(*found.span(), loop)), safe=False)


@remedy
def missing_strides(site: Site) -> Iterator[Fix]:
    """The strides of rows that follow each other."""
    pattern = re.compile(r"shape\s*=\s*\[([^\[\]]*)\]")
    shape = pattern.search(site.text, site.statement_start, site.statement_end)
    sizes = [size.strip() for size in shape[1].split(",")] if shape is not None else []
    if shape is not None and len(sizes) in (1, 2):
        name, more = _constant(site, "1", "index")
        text = f", strides = [{', '.join([*sizes[1:], name])}]"
        yield Fix("let rows follow each other", (*more, Edit(shape.end(), shape.end(), text)), safe=False)
