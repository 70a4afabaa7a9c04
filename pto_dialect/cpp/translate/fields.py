"""The arrays in a structure whose fields differ in size, each of which an index stays in."""

from __future__ import annotations

from collections.abc import Iterator

from ..llvm.types import Types


def array_fields(types: Types, type: str) -> list[tuple[int, int]]:
    """Returns where arrays of a structure begin and end; none where all its elements have one size, because a local
    array can be all of it. Raises ``TypeReadError``."""
    types.size(type)
    if types.element(type) is not None or len(set(_sizes(types, type))) < 2:
        return []
    return list(_arrays(types, type, 0))


def _arrays(types: Types, type: str, begin: int) -> Iterator[tuple[int, int]]:
    if types.element(type) is not None:
        yield begin, begin + types.size(type)
    for number, field in enumerate(_fields(types, type)):
        yield from _arrays(types, field, begin + types.field_offset(type, number))


def _fields(types: Types, type: str) -> tuple[str, ...]:
    return types.fields(type) if types.resolve(type).startswith(("{", "<{")) else ()


def _sizes(types: Types, type: str) -> Iterator[int]:
    """Yields the sizes of the elements of a type, with those of fields."""
    array = types.element(type)
    inner = (array[1],) if array is not None else _fields(types, type)
    for field in inner:
        yield from _sizes(types, field)
    if not inner:
        yield types.size(type)


__all__ = ["array_fields"]
