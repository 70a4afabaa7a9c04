"""Headers of functions that differ from an earlier one in names and types are read without the grammar.

What the grammar made of a header is kept by the text between its names and types. The region after a header, and the
function itself, are read and built as always.
"""

from __future__ import annotations

import re
from operator import is_
from typing import NamedTuple

from xdsl.ir import Attribute

from pto_dialect.accel.parsing.open_templates import is_open, split_types, types_of
from pto_dialect.accel.parsing.templates import LONGEST, TEMPLATES, is_plain
from pto_dialect.syntax.builder.core import Header
from pto_dialect.syntax.read.tokens import BARE_ID, SUFFIX_ID, Tok

_NAMES = re.compile(rf"(@{BARE_ID}|%{SUFFIX_ID})")


class _Template(NamedTuple):
    """``types`` are those of the arguments, ``None`` where the text states one that is left open."""

    types: tuple[Attribute | None, ...]
    results: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


def read_header(text: str, start: int) -> tuple[Header, int] | None:
    """Returns the header that begins at ``start``, and the position of the brace after it; ``None`` without a
    template."""
    end = text.find("\n", start, start + LONGEST)
    line = text[start:end].rstrip() if end > 0 else ""
    if line[-1:] != "{" or not TEMPLATES.headers:
        return None
    parts = _NAMES.split(line[:-1].rstrip())
    skeleton, spellings = split_types(parts)
    template: _Template | None = TEMPLATES.headers.get(skeleton)
    types = types_of(spellings) if template is not None else None
    if template is None or types is None:
        return None
    stated = iter(types)
    position = start + len(parts[0]) + len(parts[1]) + len(parts[2])
    arguments: list[tuple[Tok | str, Attribute]] = []
    for place, type_ in enumerate(template.types):
        name, behind = parts[2 * place + 3], parts[2 * place + 4]
        arguments.append((Tok("USES", name, position), next(stated) if type_ is None else type_))
        position += len(name) + len(behind)
    properties, attributes = dict(template.properties), dict(template.attributes)
    return Header(parts[1][1:], arguments, template.results, properties, attributes), start + len(line) - 1


def keep_header(text: str, header: Header) -> None:
    """Remembers a header that the grammar read from ``text``, if its names and types show which is which."""
    parts = _NAMES.split(text.rstrip())
    names = [name.text if isinstance(name, Tok) else name for name, _ in header.arguments]
    if len(text) > LONGEST or parts[1::2] != [f"@{header.name}", *names] or not is_plain(parts):
        return
    skeleton, spellings = split_types(parts)
    types = types_of(spellings)
    opened = [type_ for _, type_ in header.arguments if is_open(type_)]
    if types is None or len(types) != len(opened) or not all(map(is_, types, opened)):
        return
    left = tuple([None if is_open(type_) else type_ for _, type_ in header.arguments])
    properties, attributes = dict(header.properties), dict(header.attributes)
    TEMPLATES.keep_header(skeleton, _Template(left, tuple(header.results), properties, attributes))
