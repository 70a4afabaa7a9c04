"""The functions of a program with what a launch of them needs to know. Source: docs/reference/execution.md, "Launches",
"Which core runs what".
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.launcher_arguments import LAUNCHER_VALUES
from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import is_simt_entry
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.render import visible
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.scalar.query import GetBlockIdxOp, GetBlockNumOp
from pto_dialect.runtime.compile.program import (
    Program,
    Symbols,
    arguments_of,
    candidates,
    find_program,
    symbol_of,
)
from pto_dialect.runtime.compile.usage import access_of, directions_of
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.arguments import argument_format
from pto_dialect.runtime.run.kernel import orders_blocks
from pto_dialect.runtime.run.per_core import launcher_value

from ..run.binding import static_shape
from ..run.elements import scalar_format

_CORES = {"aic": "cube", "aiv": "vector", "all": "one"}
_VALUES = (t.VRegType, t.VmiVRegType, t.VmiMaskType)
_BLOCKS = (GetBlockIdxOp, GetBlockNumOp)


@dataclass(frozen=True)
class ListedArgument:
    """One argument.

    ``direction`` is how the function accesses its memory: ``in``, ``out``, ``inout``, ``unused``; a number, a vector
    and a mask are ``in``. ``element`` and ``shape`` are ``None`` where the type leaves them open; ``launcher`` is the
    meaning of an argument that only launchers can provide.
    """

    name: str
    type: str
    direction: str
    element: str | None
    shape: tuple[int, ...] | None
    launcher: str | None


@dataclass(frozen=True)
class ListedFunction:
    """One function with a body.

    ``entry`` states that it is, or may be, the start of a launch; ``cores`` of a block that participate (``one`` for
    programs that query none), ``starts_with`` the function that starts together with it; ``blocks`` is ``one`` where
    the block is not queried, ``many`` else, ``together`` where blocks wait for each other.
    """

    name: str
    line: int | None
    entry: bool
    target: str
    cores: tuple[str, ...]
    starts_with: str | None
    blocks: str
    arguments: tuple[ListedArgument, ...]
    results: tuple[str, ...]
    problem: str | None


def list_functions(module: ModuleOp, target: str | None) -> list[ListedFunction]:
    """Returns all functions of a module that work-items do not run, in text order."""
    symbols = Symbols(module)
    chosen = candidates(module, symbols)
    functions = [op for op in symbols.first.values() if not is_simt_entry(op)]
    return [_listed(module, function, symbols, symbol_of(function) in chosen, target) for function in functions]


def _listed(module: ModuleOp, function: Operation, symbols: Symbols, entry: bool, target: str | None) -> ListedFunction:
    profile = profile_of(function, target)
    program: Program | None = None
    problem: str | None = None
    try:
        program = find_program(module, symbol_of(function), profile.arch, symbols)
    except ProgramError as error:
        problem = error.message
    arguments = tuple(
        _argument(name, type_, direction)
        for (name, type_), direction in zip(
            arguments_of(function), _directions(function, program, symbols), strict=True
        )
    )
    span = span_of(function)
    function_type = function.properties["function_type"]
    assert isinstance(function_type, FunctionType)
    others = [root.function for root in program.roots.values()] if program is not None else []
    return ListedFunction(
        symbol_of(function),
        shown_line(span) if span is not None else None,
        entry,
        profile.name,
        tuple(_CORES[kind] for kind in program.kinds) if program is not None else (),
        next((symbol_of(other) for other in others if other is not function), None),
        _blocks(program, arguments),
        arguments,
        tuple(t.type_text(type_) for type_ in function_type.outputs.data),
        problem,
    )


def _directions(function: Operation, program: Program | None, symbols: Symbols) -> list[str]:
    """Returns what a launch of a function does with each of its arguments: also what starts together with it takes
    them."""
    if program is None:
        return [access_of(value, symbols).direction for value in function.regions[0].blocks[0].args]
    found = directions_of(program)
    root = next((root for root in program.roots.values() if root.function is function), None)
    return found if root is None else [found[position] for position in root.positions]


def _argument(name: str, type_: Attribute, direction: str) -> ListedArgument:
    try:
        fmt = argument_format(type_)
    except BindingError:
        fmt = None
    memory = fmt is not None
    fmt = fmt or scalar_format(type_)
    launcher = LAUNCHER_VALUES[name] if launcher_value(name, type_) is not None else None
    return ListedArgument(
        name,
        t.type_text(type_),
        direction if memory and not isinstance(type_, _VALUES) else "in",
        fmt.name if fmt is not None else None,
        static_shape(type_) if memory else (),
        launcher,
    )


def _blocks(program: Program | None, arguments: tuple[ListedArgument, ...]) -> str:
    operations = program.operations if program is not None else ()
    if any(orders_blocks(op) for op in operations):
        return "together"
    asked = any(isinstance(op, _BLOCKS) for op in operations) or any(
        one.launcher in ("block", "count") for one in arguments
    )
    return "many" if asked else "one"


def show_functions(program: str, module: ModuleOp, target: str | None, form: str) -> str:
    """Returns the functions of ``program`` as ``text`` or ``json``."""
    functions = list_functions(module, target)
    return as_json(program, functions) if form == "json" else as_text(functions)


def as_json(program: str, functions: list[ListedFunction]) -> str:
    """Returns one JSON document."""
    return json.dumps({"program": program, "functions": [asdict(one) for one in functions]}, indent=2) + "\n"


def as_text(functions: list[ListedFunction]) -> str:
    """Returns a paragraph for each function."""
    return "\n".join(_paragraph(one) for one in functions)


_BLOCK_TEXT = {"one": "one block", "many": "any number of blocks", "together": "blocks that wait for each other"}


def _paragraph(function: ListedFunction) -> str:
    cores = {(): "", ("one",): "one core", ("cube", "vector"): "cube core and vector cores"}
    where = cores.get(function.cores, " and ".join(f"{core} core{'s' * (core == 'vector')}" for core in function.cores))
    hints = [function.target, where, _BLOCK_TEXT[function.blocks]]
    if function.starts_with is not None:
        hints.append(f"starts with @{function.starts_with}")
    if not function.entry:
        hints.append("called by others")
    place = f"line {function.line}: " if function.line is not None else ""
    lines = [f"@{function.name}  ({place}{', '.join(hint for hint in hints if hint)})"]
    rows = [(one.name, one.type, _direction(one)) for one in function.arguments]
    names, types = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    lines += [f"  {name:{names}} : {type_:{types}}  {note}".rstrip() for name, type_, note in rows]
    lines += [f"  -> {type_}" for type_ in function.results]
    if function.problem is not None:
        lines.append(f"  cannot be launched: {function.problem}")
    return "".join(f"{visible(line)}\n" for line in lines)


def _direction(argument: ListedArgument) -> str:
    launcher = "" if argument.launcher is None else f", per-core:{argument.launcher}"
    return argument.direction + launcher
