"""A program as the text of a C++ file. Source: docs/cpp.md, "From .pto to C++"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.file_kinds import EMITTED
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.roles import Role, has_role

from . import buffers, calls, control, machine, scalars  # noqa: F401  (they register what emits operations)
from .ctypes import Aliases
from .errors import fail
from .expression import Expr
from .names import Names, identifier
from .writer import Shared, Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import ModuleOp

_KIND = "pto.kernel_kind"
_SWITCHES = {"cube": "__DAV_CUBE__", "vector": "__DAV_VEC__"}


class Function(NamedTuple):
    """A function of a program: its symbol, the operation, whether another function calls it, and the core that it is
    for, if it says so."""

    symbol: str
    op: Operation
    is_called: bool
    kind: str


def emit_module(module: ModuleOp, source: str = "", target: str | None = None) -> str:
    """Returns the C++ text of a program, which was verified. ``source`` is its file, for the comment at the beginning;
    ``target`` is the chip where the program does not say it. Raises :class:`EmitError`."""
    functions = _functions(module)
    if not functions:
        fail(module, "the program has no function with a body, so there is no kernel to write")
    names = Names()
    shared = Shared(profile_of(module, target).name, Aliases(names), names)
    for one in functions:
        shared.functions[one.symbol] = names.fresh(identifier(one.symbol, "kernel"))
    shared.placed = any(_has_address(op) for op in module.walk())
    kinds = {one.kind for one in functions if not one.is_called}
    texts = [_function(one, shared, len(kinds - {""}) > 1) for one in _callees_first(functions)]
    parts = [_head(source, shared.target), "#include <pto/pto-inst.hpp>\nusing namespace pto;"]
    if shared.aliases.lines():
        parts.append("\n".join(shared.aliases.lines()))
    parts += [scalars.HELPERS[name] for name in sorted(shared.helpers)]
    return "\n\n".join([*parts, *texts]) + "\n"


def _head(source: str, target: str) -> str:
    name = "".join(letter if letter.isprintable() else "?" for letter in source).rstrip("\\")
    return f"{EMITTED}{f' from {name}' if name else ''}, for {target}."


def _has_address(op: Operation) -> bool:
    return op.name == "pto.tassign" or (op.name == "pto.alloc_tile" and bool(buffers.groups_of(op)["addr"]))


def _functions(module: ModuleOp) -> list[Function]:
    found = [op for op in module.walk() if has_role(op, Role.FUNCTION) and any(region.blocks for region in op.regions)]
    called = {name for op in module.walk() if (name := _callee(op))}
    functions = []
    for op in found:
        symbol = getattr(op.properties.get("sym_name"), "data", "")
        functions.append(Function(symbol, op, symbol in called, _kind(op)))
    return functions


def _kind(op: Operation | None) -> str:
    while op is not None:
        stated = op.attributes.get(_KIND)
        if isinstance(stated, EnumAttr):
            return stated.value
        op = op.parent_op()
    return ""


def _callee(op: Operation) -> str:
    callee = op.properties.get("callee") if op.name == "func.call" else None
    return callee.root_reference.data if isinstance(callee, SymbolRefAttr) else ""


def _callees_first(functions: Sequence[Function]) -> list[Function]:
    by_name = {one.symbol: one for one in functions}
    ordered: list[Function] = []
    entered: set[str] = set()

    def visit(one: Function) -> None:
        if one.symbol in entered:
            return
        entered.add(one.symbol)
        for op in one.op.walk():
            if (name := _callee(op)) in by_name:
                visit(by_name[name])
        ordered.append(one)

    for one in functions:
        visit(one)
    return ordered


def _function(one: Function, shared: Shared, switched: bool) -> str:
    """Returns the text of a function."""
    (body, *others) = one.op.regions[0].blocks
    if others:
        fail(one.op, "a function with several blocks has no form in C++", "write loops and branches with scf")
    w = Writer(shared)
    parameters = []
    for argument in body.args:
        name = w.name(argument, "arg")
        w.bind(argument, Expr(name))
        reference = "&" if argument.type.name == "pto.tile_buf" else ""
        parameters.append(f"{w.type(argument.type, one.op)}{reference}{name}")
    w.operations(body)
    last = body.last_op
    result = "void "
    if last is not None and len(last.operands):
        if len(last.operands) > 1:
            fail(one.op, "a function with several results has no form in C++", "inline it")
        result = w.type(last.operands[0].type, one.op)
    start = f"AICORE {result}" if one.is_called else f'extern "C" __global__ AICORE {result}'
    head = f"{start}{shared.functions[one.symbol]}({', '.join(parameters)}) {{"
    lines = [head, *w.lines, "}"]
    if switched and not one.is_called and one.kind:
        lines = [f"#if defined({_SWITCHES[one.kind]})", *lines, "#endif"]
    return "\n".join(lines)


__all__ = ["emit_module"]
