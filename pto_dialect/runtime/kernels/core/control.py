"""``func``, ``scf`` and ``cf``: control flow as Python control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IndexType, IntegerType, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core_dialects.branches import BranchEdge, branch_edges, flag_of
from pto_dialect.ir.core_dialects.structured import is_unsigned
from pto_dialect.runtime.compile.generator import Generator, integer_width
from pto_dialect.runtime.compile.program import callee_name
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.numerics.unset import with_value
from pto_dialect.runtime.simt.code import is_body

from ..registry import kernel


def assign(targets: Sequence[SSAValue], sources: Sequence[SSAValue], g: Generator) -> None:
    """Returns the simultaneous assignment of values to the locals of ``targets``."""
    if targets:
        left = ", ".join(g.name(v) for v in targets)
        right = ", ".join(g.passed(source, target) for source, target in zip(sources, targets, strict=True))
        if left != right:
            g.emitter.line(f"{left} = {right}")


def check_step(step: int) -> int:
    """Checks the step of a loop, which must be positive."""
    if step <= 0:
        raise Fault("scf-step", f"the step of a loop must be positive, found {step}")
    return step


def unsigned_indices(lower: int, upper: int, step: int, width: int) -> Iterator[int]:
    """Yields the indices of a loop whose bounds are compared as unsigned numbers of ``width`` bits."""
    mask, half = (1 << width) - 1, 1 << (width - 1)
    for bits in range(lower & mask, upper & mask, check_step(step)):
        yield (bits ^ half) - half


@kernel("scf.for")
def for_loop(op: Operation, g: Generator) -> None:
    """Runs the body for each index from lower to upper bound, which an ``unsigned`` loop compares as unsigned numbers;
    yielded values are passed to the next iteration. Raises ``Fault`` (``scf-step``) at run time for a step below 1."""
    lower, upper, step = (g.name(named(op, name)) for name in ("lb", "ub", "step"))
    initial = listed(op, "iter_args")
    body = op.regions[0].block
    for result in op.results:
        g.bind(result)
    assign(op.results, initial, g)
    index = g.bind(body.args[0])
    for argument, result in zip(body.args[1:], op.results, strict=True):
        g.names[argument] = str(g.name(result))
    indices = f"range({lower}, {upper}, {g.argument(check_step)}({step}))"
    if is_unsigned(op):
        indices = f"{g.argument(unsigned_indices)}({lower}, {upper}, {step}, {integer_width(body.args[0].type) or 64})"
    with g.emitter.block(f"for {index} in {indices}:"):
        run_block(body, op.results, g)


@kernel("scf.parallel")
def parallel_loop(op: Operation, g: Generator) -> None:
    """Runs the iterations in sequence; reductions are combined in that order."""
    body = op.regions[0].block
    bounds = [[g.name(value) for value in listed(op, name)] for name in ("lowerBound", "upperBound", "step")]
    for result in op.results:
        g.bind(result)
    assign(op.results, listed(op, "initVals"), g)
    with ExitStack() as loops:
        for axis, counter in enumerate(body.args):
            lower, upper, step = (each[axis] for each in bounds)
            header = f"for {g.bind(counter)} in range({lower}, {upper}, {g.argument(check_step)}({step})):"
            loops.enter_context(g.emitter.block(header))
        for inner in body.ops:
            if inner is body.last_op:
                reduce(inner, op.results, g, assign)
            else:
                g.operation(inner)


def reduce(
    op: Operation,
    results: Sequence[SSAValue],
    g: Generator,
    give: Callable[[Sequence[SSAValue], Sequence[SSAValue], Generator], None],
) -> None:
    """Combines each operand of ``scf.reduce`` with the result so far; ``give`` assigns."""
    if not op.operands:
        # A Python block requires a statement.
        g.emitter.line("pass")
    for region, operand, result in zip(op.regions, op.operands, results, strict=True):
        so_far, new = region.block.args
        g.names[so_far], g.names[new] = g.names[result], g.name(operand)
        for inner in region.block.ops:
            if has_role(inner, Role.YIELD):
                give([result], list(inner.operands), g)
            else:
                g.operation(inner)


@kernel("scf.if")
def if_else(op: Operation, g: Generator) -> None:
    """Runs one of two regions and takes the values that it yields."""
    for result in op.results:
        g.bind(result)
    then, otherwise = op.regions
    with g.emitter.block(f"if {g.name(named(op, 'cond'))}:"):
        run_block(then.block, op.results, g)
    if otherwise.blocks and not _trivial(otherwise.block):
        with g.emitter.block("else:"):
            run_block(otherwise.block, op.results, g)


def _trivial(block: Block) -> bool:
    return all(has_role(op, Role.YIELD) and not op.operands for op in block.ops)


def run_block(block: Block, targets: Sequence[SSAValue], g: Generator) -> None:
    """Runs the only block of a region and assigns the values that it yields to ``targets``."""
    for inner in block.ops:
        if has_role(inner, Role.YIELD):
            assign(targets, list(inner.operands), g)
        else:
            g.operation(inner)


@kernel("scf.while")
def while_loop(op: Operation, g: Generator) -> None:
    """Runs both regions alternately until the condition of the first one is false; its further values are
    the results."""
    before, after = (region.block for region in op.regions)
    for argument in before.args:
        g.bind(argument)
    assign(before.args, list(op.operands), g)
    for result in op.results:
        g.bind(result)
    for argument, result in zip(after.args, op.results, strict=True):
        g.names[argument] = str(g.name(result))
    with g.emitter.block("while True:"):
        for inner in before.ops:
            if inner is before.last_op:
                assign(op.results, listed(inner, "args"), g)
                with g.emitter.block(f"if not {g.name(named(inner, 'condition'))}:"):
                    g.emitter.line("break")
            else:
                g.operation(inner)
        run_block(after, before.args, g)


@kernel("scf.execute_region")
def execute_region(op: Operation, g: Generator) -> None:
    """Runs a region of one or several blocks and takes the values that it yields."""
    for result in op.results:
        g.bind(result)
    blocks = list(op.regions[0].blocks)
    if len(blocks) == 1:
        run_block(blocks[0], op.results, g)
        return
    if any(branches_apart(block, g) for block in blocks):
        raise g.error("unmodelled", "scf.execute_region whose blocks work-items reach separately", op)
    _blocks(blocks, op, g)


def branches_apart(block: Block, g: Generator) -> bool:
    """Returns whether work-items leave ``block`` on different control-flow paths."""
    lanes = g.lanes
    return lanes is not None and any(flag is not None and lanes.varies(flag) for flag in map(flag_of, block.ops))


@kernel("scf.index_switch")
def index_switch(op: Operation, g: Generator) -> None:
    """Runs the region of the case that equals the number, otherwise the default region."""
    for result in op.results:
        g.bind(result)
    cases = op.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    default, *regions = op.regions
    keyword = "if"
    for value, region in zip(cases.get_values(), regions, strict=True):
        with g.emitter.block(f"{keyword} {g.name(named(op, 'arg'))} == {value}:"):
            run_block(region.block, op.results, g)
        keyword = "elif"
    with g.emitter.block("else:" if regions else "if True:"):
        run_block(default.block, op.results, g)


@kernel("func.return")
def return_values(op: Operation, g: Generator) -> None:
    """Ends a function with its results as a tuple."""
    results = [g.name(value) for value in op.operands]
    if g.tracks_numbers:
        check = g.argument(with_value)
        scalars = [isinstance(value.type, (IntegerType, IndexType, AnyFloat)) for value in op.operands]
        results = [f"{check}({name})" if is_one else name for name, is_one in zip(results, scalars, strict=True)]
    g.emitter.line("return " + (", ".join(results) + "," if results else "()"))


@kernel("func.call")
def call(op: Operation, g: Generator) -> None:
    """Runs a function; a kernel of one kind is skipped by cores of the other (docs/reference/execution.md, "Which core
    runs what").
    """
    callee = g.unit.program.symbols.callee(op)
    if callee is None:
        raise g.error("callee", f"function @{callee_name(op)} has no body to execute", op)
    if is_body(callee):
        # Few programs have work-items.
        from ..simt.launch import call_body  # deferred: start-up

        call_body(op, g)
        return
    arguments = ", ".join(["core", *(g.name(v) for v in op.operands)])
    names = g.unit.names if g.queued else g.unit.inner_names or g.unit.names
    run = f"{'yield from ' if g.queued else ''}{names[callee]}({arguments})"
    guard = g.unit.program.guard(op, callee)
    if guard is not None:
        if op.results:
            raise g.error("unmodelled", f"results of a {guard} kernel are not known on other cores", op)
        with g.emitter.block(f"if core.{guard}:"):
            g.emitter.line(run)
        return
    targets = [g.bind(result) for result in op.results]
    left = "".join(f"{target}, " for target in targets)
    g.emitter.line(f"{left}= {run}" if left else run)
    for result in op.results:
        g.prepare_view(result)


def function_body(blocks: Sequence[Block], g: Generator) -> None:
    """Writes the blocks of a function: straight-line code for one block, otherwise a loop that dispatches
    on block ids."""
    if len(blocks) == 1:
        g.block(blocks[0])
        return
    _blocks(blocks, None, g)


def _blocks(blocks: Sequence[Block], around: Operation | None, g: Generator) -> None:
    """Writes several blocks as a loop that dispatches on block ids; ``scf.yield`` leaves it with the results of
    ``around``."""
    numbers = {block: index for index, block in enumerate(blocks)}
    for block in blocks[1:]:
        for argument in block.args:
            g.bind(argument)
    counter = g.emitter.fresh("block")
    g.emitter.line(f"{counter} = 0")
    with g.emitter.block("while True:"):
        for block, number in numbers.items():
            with g.emitter.block(f"{'if' if number == 0 else 'elif'} {counter} == {number}:"):
                for op in block.ops:
                    g.emitter.current = op
                    if around is not None and has_role(op, Role.YIELD):
                        assign(around.results, list(op.operands), g)
                        g.emitter.line("break")
                    elif not _jump(op, numbers, counter, g):
                        g.operation(op)


def claim(holds: bool, message: str) -> None:
    """Raises ``Fault`` for a condition that does not hold."""
    if not holds:
        raise Fault("assertion", message)


@kernel("cf.assert")
def assertion(op: Operation, g: Generator) -> None:
    """Raises ``Fault`` (``assertion``) at run time for a condition that does not hold."""
    message = op.properties["msg"]
    assert isinstance(message, StringAttr)
    g.call(claim, g.name(named(op, "arg")), message.data)


def _jump(op: Operation, numbers: dict[Block, int], counter: str, g: Generator) -> bool:
    """Writes the jump to the block that a branch selects; returns False for operations that are not branches."""
    if not has_role(op, Role.BRANCH):
        return False

    def go(edge: BranchEdge) -> None:
        assign(edge.block.args, edge.values, g)
        g.emitter.line(f"{counter} = {numbers[edge.block]}")

    flag = flag_of(op)
    *chosen, default = branch_edges(op)
    if flag is None:
        go(default)
        return True
    keyword = "if"
    for edge in chosen:
        test = g.name(flag) if edge.case is True else f"{g.name(flag)} == {edge.case}"
        with g.emitter.block(f"{keyword} {test}:"):
            go(edge)
        keyword = "elif"
    with g.emitter.block("else:" if chosen else "if True:"):
        go(default)
    return True
