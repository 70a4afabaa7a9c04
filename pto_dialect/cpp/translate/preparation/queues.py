"""Queues that both cores of a kernel identify by a number instead of a handle.

The dialect states only for these the valid sizes of what is popped, and the scales of what is pushed.
Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...llvm.model import Function, Value
from ...llvm.reader import Module
from ..calls import call_name, groups_of

NO_QUEUES: Mapping[str, frozenset[str]] = {}
_CONVERTS = (";quant=", ";relu=")


def find_numbered(functions: Iterable[tuple[Function, Module]]) -> dict[str, frozenset[str]]:
    """Returns, for the descriptor of each such queue, the names with modes of the pushes that convert."""
    found: dict[str, set[str]] = {}
    for function, module in functions:
        for block in function.blocks.values():
            for instruction in block.instructions:
                groups = groups_of(instruction, module)
                queue = next((one for one in groups if one.kind == "pipe"), None)
                if queue is None:
                    continue
                name = call_name(instruction, module)
                if name.startswith("TPUSH;") and any(mode in name for mode in _CONVERTS):
                    found.setdefault(queue.descriptor, set()).add(name)
                elif name.partition(";")[0] == "TPOP" and any(
                    one.kind == "tile" and any(isinstance(size, Value) for size in one.operands[1:]) for one in groups
                ):
                    found.setdefault(queue.descriptor, set())
    return {descriptor: frozenset(names) for descriptor, names in found.items()}


__all__ = ["NO_QUEUES", "find_numbered"]
