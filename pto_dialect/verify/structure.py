"""Structure: operand, attribute and result kinds, terminators, dominance, symbols. Pass ``verify-structure``."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.irdl.dominance import strictly_dominates
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..diagnostics.suggest import did_you_mean
from ..ir.attributes import BROKEN, PlaceholderAttr
from ..ir.base import PtoOp, operand_groups, signature
from ..ir.types import OpaqueType, type_text
from ..ir.walk import walk
from ..ir.words import word_rule
from .attribute_names import report_unread
from .context import Context
from .rule import ERROR, RULES, STRUCTURE, rule

_PAGE = "language page, section 2"

OPERAND_KIND = rule("operand-kind", ERROR, STRUCTURE, "every operand has a type of the declared kind", source=_PAGE)
OPERAND_COUNT = rule("operand-count", ERROR, STRUCTURE, "the operation has its declared operands", source=_PAGE)
RESULT_KIND = rule("result-kind", ERROR, STRUCTURE, "every result has a type of the declared kind", source=_PAGE)
ATTRIBUTE_KIND = rule("attr-kind", ERROR, STRUCTURE, "every attribute has a value of the declared kind", source=_PAGE)
ATTRIBUTE_MISSING = rule("attr-missing", ERROR, STRUCTURE, "required attributes are given", source=_PAGE)
CORE_OP = rule(
    "core-op", ERROR, STRUCTURE, "operations of the core dialects satisfy their own definitions", source=_PAGE
)
TERMINATOR = rule("block-terminator", ERROR, STRUCTURE, "a block ends with its terminator", source=_PAGE)
RETURN_TYPES = rule("return-types", ERROR, STRUCTURE, "return gives the function's result types", source=_PAGE)
DOMINANCE = rule("dominance", ERROR, STRUCTURE, "a definition comes before its uses on every path", source=_PAGE)
SYMBOL_UNIQUE = rule("symbol-unique", ERROR, STRUCTURE, "symbols of one module have different names", source=_PAGE)
CALLEE = rule("callee", ERROR, STRUCTURE, "a called function exists and takes these operands", source=_PAGE)

_accepted: set[tuple[type[Operation], tuple[Attribute, ...]]] = set()


def check_pto(op: PtoOp, ctx: Context) -> bool:
    """Kinds of operands, results and attributes of one PTO operation; False when later checks make no sense."""
    cls = type(op)
    types = tuple([v.type for v in op.operands] + [r.type for r in op.results])
    attributes = op.attributes
    bare = not attributes or (len(attributes) == 1 and "operandSegmentSizes" in attributes)
    if bare and not signature(cls).attributes:
        key = (cls, types)
        if key in _accepted and not signature(cls).segmented:
            return True
        if _check_values(op, ctx):
            _accepted.add(key)
            return True
        return False
    return _check_values(op, ctx) and _check_attributes(op, ctx)


def _check_values(op: PtoOp, ctx: Context) -> bool:
    declared = signature(type(op))
    try:
        groups = operand_groups(op)
    except ValueError:
        names = ", ".join(slot.name for slot in declared.operands)
        ctx.report(OPERAND_COUNT, op, f"{op.name} has {len(op.operands)} operands; declared are {names}")
        return False
    good = True
    for slot in declared.operands:
        values = groups[slot.name]
        if (slot.arity == "1" and len(values) != 1) or (slot.arity == "?" and len(values) > 1):
            ctx.report(OPERAND_COUNT, op, f"{op.name} needs its operand {slot.name}")
            return False
        for value in values:
            if not slot.kind.accepts(value.type) and not isinstance(value.type, OpaqueType):
                found = type_text(value.type)
                message = f"{slot.name} of {op.name} must be {slot.kind.label}, found {found}"
                ctx.report(OPERAND_KIND, op, message, at=value)
                good = False
    required = sum(slot.arity == "1" for slot in declared.results)
    most = declared.maximum_results
    if len(op.results) < required or (most is not None and len(op.results) > most):
        span = "" if most == required else " or more" if most is None else f" to {most}"
        ctx.report(RESULT_KIND, op, f"{op.name} has {required}{span} results, found {len(op.results)}")
        return False
    for slot, result in zip(declared.results, op.results, strict=False):
        if not slot.kind.accepts(result.type) and not isinstance(result.type, OpaqueType):
            found = type_text(result.type)
            message = f"the result of {op.name} must be {slot.kind.label}, found {found}"
            ctx.report(RESULT_KIND, op, message, at=result)
            good = False
    return good


def _check_attributes(op: PtoOp, ctx: Context) -> bool:
    good = True
    declared = signature(type(op)).attributes
    misspelt = report_unread(op, ctx) if any(name not in declared for name in op.attributes) else ()
    for name, slot in declared.items():
        value = op.attributes.get(name)
        if value is None:
            if slot.arity == "1" and name in misspelt:
                good = False
            elif slot.arity == "1":
                ctx.report(ATTRIBUTE_MISSING, op, f"{op.name} needs its attribute {name}", help=slot.kind.label)
                good = False
        elif value is BROKEN:
            good = False
        elif not slot.kind.accepts(value) and not isinstance(value, PlaceholderAttr):
            message = f"attribute {name} of {op.name} must be {slot.kind.label}, found {value}"
            own = word_rule(op.name, name) if slot.kind.words else None
            close = did_you_mean(value.data, slot.kind.words) if isinstance(value, StringAttr) else []
            help = f"did you mean {close[0]}?" if close else None
            ctx.report(RULES.get(own or "", ATTRIBUTE_KIND), op, message, at=name, help=help)
            good = False
    return good


_core_accepted: set[tuple[type[Operation], tuple[Attribute, ...]]] = set()


def check_core(op: Operation, ctx: Context) -> None:
    """One operation of a core dialect: xDSL's own verifier, remembered by types for operations without regions."""
    if isinstance(op, (UnregisteredOp, ModuleOp)) or not isinstance(op, IRDLOperation):
        return
    types = tuple([v.type for v in op.operands] + [r.type for r in op.results])
    if any(isinstance(type_, OpaqueType) for type_ in types):
        return
    plain = not op.regions and not op.attributes
    key = (type(op), types)
    if plain and key in _core_accepted and op.name.startswith(("arith.", "math.")):
        return
    try:
        if op.name == "memref.reinterpret_cast":
            _check_reinterpret_cast(op)
        elif op.name == "scf.while":
            _check_while(op)
        elif op.name == "func.call":
            _check_callee(op)
        else:
            op.verify_()
    except (VerifyException, ValueError, AssertionError, IndexError) as error:
        ctx.report(CORE_OP, op, f"{op.name}: {str(error).strip().splitlines()[-1] if str(error) else 'malformed'}")
        return
    if plain:
        _core_accepted.add(key)
    if op.name == "func.func":
        _check_function(op, ctx)
    elif op.name == "func.call":
        _check_call(op, ctx)
    elif op.name == "func.constant":
        _check_function_constant(op, ctx)
    elif op.name == "func.call_indirect":
        _check_indirect_call(op, ctx)


def _check_callee(op: Operation) -> None:
    """What xDSL demands of a call by itself. Its own check searches the whole module for every call; what is called is
    compared by ``_check_call``, with a table."""
    callee = op.properties.get("callee")
    if not isinstance(callee, SymbolRefAttr) or callee.nested_references.data:
        raise VerifyException("the callee is a symbol")
    if op.regions or len(op.properties) > 1:
        raise VerifyException("a call has a callee, operands and results only")


def _check_reinterpret_cast(op: IRDLOperation) -> None:
    """Rank and static sizes. A result dimension may be static where its size is a value, which MLIR allows and
    xDSL's own check refuses."""
    op.get_irdl_definition().verify(op)
    result, sizes = op.results[0].type, op.properties["static_sizes"]
    assert isinstance(result, MemRefType) and isinstance(sizes, DenseArrayBase)
    shape, stated = result.get_shape(), sizes.get_values()
    if len(shape) != len(stated):
        raise VerifyException(f"{len(stated)} sizes for a result of rank {len(shape)}")
    for position, (actual, size) in enumerate(zip(shape, stated, strict=True)):
        if size != DYNAMIC_INDEX and actual not in (size, DYNAMIC_INDEX):
            raise VerifyException(f"size {size} of dimension {position}, but the result has {actual}")


def _check_while(op: IRDLOperation) -> None:
    """The variables of both regions have the types of what is passed to them."""
    op.get_irdl_definition().verify(op)
    for region, where, passed in zip(
        op.regions, ("loop variables", "arguments after do"), (op.operands, op.results), strict=True
    ):
        if len(region.blocks) != 1:
            raise VerifyException("each region has one block")
        found, wanted = [a.type for a in region.block.args], [v.type for v in passed]
        if any(isinstance(type_, OpaqueType) for type_ in found):
            continue
        if found != wanted:
            shown = ", ".join(type_text(x) for x in wanted) or "nothing"
            raise VerifyException(f"{where} have the types {shown}, found {', '.join(map(type_text, found))}")


def _check_function(op: Operation, ctx: Context) -> None:
    function_type = op.properties["function_type"]
    assert isinstance(function_type, FunctionType)
    region = op.regions[0]
    for block in region.blocks:
        last = block.last_op
        if last is None or not last.has_trait(IsTerminator):
            ctx.report(
                TERMINATOR,
                last or op,
                f"a block of @{symbol_name(op)} does not end with a terminator",
                help="add return",
            )
        elif last.name == "func.return":
            found = [v.type for v in last.operands]
            if found != list(function_type.outputs.data):
                wanted = ", ".join(type_text(x) for x in function_type.outputs.data) or "nothing"
                got = ", ".join(type_text(x) for x in found) or "nothing"
                ctx.report(RETURN_TYPES, last, f"@{symbol_name(op)} returns {wanted}, found {got}")
    if len(region.blocks) > 1:
        check_dominance(region, ctx)


def symbol_name(op: Operation) -> str:
    """Name of a function or module symbol."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else "?"


def _named_function(op: Operation, symbol: Attribute, ctx: Context) -> FunctionType | None:
    """Type of the function that ``symbol`` names; ``None``, with a report, when there is none."""
    assert isinstance(symbol, SymbolRefAttr)
    name = symbol.root_reference.data
    target = ctx.symbols.find(op, name)
    if target is None:
        ctx.report(CALLEE, op, f"function @{name} does not exist", at="@" + name)
        return None
    function_type = target.properties.get("function_type")
    return function_type if isinstance(function_type, FunctionType) else None


def _check_function_constant(op: Operation, ctx: Context) -> None:
    symbol = op.properties["value"]
    function_type = _named_function(op, symbol, ctx)
    if function_type is not None and function_type != op.results[0].type:
        stated = type_text(op.results[0].type)
        ctx.report(CALLEE, op, f"{symbol} has type {type_text(function_type)}, but {stated} is stated here")


def _check_indirect_call(op: Operation, ctx: Context) -> None:
    """Operands and results are those of the called value; only the generic form can state others."""
    called, *arguments = op.operands
    function_type = called.type
    stated = FunctionType.from_lists([v.type for v in arguments], [r.type for r in op.results])
    if function_type != stated:
        ctx.report(CALLEE, op, f"a {type_text(function_type)} is called as a {type_text(stated)}", at=called)


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
            ctx.report(CALLEE, op, f"{name} takes ({shown}), found ({given})", at=at)
        elif [r.type for r in op.results] != list(function_type.outputs.data):
            shown = ", ".join(map(type_text, function_type.outputs.data)) or "nothing"
            given = ", ".join(type_text(r.type) for r in op.results) or "nothing"
            at = op.results[0] if op.results else name
            ctx.report(CALLEE, op, f"{name} returns {shown}, found {given}", at=at)


def check_symbols(module: Operation, ctx: Context) -> None:
    """Symbols defined directly in one module."""
    seen: dict[str, Operation] = {}
    for op in (op for block in module.regions[0].blocks for op in block.ops):
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            if name.data in seen:
                ctx.report(SYMBOL_UNIQUE, op, f"symbol @{name.data} is defined twice", at="@" + name.data)
            seen[name.data] = op


def check_dominance(region: Region, ctx: Context) -> None:
    """Uses between the blocks of one region."""
    blocks = set(region.blocks)
    if any(target not in blocks for block in blocks if block.last_op for target in block.last_op.successors):
        # A branch to a block that does not exist; it was reported.
        return
    for block in region.blocks:
        for op in walk(block):
            for value in op.operands:
                owner = value.owner
                home = owner if isinstance(owner, Block) else owner.parent_block()
                if home is None or home.parent is not region:
                    continue
                user: Operation | None = op
                while user is not None and user.parent_block() is not None and user.parent_region() is not region:
                    user = user.parent_op()
                if user is None:
                    continue
                place = user.parent_block()
                if place is home:
                    fine = isinstance(owner, Block) or owner.is_before_in_block(user)
                else:
                    fine = place is not None and strictly_dominates(home, place)
                if not fine:
                    ctx.report(DOMINANCE, op, "this value is not defined on every path that leads here", at=value)
