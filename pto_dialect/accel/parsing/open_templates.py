"""Parse templates of statements that differ from an earlier one in types as well as in names.

The forms in ``_FORMS`` read the types of tiles, views, pointers and registers for two purposes only: a type that the
text states is compared with that of the value, and a stated type of a result is the type of the result. So the
operation that the grammar made of one such statement shows what it makes of another one with other types of the same
classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import is_
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.accel.parsing.templates import TEMPLATES, ParseTemplate
from pto_dialect.ir.core.base import PtoOp, Shape, is_pto, op_spec, operand_layout
from pto_dialect.ir.core.types import PartitionViewType, PtrType, TensorViewType, TileBufType, VRegType
from pto_dialect.patterns import portable
from pto_dialect.syntax.builder.pto import typed_names
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.parser import parse_type

_OPEN_CLASSES: tuple[type[Attribute], ...] = (TileBufType, TensorViewType, PartitionViewType, PtrType, VRegType)

_INSIDE = r"[^<>\"%!/\\]*+"
_NAMES = "|".join(re.escape(cls.name) for cls in _OPEN_CLASSES)
_TYPE = re.compile(portable(rf"(!(?:{_NAMES})<{_INSIDE}(?:<{_INSIDE}>{_INSIDE})*+>)"))
"""A type of one of the classes, without strings, comments and aliases of types."""

_IN_TEXT_ORDER = frozenset((Shape.DPS, Shape.DPS_INNER, Shape.DPS_KEYED, Shape.DPS_TLOAD))
"""Forms that state the types of all operands, in the order of their names."""

_FORMS = _IN_TEXT_ORDER | {
    *(Shape.FLAT_VALUE, Shape.FLAT_VOID, Shape.INDEXED, Shape.INDEXED_STORE),
    *(Shape.ALLOC, Shape.VIEW_LISTS),
}

OpenSkeleton = tuple[tuple[str, ...], ...]
"""The texts between the names of a statement, each as the texts between the types in it."""


class OpenStatement(NamedTuple):
    """A statement that an open template describes, with the types that it states."""

    template: OpenTemplate
    types: tuple[Attribute, ...]


class OpenTemplate(NamedTuple):
    """What becomes of statements whose types are left open.

    ``classes`` are those of the types of the operands. ``stated`` are the indices of the names whose types the text
    states, in the order of these types; the types of the results follow in that order.
    """

    closed: ParseTemplate
    classes: tuple[type[Attribute], ...]
    stated: tuple[int, ...]

    def template(
        self, types: tuple[Attribute, ...], parts: Sequence[str], values: Mapping[str, SSAValue]
    ) -> ParseTemplate | None:
        """Returns the parse template of a statement split into ``parts`` that states ``types``; ``None`` where these
        are not the types of its operands."""
        for place, type_ in zip(self.stated, types, strict=False):
            value = values.get(parts[place])
            if value is None or value._type is not type_:
                return None
        operands: list[tuple[int, Attribute]] = []
        for (place, _), cls in zip(self.closed.operands, self.classes, strict=True):
            value = values.get(parts[place])
            if value is None or type(value._type) is not cls:
                return None
            operands.append((place, value._type))
        closed = self.closed
        results = types[len(self.stated) :] if closed.results else ()
        return closed.with_types(tuple(operands), results or closed.result_types)


def split_types(parts: Sequence[str]) -> tuple[OpenSkeleton, list[str]]:
    """Returns the normalized token sequence of a statement without its types, and the types."""
    skeleton: list[tuple[str, ...]] = []
    types: list[str] = []
    for text in parts[::2]:
        if "!" in text:
            pieces = _TYPE.split(text)
            types += pieces[1::2]
            skeleton.append(tuple(pieces[::2]))
        else:
            skeleton.append((text,))
    return tuple(skeleton), types


def types_of(spellings: Sequence[str]) -> tuple[Attribute, ...] | None:
    """Returns the types with these spellings; ``None`` if one of them is wrong."""
    try:
        return tuple([parse_type(spelling) for spelling in spellings])
    except TypeSyntaxError:
        return None


def is_open(type_: Attribute) -> bool:
    """Returns whether templates leave a type like this open."""
    return type(type_) in _OPEN_CLASSES


def open_statement(parts: Sequence[str]) -> OpenStatement | None:
    """Returns the open template of a statement split into ``parts``, with its types; the program has no aliases."""
    skeleton, spellings = split_types(parts)
    if not spellings:
        return None
    template: OpenTemplate | None = TEMPLATES.open.get(skeleton)
    types = types_of(spellings) if template is not None else None
    return OpenStatement(template, types) if template is not None and types is not None else None


def keep_open(parts: Sequence[str], op: Operation, template: ParseTemplate, values: Mapping[str, SSAValue]) -> None:
    """Remembers ``template`` of ``op``, read from a statement split into ``parts``, for statements with other types."""
    if not is_pto(op) or op_spec(type(op)).shape not in _FORMS or op_spec(type(op)).by_type:
        return
    skeleton, spellings = split_types(parts)
    types = types_of(spellings)
    if not types or any(type(one) not in _OPEN_CLASSES for one in types):
        return
    stated = _stated(parts, op, template, values)
    expected = [values[parts[place]]._type for place in stated]
    if op.results and len(types) > len(stated):
        expected += [result.type for result in op.results]
    elif op.results and not op_spec(type(op)).fixed_results:
        return
    if len(expected) == len(types) and all(map(is_, expected, types)):
        classes = tuple([type(type_) for _, type_ in template.operands])
        TEMPLATES.open[skeleton] = OpenTemplate(template, classes, stated)


def _stated(
    parts: Sequence[str], op: PtoOp, template: ParseTemplate, values: Mapping[str, SSAValue]
) -> tuple[int, ...]:
    """Returns the indices of the names whose types the text states, in the order of these types, if the types are
    open."""
    shape = op_spec(type(op)).shape
    if shape is Shape.ALLOC:
        return ()
    if shape in _IN_TEXT_ORDER:
        places = range(2 * len(op.results) + 1, len(parts), 2)
        return tuple([place for place in places if type(values[parts[place]]._type) in _OPEN_CLASSES])
    groups = {name: template.operands[start:end] for name, start, end in operand_layout(op)}
    typed = [operand for name in typed_names(type(op)) for operand in groups[name]]
    return tuple([place for place, type_ in typed if type(type_) in _OPEN_CLASSES])
