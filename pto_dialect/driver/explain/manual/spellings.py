"""How an operation is written in C++ and in assembly, from the table of calls and the declaration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pto_dialect.cpp.operations.table import Row, rows
from pto_dialect.ir.core.base import PtoOp, op_spec, signature

from ..page import Block, Code, Text


@cache
def _calls() -> dict[str, tuple[str, ...]]:
    """Returns the C++ calls that become each operation."""
    found: dict[str, dict[str, None]] = {}
    for name, overloads in rows().items():
        for row in overloads:
            found.setdefault(row.mnemonic, {})[f"{name}({', '.join(_operands(row))});{_mode(row)}"] = None
    return {mnemonic: tuple(calls) for mnemonic, calls in found.items()}


def _operands(row: Row) -> Iterator[str]:
    for role in row.roles:
        yield role.names[0]


def _mode(row: Row) -> str:
    return f"  // {row.mode[0]} = {row.mode[1]}" if row.mode[0] else ""


def _assembly(cls: type[PtoOp]) -> str:
    """Returns the assembly of an operation on tiles: its value form without the prefix of the dialect; else nothing."""
    declared, spec = signature(cls), op_spec(cls)
    outs = [slot for slot in declared.operands if slot.name in spec.outs]
    if not declared.results or not outs or spec.in_place or any(slot.arity == "1" for slot in outs):
        return ""
    inputs = [slot for slot in declared.operands if slot not in outs and slot.arity == "1"]
    results = f"%{outs[0].name}"
    names, types = ", ".join(f"%{slot.name}" for slot in inputs), ", ".join("T" for _ in inputs)
    return f"{results} = {cls.name.removeprefix('pto.')} {names} : ({types}) -> T"


def spellings(cls: type[PtoOp]) -> Iterator[Block]:
    """Yields the calls of the C++ interface, and the assembly, of operations that have them."""
    calls, assembly = _calls().get(cls.name, ()), _assembly(cls)
    if calls:
        yield Text("In [C++](../cpp.md), with `#include <pto/pto-inst.hpp>`:")
        yield Code("cpp", "\n".join(calls))
    if assembly:
        yield Text("In [assembly](../reference/language.md#pto-as-assembly):")
        yield Code("text", assembly)
