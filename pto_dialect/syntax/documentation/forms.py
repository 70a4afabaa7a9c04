"""Statements of documentation that mean an operation of the dialect, in another notation.

Each form converts one kind of statement to the notation of programs, or returns ``None`` for other statements.
Additions (a full mask, an offset of zero) and omissions of a form are in its note, which becomes a diagnostic.

Source: docs/reference/language.md, "Level 1 and Level 2", "Other names", "Notations of documents"; the pages of the
instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from pto_dialect.ir.core.base import Pipe, op_spec, signature
from pto_dialect.ir.core.registry import op_class

from .statement import Statement

ANY = "!manual.type<...>"
"""An unstated type of a page; the parser accepts any name."""

INDEXED = re.compile(r"(%[\w$.\-]+)\s*\[\s*([^\[\]]*?)\s*\]")
_REGISTER = re.compile(r"!pto\.vreg<\d+x[a-z]+?(\d+)\w*>")
_GRANULARITY = re.compile(r"!pto\.mask<(b\d+)>")
_NUMBER = re.compile(r"%?(?:c_?)?(\d+)(?:_i\d+|_index)?")
_TILE_SHAPE = re.compile(r"<(?:\w+,\s*)?(\d+)x(\d+)x")


class Reading(NamedTuple):
    """The equivalent statement of a program, and the interpretation as text."""

    text: str
    note: str


Names = Iterator[int]
"""Numbers for names that no statement has."""

Form = Callable[[Statement, Names], Reading | None]


def _renamed(mnemonic: str) -> Form:
    def form(statement: Statement, names: Names) -> Reading | None:
        del names
        note = f"{statement.name} is {mnemonic} in programs"
        return Reading(replace(statement, name=mnemonic).text(), note)

    return form


# ---------------------------------------------------------------- masks


def _width(statement: Statement) -> int | None:
    """Returns the bits of an element of the first register that the statement types."""
    for type_ in (*(statement.types or ()), *(statement.outputs or ())):
        if found := _REGISTER.fullmatch(type_):
            return int(found[1])
    return None


def _full_mask(statement: Statement, names: Names) -> Reading | None:
    """Returns all operands but the mask: every lane is active."""
    indices = sum(bool(INDEXED.fullmatch(value)) for value in statement.values)
    declared = signature(op_class(statement.name))
    if len(statement.values) + indices != declared.required - 1:
        return None
    granularity = next((m[1] for type_ in statement.types or () if (m := _GRANULARITY.fullmatch(type_))), None)
    if granularity is None:
        width = _width(statement)
        granularity = f"b{min(width, 32)}" if width is not None else None
    type_ = f"!pto.mask<{granularity}>" if granularity is not None else "!pto.mask<...>"
    name = f"%full_mask{next(names)}"
    words = [place for place, operand in enumerate(statement.operands) if operand.startswith('"')]
    place = words[0] if words else len(statement.operands)
    mask = f'{name} = pto.pset_{granularity or "b32"} "PAT_ALL" : {type_}'
    text = statement.with_operand(place, name, type_).text()
    return Reading(f"{mask} {text}", f"{statement.name} without a mask: all lanes take part")


def _whole_difference(statement: Statement, names: Names) -> Reading | None:
    """Returns ``vexpdif`` of f32, where every lane has its result and the part has no effect."""
    if len(statement.operands) != 2 or not statement.types or _width(statement) != 32:
        return None
    return _full_mask(replace(statement, operands=(*statement.operands, '"EVEN"')), names)


def _remaining(statement: Statement, names: Names) -> Reading | None:
    """Returns ``plt`` whose second result, the remaining count, has no name."""
    if len(statement.results) != 1 or len(statement.operands) != 1:
        return None
    named = replace(statement, results=(*statement.results, f"%remaining{next(names)}"))
    return Reading(named.text(), f"{statement.name} gives the remaining count as well")


# ---------------------------------------------------------------- predicates in memory


def _predicate_move(statement: Statement, names: Names) -> Reading | None:
    """Predicate loads and stores with the offset as an operand, or none, which is zero."""
    words = tuple(each for each in statement.operands if each.startswith('"'))
    store = statement.name.startswith("pto.pst")
    given = [each for each in statement.operands if each not in words]
    values = given[1:] if store else given
    if not 1 <= len(values) <= 2 or len(given) - len(values) != store:
        return None
    before = ""
    types = statement.types
    if (found := INDEXED.fullmatch(values[0])) is not None:
        pointer, offset = found.groups()
        if len(values) == 2:
            return None
    elif len(values) == 2 and values[1].startswith("%"):
        pointer, offset = values
    else:
        pointer, offset = values[0], f"%offset{next(names)}"
        before = f"{offset} = arith.constant {values[1] if len(values) == 2 else 0} : index "
        types = (*types[: 1 + store], "index") if types is not None else None
    operands = (*given[: int(store)], f"{pointer}[{offset}]", *(words or ('"NORM"',)))
    text = replace(statement, operands=operands, types=types).text()
    note = f"{statement.name} takes its offset in brackets; none is zero"
    return Reading(before + text, note)


def _flush(statement: Statement, names: Names) -> Reading | None:
    """Returns ``vstas %value, %dest[%offset]``."""
    del names
    found = INDEXED.fullmatch(statement.operands[-1]) if len(statement.operands) == 2 else None
    if found is None:
        return None
    text = replace(statement, operands=(statement.operands[0], *found.groups())).text()
    return Reading(text, f"{statement.name} takes its offset as an operand")


def _post_update(statement: Statement, names: Names) -> Reading | None:
    """Returns ``vstus`` with a mode, which its second result already implies."""
    del names
    words = [each for each in statement.operands if each.startswith('"')]
    if len(words) != 1 or len(statement.values) != 4 or len(statement.results) != 2:
        return None
    text = replace(statement, operands=tuple(statement.values)).text()
    return Reading(text, f"{statement.name} has no mode: it updates the base if that is a result")


# ---------------------------------------------------------------- synchronization


def _buffer_id(statement: Statement, names: Names) -> Reading | None:
    """Returns ``get_buf %id, "PIPE_V", %mode``, with the pipe first or second."""
    del names
    pipes = [each for each in statement.operands if not each.startswith("%")]
    values = [INDEXED.sub(r"\1_\2", each).replace("_%", "_") for each in statement.values]
    if len(pipes) != 1 or not pipes[0].startswith('"') or not 1 <= len(values) <= 2:
        return None
    operands = [pipes[0], values[0]]
    if len(values) == 2:
        number = _NUMBER.fullmatch(values[1])
        operands.append(number[1] if number is not None else "MODE")
    text = replace(statement, name=f"{statement.name}_dyn", operands=tuple(operands)).text(typed=False)
    return Reading(text, f"{statement.name} of a computed number is {statement.name}_dyn, and its mode is a number")


_CLASSES = {Pipe.V: "TVEC", Pipe.M: "TMATMUL", Pipe.MTE2: "TLOAD"}


def _barrier_of(statement: Statement, names: Names) -> Reading | None:
    """``tsync.op #pto.op<TADD>``: a barrier for the class of the operation."""
    del names
    found = re.fullmatch(r"#pto\.op<(\w+)>", statement.operands[0]) if len(statement.operands) == 1 else None
    if found is None:
        return None
    try:
        pipe = op_spec(op_class(f"pto.{found[1].lower()}")).pipe
    except KeyError:
        return None
    if pipe is None or pipe not in _CLASSES:
        return None
    text = f"pto.barrier_sync[<{_CLASSES[pipe]}>]"
    return Reading(text, "tsync.op is pto.barrier_sync in programs")


def _signal(statement: Statement, names: Names) -> Reading | None:
    """Signals between ranks: operands in parentheses, and the attributes of the dialect."""
    del names
    if len(statement.values) != 2 or len(statement.operands) != 2:
        return None
    # The content of the memory operand of the assembly form is not a type of a view.
    types = (ANY, *statement.types[1:]) if statement.types and len(statement.types) == 2 else (ANY, "i32")
    attributes = re.sub(r"#pto<cmp\b", "#pto<wait_cmp", statement.attributes)
    attributes = re.sub(r"\bop =", "notifyOp =", attributes)
    head = f"{', '.join(statement.results)} = " if statement.results else ""
    arrow = f" -> {', '.join(statement.outputs)}" if statement.outputs else ""
    text = f"{head}{statement.name}({', '.join(statement.operands)} : {', '.join(types)}) {attributes}{arrow}"
    return Reading(text, f"{statement.name} takes its operands in parentheses")


# ---------------------------------------------------------------- tiles


def _bound(statement: Statement, names: Names) -> Reading | None:
    """``tassign %t, %addr``: from there on the name denotes the tile at the address."""
    del names
    if statement.results or len(statement.operands) != 2:
        return None
    types = statement.types[:1] if statement.types else None
    bound = replace(statement, results=statement.operands[:1], types=types, outputs=types)
    return Reading(bound.text(), f"{statement.name} gives the tile at the address")


def _reshaped(statement: Statement, names: Names) -> Reading | None:
    """Returns ``treshape`` with ``ins(..) outs(..)``."""
    del names
    if not statement.outs:
        return None
    return Reading(statement.text(), f"{statement.name} is a value form in programs")


def _element(statement: Statement, names: Names) -> Reading | None:
    """``tgetval ins(..) outs(%value : f32)``: the number is a result."""
    del names
    if not statement.outs or not statement.types or statement.outputs is None:
        return None
    inputs = f"ins({', '.join(statement.operands)} : {', '.join(statement.types)})"
    text = f"{statement.results[0]} = {statement.name} {inputs} outs : {statement.outputs[0]}"
    return Reading(text, f"{statement.name} gives its number as a result")


def _window(statement: Statement, names: Names) -> Reading | None:
    """Returns ``subview %s, %r, %c``, whose sizes are those of the result."""
    del names
    shape = _TILE_SHAPE.search(statement.outputs[0]) if statement.outputs else None
    if shape is None or len(statement.values) != 3:
        return None
    source, *offsets = statement.values
    operand = f"{source}[{', '.join(offsets)}] sizes [{shape[1]}, {shape[2]}]"
    types = statement.types[:1] if statement.types else None
    text = replace(statement, operands=(operand,), types=types).text()
    return Reading(text, f"{statement.name} takes offsets in brackets, and its sizes")


def _triangle(statement: Statement, names: Names) -> Reading | None:
    """``ttri {isUpperOrLower = 0} : i32 -> T``: the diagonal has a type, and no name."""
    if statement.operands or statement.types is None or len(statement.types) != 1:
        return None
    operand = f"%diagonal{next(names)}"
    text = replace(statement, operands=(operand,)).text()
    return Reading(text, f"{statement.name} takes its diagonal as an operand")


FORMS: dict[str, Form] = {
    "vbroadcast": _renamed("pto.vbr"),
    "vperm": _renamed("pto.vselr"),
    "tsync.op": _barrier_of,
    **dict.fromkeys(("pto.vadd", "pto.vcvt", "pto.vtrc", "pto.vdup", "pto.vsts"), _full_mask),
    **dict.fromkeys(("pto.pand", "pto.por", "pto.pxor", "pto.pnot"), _full_mask),
    "pto.vexpdif": _whole_difference,
    **dict.fromkeys(("pto.plt_b8", "pto.plt_b16", "pto.plt_b32"), _remaining),
    **dict.fromkeys(("pto.plds", "pto.pldi", "pto.psts", "pto.psti"), _predicate_move),
    "pto.vstas": _flush,
    "pto.vstus": _post_update,
    **dict.fromkeys(("pto.get_buf", "pto.rls_buf"), _buffer_id),
    **dict.fromkeys(("pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest"), _signal),
    "pto.tassign": _bound,
    "pto.treshape": _reshaped,
    "pto.tgetval": _element,
    "pto.subview": _window,
    "pto.ttri": _triangle,
}
"""Operation (or name of the manual) to the readers of its other forms."""
