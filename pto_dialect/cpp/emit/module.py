"""A program as the text of a C++ file. Source: docs/cpp.md, "From .pto to C++"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.file_kinds import EMITTED
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.roles import Role, has_role

from . import buffers, calls, control, machine, moves, queues, scalars  # noqa: F401  (they register what emits operations)
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

_CONTRACTED = frozenset(("arith.mulf",))
_NO_CONTRACTION = "// Products and sums of scalars are rounded one by one.\n#pragma STDC FP_CONTRACT OFF"


class Function(NamedTuple):
    """A function of a program: its symbol, the operation, the core that it is for, if it says so, and the functions
    that call it, by the cores that they are for."""

    symbol: str
    op: Operation
    kind: str
    callers: frozenset[str]

    @property
    def is_called(self) -> bool:
        """Returns whether another function calls it."""
        return bool(self.callers)

    @property
    def runs_elsewhere(self) -> bool:
        """Returns whether a core that it is not for may call it, which does nothing then."""
        return bool(self.kind) and not self.callers <= {self.kind}


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
    pair = _pair(functions)
    kinds = {one.kind for one in functions if not one.is_called}
    switched = len(kinds - {""}) > 1
    texts = [_function(one, shared, switched, one in pair) for one in _callees_first(functions)]
    if pair:
        texts.append(_kernel_of_both(pair, shared))
    parts = [_head(source, shared.target), "#include <pto/pto-inst.hpp>\nusing namespace pto;"]
    if any(op.name in _CONTRACTED for op in module.walk()):
        parts.append(_NO_CONTRACTION)
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
    callers = {(name, _kind(op)) for op in module.walk() if (name := _callee(op))}
    functions = []
    for op in found:
        symbol = getattr(op.properties.get("sym_name"), "data", "")
        kinds = frozenset(kind for name, kind in callers if name == symbol)
        functions.append(Function(symbol, op, _kind(op), kinds))
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


_CORES = ("_cube", "_vector", "_aic", "_aiv")
"""How functions of one kernel are called after their cores."""


def _pair(functions: Sequence[Function]) -> tuple[Function, ...]:
    """Returns the two functions of a kernel for both cores: they have the same parameters, and names that differ in
    their cores."""
    kernels = [one for one in functions if not one.is_called]
    if len(kernels) != len(_SWITCHES) or {one.kind for one in kernels} != set(_SWITCHES):
        return ()
    types = [[argument.type for argument in one.op.regions[0].blocks[0].args] for one in kernels]
    same_name = len({_without_core(one.symbol) for one in kernels}) == 1
    return tuple(kernels) if types[0] == types[1] and same_name else ()


def _without_core(symbol: str) -> str:
    return next((symbol.removesuffix(end) for end in _CORES if symbol.endswith(end)), symbol)


def _kernel_of_both(pair: Sequence[Function], shared: Shared) -> str:
    """Returns the kernel that each core enters."""
    w = Writer(shared)
    parameters, names = _parameters(pair[0], w)
    for one in pair:
        w.line(f"#if defined({_SWITCHES[one.kind]})")
        w.line(f"{shared.functions[one.symbol]}({', '.join(names)});")
        w.line("#endif")
    name = shared.names.fresh(identifier(_without_core(pair[0].symbol), "kernel"))
    return "\n".join([f'extern "C" __global__ AICORE void {name}({", ".join(parameters)}) {{', *w.lines, "}"])


def _parameters(one: Function, w: Writer) -> tuple[list[str], list[str]]:
    """Returns the parameters of a function, with their types and by name."""
    parameters, names = [], []
    for argument in one.op.regions[0].blocks[0].args:
        name = w.name(argument, "arg")
        w.bind(argument, Expr(name))
        reference = "&" if argument.type.name == "pto.tile_buf" else ""
        parameters.append(f"{w.type(argument.type, one.op)}{reference}{name}")
        names.append(name)
    return parameters, names


def _function(one: Function, shared: Shared, switched: bool, is_part: bool) -> str:
    """Returns the text of a function; ``is_part`` where a kernel for both cores calls it."""
    (body, *others) = one.op.regions[0].blocks
    if others:
        fail(one.op, "a function with several blocks has no form in C++", "write loops and branches with scf")
    w = Writer(shared)
    parameters, _ = _parameters(one, w)
    w.operations(body)
    last = body.last_op
    result = "void "
    if last is not None and len(last.operands):
        if len(last.operands) > 1:
            fail(one.op, "a function with several results has no form in C++", "inline it")
        result = w.type(last.operands[0].type, one.op)
    start = f"AICORE {result}" if one.is_called or is_part else f'extern "C" __global__ AICORE {result}'
    head = f"{start}{shared.functions[one.symbol]}({', '.join(parameters)}) {{"
    lines = w.lines
    if one.kind in _SWITCHES and one.runs_elsewhere:
        if result != "void ":
            fail(one.op, "a function of one core that returns a value to others has no form in C++", "inline it")
        lines = [f"#if defined({_SWITCHES[one.kind]})", *lines, "#endif"]
    lines = [head, *lines, "}"]
    if switched and not one.is_called and one.kind:
        lines = [f"#if defined({_SWITCHES[one.kind]})", *lines, "#endif"]
    return "\n".join(lines)


__all__ = ["emit_module"]
