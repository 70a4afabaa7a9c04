"""Rules of ``func``, ``scf`` and ``cf``: arguments and yields of regions, branch operands, position of terminators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects import builtin
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import ENTRY_ATTRIBUTES
from pto_dialect.diagnostics.remedies.names import append
from pto_dialect.diagnostics.remedies.statements import (
    last_in_block,
    missing_else,
    missing_return,
    without_return,
)
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import OpaqueType, type_text

from ..engine.context import Context
from .operands import group, groups_of, named, split_groups
from .relations import relation
from .value_remedies import block_argument, returned_values, written_end, yielded_value

_PARENTS = {
    "func.return": ("func.func",),
    "scf.yield": ("scf.for", "scf.if", "scf.while", "scf.execute_region", "scf.index_switch"),
    "scf.condition": ("scf.while",),
    "scf.reduce": ("scf.parallel",),
    "scf.reduce.return": ("scf.reduce",),
    "scf.forall.in_parallel": ("scf.forall",),
    "affine.yield": ("affine.for", "affine.if", "affine.parallel"),
    "memref.alloca_scope.return": ("memref.alloca_scope",),
    "memref.atomic_yield": ("memref.generic_atomic_rmw",),
}
"""Required parent operations of operations that must be directly nested in them."""


@dataclass(frozen=True)
class Regions:
    """Constraints on the regions of an operation: the minimum and maximum number, the terminators (the last one also
    holds for further regions), whether each region has a single block, and the region that may be empty."""

    least: int
    most: int | None
    ends: tuple[str, ...] = ()
    single: bool = True
    empty: int | None = None


_REGIONS: dict[str, Regions] = {
    "func.func": Regions(1, 1, ("func.return",), single=False, empty=0),
    "scf.for": Regions(1, 1, ("scf.yield",)),
    "scf.if": Regions(2, 2, ("scf.yield",), empty=1),
    "scf.while": Regions(2, 2, ("scf.condition", "scf.yield")),
    "scf.execute_region": Regions(1, 1, single=False),
    "scf.index_switch": Regions(1, None, ("scf.yield",)),
    "scf.parallel": Regions(1, 1, ("scf.reduce",)),
    "scf.reduce": Regions(0, None, ("scf.reduce.return",)),
    "scf.forall": Regions(1, 1, ("scf.forall.in_parallel",)),
    "scf.forall.in_parallel": Regions(1, 1),
    "affine.for": Regions(1, 1, ("affine.yield",)),
    "affine.if": Regions(2, 2, ("affine.yield",), empty=1),
    "affine.parallel": Regions(1, 1, ("affine.yield",)),
    "memref.alloca_scope": Regions(1, 1, ("memref.alloca_scope.return",)),
    "memref.generic_atomic_rmw": Regions(1, 1, single=False),
}
_NO_REGIONS = Regions(0, 0, single=False)
"""Other core operations, which have no regions."""


def format_types(types: Sequence[Attribute]) -> str:
    """Returns types as a message lists them."""
    return ", ".join(map(type_text, types)) or "nothing"


def types_of(values: Sequence[SSAValue]) -> list[Attribute]:
    """Returns the type of each value."""
    return [value.type for value in values]


def types_differ(found: Sequence[Attribute], wanted: Sequence[Attribute]) -> bool:
    """Returns True unless both types are equal; an unknown type equals every other."""
    if len(found) != len(wanted):
        return True
    return any(a != b and OpaqueType not in (type(a), type(b)) for a, b in zip(found, wanted, strict=True))


def symbol_name(op: Operation) -> str:
    """Returns the name of a function or module symbol."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else "?"


def _ends_block(op: Operation) -> bool:
    """Returns whether ``op`` is a terminator."""
    return _is_terminator(type(op))


@lru_cache(2048)
def _is_terminator(cls: type[Operation]) -> bool:
    return cls.has_trait(IsTerminator)


# ------------------------------------------------------------ where operations stand


def requires_parent(inner: Operation, outer: Operation) -> bool:
    """Returns whether operations called ``name`` must be directly nested in operations such as ``outer``."""
    # The table is about pairs of operations; a trait of either class could not state it.
    return outer.name in _PARENTS.get(inner.name, ())


def check_parent(op: Operation, ctx: Context) -> None:
    """Checks the parent of a core operation, and that a terminator ends its block."""
    parents = _PARENTS.get(op.name)
    if parents is not None:
        parent = op.parent_op()
        if parent is None or not requires_parent(op, parent):
            where = f"in {parent.name}" if parent is not None else "on its own"
            ends = _REGIONS.get(parent.name, _NO_REGIONS).ends if parent is not None else ()
            help = f"the regions of {parent.name} end with {ends[-1]}" if parent is not None and ends else None
            message = f"{op.name} belongs directly in {' or '.join(parents)}, found {where}"
            mended = (without_return(),) if has_role(op, Role.RETURN) else ()
            ctx.report("op-parent", op, message, help=help, remedies=mended)
            return
    if op.next_op is not None and _ends_block(op):
        message = f"{op.name} ends its block, but {op.next_op.name} follows"
        ctx.report("block-terminator", op, message, remedies=(last_in_block(),))


def check_regions(op: Operation, ctx: Context) -> bool:
    """Checks the number of regions and blocks, and their terminators; returns False when later checks make no sense."""
    wanted = _REGIONS.get(op.name, _NO_REGIONS)
    least, most = wanted.least, wanted.most
    if len(op.regions) < least or (most is not None and len(op.regions) > most):
        count = str(least) if most == least else f"at least {least}"
        ctx.report("region-form", op, f"{op.name} has {count} regions, found {len(op.regions)}")
        return False
    for number, region in enumerate(op.regions):
        first = region.first_block
        if first is None:
            if number == wanted.empty:
                continue
            ctx.report("region-form", op, f"region {number + 1} of {op.name} has no block")
            return False
        if wanted.single and first.next_block is not None:
            ctx.report("region-form", op, f"each region of {op.name} has one block")
            return False
        if wanted.single and wanted.ends:
            end = wanted.ends[min(number, len(wanted.ends) - 1)]
            last = first.last_op
            # The tables hold names, because most programs never import the classes.
            if last is not None and last.name in _PARENTS and not requires_parent(last, op):
                # Reported at the terminator itself.
                return False
            if last is None or last.name != end:
                found = f"{last.name}" if last is not None else "nothing"
                message = f"region {number + 1} of {op.name} ends with {end}, found {found}"
                ctx.report("block-terminator", op if last is None else last, message)
                return False
    return True


def check_blocks(op: Operation, region: Region, ctx: Context) -> None:
    """Checks that the blocks of a region with several blocks end with terminators."""
    for block in region.blocks:
        last = block.last_op
        if last is None or not _ends_block(last):
            ctx.report("block-terminator", last or op, f"a block of {op.name} does not end with a terminator")


# ------------------------------------------------------------ functions


def check_function(op: Operation, ctx: Context) -> bool:
    """Checks the arguments of the first block, the terminators, and the returned values; returns False for an operation
    that is not a function."""
    function_type = op.properties.get("function_type")
    if not isinstance(function_type, FunctionType):
        ctx.report("function-form", op, "func.func has a function type")
        return False
    if not isinstance(op.properties.get("sym_name"), StringAttr):
        ctx.report("function-form", op, "func.func has a name")
        return False
    region = op.regions[0]
    inputs, outputs = function_type.inputs.data, function_type.outputs.data
    for key, number in (("arg_attrs", len(inputs)), ("res_attrs", len(outputs))):
        entries = op.properties.get(key)
        if entries is not None and not (isinstance(entries, builtin.ArrayAttr) and len(entries.data) == number):
            ctx.report("function-form", op, f"{key} has one dictionary for each of {number}")
    if region.first_block is None:
        visibility = op.properties.get("sym_visibility")
        if not isinstance(visibility, StringAttr) or visibility.data == "public":
            message = f"@{symbol_name(op)} has no body"
            help, mended = "declare it as func.func private, or give it a body", (append(" private"),)
            ctx.report("function-form", op, message, help=help, remedies=mended)
        return True
    if types_differ(types_of(region.first_block.args), inputs):
        message = f"@{symbol_name(op)} takes ({format_types(inputs)}), but its first block has "
        ctx.report("function-form", op, f"{message}({format_types(types_of(region.first_block.args))})")
    for block in region.blocks:
        last = block.last_op
        ends = last is not None and _ends_block(last)
        if last is None or not (ends or any(_ends_block(inner) for inner in block.ops)):
            # A terminator in the middle of a block is reported at the terminator.
            message = f"a block of @{symbol_name(op)} does not end with a terminator"
            ctx.report("block-terminator", last or op, message, help="add return", remedies=(missing_return(),))
        elif has_role(last, Role.RETURN) and types_differ(types_of(last.operands), outputs):
            found = format_types(types_of(last.operands))
            message = f"@{symbol_name(op)} returns {format_types(outputs)}, found {found}"
            if last.operands or not any(name in op.attributes for name in ENTRY_ATTRIBUTES):
                ctx.report("return-types", last, message, remedies=returned_values(outputs, last))
    return True


# ------------------------------------------------------------ branches


_HANDED = {
    "cf.br": ("values",),
    "cf.cond_br": ("true_values", "false_values"),
    "cf.switch": ("default_values", "case_values"),
}
"""Operands that are passed to the successors."""


def branch_operands(op: Operation) -> list[Sequence[SSAValue]] | None:
    """Returns the operands that ``op`` passes to each successor; ``None`` for operations that do not declare them."""
    names = _HANDED.get(op.name)
    if names is None:
        return None
    handed = [group(op, name) for name in names]
    cases = op.properties.get("case_operand_segments")
    if isinstance(cases, DenseArrayBase):
        handed += split_groups(handed.pop(), cases.get_values())
    return handed


_SUCCESSORS = {"cf.br": 1, "cf.cond_br": 2}


def check_branch(op: Operation, ctx: Context) -> None:
    """Checks successors and the values that they receive."""
    wanted = _SUCCESSORS.get(op.name)
    if wanted is not None and len(op.successors) != wanted:
        ctx.report("branch-arguments", op, f"{op.name} has {wanted} targets, found {len(op.successors)}")
        return
    handed = branch_operands(op)
    if handed is None or len(handed) != len(op.successors):
        return
    home = op.parent_block()
    region = home.parent if home is not None else None
    for block, values in zip(op.successors, handed, strict=True):
        if block.parent is None:
            # A block that does not exist was reported by the parser.
            continue
        if region is not None and block is region.first_block:
            ctx.report("entry-block", op, "the first block of a region is entered from outside only")
            continue
        found, arguments = types_of(values), types_of(block.args)
        if types_differ(found, arguments):
            position = next((n for n, pair in enumerate(zip(found, arguments, strict=False)) if pair[0] != pair[1]), 0)
            at = values[position] if len(found) == len(arguments) else None
            message = f"the block takes {format_types(arguments)}, found {format_types(found)}"
            mended = block_argument(arguments, found)
            ctx.report("branch-arguments", op, message, at=at, remedies=mended)


@relation
def switched(op: Operation, ctx: Context) -> None:
    """Checks that a switch has as many case values, of the type of its flag, as targets and operand groups."""
    values = op.properties.get("case_values")
    groups = op.properties["case_operand_segments"]
    assert isinstance(groups, DenseArrayBase)
    segments = list(groups.get_values())
    cases = len(op.successors) - 1
    flag, given = named(op, "value"), len(group(op, "case_values"))
    if cases < 0:
        ctx.report("switch-cases", op, "cf.switch has a default target")
    elif len(segments) != cases or sum(segments) != given:
        message = f"{cases} targets take {given} values, "
        ctx.report("switch-cases", op, f"{message}but case_operand_segments says {segments}")
    elif isinstance(values, DenseIntOrFPElementsAttr):
        if values.type.element_type != flag.type:
            stated, case = type_text(flag.type), type_text(values.type.element_type)
            ctx.report("switch-cases", op, f"cases of type {case} for a value of type {stated}", at=flag)
        elif len(values) != cases:
            ctx.report("switch-cases", op, f"{len(values)} cases for {cases} targets")
    elif cases:
        ctx.report("switch-cases", op, f"no cases for {cases} targets")


# ------------------------------------------------------------ structured control flow


@relation
def cases(op: Operation, ctx: Context) -> None:
    """Checks that the case values are distinct, one for each region after the default."""
    values = op.properties["cases"]
    assert isinstance(values, DenseArrayBase)
    numbers = list(values.get_values())
    if len(numbers) != len(op.regions) - 1:
        ctx.report("switch-cases", op, f"{len(numbers)} cases for {len(op.regions) - 1} regions")
    twice = next((number for place, number in enumerate(numbers) if number in numbers[:place]), None)
    if twice is not None:
        ctx.report("switch-cases", op, f"case {twice} stands twice")


@relation
def bounds(op: Operation, ctx: Context) -> None:
    """Checks that bounds and step have one type, which is that of the induction variable."""
    lower = named(op, "lower_bound")
    for value in (named(op, "upper_bound"), named(op, "step")):
        if value.type != lower.type:
            message = f"bounds and step of scf.for have one type, found {type_text(lower.type)} and "
            ctx.report("loop-bounds", op, message + type_text(value.type), at=value)
            return


@relation
def parallel(op: Operation, ctx: Context) -> None:
    """Checks bounds and steps for each induction variable."""
    given = groups_of(op)
    lower, upper, steps = (len(given[name]) for name in ("lower_bounds", "upper_bounds", "steps"))
    if lower == 0 or not lower == upper == steps:
        message = "scf.parallel has a lower bound, an upper bound and a step for each counter"
        ctx.report("loop-bounds", op, f"{message}, found {lower}, {upper} and {steps}")
        return
    for value in given["steps"]:
        number = constant_of(value)
        if isinstance(number, int) and number <= 0:
            ctx.report("loop-bounds", op, f"the step of a loop is positive, found {number}", at=value)


def check_flow(op: Operation, ctx: Context) -> None:
    """Checks the arguments and yields of the regions of an scf operation."""
    check = FLOWS.get(op.name)
    if check is not None:
        check(op, ctx)


def check_arguments(op: Operation, block: Block, wanted: Sequence[Attribute], what: str, ctx: Context) -> None:
    """Checks the types of the arguments of ``block``; ``what`` names them in messages."""
    found = types_of(block.args)
    if types_differ(found, wanted):
        ctx.report(
            "region-form", op, f"{what} of {op.name} have the types {format_types(wanted)}, found {format_types(found)}"
        )


def check_yields(op: Operation, region: Region, wanted: Sequence[Attribute], ctx: Context, what: str = "has") -> None:
    """Checks the values that ``scf.yield`` passes at the end of the blocks of ``region``."""
    for block in region.blocks:
        last = block.last_op
        if last is None or not has_role(last, Role.YIELD):
            continue
        found = types_of(last.operands)
        if types_differ(found, wanted):
            wrong = next((n for n, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), 0)
            at = last.operands[wrong] if len(found) == len(wanted) else None
            results = "results" if what == "has" else "variables"
            types = format_types(wanted)
            message = f"{op.name} has {results} of type {types}" if wanted else f"{op.name} has no {results}"
            mended = yielded_value(wanted, found, op.regions.index(region))
            message = f"{message}, but {format_types(found)} is given here"
            ctx.report("region-yield", written_end(last, op), message, at=at, remedies=mended)


def _for(op: Operation, ctx: Context) -> None:
    initial, results = types_of(group(op, "initial_values")), types_of(op.results)
    block = op.regions[0].first_block
    assert block is not None
    if types_differ(initial, results):
        message = f"scf.for starts with {format_types(initial)}, but has results of type {format_types(results)}"
        ctx.report("region-yield", op, message)
        return
    counter = named(op, "lower_bound").type
    if types_differ(types_of(block.args), [counter, *initial]):
        rule = "loop-bounds" if not types_differ(types_of(block.args)[1:], initial) and block.args else "region-form"
        wanted = format_types([counter, *initial])
        ctx.report(rule, op, f"counter and variables of scf.for have the types {wanted}, found "
                   f"{format_types(types_of(block.args))}")  # fmt: skip
        return
    check_yields(op, op.regions[0], results, ctx)


def _if(op: Operation, ctx: Context) -> None:
    then, otherwise = op.regions
    if op.results and otherwise.first_block is None:
        message, mended = (
            "scf.if with results needs an else region",
            (missing_else(format_types(types_of(op.results))),),
        )
        ctx.report("region-form", op, message, help="add else { scf.yield .. }", remedies=mended)
        return
    for region in (then, otherwise):
        if region.first_block is not None:
            check_arguments(op, region.first_block, (), "regions", ctx)
        check_yields(op, region, types_of(op.results), ctx)


def _while(op: Operation, ctx: Context) -> None:
    before, after = (region.first_block for region in op.regions)
    assert before is not None and after is not None
    initial, results = types_of(op.operands), types_of(op.results)
    check_arguments(op, before, initial, "loop variables", ctx)
    check_arguments(op, after, results, "arguments after do", ctx)
    condition = before.last_op
    assert condition is not None
    given = types_of(groups_of(condition).get("values", ()))
    if types_differ(given, results):
        message = f"scf.while has results of type {format_types(results)}" if results else "scf.while has no results"
        ctx.report("region-yield", condition, f"{message}, but {format_types(given)} is given here")
    check_yields(op, op.regions[1], initial, ctx, "takes")


def _execute_region(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    check_arguments(op, block, (), "regions", ctx)
    check_yields(op, op.regions[0], types_of(op.results), ctx)


def _index_switch(op: Operation, ctx: Context) -> None:
    for region in op.regions:
        assert region.first_block is not None
        check_arguments(op, region.first_block, (), "regions", ctx)
        check_yields(op, region, types_of(op.results), ctx)


def _parallel(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    check_arguments(op, block, [builtin.IndexType()] * len(group(op, "lower_bounds")), "counters", ctx)
    starts, results = types_of(group(op, "initial_values")), types_of(op.results)
    reduce = block.last_op
    assert reduce is not None
    if types_differ(starts, results):
        message = f"scf.parallel starts with {format_types(starts)}, but has results of type {format_types(results)}"
        ctx.report("region-yield", op, message)
    elif types_differ(types_of(reduce.operands), results):
        given = format_types(types_of(reduce.operands))
        message = (
            f"scf.parallel has results of type {format_types(results)}" if results else "scf.parallel has no results"
        )
        ctx.report("region-yield", reduce, f"{message}, but {given} is reduced here")


def _reduce(op: Operation, ctx: Context) -> None:
    if len(op.regions) != len(op.operands):
        ctx.report("region-form", op, f"scf.reduce has a region for each of {len(op.operands)} values, "
                   f"found {len(op.regions)}")  # fmt: skip
        return
    for region, value in zip(op.regions, op.operands, strict=True):
        block = region.first_block
        assert block is not None and block.last_op is not None
        check_arguments(op, block, [value.type] * 2, "the two arguments of a region", ctx)
        if types_differ(types_of(block.last_op.operands), [value.type]):
            message = f"this region reduces values of type {type_text(value.type)}, but "
            ctx.report(
                "region-yield",
                block.last_op,
                f"{message}{format_types(types_of(block.last_op.operands))} is given here",
            )


FLOWS = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.execute_region": _execute_region,
    "scf.index_switch": _index_switch,
    "scf.parallel": _parallel,
    "scf.reduce": _reduce,
}
