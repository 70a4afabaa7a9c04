"""One program for each operation: ``examples/FOLDER/MODULE.txt`` has them, in the order of the index.

An entry starts with a line ``## pto.name target``; one entry may serve several operations. It contains statements, or a
whole function or module. Undefined names of statements become arguments of the types that they state, or constants
(``%c16``); a last line ``return %a : T`` gives the function its results.

An operation without an entry uses the entry of an operation of its file with an equal declaration: the same base class,
operands and attributes.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from pto_dialect.families import FAMILIES, level_of
from pto_dialect.ir.core.base import PtoOp, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.verify.engine.example_programs import example_program

_HEAD = re.compile(r"^## (pto\.[\w. ]+) (a5|a2a3)$", re.MULTILINE)
_FUNCTION = re.compile(r"^  func\.func @example\((.*)\) \{$", re.MULTILINE)
_WIDTH = 100
_PROFILES = {"a2a3": A2A3, "a5": A5}


class Example(NamedTuple):
    """An entry: the operation, the target, and the lines after its head."""

    name: str
    target: str
    text: str

    @property
    def program(self) -> str:
        """The whole program, whose only function without a body of its own is ``@example``."""
        *body, last = self.text.split("\n")
        found = re.fullmatch(r"return (%.+) : (.+)", last)
        if found is None:
            text = self.text
            if text.startswith("func.func"):
                text = "\n".join(f"  {line}" for line in text.split("\n"))
            return _wrapped(example_program(text, self.target))
        whole = example_program("\n".join(body), self.target)
        types = found[2] if "," not in _outside_brackets(found[2]) else f"({found[2]})"
        whole = _FUNCTION.sub(lambda head: f"  func.func @example({head[1]}) -> {types} {{", whole)
        return _wrapped(whole.replace("\n    return\n", f"\n    {last}\n"))


def _outside_brackets(text: str) -> str:
    """Returns ``text`` without the parts in ``<..>``."""
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def _wrapped(program: str) -> str:
    """Long function heads with a line for each argument; continuation lines are indented further."""
    program = re.sub(r"^    (?=:|->|outs\(|pre_|!pto\.)", "      ", program, flags=re.MULTILINE)
    return re.sub(r"^  func\.func @example\((.*)\)((?: -> .*)?) \{$", _head, program, flags=re.MULTILINE)


def _head(found: re.Match[str]) -> str:
    if len(found[0]) <= _WIDTH:
        return found[0]
    arguments = re.split(r", (?=%)", found[1])
    return "  func.func @example(\n      " + ",\n      ".join(arguments) + f"\n  ){found[2]} {{"


@cache
def _of_module(module: str) -> dict[str, Example]:
    """Returns the entries of one file, by operation."""
    room, _, name = module.partition(".")
    text = files("pto_dialect.driver.explain").joinpath("examples", room, f"{name}.txt").read_text(encoding="utf-8")
    pieces = _HEAD.split(text)
    heads = zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True)
    return {name: Example(name, target, body.strip("\n")) for names, target, body in heads for name in names.split()}


def _form(name: str) -> tuple[object, ...]:
    """Returns the properties in which equal declarations of operations agree."""
    cls = op_class(name)
    assert issubclass(cls, PtoOp)
    declared = signature(cls)
    return OPS[name][0], cls.__mro__[1], declared.operands, declared.results, declared.attributes


def _fits(example: Example, name: str) -> bool:
    """Returns whether the target of ``example`` has the operation ``name``, for the elements of its tiles."""
    profile, short = _PROFILES[example.target], name.removeprefix("pto.")
    elements = re.findall(r"!pto\.tile_buf<\w+, (?:\d+x)+(\w+)", example.text)
    level = level_of(OPS[name][0])
    foreign = level is not None and profile.is_foreign(short, level)
    return not foreign and profile.available(short) and all(profile.dtype_allowed(short, e) for e in elements)


def _like(example: Example, name: str) -> Example:
    """Returns ``example`` with the operation ``name`` in place of its own; a result that is called as the operation is
    keeps to that."""
    text = re.sub(rf"{re.escape(example.name)}(?![\w.])", name, example.text)
    for found in re.findall(r"^%(\w+) = ", example.text, re.MULTILINE):
        lead = example.name.removesuffix(found)
        if lead != example.name and name.startswith(lead):
            text = re.sub(rf"%{found}\b", f"%{name.removeprefix(lead)}", text)
    return Example(name, example.target, text)


@cache
def example_of(name: str) -> Example:
    """Returns the example of operation ``name``; raises KeyError where neither it nor one like it has an entry."""
    entries = _of_module(str(FAMILIES[OPS[name][0]].operations))
    if name in entries:
        return entries[name]
    form = _form(name)
    for entry in entries.values():
        if _form(entry.name) == form and _fits(entry, name):
            return _like(entry, name)
    raise KeyError(name)
