"""Rules of symbols: calls name functions that exist, symbols are defined once."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, IndexType, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.remedies.statements import cast, second_name
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import near_hint
from pto_dialect.ir.core.types import OpaqueType, type_text

from ..engine.context import Context


def check_calls(op: Operation, ctx: Context) -> None:
    """Checks the functions that ``op``, one of ``CALLS``, names."""
    _CHECKS[op.name](op, ctx)


def _named_function(op: Operation, symbol: Attribute, ctx: Context) -> FunctionType | None:
    """Returns the type of the function that ``symbol`` names; ``None``, after a report, when there is none."""
    assert isinstance(symbol, SymbolRefAttr)
    name = symbol.root_reference.data
    target = ctx.symbols.find(op, name)
    if target is None:
        near = ctx.symbols.suggest(op, name)
        mended = (replace(f"@{name}", *near),) if near else ()
        message = f"function @{name} does not exist"
        ctx.report("callee", op, message, at="@" + name, help=near_hint(near), remedies=mended)
        return None
    function_type = target.properties.get("function_type")
    return function_type if isinstance(function_type, FunctionType) else None


def _check_function_constant(op: Operation, ctx: Context) -> None:
    symbol = op.properties["value"]
    function_type = _named_function(op, symbol, ctx)
    if function_type is not None and function_type != op.results[0].type:
        stated = type_text(op.results[0].type)
        ctx.report("callee", op, f"{symbol} has type {type_text(function_type)}, but {stated} is stated here")


def _check_indirect_call(op: Operation, ctx: Context) -> None:
    """Checks that operands and results are those of the called value; only the generic form can state others."""
    called, *arguments = op.operands
    function_type = called.type
    stated = FunctionType.from_lists([v.type for v in arguments], [r.type for r in op.results])
    if function_type != stated:
        ctx.report("callee", op, f"a {type_text(function_type)} is called as a {type_text(stated)}", at=called)


def _argument_remedies(found: list[Attribute], wanted: list[Attribute]) -> tuple[Remedy, ...]:
    """Returns what to do about arguments of other types or in another number."""
    if len(found) != len(wanted):
        return (operand_count(len(wanted), len(found)),)
    wrong = [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]]
    if len(wrong) == 1 and all(isinstance(type_, IntegerType | IndexType) for type_ in wrong[0]):
        return (cast(None, *map(type_text, wrong[0])),)
    return ()


def _check_call(op: Operation, ctx: Context) -> None:
    callee = op.properties["callee"]
    function_type = _named_function(op, callee, ctx)
    assert isinstance(callee, SymbolRefAttr)
    if function_type is not None:
        found = [v.type for v in op.operands]
        wanted = list(function_type.inputs.data)
        name = f"@{callee.root_reference.data}"
        if found != wanted and not any(isinstance(x, OpaqueType) for x in found):
            shown, given = (", ".join(map(type_text, types)) for types in (wanted, found))
            wrong = next((n for n, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), -1)
            at = op.operands[wrong] if wrong >= 0 and len(found) == len(wanted) else name
            mended = _argument_remedies(found, wanted)
            ctx.report("callee", op, f"{name} takes ({shown}), found ({given})", at=at, remedies=mended)
        elif [r.type for r in op.results] != list(function_type.outputs.data):
            shown = ", ".join(map(type_text, function_type.outputs.data)) or "nothing"
            given = ", ".join(type_text(r.type) for r in op.results) or "nothing"
            at = op.results[0] if op.results else name
            ctx.report("callee", op, f"{name} returns {shown}, found {given}", at=at)


_CHECKS = {
    "func.call": _check_call,
    "func.constant": _check_function_constant,
    "func.call_indirect": _check_indirect_call,
}
CALLS = frozenset(_CHECKS)
"""Operations that name functions, or call a function value."""


def check_symbols(module: Operation, ctx: Context) -> None:
    """Checks that a module has one block, and that the symbols defined directly in it are distinct."""
    first = module.regions[0].first_block
    second = None if first is None else first.next_block
    if second is not None:
        ctx.report("region-form", second.first_op or module, "a module has one block, and another begins here")
    seen: dict[str, Operation] = {}
    for op in (op for block in module.regions[0].blocks for op in block.ops):
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            if name.data in seen:
                at, mended = f"@{name.data}", (second_name(f"@{name.data}"),)
                ctx.report("symbol-unique", op, f"symbol {at} is defined twice", at=at, remedies=mended)
            seen[name.data] = op
