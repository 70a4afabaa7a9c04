"""The assembly form of a program: one statement on each line, without functions and regions.

A part of memory with implied offsets and sizes is written as ``%m[%r, %c]`` where it is used, a number without a name
where it is an index. Source: docs/reference/language.md, "PTO-AS assembly".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role

from ..read.lexer import assembly_mnemonic
from .shapes import pto_leaf
from .writer import Inexpressible, Writer, require


def print_assembly(block: Block) -> str:
    """Returns the text of the statements of ``block``, whose arguments are directives.

    Raises ``Inexpressible`` for a statement that the form does not have.
    """
    return _Assembly().run(block)


class _Assembly:
    def __init__(self) -> None:
        self.writer = Writer(False)
        self.parts: dict[SSAValue, tuple[str, str, str]] = {}

    def run(self, block: Block) -> str:
        writer = self.writer
        writer.names.define(block.args)
        lines = [f".arg {writer.use(a)} : {writer.type(_memory(a.type))}" for a in block.args]
        for op in block.ops:
            if has_role(op, Role.CONSTANT) and not implied(op):
                writer.names.define(op.results)
                value = op.properties.get("value")
                require(value is not None)
                assert value is not None
                number = attribute_text(value).partition(" : ")[0]
                lines.append(f".const {writer.use(op.results[0])} = {number} : {writer.types(op.results)}")
            elif has_role(op, Role.PART):
                self._part(op)
            elif not has_role(op, Role.CONSTANT | Role.RETURN):
                lines.append(self._statement(op))
        return "".join(f"{line}\n" for line in lines)

    def _part(self, op: Operation) -> None:
        """Records how a part of memory is written at its uses."""
        source, result = named(op, "source"), op.results[0]
        offsets = listed(op, "offsets")
        memory = self.writer.type(_memory(source.type))
        whole = t.shape_of(source.type) == t.shape_of(result.type) and not any(map(_number, offsets))
        indices = ", ".join(str(_number(one)) if implied_value(one) else self.writer.use(one) for one in offsets)
        text = self.writer.use(source) if whole else f"{self.writer.use(source)}[{indices}]"
        types = memory if whole else ", ".join([memory, *("index" for _ in offsets)])
        self.parts[result] = text, self.writer.type(result.type), types

    def _statement(self, op: Operation) -> str:
        writer = self.writer
        leaf = pto_leaf(op)
        if leaf is None or op.regions:
            raise Inexpressible
        for value, (text, _, _) in self.parts.items():
            writer.names.texts[id(value)] = text
        text = leaf(writer, op)
        for value in op.operands:
            if value in self.parts:
                _, before, after = self.parts[value]
                head, colon, signature = text.rpartition(" : ")
                text = head + colon + signature.replace(before, after, 1)
        if assembly_mnemonic(op.name):
            text = text.removeprefix("pto.")
        writer.names.define(op.results)
        names = writer.uses(op.results)
        return f"{names} = {text}" if names else text


def _memory(type_: Attribute) -> Attribute:
    """Returns the type by which the form names a view of global memory."""
    return t.AsMemRefType(type_.shape, type_.element) if isinstance(type_, t.TensorViewType) else type_


def _number(value: SSAValue) -> int | None:
    op = value.owner
    number = op.properties.get("value") if isinstance(op, Operation) and has_role(op, Role.CONSTANT) else None
    return number.value.data if isinstance(number, IntegerAttr) else None


def implied(op: Operation) -> bool:
    """Returns whether the form states the number of ``op``, a constant, where it is used: as the size of a part of
    memory, or as an unnamed index."""
    return bool(op.results[0].first_use) and all(
        _goes_without_saying(op.results[0], use.operation) for use in op.results[0].uses
    )


def implied_value(value: SSAValue) -> bool:
    """Returns whether ``value`` is a number that is written where it is used."""
    return isinstance(value.owner, Operation) and has_role(value.owner, Role.CONSTANT) and implied(value.owner)


def _goes_without_saying(value: SSAValue, user: Operation) -> bool:
    if not has_role(user, Role.PART):
        return False
    named_index = value._name is not None and any(one is value for one in listed(user, "offsets"))
    return isinstance(_number(value), int) and not named_index
