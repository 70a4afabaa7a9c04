"""Custom forms of ``builtin``, ``func``, ``arith``, ``math``, ``scf`` and ``cf`` statements.

Source: docs/reference/language.md, "Modules and functions"; docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import builtin
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypedAttribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attribute_text import attribute_text, dictionary_text, results_text, symbol_name
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.ir.core_dialects.words import MIXED, PREDICATES

from .memory import MEMORY_LEAVES
from .writer import (
    Body,
    Composite,
    Leaf,
    Piece,
    Writer,
    checked,
    dictionary_part,
    integers,
    one_block,
    only_properties,
    require,
)

_FUNCTION_PROPERTIES = frozenset(("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"))


def _inside_function(op: Operation) -> bool:
    parent = op.parent_op()
    return parent is not None and has_role(parent, Role.FUNCTION)


# ---------------------------------------------------------------- modules and functions


def print_builtin_module(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``module @name attributes {..} {..}``."""
    only_properties(op, "sym_name")
    one_block(op.regions[0])
    name = op.properties.get("sym_name")
    head = f"module {symbol_name(name.data)} " if isinstance(name, StringAttr) else "module "
    if op.attributes:
        head += f"attributes {dictionary_text(op.attributes)} "
    return [head, Body(op.regions[0])]


def print_function(writer: Writer, op: Operation) -> list[Piece]:
    """``func.func @name(..) -> .. {..}``."""
    only_properties(op, *_FUNCTION_PROPERTIES)
    name = checked(op.properties.get("sym_name"), StringAttr)
    types = checked(op.properties.get("function_type"), builtin.FunctionType)
    head = "func.func "
    if "sym_visibility" in op.properties:
        visibility = checked(op.properties["sym_visibility"], StringAttr).data
        require(visibility in ("private", "nested", "public"))
        head += visibility + " "
    inputs, outputs = types.inputs.data, types.outputs.data
    argument_attributes = _dictionaries(op.properties.get("arg_attrs"), len(inputs))
    result_attributes = _dictionaries(op.properties.get("res_attrs"), len(outputs))
    region = op.regions[0]
    entry = region.first_block
    if entry is None:
        arguments = [t.type_text(type_) for type_ in inputs]
    else:
        require(tuple(arg.type for arg in entry.args) == tuple(inputs))
        require(not any(entry in block.last_op.successors for block in region.blocks if block.last_op is not None))
        writer.names.enter(region, isolated=True)
        arguments = [f"{writer.use(arg)}: {writer.type(arg.type)}" for arg in entry.args]
    listed = ", ".join([text + extra for text, extra in zip(arguments, argument_attributes, strict=True)])
    head += f"{symbol_name(name.data)}({listed})"
    if len(outputs) > 0:
        head += " -> " + _function_results(outputs, result_attributes)
    if op.attributes:
        head += f" attributes {dictionary_text(op.attributes)}"
    return [head] if entry is None else [head + " ", Body(region, entered=True, labelled=False)]


def _function_results(types: Sequence[Attribute], extras: list[str]) -> str:
    if not any(extras):
        return results_text(types)
    return "(" + ", ".join([t.type_text(type_) + extra for type_, extra in zip(types, extras, strict=True)]) + ")"


def _dictionaries(attr: Attribute | None, length: int) -> list[str]:
    """Returns the texts of argument or result attributes, each with a leading blank or empty."""
    if attr is None:
        return [""] * length
    entries = [checked(entry, DictionaryAttr) for entry in checked(attr, ArrayAttr).data]
    require(len(entries) == length and any(entry.data for entry in entries))
    return [dictionary_part(entry.data) for entry in entries]


def print_return(writer: Writer, op: Operation) -> str:
    """``return %x : type``."""
    only_properties(op)
    name = "return" if _inside_function(op) else "func.return"
    return name + _returned(writer, op)


def print_yield(writer: Writer, op: Operation) -> str:
    """``scf.yield %x : type``."""
    only_properties(op)
    return "scf.yield" + _returned(writer, op)


def print_reduce_return(writer: Writer, op: Operation) -> str:
    """``scf.reduce.return %x : type``."""
    only_properties(op)
    return "scf.reduce.return" + _returned(writer, op)


def _returned(writer: Writer, op: Operation) -> str:
    text = dictionary_part(op.attributes)
    if op.operands:
        text += f" {writer.uses(op.operands)} : {writer.types(op.operands)}"
    return text


def print_call(writer: Writer, op: Operation) -> str:
    """``call @name(..) : type``."""
    only_properties(op, "callee")
    callee = checked(op.properties.get("callee"), builtin.SymbolRefAttr)
    name = "call" if _inside_function(op) else "func.call"
    signature = writer.signature(op.operands, op.results)
    arguments = writer.uses(op.operands)
    return f"{name} {attribute_text(callee)}({arguments}){dictionary_part(op.attributes)} : {signature}"


def print_call_indirect(writer: Writer, op: Operation) -> str:
    """Prints ``call_indirect %f(..) : type``."""
    only_properties(op)
    callee, *arguments = op.operands
    signature = writer.signature(arguments, op.results)
    called = f"{writer.use(callee)}({writer.uses(arguments)})"
    return f"func.call_indirect {called}{dictionary_part(op.attributes)} : {signature}"


def print_function_constant(writer: Writer, op: Operation) -> str:
    """``constant @name : type``."""
    only_properties(op, "value")
    value = checked(op.properties.get("value"), builtin.SymbolRefAttr)
    return f"func.constant{dictionary_part(op.attributes)} {attribute_text(value)} : {writer.type(op.results[0].type)}"


# ---------------------------------------------------------------- arithmetic


def print_constant(writer: Writer, op: Operation) -> str:
    """Prints ``arith.constant value : type``."""
    only_properties(op, "value")
    value = checked(op.properties.get("value"), TypedAttribute)
    require(isinstance(value, (builtin.IntegerAttr, builtin.FloatAttr, builtin.DenseIntOrFPElementsAttr)))
    require(value.get_type() == op.results[0].type)
    return f"arith.constant{dictionary_part(op.attributes)} {attribute_text(value)}"


def _flags(op: Operation, hidden: bool) -> str:
    """Returns ``overflow<..>`` or ``fastmath<..>``; ``hidden`` omits the flags' default."""
    for name, spelled in (("fastmath", "fastmath"), ("overflowFlags", "overflow")):
        value = op.properties.get(name)
        if value is not None:
            text = str(value)
            require(text.startswith(f"#arith.{spelled}<"))
            if hidden and text.endswith("<none>"):
                return ""
            text = " " + text.removeprefix("#arith.")
            return text.replace(",", ", ") if spelled == "overflow" else text
    return ""


def _flags_stated(op: Operation) -> None:
    """Requires flags: the custom form of arithmetic always sets them."""
    declared = type(op).get_irdl_definition().properties  # pyright: ignore[reportAttributeAccessIssue]
    require(all(name in op.properties for name in ("fastmath", "overflowFlags") if name in declared))


def print_arithmetic(writer: Writer, op: Operation) -> str:
    """Prints ``op %a, %b flags : type``."""
    only_properties(op, "fastmath", "overflowFlags")
    _flags_stated(op)
    type_ = op.results[0].type
    require(all(value.type == type_ for value in op.operands))
    tail = f"{_flags(op, hidden=True)}{dictionary_part(op.attributes)} : {writer.type(type_)}"
    return f"{op.name} {writer.uses(op.operands)}{tail}"


def print_mixed(writer: Writer, op: Operation) -> str:
    """``op %a, %b : T, U``: operands of two types."""
    only_properties(op, "fastmath")
    stated_types, _, power = MIXED[op.name]
    if power:
        _flags_stated(op)
    require(len(op.operands) == 2 and len(op.results) == (1 if power else 2))
    a, b = op.operands
    type_ = op.results[0].type
    require(a.type == type_ and (power or b.type == type_))
    stated = writer.type(type_)
    if stated_types == 2:
        stated += f", {writer.type(b.type if power else op.results[1].type)}"
    else:
        require(op.results[1].type == type_)
    return f"{op.name} {writer.uses(op.operands)}{_flags(op, hidden=True)}{dictionary_part(op.attributes)} : {stated}"


def print_select(writer: Writer, op: Operation) -> str:
    """``arith.select %c, %a, %b : type``."""
    only_properties(op)
    condition, *values = op.operands
    type_ = op.results[0].type
    require(len(values) == 2 and all(value.type == type_ for value in values))
    types = writer.type(type_)
    if condition.type != t.I1:
        types = f"{writer.type(condition.type)}, {types}"
    return f"arith.select {writer.uses(op.operands)}{dictionary_part(op.attributes)} : {types}"


def print_compare(writer: Writer, op: Operation) -> str:
    """Prints ``arith.cmpi predicate, %a, %b : type``."""
    only_properties(op, "predicate", "fastmath")
    _flags_stated(op)
    names = PREDICATES[op.name]
    predicate = checked(op.properties.get("predicate"), builtin.IntegerAttr)
    require(predicate.type == builtin.i64 and 0 <= predicate.value.data < len(names))
    left, right = op.operands
    require(left.type == right.type)
    word = names[predicate.value.data]
    tail = f"{_flags(op, hidden=True)}{dictionary_part(op.attributes)} : {writer.type(left.type)}"
    return f"{op.name} {word}, {writer.uses(op.operands)}{tail}"


def print_cast(writer: Writer, op: Operation) -> str:
    """Prints ``op %x : T to R``."""
    only_properties(op, "fastmath", "overflowFlags")
    require(op.operands and op.results)
    types = f"{writer.types(op.operands)} to {writer.types(op.results)}"
    tail = f"{_flags(op, hidden=False)}{dictionary_part(op.attributes)} : {types}"
    return f"{op.name} {writer.uses(op.operands)}{tail}"


# ---------------------------------------------------------------- structured control flow


def implied_yield(op: Operation, region: Region) -> Operation | None:
    """Returns the implied ``scf.yield`` at the end of ``region``."""
    last = region.last_block.last_op if region.last_block is not None else None
    # The operation name is meant: no other operation that ends a region is implied.
    if last is None or last.name != "scf.yield" or op.results:
        return None
    return None if last.operands or last.attributes or last.properties else last


def _carried(op: Operation, values: Sequence[SSAValue], arguments: Sequence[SSAValue]) -> None:
    """Requires that loop variables, their initial values and results agree in number and type."""
    types = [value.type for value in values]
    require([arg.type for arg in arguments] == types and [result.type for result in op.results] == types)


def print_for(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.for %i = %low to %high step %step ..``."""
    only_properties(op)
    region = op.regions[0]
    block = one_block(region)
    lower, upper, step, *initial = op.operands
    variable, *carried = block.args
    require(lower.type == upper.type == step.type == variable.type)
    _carried(op, initial, carried)
    attributes = dict(op.attributes)
    unsigned = "unsigned " if isinstance(attributes.get("unsignedCmp"), builtin.UnitAttr) else ""
    if unsigned:
        del attributes["unsignedCmp"]
    writer.names.enter(region)
    bound = writer.bindings([variable], [lower])
    head = f"scf.for {unsigned}{bound} to {writer.use(upper)} step {writer.use(step)} "
    if initial:
        head += f"iter_args({writer.bindings(carried, initial)}) -> ({writer.types(initial)}) "
    if lower.type != t.INDEX:
        head += f": {writer.type(lower.type)} "
    body = Body(region, entered=True, labelled=False, elided=implied_yield(op, region))
    return [head, body, dictionary_part(attributes)]


def print_parallel(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.parallel (%i) = (..) to (..) step (..) ..``."""
    only_properties(op, "operandSegmentSizes")
    sizes = integers(op, "operandSegmentSizes")
    region = op.regions[0]
    block = one_block(region)
    number = len(block.args)
    require(sizes == [number, number, number, len(op.results)] and number > 0)
    require(sum(sizes) == len(op.operands))
    require(all(value.type == t.INDEX for value in (*op.operands[: 3 * number], *block.args)))
    initial = op.operands[3 * number :]
    require([value.type for value in initial] == [result.type for result in op.results])
    writer.names.enter(region)
    lower, upper, steps = (writer.uses(op.operands[n * number : (n + 1) * number]) for n in range(3))
    counters = ", ".join(writer.use(argument) for argument in block.args)
    head = f"scf.parallel ({counters}) = ({lower}) to ({upper}) step ({steps}) "
    if initial:
        head += f"init ({writer.uses(initial)}) -> {writer.arrow(op.results)} "
    return [head, Body(region, entered=True, labelled=False), dictionary_part(op.attributes)]


def print_reduce_nothing(writer: Writer, op: Operation) -> str:
    """Prints ``scf.reduce`` without operands."""
    only_properties(op)
    require(not op.operands)
    return f"scf.reduce{dictionary_part(op.attributes)}"


def print_reduce(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.reduce(%x : type) {..}``."""
    only_properties(op)
    require(len(op.regions) == len(op.operands) and all(region.first_block is not None for region in op.regions))
    pieces: list[Piece] = [f"scf.reduce({writer.uses(op.operands)} : {writer.types(op.operands)}) "]
    for number, region in enumerate(op.regions):
        pieces += [", "] if number else []
        pieces.append(Body(region))
    return [*pieces, dictionary_part(op.attributes)]


def print_if(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.if %c -> (types) {..} else {..}``."""
    only_properties(op)
    then, otherwise = op.regions
    require(then.first_block is not None and (otherwise.first_block is not None or not op.results))
    (condition,) = op.operands
    head = f"scf.if {writer.use(condition)} "
    if op.results:
        head += f"-> ({writer.types(op.results)}) "
    pieces: list[Piece] = [head, Body(then, elided=implied_yield(op, then))]
    if otherwise.first_block is not None:
        pieces += [" else ", Body(otherwise, elided=implied_yield(op, otherwise))]
    return [*pieces, dictionary_part(op.attributes)]


def print_while(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.while (..) : type {..} do {..}``."""
    only_properties(op)
    before, after = op.regions
    block = one_block(before)
    one_block(after)
    require([arg.type for arg in block.args] == [value.type for value in op.operands])
    writer.names.enter(before)
    signature = writer.signature(op.operands, op.results)
    bound = f"({writer.bindings(block.args, op.operands)}) " if op.operands else ""
    tail = f" attributes {dictionary_text(op.attributes)}" if op.attributes else ""
    first = Body(before, entered=True, labelled=False)
    return [f"scf.while {bound}: {signature} ", first, " do ", Body(after), tail]


def print_condition(writer: Writer, op: Operation) -> str:
    """Prints ``scf.condition(%c) %x : types``."""
    only_properties(op)
    require(not op.attributes)
    condition, *values = op.operands
    text = f"scf.condition({writer.use(condition)})"
    return f"{text} {writer.uses(values)} : {writer.types(values)}" if values else text


def print_execute_region(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.execute_region -> types {..}``."""
    only_properties(op)
    require(op.regions[0].first_block is not None)
    results = f"-> {writer.arrow(op.results)} " if op.results else ""
    return [f"scf.execute_region {results}", Body(op.regions[0]), dictionary_part(op.attributes)]


def print_index_switch(writer: Writer, op: Operation) -> list[Piece]:
    """Prints ``scf.index_switch %i -> types case n {..} default {..}``."""
    only_properties(op, "cases")
    default, *cases = op.regions
    values = integers(op, "cases")
    require(len(values) == len(cases))
    require(all(region.first_block is not None for region in op.regions))
    head = f"scf.index_switch {writer.uses(op.operands)}{dictionary_part(op.attributes)}"
    if op.results:
        head += f" -> {writer.arrow(op.results)}"
    pieces: list[Piece] = [head]
    line = "\n" + writer.indent
    for value, region in zip(values, cases, strict=True):
        pieces += [f"{line}case {value} ", Body(region, elided=implied_yield(op, region))]
    return [*pieces, f"{line}default ", Body(default, elided=implied_yield(op, default))]


# ---------------------------------------------------------------- branches


def print_branch(writer: Writer, op: Operation) -> str:
    """``cf.br ^name(..)``."""
    only_properties(op)
    require(not op.attributes)
    return f"cf.br {writer.target(op.successors[0], op.operands)}"


def _segments(op: Operation, name: str, total: int) -> list[int]:
    values = integers(op, name)
    require(sum(values) == total)
    return values


def print_assert(writer: Writer, op: Operation) -> str:
    """Prints ``cf.assert %c, "text"``."""
    only_properties(op, "msg")
    message = checked(op.properties.get("msg"), StringAttr)
    return f"cf.assert {writer.uses(op.operands)}, {attribute_text(message)}{dictionary_part(op.attributes)}"


def print_conditional_branch(writer: Writer, op: Operation) -> str:
    """Prints ``cf.cond_br %c, ^a(..), ^b(..)``."""
    only_properties(op, "operandSegmentSizes")
    sizes = _segments(op, "operandSegmentSizes", len(op.operands))
    require(len(sizes) == 3 and sizes[0] == 1)
    condition, *values = op.operands
    then, otherwise = op.successors
    first = writer.target(then, values[: sizes[1]])
    second = writer.target(otherwise, values[sizes[1] :])
    return f"cf.cond_br {writer.use(condition)}, {first}, {second}{dictionary_part(op.attributes)}"


def print_switch(writer: Writer, op: Operation) -> str:
    """Prints ``cf.switch %flag : type, [..]``."""
    only_properties(op, "operandSegmentSizes", "case_operand_segments", "case_values")
    sizes = _segments(op, "operandSegmentSizes", len(op.operands))
    flag, *operands = op.operands
    default, *blocks = op.successors
    require(len(sizes) == 3 and sizes[0] == 1)
    groups = _segments(op, "case_operand_segments", sizes[2])
    require(len(groups) == len(blocks))
    numbers: list[str] = []
    if blocks:
        values = checked(op.properties.get("case_values"), builtin.DenseIntOrFPElementsAttr)
        require(values.type == builtin.VectorType(flag.type, [len(blocks)]))
        numbers = [str(value) for value in values.get_values()]
    else:
        require("case_values" not in op.properties)
    targets = [f"default: {writer.target(default, operands[: sizes[1]])}"]
    position = sizes[1]
    for number, block, size in zip(numbers, blocks, groups, strict=True):
        targets.append(f"{number}: {writer.target(block, operands[position : position + size])}")
        position += size
    line = "\n" + writer.indent
    listed = f",{line}  ".join(targets)
    head = f"cf.switch {writer.use(flag)} : {writer.type(flag.type)}, [{line}  {listed}{line}]"
    return head + dictionary_part(op.attributes)


CORE_LEAVES: dict[str, Leaf] = {
    **{name: print_arithmetic for name, shape in CORE_SHAPES.items() if shape == "OP_SAME"},
    **{name: print_cast for name, shape in CORE_SHAPES.items() if shape == "OP_CAST"},
    **{name: print_compare for name, shape in CORE_SHAPES.items() if shape == "OP_COMPARE"},
    **{name: print_mixed for name, shape in CORE_SHAPES.items() if shape == "OP_MIXED"},
    "arith.constant": print_constant,
    "arith.select": print_select,
    "func.return": print_return,
    "func.call": print_call,
    "func.call_indirect": print_call_indirect,
    "func.constant": print_function_constant,
    "scf.yield": print_yield,
    "scf.reduce": print_reduce_nothing,
    "scf.reduce.return": print_reduce_return,
    "scf.condition": print_condition,
    "cf.br": print_branch,
    "cf.cond_br": print_conditional_branch,
    "cf.assert": print_assert,
    "cf.switch": print_switch,
    **MEMORY_LEAVES,
}
"""Printers of core statements without regions."""

CORE_COMPOSITES: dict[str, Composite] = {
    "builtin.module": print_builtin_module,
    "func.func": print_function,
    "scf.for": print_for,
    "scf.parallel": print_parallel,
    "scf.reduce": print_reduce,
    "scf.if": print_if,
    "scf.while": print_while,
    "scf.execute_region": print_execute_region,
    "scf.index_switch": print_index_switch,
}
"""Printers of core statements with regions."""
