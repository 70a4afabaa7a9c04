"""Generic form of any operation: ``"name"(%a)[^bb1] <{properties}> ({regions}) {attributes} : signature``.

Properties are those of the core dialects; operations of this dialect store everything in the attribute dictionary,
which tools that do not know them accept as well.  Source: docs/reference/language.md, "Generic form".
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation

from pto_dialect.ir.core.attribute_text import string_literal
from pto_dialect.ir.core.roles import CORE_ROLES, Role

from ..generic_form import explicit_attributes
from .writer import Body, Piece, Writer, dictionary_part


def generic_pieces(writer: Writer, op: Operation) -> list[Piece]:
    """Returns the pieces of ``op`` in generic form."""
    name, attributes = name_and_attributes(op)
    attributes = explicit_attributes(op, attributes)
    head = f"{string_literal(name)}({writer.uses(op.operands)})"
    if op.successors:
        head += f"[{', '.join([writer.block(block) for block in op.successors])}]"
    if op.properties:
        head += f" <{dictionary_part(_readable(writer, op.properties), '')}>"
    tail = f"{dictionary_part(_readable(writer, attributes))} : {writer.signature(op.operands, op.results)}"
    if not op.regions:
        return [head + tail]
    pieces: list[Piece] = [head + " ("]
    isolated = CORE_ROLES.get(name) is Role.FUNCTION
    for region in op.regions:
        pieces += [
            Body(region, isolated=isolated, generic=not name.startswith("pto.")),
            ", ",
        ]
    pieces[-1] = (", {})" if id(op) in writer.around_calls else ")") + tail
    return pieces


def _readable(writer: Writer, entries: dict[str, Attribute]) -> dict[str, Attribute]:
    return {key: writer.readable(value) for key, value in entries.items()} if writer.portable and entries else entries


def generic_leaf(writer: Writer, op: Operation) -> str:
    """Returns the text of an operation without regions in generic form."""
    return "".join([piece for piece in generic_pieces(writer, op) if isinstance(piece, str)])


def name_and_attributes(op: Operation) -> tuple[str, dict[str, Attribute]]:
    """Returns the full name of ``op`` and its attributes; operations of unknown dialects store their name as one."""
    if isinstance(op, UnregisteredOp):
        return op.op_name.data, {key: value for key, value in op.attributes.items() if key != "op_name__"}
    return op.name, op.attributes
