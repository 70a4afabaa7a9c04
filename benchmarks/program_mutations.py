"""Single changes to programs with what a verifier must say about each, by kind.

A kind looks at a text and yields places where it applies; each location becomes one changed program. What is expected
is derived from the language and the rule catalogue alone: a change either keeps a program right (other names, comments,
hints of other dialects), or breaks a rule that no other part of the program can fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ACCEPT, REJECT, READ = "accept", "reject", "read"
"""Expected verdicts; ``read`` where a person has to judge."""


class Change(NamedTuple):
    """A part of the text and its replacement, with the expected verdict and a comment."""

    start: int
    end: int
    text: str
    expected: str
    what: str


Kind = Callable[[str], Iterator[Change]]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    """Registers a kind under the function's name."""
    KINDS[function.__name__] = function
    return function


def each(pattern: str, text: str, flags: int = 0) -> Iterator[re.Match[str]]:
    """Matches outside of comments."""
    for found in re.finditer(pattern, text, flags):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if "//" not in line:
            yield found


def swap(found: re.Match[str], group: int, text: str, expected: str, what: str) -> Change:
    return Change(found.start(group), found.end(group), text, expected, what)


# ------------------------------------------------------------ changes that keep a program right


@kind
def comment(text: str) -> Iterator[Change]:
    """A comment after a line."""
    for found in each(r"(?m)^[ \t]+(?:pto|arith)\.[^\n\"]*[\])\w>}]()$", text):
        yield swap(found, 1, "  // note: %x, {a = 1}", ACCEPT, "comment")


@kind
def foreign_attribute(text: str) -> Iterator[Change]:
    """An attribute of another dialect on a function."""
    for found in each(r"func\.func @[\w$]+\([^)]*\) attributes \{()(?=\w)", text):
        yield swap(found, 1, "other.hint = 3 : i64, ", ACCEPT, "discardable attribute")


@kind
def event_number(text: str) -> Iterator[Change]:
    """All uses of one event become another, which is another name for the same order."""
    for found in each(r"EVENT_ID8\b", text):
        yield swap(found, 0, "EVENT_ID7", READ, "event")
    for found in each(r"\bEVENT_ID([0-7])\b", text):
        yield swap(found, 1, "8", REJECT, "event id 8")


@kind
def hexadecimal(text: str) -> Iterator[Change]:
    """An index constant in hexadecimal digits."""
    for found in each(r"arith\.constant (\d+) : (?:index|i64|i32)\b", text):
        yield swap(found, 1, hex(int(found[1])), ACCEPT, "hexadecimal constant")


@kind
def blanks(text: str) -> Iterator[Change]:
    """More white space between the entries of a list."""
    for found in each(r",( )(?=%|!pto)", text):
        yield swap(found, 1, "\n      ", ACCEPT, "line break")


@kind
def unused_constant(text: str) -> Iterator[Change]:
    """A constant that nobody uses."""
    for found in each(r"(?m)^([ \t]+)%\w+ = arith\.constant", text):
        yield Change(
            found.start(), found.start(), f"{found[1]}%unused_x = arith.constant 7 : i64\n", ACCEPT, "constant"
        )


# ------------------------------------------------------------ names and structure


@kind
def undefined_value(text: str) -> Iterator[Change]:
    """An operand that nothing defines."""
    for found in each(r"(?m)^[ \t]+(?:%[\w, ]+ = )?pto\.[\w.]+[^\n%]*(%[A-Za-z_]\w*)", text):
        if text[found.end() : found.end() + 3].lstrip()[:1] != "=":
            yield swap(found, 1, "%nowhere_x", REJECT, "undefined value")


@kind
def unknown_operation(text: str) -> Iterator[Change]:
    """An operation that does not exist."""
    for found in each(r"(?m)^[ \t]+(?:%[\w, :]+ = )?pto\.([a-z][\w.]*)", text):
        yield swap(found, 1, found[1] + "_zz", REJECT, "unknown operation")


@kind
def unknown_attribute_word(text: str) -> Iterator[Change]:
    """An enumeration without the stated value."""
    for found in each(r"#pto<\w+ (\w+)>|#pto\.\w+<([A-Za-z_]\w*)>", text):
        group = 1 if found[1] else 2
        if "layout" not in found[0] and "epilogue" not in found[0]:
            yield swap(found, group, "no_such_word", REJECT, "unknown enumerator")


@kind
def twice_defined(text: str) -> Iterator[Change]:
    """A statement with a result stands twice."""
    for found in each(r"(?m)^[ \t]+%\w+ = (?:arith\.constant|pto\.castptr|pto\.addptr)[^\n]*\n", text):
        yield Change(found.end(), found.end(), found[0], REJECT, "name defined twice")


@kind
def lost_definition(text: str) -> Iterator[Change]:
    """A definition is taken out while its value is used."""
    for found in each(r"(?m)^[ \t]+(%\w+) = (?:arith\.constant|pto\.castptr|pto\.alloc_tile)[^\n]*\n", text):
        rest = text[found.end() :]
        scope = rest.partition("func.func")[0]
        if re.search(rf"{re.escape(found[1])}(?![\w$.#-])", scope):
            yield Change(found.start(), found.end(), "", REJECT, "definition lost")


@kind
def lost_brace(text: str) -> Iterator[Change]:
    """A closing brace is missing."""
    for found in each(r"(?m)^[ \t]*(\})[ \t]*$", text):
        yield swap(found, 1, "", REJECT, "brace lost")


@kind
def lost_return(text: str) -> Iterator[Change]:
    """A function without its terminator."""
    for found in each(r"(?m)^[ \t]+return[ \t]*\n", text):
        yield Change(found.start(), found.end(), "", REJECT, "return lost")


# ------------------------------------------------------------ operands and types


@kind
def lost_operand(text: str) -> Iterator[Change]:
    """The second operand of a flat statement is taken out, its type stays."""
    for found in each(r"(?m)^[ \t]+(?:%[\w, ]+ = )?pto\.(?:mad|v\w+|mte)\w* %[\w]+(, %\w+)(?=[ ,])", text):
        yield swap(found, 1, "", REJECT, "operand lost")


@kind
def more_types(text: str) -> Iterator[Change]:
    """One type more than operands."""
    for found in each(r"(?m)^[ \t]+pto\.(?:mad|mte_\w+|v[a-z]\w*) [^\n]*: [^\n{]*[>\d]()$", text):
        if " -> " not in found[0]:
            yield swap(found, 1, ", i64", REJECT, "type added")


@kind
def other_stated_type(text: str) -> Iterator[Change]:
    """A type that its value does not have."""
    for found in each(r"(?m)^[ \t]+pto\.(?:t\w+|mad\w*|mte_\w+)[^\n]*(!pto\.(?:ptr|tile_buf)<[^<>\n]*>)", text):
        yield swap(found, 1, "!pto.ptr<f64, ub>", REJECT, "type differs from its value")


@kind
def register_size(text: str) -> Iterator[Change]:
    """A vector register of another size."""
    for found in each(r"!pto\.vreg<(\d+)x", text):
        yield swap(found, 1, str(int(found[1]) * 2), REJECT, "register of 512 bytes")


def _lone_result(text: str, place: int) -> bool:
    """True when the type at ``place`` is that of an argument or result that nothing uses."""
    argument = re.search(r"(%[\w$.\-]+):\s*$", text[max(0, place - 80) : place])
    if argument is not None:
        names = [argument[1]]
    else:
        arrow = text.rfind("->", 0, place)
        begin = text.rfind(" = ", 0, arrow)
        if arrow < 0 or begin < 0 or "%" in text[arrow:place]:
            return False
        names = re.findall(r"%[\w$.\-]+", text[text.rfind("\n", 0, begin) + 1 : begin])
    uses = (re.findall(rf"{re.escape(name)}(?![\w$.\-])", text) for name in names)
    return all(len(found) == 1 for found in uses)


@kind
def mask_width(text: str) -> Iterator[Change]:
    """One stated mask has another granularity than its value."""
    for found in each(r"!pto\.mask<b(8|16|32)>", text):
        if _lone_result(text, found.start()):
            continue
        yield swap(found, 1, {"8": "16", "16": "32", "32": "8"}[found[1]], REJECT, "granularity of one mask")


@kind
def no_memory(text: str) -> Iterator[Change]:
    """A pointer into a memory that does not exist."""
    for found in each(r"!pto\.ptr<[\w.!]+, (gm|ub|l1|mat|vec|l0a|l0b|l0c|left|right|acc|bt|fb)>", text):
        yield swap(found, 1, "l9", REJECT, "unknown memory")


@kind
def zero_memory(text: str) -> Iterator[Change]:
    """A pointer into the memory without a name."""
    for found in each(r"!pto\.ptr<[\w.!]+, (gm)>", text):
        yield swap(found, 1, "zero", REJECT, "zero is no memory of a pointer")


def _everywhere(text: str, pattern: str, change: Callable[[str], str]) -> Iterator[Change]:
    """Each type that the pattern finds becomes another one in the whole text."""
    for old in dict.fromkeys(found[1] for found in each(pattern, text)):
        new = change(old)
        yield Change(0, len(text), text.replace(old, new), REJECT, f"{old} becomes {new} everywhere")


@kind
def product_memory(text: str) -> Iterator[Change]:
    """Operands of a raw product in another memory, everywhere."""
    pattern = r"pto\.mad\w* [^\n]*(!pto\.ptr<\w+, (?:l0a|left)>)"
    return _everywhere(text, pattern, lambda old: old.replace("l0a", "l1").replace("left", "l1"))


@kind
def vector_memory(text: str) -> Iterator[Change]:
    """Vector loads and stores outside of ub, everywhere."""
    pattern = r"pto\.(?:vlds|vsts|vldas|vsld|vsst)\w* [^\n]*(!pto\.ptr<\w+, (?:ub|vec)>)"
    return _everywhere(text, pattern, lambda old: old.replace("ub", "l0c").replace("vec", "l0c"))


@kind
def product_place(text: str) -> Iterator[Change]:
    """The tile of a product lies elsewhere, everywhere."""
    left = r"pto\.(?:tmatmul|tgemv)[\w.]* ins\([^\n]*?(!pto\.tile_buf<loc=left, [^<>\n]*>)"
    yield from _everywhere(text, left, lambda old: old.replace("loc=left", "loc=right"))
    result = r"pto\.(?:tmatmul|tgemv)[\w.]* ins\([^\n]*outs\(%\w+ : (!pto\.tile_buf<loc=acc, [^<>\n]*>)"
    yield from _everywhere(text, result, lambda old: old.replace("loc=acc", "loc=bias"))


@kind
def product_elements(text: str) -> Iterator[Change]:
    """The elements of a raw product have no such combination."""
    pattern = r"pto\.mad(?:_acc)? [^\n]*(!pto\.ptr<(?:f16|bf16|f32), (?:l0b|right)>)"
    return _everywhere(text, pattern, lambda old: re.sub(r"<\w+,", "<i8,", old))


@kind
def one_bit_tile(text: str) -> Iterator[Change]:
    """Tiles of single bits, everywhere."""
    pattern = r"pto\.alloc_tile[^\n]*: (!pto\.tile_buf<[^<>\n]*dtype=(?:f32|f16|i32|i16|i8)[^<>\n]*>)"
    return _everywhere(text, pattern, lambda old: re.sub(r"dtype=\w+", "dtype=i1", old))


# ------------------------------------------------------------ tile types


@kind
def lost_tile_key(text: str) -> Iterator[Change]:
    """The long form of a tile type without one of its keys."""
    for found in each(r"!pto\.tile_buf<loc=[^<>\n]*?(, (?:v_row|v_col|blayout|slayout|fractal)=[\w?]+)[^<>\n]*>", text):
        yield swap(found, 1, "", REJECT, "key lost")


@kind
def tile_key_order(text: str) -> Iterator[Change]:
    """Two keys of the long form in the other order."""
    for found in each(r"!pto\.tile_buf<[^<>\n]*?((rows=\d+), (cols=\d+))", text):
        yield swap(found, 1, f"{found[3]}, {found[2]}", REJECT, "keys out of order")


@kind
def valid_region(text: str) -> Iterator[Change]:
    """A valid region larger than its tile."""
    for found in each(r"!pto\.tile_buf<[^<>\n]*rows=(\d+), cols=\d+, v_row=(\d+)", text):
        yield swap(found, 2, str(int(found[1]) + 1), REJECT, "valid rows beyond the tile")


@kind
def fractal(text: str) -> Iterator[Change]:
    """A block of no known size."""
    for found in each(r"fractal=(\d+)", text):
        yield swap(found, 1, "256", REJECT, "fractal 256")


@kind
def empty_tile(text: str) -> Iterator[Change]:
    """A tile without rows."""
    for found in each(r"!pto\.tile_buf<[^<>\n]*rows=(\d+)", text):
        yield swap(found, 1, "0", REJECT, "tile without rows")


@kind
def unknown_layout(text: str) -> Iterator[Change]:
    """A layout that does not exist."""
    for found in each(r"[bs]layout=(\w+)", text):
        yield swap(found, 1, "diagonal", REJECT, "unknown layout")


# ------------------------------------------------------------ clauses and attributes


@kind
def clause_twice(text: str) -> Iterator[Change]:
    """A saturation clause stands twice."""
    for found in each(r"pto\.mad\w* [^\n:]*?( (?:sat|nosat))\b", text):
        yield swap(found, 1, found[1] * 2, REJECT, "clause twice")


@kind
def clause_unknown(text: str) -> Iterator[Change]:
    """A clause that does not exist."""
    for found in each(r"(?m)^[ \t]+pto\.mad\w* %\w+[^\n:]*?()(?=\n? *: )", text):
        yield swap(found, 1, " sideways", REJECT, "unknown clause")


@kind
def clause_order(text: str) -> Iterator[Change]:
    """Layout after saturation."""
    for found in each(r"pto\.mte_l0c_\w+ [^\n:]*?((nz2nd|nz2nz), (sat|nosat))\b", text):
        yield swap(found, 1, f"{found[3]}, {found[2]}", REJECT, "clauses out of order")


@kind
def signed_attribute(text: str) -> Iterator[Change]:
    """An integer attribute with a sign that its declaration does not have."""
    for found in each(r"\{[^{}\n]*\b(?:width|slot|ffts_mode|rounds|byte|upperOrLower) = \d+ : (i32|i64)\b", text):
        yield swap(found, 1, "si16", REJECT, "type of an attribute")


@kind
def attribute_of_other_kind(text: str) -> Iterator[Change]:
    """A required attribute holds something else."""
    for found in each(r"(?:cmpMode|rmode|quant_type|coalesce) = (#pto<[\w ]+>)", text):
        yield swap(found, 1, "[1, 2]", REJECT, "list for an enumerator")


@kind
def unread_attribute(text: str) -> Iterator[Change]:
    """An attribute that nothing reads is a warning."""
    for found in each(r"(?m)^[ \t]+pto\.t(?:add|mul|exp|abs) ins\([^\n]*\) outs\([^\n]*\)()$", text):
        yield swap(found, 1, " {nothing_reads_this = 1 : i32}", ACCEPT, "attribute that nothing reads")


@kind
def queue_fields(text: str) -> Iterator[Change]:
    """A field of a queue operation that does not exist."""
    for found in each(r"pto\.t(?:push|pop|free|alloc)_\w+[^\n]*\{(id) = ", text):
        yield swap(found, 1, "id_x", REJECT, "unknown field")


@kind
def split_type(text: str) -> Iterator[Change]:
    """A field of a queue operation with the type of another one."""
    for found in each(r"\bsplit = (\d+)(?=\s*\})", text):
        yield swap(found, 1, f"{found[1]} : i32", REJECT, "type of split")


@kind
def unknown_pipe(text: str) -> Iterator[Change]:
    """A pipe that does not exist."""
    for found in each(r"\b(PIPE_(?:MTE[123]|V|M|S|FIX|ALL))\b", text):
        yield swap(found, 1, "PIPE_MTE9", REJECT, "unknown pipe")


@kind
def vector_distribution(text: str) -> Iterator[Change]:
    """A distribution that does not exist."""
    for found in each(r"pto\.v(?:lds|sts)[^\n]*dist = \"(\w+)\"", text):
        yield swap(found, 1, "NORM_B7", REJECT, "unknown distribution")


@kind
def comparison(text: str) -> Iterator[Change]:
    """A comparison that does not exist."""
    for found in each(r"pto\.(?:vcmp|vcmps|vmi\.vcmps?) [^\n]*\"(lt|le|gt|ge|eq|ne)\"", text):
        yield swap(found, 1, "spaceship", REJECT, "unknown comparison")


@kind
def conversion_part(text: str) -> Iterator[Change]:
    """A conversion with a part that does not exist."""
    for found in each(r"pto\.vcvt [^\n]*part = \"(\w+)\"", text):
        yield swap(found, 1, "THIRD", REJECT, "unknown part")


@kind
def extent(text: str) -> Iterator[Change]:
    """An extent of a raw product is zero or beyond twelve bits."""
    for found in each(r"pto\.mad(?:_acc)? %\w+, %\w+, %\w+, %(\w+),", text):
        name = re.escape(found[1])
        before = text[text.rfind("func.func", 0, found.start()) : found.start()]
        if len(re.findall(rf"%{name} = arith\.constant \d+ : i64", before)) == 1:
            place = text.rfind(f"%{found[1]} = arith.constant", 0, found.start())
            number = re.compile(r"constant (\d+)").search(text, place)
            if number is not None:
                yield Change(number.start(1), number.end(1), "0", REJECT, "extent 0")
                yield Change(number.start(1), number.end(1), "4096", REJECT, "extent 4096")


@kind
def literal(text: str) -> Iterator[Change]:
    """A literal that its type does not hold."""
    for found in each(r"arith\.constant (\d+) : i32\b", text):
        yield swap(found, 1, "4294967296", REJECT, "literal too large")
    for found in each(r"arith\.constant (\d+) : index\b", text):
        yield swap(found, 1, "1.5", REJECT, "float for an index")
