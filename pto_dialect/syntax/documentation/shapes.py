"""Checks whether a statement of documentation has the operands of the dialect, and small conversions that fit every
operation.

Source: docs/reference/language.md, "Level 1 and Level 2", "Notations of documents".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import inf

from pto_dialect.ir.core.base import op_spec, signature, stores
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from ..builder.pto import text_slots, typed_names
from .forms import ANY, INDEXED, Names
from .statement import Statement

TILE_SHAPES = ("OP_DPS", "OP_INS_ONLY")
_NUMBER = re.compile(r"-?\d+")
_WORD = re.compile(r'["<#A-Za-z]')
_DESTINATIONS = {"vstu": 2, **dict.fromkeys(("vsst", "vtranspose", "vsort32", "pto.tassign"), 0)}
"""Number of destinations of operations whose shape does not determine it. Other register operations that the dialect
does not have yield one result."""


def _without_outs(statement: Statement) -> bool | None:
    return False if statement.outs else None


_TOLD_BY: dict[str, Callable[[Statement], bool | None]] = {
    "pto.subview": lambda statement: not statement.outs and any("sizes" in operand for operand in statement.operands),
    "pto.tassign": lambda statement: bool(statement.results),
    "pto.treshape": _without_outs,
    "pto.tgetval": _without_outs,
}
"""Predicates that distinguish the form of the dialect from that of a document where operands and enumerators do not;
``None`` where undecided."""


def destinations(name: str, statement: Statement) -> int:
    """Returns how many operands of ``op %dst, %src`` are destinations; 0 for an operation that has none."""
    known = _DESTINATIONS.get(name)
    if known is not None:
        return known
    if name not in OPS:
        return int(name.startswith("v"))
    if OPS[name][2].startswith(TILE_SHAPES):
        return int(bool(op_spec(op_class(name)).outs) and not stores(op_class(name)))
    declared = signature(op_class(name))
    least = sum(slot.arity == "1" for slot in declared.results)
    values = count(statement)
    if values == declared.required == len(statement.types or ()) and statement.outputs is not None:
        return 0  # All types are given and none remains for a destination: the results have no names.
    spare = values - declared.required
    if len(statement.operands) <= least:
        return max(0, spare)  # A result without a name.
    return min(max(least, spare), max(least, declared.maximum_results or 0))


def count(statement: Statement) -> int:
    """Returns the number of values among the operands; numbers count where the operation takes them as values."""
    numbers = not OPS[statement.name][2].startswith("OP_SYNC")
    total = 0
    for operand in statement.operands:
        if operand.startswith("%"):
            indices = INDEXED.match(operand)
            total += 1 + (indices[2].count(",") + 1 if indices is not None else 0)
        elif numbers and _NUMBER.fullmatch(operand):
            total += 1
    return total


def is_dialect_form(statement: Statement) -> bool:
    """Returns whether a statement has the operands, enumerators and results of the dialect."""
    name = statement.name
    if name not in OPS:
        return False
    tell = _TOLD_BY.get(name)
    told = tell(statement) if tell is not None else None
    if told is not None:
        return told
    shape = OPS[name][2]
    if shape in ("OP_COMM_GROUP", "OP_PAREN"):
        return len(statement.operands) == 1 and statement.operands[0].startswith("(")
    brackets = any(operand.endswith("]") for operand in statement.values)
    if brackets is not shape.startswith("OP_INDEXED") and not shape.startswith(TILE_SHAPES):
        return False
    declared = signature(op_class(name))
    spec = op_spec(op_class(name))
    optional_outs = sum(slot.name in spec.outs and slot.arity != "1" for slot in declared.operands)
    most = inf if any(slot.arity == "*" for slot in declared.operands) else len(declared.operands) - optional_outs
    words = [key for key in spec.tokens if key in declared.attributes and declared.attributes[key].arity == "1"]
    numbers = shape.startswith("OP_SYNC")
    spelled = sum(bool(_WORD.match(each) or (numbers and _NUMBER.match(each))) for each in statement.operands)
    least = sum(slot.arity == "1" for slot in declared.results)
    named = len(statement.results)
    if named > (declared.maximum_results or named) or (0 < named < least and ":" not in statement.results[0]):
        return False
    values = count(statement)
    fits = declared.required <= values <= most
    return fits and len(words) <= spelled <= max(len(words), len(spec.tokens))


def as_dialect(statement: Statement, names: Names) -> str | None:
    """Returns a statement with the operands of the dialect as a program writes it; ``None`` if it needs no change."""
    shape = OPS[statement.name][2]
    if shape.startswith(TILE_SHAPES):
        return _grouped(statement, names)
    changed = _untyped_left_out(_filled(statement, names)) if shape.startswith("OP_FLAT") else statement
    if statement.outs or not statement.prefixed or changed is not statement:
        return changed.text()
    return None


def _grouped(statement: Statement, names: Names) -> str | None:
    """Returns ``ins(..) outs(..)`` with one type for several values, types in parentheses or ``...`` for
    all operands."""
    if not statement.outs or statement.types is None or statement.outputs is None:
        return None
    operands, types = statement.operands, statement.types
    if operands == ("...",):
        cls = op_class(statement.name)
        number = sum(slot.arity == "1" and slot.name not in op_spec(cls).outs for slot in signature(cls).operands)
        operands = tuple(f"%operand{next(names)}" for _ in range(number))
        types = (ANY,) * number
    elif _takes_indices(statement.name) and (found := INDEXED.fullmatch(operands[0])) is not None:
        indices = [each.strip() for each in found[2].split(",")]
        operands = (found[1], *operands[1:], *indices)
        types = (*types, *("index" for _ in indices))
    elif len(types) == 1 and len(operands) > 1 and "..." in types[0]:
        types = types * len(operands)
    elif statement.in_parentheses:
        pass
    else:
        return None
    attributes = f" {statement.attributes}" if statement.attributes else ""
    inputs = f"ins({', '.join(operands)}{attributes} : {', '.join(types)})"
    outputs = f"outs({', '.join(statement.results)} : {', '.join(statement.outputs)})"
    return f"{statement.name} {inputs} {outputs}"


def _takes_indices(name: str) -> bool:
    """Returns whether a tile operation has a row and a column among its inputs."""
    return any(slot.name == "indexRow" for slot in signature(op_class(name)).operands)


def _filled(statement: Statement, names: Names) -> Statement:
    """Replaces ``...`` at the end of the operands by the rest of them, elements of lists for values."""
    operands = tuple(
        f"{found[1]}_{found[2].lstrip('%')}" if (found := INDEXED.fullmatch(operand)) else operand
        for operand in statement.operands
    )
    types = statement.types
    if operands and operands[-1] == "...":
        missing = signature(op_class(statement.name)).required - count(replace(statement, operands=operands))
        operands = (*operands[:-1], *(f"%operand{next(names)}" for _ in range(missing)))
        types = None
    return statement if operands == statement.operands else replace(statement, operands=operands, types=types)


def _untyped_left_out(statement: Statement) -> Statement:
    """Removes the types of operands for which programs write none."""
    cls = op_class(statement.name)
    slots, typed = text_slots(cls), typed_names(cls)
    types = statement.types
    if types is None or not len(typed) < len(types) == len(statement.values) <= len(slots):
        return statement
    kept = tuple(type_ for type_, slot in zip(types, slots, strict=False) if slot.name in typed)
    return statement if kept == types else replace(statement, types=kept)
