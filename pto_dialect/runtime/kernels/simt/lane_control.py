"""Control flow that differs between work-items: both paths run, each for the work-items that take it.

A local holds the mask of running work-items; code is skipped where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.branches import BranchEdge, branch_edges, flag_of
from pto_dialect.ir.core_dialects.structured import is_unsigned
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.compile.names import Kind
from pto_dialect.runtime.compile.program import callee_name
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.simt.code import is_body
from pto_dialect.runtime.simt.control import LivelockDetector, Loop, UnsignedLoop, branches, finish, next_block
from pto_dialect.runtime.simt.items import Mask, WorkItems
from pto_dialect.runtime.simt.scope import is_number
from pto_dialect.runtime.simt.selection import merge
from pto_dialect.runtime.simt.variance import Variance

from ..core.control import reduce, run_block
from ..registry import lane_kernel
from .lane_values import ITEMS, invoke, lane, mask_of, scope_of

_QUIET = (
    *("arith.", "math.", "scf.", "pto.load", "pto.ldg", "pto.atomic_", "pto.get_", "pto.vote_", "pto.shuffle_"),
    *("pto.redux_", "pto.threadfence", "pto.addptr", "pto.castptr", "pto.convert", "pto.fma", "memref.load"),
    *("llvm.load", "llvm.getelementptr", "llvm.inttoptr", "llvm.ptrtoint"),
)
"""Name prefixes of operations that change nothing, or memory by atomic updates alone.

Listed by name, because the effects of an operation do not distinguish them: a fence has the effects of a barrier, a
query of the clock those of a query of the lane.
"""
_CLOCKS = frozenset(("pto.get_clock32", "pto.get_clock64"))
"""Queries of the clock: a loop with one of them ends by itself."""


def _line(g: Generator, target: str, text: str) -> None:
    g.emitter.line(f"{target} = {text}")


def _mask(g: Generator, text: str, hint: str = "running") -> str:
    name = g.emitter.fresh(hint)
    _line(g, name, text)
    return name


def _merged(mask: str, targets: Sequence[SSAValue], sources: Sequence[SSAValue], g: Generator) -> None:
    """Returns new values for the work-items in ``mask``."""
    if targets:
        merged = (invoke(g, merge, Expr(mask), lane(s, g), g.name(t)) for s, t in zip(sources, targets, strict=True))
        g.emitter.line(f"{', '.join(g.name(t) for t in targets)} = {', '.join(merged)}")


def _results(op: Operation, g: Generator) -> None:
    for result in op.results:
        _line(g, g.bind(result), "None")


def _run(block: Block, mask: str, targets: Sequence[SSAValue], g: Generator) -> None:
    """Writes a block for the work-items in ``mask``, whose yielded values are assigned to ``targets``."""
    with g.emitter.block(f"if items.some({mask}):"), scope_of(g).masked(mask):
        for inner in block.ops:
            if has_role(inner, Role.YIELD):
                _merged(mask, targets, list(inner.operands), g)
            else:
                g.operation(inner)


@lane_kernel("scf.if")
def if_else(op: Operation, g: Generator) -> None:
    """Runs both regions, each for the work-items whose condition selects it."""
    condition = lane(named(op, "cond"), g)
    _results(op, g)
    then, otherwise = op.regions
    _run(then.block, _mask(g, f"items.both({mask_of(g)}, {condition})"), op.results, g)
    if otherwise.blocks:
        _run(otherwise.block, _mask(g, f"items.but({mask_of(g)}, {condition})"), op.results, g)


@lane_kernel("scf.index_switch")
def index_switch(op: Operation, g: Generator) -> None:
    """Runs the region of each case for the work-items whose number equals it, the default region for the others."""
    cases = op.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    value = lane(named(op, "arg"), g)
    _results(op, g)
    default, *regions = op.regions
    rest = str(mask_of(g))
    for case, region in zip(cases.get_values(), regions, strict=True):
        _run(region.block, _mask(g, f"items.both({rest}, {value} == {case})"), op.results, g)
        rest = _mask(g, f"items.but({rest}, {value} == {case})", "others")
    _run(default.block, _mask(g, f"items.whole({rest})"), op.results, g)


@lane_kernel("scf.for")
def for_loop(op: Operation, g: Generator) -> None:
    """Runs the body as long as some work-item has not reached its bound. Raises ``Fault`` at run time for a step below
    1."""
    bounds = [lane(named(op, name), g) for name in ("lb", "ub", "step")]
    body = op.regions[0].block
    loop = g.emitter.fresh("loop")
    kind = UnsignedLoop if is_unsigned(op) else Loop
    _line(g, loop, invoke(g, kind, ITEMS, mask_of(g), *bounds))
    for argument, result, value in zip(body.args[1:], op.results, listed(op, "iter_args"), strict=True):
        text = lane(value, g)
        _line(g, g.bind(result), text)
        g.names[argument] = g.names[result]
    mask = _mask(g, f"{loop}.running(items, {mask_of(g)})")
    with g.emitter.block(f"while items.some({mask}):"):
        _line(g, g.bind(body.args[0]), f"{loop}.index")
        with scope_of(g).masked(mask):
            for inner in body.ops:
                if has_role(inner, Role.YIELD):
                    _merged(mask, op.results, list(inner.operands), g)
                else:
                    g.operation(inner)
        g.emitter.line(f"{loop}.number += 1")
        _line(g, mask, f"{loop}.running(items, {mask})")


@lane_kernel("scf.parallel")
def parallel_loop(op: Operation, g: Generator) -> None:
    """Runs the iterations of all dimensions in sequence, for work-items with bounds of their own."""
    body = op.regions[0].block
    number = len(body.args)
    bounds = [lane(value, g) for name in ("lowerBound", "upperBound", "step") for value in listed(op, name)]
    for result, value in zip(op.results, listed(op, "initVals"), strict=True):
        text = lane(value, g)
        _line(g, g.bind(result), text)

    def define_result(mask: str, targets: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        _merged(mask, targets, sources, g)

    def nest(axis: int, outer: str) -> None:
        if axis == number:
            with scope_of(g).masked(outer):
                for inner in body.ops:
                    if inner is body.last_op:
                        reduce(inner, op.results, g, lambda targets, sources, _: define_result(outer, targets, sources))
                    else:
                        g.operation(inner)
            return
        loop = g.emitter.fresh("loop")
        _line(g, loop, invoke(g, Loop, ITEMS, Expr(outer), *bounds[axis::number]))
        mask = _mask(g, f"{loop}.running(items, {outer})")
        with g.emitter.block(f"while items.some({mask}):"):
            _line(g, g.bind(body.args[axis]), f"{loop}.index")
            nest(axis + 1, mask)
            g.emitter.line(f"{loop}.number += 1")
            _line(g, mask, f"{loop}.running(items, {mask})")

    nest(0, str(mask_of(g)))


@lane_kernel("cf.assert")
def assertion(op: Operation, g: Generator) -> None:
    """Raises ``Fault`` (``assertion``) at run time with the first running work-item whose condition does not hold."""
    message = op.properties["msg"]
    assert isinstance(message, StringAttr)
    g.call(claim_each, ITEMS, mask_of(g), lane(named(op, "arg"), g), message.data)


def claim_each(items: WorkItems, mask: Mask, holds: Array, message: str) -> None:
    """Raises ``Fault`` for the first running work-item for which a condition does not hold."""
    wrong = items.both(mask, ~holds)
    if wrong.any():
        raise Fault("assertion", f"{message} ({items.name(int(np.argmax(wrong)))})")


@lane_kernel("scf.while")
def while_loop(op: Operation, g: Generator) -> None:
    """Runs both regions until the condition is false for all work-items. Raises ``Fault`` at run time for a loop that
    waits for work-items that do not run."""
    before, after = (region.block for region in op.regions)
    for argument, value in zip(before.args, op.operands, strict=True):
        text = lane(value, g)
        _line(g, g.bind(argument), text)
    _results(op, g)
    mask = _mask(g, f"items.whole({mask_of(g)})")
    still = _mask(g, f"{g.argument(LivelockDetector)}()", "still") if _polls(op) else None
    with g.emitter.block("while True:"), scope_of(g).masked(mask):
        for inner in before.ops:
            if inner is before.last_op:
                condition, *values = inner.operands
                for argument, value in zip(after.args, values, strict=True):
                    text = lane(value, g)
                    _line(g, g.bind(argument), text)
                going = _mask(g, f"items.both({mask}, {lane(condition, g)})", "going")
                _merged(_mask(g, f"{mask} & ~{going}", "leaving"), op.results, list(after.args), g)
                _line(g, mask, going)
                with g.emitter.block(f"if not items.some({mask}):"):
                    g.emitter.line("break")
            else:
                g.operation(inner)
        run_block(after, before.args, g)
        if still is not None:
            values = ", ".join(["items", mask, *(g.name(argument) for argument in before.args)])
            g.emitter.line(f"{still}.check({values})")


def _polls(op: Operation) -> bool:
    """Returns whether a loop changes nothing but by atomic updates."""
    return all(
        # Listed by name: core dialects and work-items share no class, and the clocks share only their name prefix.
        inner.name.startswith(_QUIET) and inner.name not in _CLOCKS
        for region in op.regions
        for inner in walk(region)
    )


# ------------------------------------------------------------ functions


@lane_kernel("func.call")
def call(op: Operation, g: Generator) -> None:
    """Calls a function for the running work-items."""
    scope = scope_of(g)
    callee = g.unit.program.symbols.callee(op)
    if callee is None:
        raise g.error("callee", f"function @{callee_name(op)} has no body to execute", op)
    parameters = callee.regions[0].blocks[0].args
    arguments = [g.passed(value, parameter) for value, parameter in zip(op.operands, parameters, strict=True)]
    run = f"{scope.names[callee]}({', '.join(['core', 'items', scope.mask, *arguments])})"
    targets = "".join(f"{g.bind(result)}, " for result in op.results)
    g.emitter.line(f"{targets}= {run}" if targets else run)


@lane_kernel("func.return")
def return_values(op: Operation, g: Generator) -> None:
    """Ends a function with its results as a tuple."""
    g.emitter.line(f"return ({_returned(op, g)})")


def _returned(op: Operation, g: Generator) -> str:
    function = op.parent_op()
    assert function is not None
    variance = scope_of(g).code.variance
    values = [
        lane(value, g) if variance.returned(function, number) else g.name(value)
        for number, value in enumerate(op.operands)
    ]
    return "".join(f"{value}, " for value in values)


def split_body(function: Operation, g: Generator) -> None:
    """Writes the blocks of a function between which work-items diverge.

    Each work-item is at one block; the first of these blocks runs for the work-items at it, until all have returned.
    """
    blocks = list(function.regions[0].blocks)
    numbers = {block: number for number, block in enumerate(blocks)}
    end = len(blocks)
    held = _declare_shared_locals(blocks, scope_of(g).code.variance, g)
    returned = [g.emitter.fresh("returned") for _ in _types(function)]
    for name in (*held.values(), *returned):
        _line(g, name, "None")
    for block in blocks[1:]:
        for argument in block.args:
            _line(g, g.bind(argument), "None")
    at_block = _mask(g, f"{g.argument(branches)}(items, {mask_of(g)}, {end})", "place")
    current = g.emitter.fresh("current")
    mask = g.emitter.fresh("running")
    with g.emitter.block("while True:"):
        _line(g, current, invoke(g, next_block, Expr(at_block)))
        with g.emitter.block(f"if {current} == {end}:"):
            g.emitter.line(f"return ({''.join(f'{name}, ' for name in returned)})")
        _line(g, mask, f"{at_block} == {current}")
        for block, number in numbers.items():
            header = f"{'if' if number == 0 else 'elif'} {current} == {number}:"
            with g.emitter.block(header), scope_of(g).masked(mask):
                for op in block.ops:
                    g.emitter.current = op
                    if has_role(op, Role.RETURN):
                        _leave(op, function, returned, at_block, end, g)
                    elif op.successors:
                        _jump(op, numbers, at_block, g)
                    else:
                        g.operation(op)
                        for result in op.results:
                            if result in held:
                                _line(g, held[result], invoke(g, merge, Expr(mask), g.name(result), Expr(held[result])))
                                g.names[result] = held[result]


def _types(function: Operation) -> Sequence[object]:
    ends = (op for block in function.regions[0].blocks for op in block.ops if has_role(op, Role.RETURN))
    return next((list(op.operands) for op in ends), [])


def _declare_shared_locals(blocks: Sequence[Block], variance: Variance, g: Generator) -> dict[SSAValue, str]:
    """Writes locals of the values that are used in other blocks: work-items reach a block at different times."""
    names: dict[SSAValue, str] = {}
    for block in blocks[1:]:
        for op in block.ops:
            for result in op.results:
                if any(block.find_ancestor_op_in_block(use.operation) is None for use in result.uses):
                    if not is_number(result.type) and "ptr" not in str(result.type):
                        raise g.error("unmodelled", "this value is used in blocks that work-items reach separately", op)
                    names[result] = g.emitter.fresh(result.name_hint or "", Kind.VALUE)
    return names


def _leave(op: Operation, function: Operation, returned: list[str], at_block: str, end: int, g: Generator) -> None:
    mask = scope_of(g).mask
    for name, value in zip(returned, op.operands, strict=True):
        _line(g, name, invoke(g, merge, Expr(mask), lane(value, g), Expr(name)))
    if is_body(function):
        g.emitter.line(f"{g.argument(finish)}(items, {mask})")
    g.emitter.line(f"{at_block}[{mask}] = {end}")


def _jump(op: Operation, numbers: dict[Block, int], at_block: str, g: Generator) -> None:
    """Moves each running work-item to the block that a branch selects for it."""
    mask = scope_of(g).mask

    def go(edge: BranchEdge, who: str) -> None:
        _merged(who, edge.block.args, edge.values, g)
        g.emitter.line(f"{at_block}[{who}] = {numbers[edge.block]}")

    flag = flag_of(op)
    *chosen, default = branch_edges(op)
    rest = mask
    for edge in chosen:
        assert flag is not None
        value = lane(flag, g)
        test, others = (value, "running") if edge.case is True else (f"{value} == {edge.case}", "others")
        taken = _mask(g, f"items.both({rest}, {test})")
        rest = _mask(g, f"items.but({rest}, {test})", others)
        go(edge, taken)
    go(default, rest)
