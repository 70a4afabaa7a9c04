"""Types that differ from an earlier one in numbers alone are read without the grammar.

What the grammar makes of the parameters of a type is kept by the text between its numbers. Another type with the same
texts has the same parameters with other numbers; what they mean is decided as for any type. A type with an error is
left to the grammar, which knows where the error is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from xdsl.ir import Attribute

from pto_dialect.accel import enabled
from pto_dialect.ir.core.types import DYNAMIC
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.read.tokens import Tok
from pto_dialect.syntax.types.forms import PTO_FORMS
from pto_dialect.syntax.types.parameter import Parameter

_NUMBER = re.compile(r"(?<![A-WYZa-wyz_.$\d-])(\d{1,18}+)(?![A-WYZa-wyz_.$])")
"""A number by itself, or one of the extents in ``16x64xf32``."""

_MOST = 2_048
"""Templates that are kept."""


class _Template(NamedTuple):
    head: Tok
    parameters: list[Parameter]


_templates: dict[tuple[str, ...], _Template] = {}


def read_type(text: str) -> Attribute | None:
    """Returns the type that ``text`` spells, if there is a template for it and the type has no error."""
    parts = _NUMBER.split(text)
    template = _templates.get(tuple(parts[::2]))
    if template is None:
        return None
    numbers = map(int, parts[1::2])
    parameters = [_filled(parameter, numbers) for parameter in template.parameters]
    try:
        return PTO_FORMS[template.head.text[1:]](template.head, parameters)
    except TypeSyntaxError:
        return None


def keep_type(text: str, head: Tok, parameters: list[Parameter]) -> None:
    """Remembers the ``parameters`` of the type ``text`` for types with other numbers, if they show which is which."""
    if not enabled("templates") or not all(map(_is_plain, parameters)) or head.text[1:] not in PTO_FORMS:
        return
    parts = _NUMBER.split(text)
    numbers = map(int, parts[1::2])
    try:
        filled = [_filled(parameter, numbers) for parameter in parameters]
    except StopIteration:
        return
    if list(map(_values, filled)) == list(map(_values, parameters)) and next(numbers, None) is None:
        if len(_templates) >= _MOST:
            _templates.clear()
        _templates[tuple(parts[::2])] = _Template(head, parameters)


def _is_plain(parameter: Parameter) -> bool:
    """Returns whether all numbers in the text of a parameter are numbers of the parameter."""
    form = parameter.form
    if form == "keyed":
        return _is_plain(parameter.value)
    return form in ("integer", "extent", "shaped", "word") or (form == "type" and "<" not in str(parameter.value))


def _values(parameter: Parameter) -> Any:
    return (parameter.key, _values(parameter.value)) if parameter.form == "keyed" else parameter.value


def _filled(parameter: Parameter, numbers: Iterator[int]) -> Parameter:
    """Returns the parameter with the next of ``numbers``; a size that is known at run time only remains."""
    form, value = parameter.form, parameter.value
    if form == "keyed":
        value = _filled(value, numbers)
    elif form == "integer":
        value = value if value == DYNAMIC else next(numbers)
    elif form == "extent":
        value = tuple([extent if extent == DYNAMIC else next(numbers) for extent in value])
    elif form == "shaped":
        sizes, element = value
        value = (tuple([size if size == DYNAMIC else next(numbers) for size in sizes]), element)
    else:
        return parameter
    return Parameter(form, value, parameter.start, parameter.end, parameter.key)
