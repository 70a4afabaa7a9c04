"""Edits that make a module smaller. Each works on a copy of the module and answers whether it could be made.

Operations are named by their positions in the walk over the module, which copies have in common. An edit keeps the
module well-formed as far as values go: a use of a value that is removed becomes one of another value of its type, or
is removed as well. What else an edit breaks, the caller finds when it tries the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

Edit = Callable[[list[Operation]], bool]
"""Changes the operations of a module, given in the order of their walk; false where this is not possible."""


def is_erasable(op: Operation) -> bool:
    """Returns whether an operation may be left out: it is no terminator, and not the module."""
    return not (isinstance(op, ModuleOp) and op.parent is None) and not op.has_trait(IsTerminator)


def erase(chosen: Sequence[int], substitute: bool) -> Edit:
    """Leaves operations out, and what uses their results; with ``substitute`` users get other values where there are
    some of the same type."""

    def edit(ops: list[Operation]) -> bool:
        doomed = {ops[number]: None for number in chosen}
        pending = list(doomed)
        while pending:
            for result in pending.pop().results:
                for use in list(result.uses):
                    user = use.operation
                    if _is_inside(user, doomed):
                        continue
                    other = _substitute(result, doomed) if substitute else None
                    if other is not None:
                        user.operands[use.index] = other
                    elif not is_erasable(user):
                        return False
                    else:
                        doomed[user] = None
                        pending.append(user)
        for op in [op for op in doomed if not _is_inside(op.parent_op(), doomed)]:
            op.detach()
            op.drop_all_references()
        return True

    return edit


def unwrap(number: int, region: int) -> Edit:
    """Replaces an operation by what one of its regions holds. Arguments of the region become operands of the
    operation, its results what the region yields."""

    def edit(ops: list[Operation]) -> bool:
        op = ops[number]
        if region >= len(op.regions) or len(op.regions[region].blocks) != 1 or op.parent is None:
            return False
        block = op.regions[region].block
        last = block.last_op
        yielded = list(last.operands) if last is not None and last.has_trait(IsTerminator) else []
        left = list(op.operands)
        for argument in block.args:
            other = next((value for value in left if value.type == argument.type), None)
            if other is None:
                other = next((value for value in op.operands if value.type == argument.type), None)
            if other is None:
                if argument.uses:
                    return False
                continue
            left = [value for value in left if value is not other]
            yielded = [other if value is argument else value for value in yielded]
            argument.replace_all_uses_with(other)
        if last is not None and last.has_trait(IsTerminator):
            last.detach()
            last.drop_all_references()
        for result, value in zip(op.results, yielded, strict=False):
            if result.type != value.type:
                return False
            result.replace_all_uses_with(value)
        if any(result.uses for result in op.results):
            return False
        for inner in list(block.ops):
            inner.detach()
            op.parent.insert_op_before(inner, op)
        op.detach()
        op.drop_all_references()
        return True

    return edit


def drop_arguments(number: int, chosen: Sequence[int]) -> Edit:
    """Removes unused arguments of a function that nothing calls."""

    def edit(ops: list[Operation]) -> bool:
        op = ops[number]
        kind = op.properties.get("function_type")
        if not isinstance(kind, FunctionType) or not op.regions or not op.regions[0].blocks:
            return False
        if "arg_attrs" in op.properties:
            return False
        block = op.regions[0].blocks[0]
        for position in sorted(chosen, reverse=True):
            if block.args[position].uses:
                return False
            block.erase_arg(block.args[position])
        kept = [each for position, each in enumerate(kind.inputs) if position not in chosen]
        op.properties["function_type"] = FunctionType.from_lists(kept, list(kind.outputs))
        return True

    return edit


def drop_attribute(number: int, name: str) -> Edit:
    """Removes an attribute of an operation that it can do without."""

    def edit(ops: list[Operation]) -> bool:
        return not name.endswith("SegmentSizes") and ops[number].attributes.pop(name, None) is not None

    return edit


def set_constant(number: int, value: int) -> Edit:
    """Gives an integer constant a smaller value."""

    def edit(ops: list[Operation]) -> bool:
        old = ops[number].properties.get("value")
        if not isinstance(old, IntegerAttr) or abs(old.value.data) <= abs(value):
            return False
        ops[number].properties["value"] = IntegerAttr(value, old.type)
        return True

    return edit


def _is_inside(op: Operation | None, doomed: dict[Operation, None]) -> bool:
    while op is not None:
        if op in doomed:
            return True
        op = op.parent_op()
    return False


def _substitute(value: SSAValue, doomed: dict[Operation, None]) -> SSAValue | None:
    """Returns another value of the type of a result, which every user of the result can use instead."""
    if not isinstance(value, OpResult):
        return None
    for other in _values_before(value.op):
        if other.type == value.type and not (isinstance(other, OpResult) and _is_inside(other.op, doomed)):
            return other
    return None


def _values_before(op: Operation) -> Iterator[SSAValue]:
    """Yields the operands of an operation, then all values that it could use, the nearest first."""
    yield from op.operands
    place: Operation | None = op
    while place is not None:
        block = place.parent
        earlier = place.prev_op
        while earlier is not None:
            yield from earlier.results
            earlier = earlier.prev_op
        if isinstance(block, Block):
            yield from tuple(block.args)
        place = place.parent_op()
