"""Single changes to operations of ``arith``, ``math``, ``scf``, ``cf``, ``func`` and ``memref``, by kind.

What is expected follows from the definitions of the MLIR dialects, as in ``program_mutations``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from program_mutations import ACCEPT, REJECT, Change, each, kind, swap

_VALUE = r"%[\w$.\-]+(?:\#\d+)?"
_INTEGER_OPS = "addi|subi|muli|divsi|divui|remsi|remui|minsi|maxsi|minui|maxui|andi|ori|xori|shli|shrsi|shrui"
_FLOAT_OPS = "addf|subf|mulf|divf|maximumf|minimumf|remf"
_TWINS = {"addi": "addf", "subi": "subf", "muli": "mulf", "addf": "addi", "subf": "subi", "mulf": "muli"}
_OTHER = {"i32": "i64", "i64": "i32", "index": "i64", "i16": "i32", "i8": "i32", "i1": "i8", "f32": "f16", "f16": "f32"}


def _lines(pattern: str, text: str) -> Iterator[re.Match[str]]:
    return each(rf"(?m)^[ \t]*(?:%[\w$.\-]+\s*=\s*)?{pattern}", text)


@kind
def core_type(text: str) -> Iterator[Change]:
    """Arithmetic on another type than that of its operands."""
    for found in _lines(rf"(?:arith\.(?:{_INTEGER_OPS}|{_FLOAT_OPS})|math\.\w+) [^\n:]* : (\w+)[ \t]*$", text):
        if found[1] in _OTHER:
            yield swap(found, 1, _OTHER[found[1]], REJECT, f"{found[1]} -> {_OTHER[found[1]]}")


@kind
def core_twin(text: str) -> Iterator[Change]:
    """Arithmetic of floats for integers, and the reverse."""
    for found in _lines(r"arith\.(addi|subi|muli|addf|subf|mulf) [^\n]*", text):
        yield swap(found, 1, _TWINS[found[1]], REJECT, f"{found[1]} -> {_TWINS[found[1]]}")


@kind
def core_predicate(text: str) -> Iterator[Change]:
    """A predicate of the other comparison."""
    for found in _lines(r"arith\.(cmpi|cmpf) (\w+),", text):
        yield swap(found, 2, "oge" if found[1] == "cmpi" else "slt", REJECT, f"predicate of {found[1]}")


@kind
def core_cast(text: str) -> Iterator[Change]:
    """A cast in the wrong direction."""
    wrong = {"extsi": "trunci", "extui": "trunci", "trunci": "extsi", "extf": "truncf", "truncf": "extf"}
    for found in _lines(rf"arith\.(extsi|extui|trunci|extf|truncf) {_VALUE} : ", text):
        yield swap(found, 1, wrong[found[1]], REJECT, f"{found[1]} -> {wrong[found[1]]}")
    for found in _lines(rf"arith\.(?:index_cast|index_castui) {_VALUE} : (\w+) to (\w+)", text):
        yield swap(found, 2, found[1], REJECT, "index_cast to its own type")


@kind
def core_select(text: str) -> Iterator[Change]:
    """A choice by something that is no condition."""
    for found in _lines(rf"arith\.select ({_VALUE}), ({_VALUE}), {_VALUE} : (\w+)", text):
        if found[3] != "i1":
            yield swap(found, 1, found[2], REJECT, "condition of select")


@kind
def core_flags(text: str) -> Iterator[Change]:
    """Flags that the operation has, and flags that it does not."""
    for found in _lines(rf"arith\.(?:addi|subi|muli) {_VALUE}, {_VALUE}() : ", text):
        yield swap(found, 1, " overflow<nsw>", ACCEPT, "overflow flag")
        yield swap(found, 1, " fastmath<fast>", REJECT, "float flag of integers")
    for found in _lines(rf"arith\.(?:addf|subf|mulf|divf) {_VALUE}, {_VALUE}() : ", text):
        yield swap(found, 1, " fastmath<nnan>", ACCEPT, "float flag")
        yield swap(found, 1, " overflow<nsw>", REJECT, "overflow flag of floats")


@kind
def core_constant(text: str) -> Iterator[Change]:
    """A constant of a kind that its literal is not."""
    for found in _lines(r"arith\.constant -?\d+ : (i32|i64|index)\b", text):
        yield swap(found, 1, "f32", REJECT, "integer literal for f32")
        yield swap(found, 1, "ui32", REJECT, "constant with a sign")
    for found in _lines(r"arith\.constant -?\d+\.\d+(?:[eE][+-]?\d+)? : (f16|f32|bf16)\b", text):
        yield swap(found, 1, "i32", REJECT, "float literal for i32")


@kind
def core_definition(text: str) -> Iterator[Change]:
    """A value that is used and no longer defined."""
    for found in each(rf"(?m)^[ \t]*({_VALUE}) = arith\.constant [^\n]*\n", text):
        end = text.find("func.func", found.end())
        used = re.search(rf"{re.escape(found[1])}(?![\w$.\-])", text[found.end() : end if end > 0 else len(text)])
        if used is not None:
            yield Change(found.start(), found.end(), "", REJECT, "definition left out")


@kind
def core_yield(text: str) -> Iterator[Change]:
    """A region that gives fewer values than its operation has results."""
    for found in each(rf"scf\.yield( {_VALUE} : [^\n,]+)$", text, re.MULTILINE):
        yield swap(found, 1, "", REJECT, "value of a yield")
    for found in each(rf"scf\.yield {_VALUE}(, {_VALUE}) : [^\n,]+(, [^\n,]+)$", text, re.MULTILINE):
        shorter = found[0].replace(found[1], "", 1)[: -len(found[2])]
        yield Change(found.start(), found.end(), shorter, REJECT, "second value of a yield")


@kind
def core_region(text: str) -> Iterator[Change]:
    """Results that a condition or loop does not state."""
    for found in each(r"scf\.if [^\n{]*( -> \([^\n)]+\)) \{", text):
        yield swap(found, 1, "", REJECT, "results of scf.if")
    for found in each(rf"scf\.for {_VALUE} = {_VALUE} to {_VALUE} step {_VALUE}() \{{", text):
        yield swap(found, 1, " : f32", REJECT, "loop over floats")
    for found in each(rf"scf\.for {_VALUE} = {_VALUE} to {_VALUE} (step {_VALUE})", text):
        yield swap(found, 1, "", REJECT, "loop without step")


@kind
def core_branch(text: str) -> Iterator[Change]:
    """Branches to blocks that do not exist, or without what the block takes."""
    for found in each(r"cf\.(?:br|cond_br)[^\n]*(\^\w+)", text):
        yield swap(found, 1, "^nowhere", REJECT, "unknown block")
    for found in each(r"cf\.br \^\w+(\([^\n)]*\))", text):
        yield swap(found, 1, "", REJECT, "arguments of a block")


@kind
def core_symbol(text: str) -> Iterator[Change]:
    """Calls of functions that do not exist, and functions of one name."""
    for found in each(r"(?:func\.)?call @([\w$.\-]+)\(", text):
        yield swap(found, 1, "no_such_function", REJECT, "unknown function")
    if text.count("module") == 1:
        names = list(each(r"(?m)^[ \t]*func\.func (?:private )?@([\w$.\-]+)\(", text))
        for found in names[1:]:
            yield swap(found, 1, names[0][1], REJECT, "name of another function")


@kind
def core_terminator(text: str) -> Iterator[Change]:
    """A function without its return, and one that returns what it does not declare."""
    for found in each(r"(?m)^[ \t]*(?:func\.)?return[ \t]*\n(?=[ \t]*\})", text):
        yield Change(found.start(), found.end(), "", REJECT, "return left out")


@kind
def core_memref(text: str) -> Iterator[Change]:
    """Elements of a memref with a wrong number of indices."""
    for found in each(rf"memref\.(?:load {_VALUE}|store {_VALUE}, {_VALUE})\[({_VALUE})\] : ", text):
        yield swap(found, 1, f"{found[1]}, {found[1]}", REJECT, "index too many")
    for found in each(r"memref\.cast [^\n]* to memref<[^\n]*x(f32|f16|i32|i8|i64)[,>]", text):
        yield swap(found, 1, "f64", REJECT, "element type of a cast")
