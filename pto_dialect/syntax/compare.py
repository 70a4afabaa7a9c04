"""Structural comparison of two programs: everything but the names of values and blocks, and source locations.

Unlike xDSL's own comparison it reports the difference, does not recurse, accepts values used before their definition,
and compares NaN and negative zero by their bits. An absent attribute equals one that has its default value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.float_text import float_bits

from .generic_form import explicit_attributes
from .print.generic import name_and_attributes


def same_module(a: Operation, b: Operation) -> str | None:
    """Returns the first difference between two operations with all they contain; ``None`` when they are equal."""
    return _Comparison().run(a, b)


def same_attribute(a: Attribute, b: Attribute) -> bool:
    """Returns whether attributes are equal; numbers must agree in every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, FloatAttr) and isinstance(b, FloatAttr):
        return a.type == b.type and float_bits(a.value.data, a.type) == float_bits(b.value.data, b.type)
    if isinstance(a, ArrayAttr) and isinstance(b, ArrayAttr):
        # A list: CPython 3.12 limits recursion through C, as that of `map`, whatever limit is set.
        return len(a.data) == len(b.data) and all([same_attribute(*pair) for pair in zip(a.data, b.data, strict=True)])
    if isinstance(a, DictionaryAttr) and isinstance(b, DictionaryAttr):
        return _difference(a.data, b.data) is None
    return a == b


def _difference(a: Mapping[str, Attribute], b: Mapping[str, Attribute]) -> str | None:
    """Returns the first attribute in which two dictionaries differ."""
    for key in sorted({*a, *b}):
        if key not in a or key not in b:
            return f"{key} = {attribute_text(a[key] if key in a else b[key])} on one side only"
        left, right = a[key], b[key]
        if left is not right and not same_attribute(left, right):
            return f"{key} is {attribute_text(left)} and {attribute_text(right)}"
    return None


class _Comparison:
    """One run: values and blocks of ``a`` paired with those of ``b``."""

    def __init__(self) -> None:
        self.values: dict[int, SSAValue] = {}
        self.partners: dict[int, SSAValue] = {}
        self.blocks: dict[int, Block] = {}
        self.stack: list[tuple[Operation | None, Operation | None]] = []

    def run(self, a: Operation, b: Operation) -> str | None:
        """Returns the first difference."""
        found = self._operations(a, b)
        while found is None and self.stack:
            left, right = self.stack.pop()
            if left is None or right is None:
                if left is not right:
                    extra = left if left is not None else right
                    return f"{_name(extra)} has no counterpart"
                continue
            self.stack.append((left.next_op, right.next_op))
            found = self._operations(left, right)
        return found

    def _operations(self, a: Operation, b: Operation) -> str | None:
        name, attributes = name_and_attributes(a)
        other_name, other_attributes = name_and_attributes(b)
        if name != other_name or type(a).__name__ != type(b).__name__:
            return f"{name} is {other_name}"
        found = (
            self._counts(a, b)
            or _difference(explicit_attributes(a, attributes), explicit_attributes(b, other_attributes))
            or _difference(a.properties, b.properties)
            or self._operands(a, b)
        )
        if found is None:
            found = self._define(a.results, b.results, "result")
        if found is None:
            found = self._successors(a, b)
        for left, right in zip(reversed(a.regions), reversed(b.regions), strict=False):
            found = found or self._regions(left, right)
        return None if found is None else f"{name}: {found}"

    def _counts(self, a: Operation, b: Operation) -> str | None:
        for what in ("operands", "results", "regions", "successors"):
            left, right = len(getattr(a, what)), len(getattr(b, what))
            if left != right:
                return f"{left} {what} and {right}"
        return None

    def _operands(self, a: Operation, b: Operation) -> str | None:
        for position, (left, right) in enumerate(zip(a.operands, b.operands, strict=True)):
            if not self._pair(left, right):
                return f"operand {position} is another value"
            if left.type is not right.type and left.type != right.type:
                return f"operand {position} is {left.type} and {right.type}"
        return None

    def _define(self, a: Iterable[SSAValue], b: Iterable[SSAValue], what: str) -> str | None:
        for position, (left, right) in enumerate(zip(a, b, strict=True)):
            if left.type is not right.type and left.type != right.type:
                return f"{what} {position} is {left.type} and {right.type}"
            if not self._pair(left, right):
                return f"{what} {position} stands for another value"
        return None

    def _pair(self, a: SSAValue, b: SSAValue) -> bool:
        """Pairs two values seen for the first time; returns True unless either has another partner."""
        return self.values.setdefault(id(a), b) is b and self.partners.setdefault(id(b), a) is a

    def _successors(self, a: Operation, b: Operation) -> str | None:
        for position, (left, right) in enumerate(zip(a.successors, b.successors, strict=True)):
            if self.blocks.get(id(left)) is not right:
                return f"successor {position} is another block"
        return None

    def _regions(self, a: Region, b: Region) -> str | None:
        left_blocks, right_blocks = list(a.blocks), list(b.blocks)
        if len(left_blocks) != len(right_blocks):
            return f"{len(left_blocks)} blocks and {len(right_blocks)}"
        for left, right in zip(left_blocks, right_blocks, strict=True):
            self.blocks[id(left)] = right
            if len(left.args) != len(right.args):
                return f"{len(left.args)} block arguments and {len(right.args)}"
            found = self._define(left.args, right.args, "block argument")
            if found is not None:
                return found
        for left, right in zip(reversed(left_blocks), reversed(right_blocks), strict=True):
            self.stack.append((left.first_op, right.first_op))
        return None


def _name(op: Operation | None) -> str:
    return name_and_attributes(op)[0] if op is not None else "nothing"
