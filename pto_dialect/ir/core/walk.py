"""Iteration over nested operations, in text order.

xDSL's own ``walk`` resumes a generator for each level of nesting at each operation; here every operation costs the
same, whatever its depth.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region


def walk(root: Operation | Region | Block) -> Iterator[Operation]:
    """Yields all operations in ``root``, each before those in its regions; an operation comes first itself."""
    stack: list[Operation | None] = []
    if isinstance(root, Operation):
        yield root
        _push(root.regions, stack)
    elif isinstance(root, Region):
        _push((root,), stack)
    else:
        stack.append(root.first_op)
    while stack:
        op = stack.pop()
        while op is not None:
            yield op
            following = op._next_op
            if op.regions:
                stack.append(following)
                _push(op.regions, stack)
                break
            op = following


def ancestors(op: Operation) -> Iterator[Operation]:
    """Yields the operations around ``op``, from the innermost outwards."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def _push(regions: tuple[Region, ...], stack: list[Operation | None]) -> None:
    for region in reversed(regions):
        block = region.last_block
        while block is not None:
            stack.append(block.first_op)
            block = block.prev_block
