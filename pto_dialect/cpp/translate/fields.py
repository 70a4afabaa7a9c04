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


def scalars(types: Types, type: str, size: int) -> list[tuple[int, str]]:
    """Returns offsets and types of the scalars of a structure of ``size`` bytes in ``type``, all of whose scalars are
    smaller; none where there is no such structure, or one with gaps. Raises ``TypeReadError``."""
    array = types.element(type)
    while array is not None and types.size(type) > size:
        type, array = array[1], types.element(array[1])
    found = list(_scalars(types, type, 0)) if types.size(type) == size else []
    if not found or any(types.size(one) >= size for _, one in found):
        return []
    return found if sum(types.size(one) for _, one in found) == size else []


def _scalars(types: Types, type: str, begin: int) -> Iterator[tuple[int, str]]:
    array = types.element(type)
    if array is not None:
        for number in range(array[0]):
            yield from _scalars(types, array[1], begin + number * types.size(array[1]))
        return
    fields = _fields(types, type)
    for number, field in enumerate(fields):
        yield from _scalars(types, field, begin + types.field_offset(type, number))
    if not fields:
        yield begin, type


__all__ = ["array_fields", "scalars"]
